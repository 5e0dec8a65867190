package io.strata.kafka.crash;

import io.strata.kafka.memory.Durability;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.memory.PersistentMemory;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A recording memory made of pages that images share until one changes them: what a crash leaves is
 * taken in microseconds, whatever the memory's size.
 *
 * <p>As {@link io.strata.kafka.memory.RecordingMemory}, it keeps the bytes as the process sees them
 * and those that are certain to be on the medium, and makes exactly the words of a persisted (for
 * {@link Durability#FORCE}: forced) range certain. Of a line with uncertain words a power cut
 * leaves nothing, all, or any value that each word has had.
 *
 * <p>Thread safety: none; a simulation has one thread.
 */
public final class SimMemory implements PersistentMemory {

  private static final int PAGE = 4096;
  private static final int LINE = 64;
  private static final int WORDS = PAGE / Long.BYTES;
  private static final int WORDS_PER_LINE = LINE / Long.BYTES;
  private static final int VALUES_KEPT = 3;
  private static final byte[] ZEROS = new byte[PAGE];
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final String name;
  private final MemoryType type;
  private final Durability durability;
  private final int size;
  private final byte[][] seen;
  private final byte[][] certain;
  private final @Nullable Doubt[] doubts;

  /** Pages of {@link #seen} that no other copy shares. */
  private final BitSet seenOwned = new BitSet();

  /** Pages of {@link #certain} that no other copy shares. */
  private final BitSet certainOwned = new BitSet();

  private Points points = Points.NONE;
  private Calls calls = Calls.NONE;

  /** The force that failed: nothing is stored or forced from then on. */
  private Optional<IOException> failure = Optional.empty();

  private boolean closed;

  /** The uncertain words of a page. */
  private static final class Doubt {
    private final BitSet words = new BitSet(WORDS);

    /** Values between the certain one and the newest, by word; oldest first. */
    private long @Nullable [] @Nullable [] between;

    Doubt copy() {
      Doubt copy = new Doubt();
      copy.words.or(words);
      copy.between = between == null ? null : between.clone();
      return copy;
    }

    void remember(int word, long value) {
      if (between == null) {
        between = new long[WORDS][];
      }
      long[] before = between[word];
      if (before == null) {
        between[word] = new long[] {value};
      } else {
        int from = before.length < VALUES_KEPT ? 0 : 1;
        long[] longer = Arrays.copyOfRange(before, from, before.length + 1);
        longer[longer.length - 1] = value;
        between[word] = longer;
      }
    }

    void forget(int from, int to) {
      words.clear(from, to);
      if (between != null) {
        Arrays.fill(between, from, to, null);
      }
    }
  }

  /** A memory of zeros. */
  SimMemory(String name, MemoryType type, Durability durability, int size) {
    this(name, type, durability, size, new byte[size / PAGE][], new byte[size / PAGE][]);
    Arrays.fill(seen, ZEROS);
    Arrays.fill(certain, ZEROS);
  }

  private SimMemory(
      String name,
      MemoryType type,
      Durability durability,
      int size,
      byte[][] seen,
      byte[][] certain) {
    if (size % PAGE != 0) {
      throw new IllegalArgumentException(size + " is no multiple of " + PAGE);
    }
    this.name = name;
    this.type = type;
    this.durability = durability;
    this.size = size;
    this.seen = seen;
    this.certain = certain;
    this.doubts = new Doubt[seen.length];
  }

  /** Who hears of persist points. */
  void points(Points listener) {
    points = listener;
  }

  /** Who hears of calls, and has some fail. */
  void calls(Calls listener) {
    calls = listener;
  }

  /** For a pool's next opening. */
  void reopen() {
    closed = false;
    failure = Optional.empty();
  }

  /** What a power cut now leaves. */
  SimMemory powerCut(Loss loss) {
    byte[][] left = certain.clone();
    certainOwned.clear();
    for (int page = 0; page < left.length; page++) {
      Doubt doubt = doubts[page];
      if (doubt != null) {
        left[page] = leave(page, doubt, loss);
      }
    }
    return new SimMemory(name, type, durability, size, left, left.clone());
  }

  private byte[] leave(int page, Doubt doubt, Loss loss) {
    byte[] left = certain[page].clone();
    for (int word = doubt.words.nextSetBit(0); word >= 0; word = doubt.words.nextSetBit(word)) {
      int line = word / WORDS_PER_LINE;
      int end = (line + 1) * WORDS_PER_LINE;
      long item = (long) page * PAGE / LINE + line;
      if (loss.keeps(Loss.Sort.LINE, item)) {
        System.arraycopy(seen[page], line * LINE, left, line * LINE, LINE);
      } else if (loss.oneIn(3, Loss.Sort.LINE, item)) {
        for (int w = line * WORDS_PER_LINE; w < end; w++) {
          LONG.set(left, w * Long.BYTES, anyOf(page, w, doubt, loss));
        }
      }
      word = end;
    }
    return left;
  }

  private long anyOf(int page, int word, Doubt doubt, Loss loss) {
    long[] values = doubt.between == null ? null : doubt.between[word];
    int kept = values == null ? 0 : values.length;
    int choice = loss.choose(kept + 2, Loss.Sort.WORD, (long) page * WORDS + word);
    if (values != null && choice < kept) {
      return values[choice];
    }
    return (long) LONG.get(choice == kept ? certain[page] : seen[page], word * Long.BYTES);
  }

  /** What is left when the process ends and the power stays. */
  SimMemory kill() {
    seenOwned.clear();
    certainOwned.clear();
    SimMemory left = new SimMemory(name, type, durability, size, seen.clone(), certain.clone());
    for (int page = 0; page < doubts.length; page++) {
      Doubt doubt = doubts[page];
      left.doubts[page] = doubt == null ? null : doubt.copy();
    }
    return left;
  }

  /** Makes everything certain. */
  void settle() {
    certain(0, size);
  }

  @Override
  public MemoryType type() {
    return type;
  }

  @Override
  public Durability durability() {
    return durability;
  }

  @Override
  public Path path() {
    return Path.of(name);
  }

  @Override
  public long size() {
    return size;
  }

  @Override
  public boolean writable() {
    return true;
  }

  @Override
  public Optional<IOException> failure() {
    return failure;
  }

  private void call(Call call) throws IOException {
    int unused = calls.before(call, name, 0);
  }

  private void checkStore(long position, long length) throws IOException {
    check(position, length);
    requireNoFailure();
    call(Call.STORE);
  }

  private void requireNoFailure() throws IOException {
    if (failure.isPresent()) {
      throw new IOException(name + ": found that an earlier force failed", failure.get());
    }
  }

  /** Whether a force is to have its effect. */
  private boolean beginForce() throws IOException {
    requireNoFailure();
    try {
      call(Call.FORCE);
    } catch (IOException | Error e) {
      failure = Optional.of(e instanceof IOException io ? io : new IOException(e));
      throw e;
    }
    return points.before(Point.FORCE);
  }

  @Override
  public void load(long position, ByteBuffer target) throws IOException {
    check(position, target.remaining());
    call(Call.LOAD);
    int at = (int) position;
    while (target.hasRemaining()) {
      int within = at % PAGE;
      int piece = Math.min(PAGE - within, target.remaining());
      target.put(seen[at / PAGE], within, piece);
      at += piece;
    }
  }

  @Override
  public long loadLong(long position) throws IOException {
    check(position, Long.BYTES);
    call(Call.LOAD);
    return (long) LONG.get(seen[(int) position / PAGE], (int) position % PAGE);
  }

  @Override
  public void store(long position, ByteBuffer source) throws IOException {
    checkStore(position, source.remaining());
    int at = (int) position;
    while (source.hasRemaining()) {
      int within = at % PAGE;
      int piece = Math.min(PAGE - within, source.remaining());
      source.get(changing(at / PAGE, within, piece), within, piece);
      at += piece;
    }
  }

  @Override
  public void storeAndPersist(long position, ByteBuffer source) throws IOException {
    int start = source.position();
    store(position, source);
    try {
      persist(position, source.position() - start);
    } catch (IOException e) {
      source.position(start);
      throw e;
    }
  }

  @Override
  public void storeLong(long position, long value) throws IOException {
    checkStore(position, Long.BYTES);
    if (position % Long.BYTES != 0) {
      throw new IllegalArgumentException("position " + position + " is no multiple of 8");
    }
    int within = (int) position % PAGE;
    LONG.set(changing((int) position / PAGE, within, Long.BYTES), within, value);
  }

  @Override
  public void zero(long position, long length) throws IOException {
    checkStore(position, length);
    for (int at = (int) position; at < position + length; ) {
      int page = at / PAGE;
      int within = at % PAGE;
      int piece = (int) Math.min(PAGE - within, position + length - at);
      boolean zeros = doubts[page] == null && Arrays.equals(seen[page], ZEROS);
      if (!zeros) {
        Arrays.fill(changing(page, within, piece), within, within + piece, (byte) 0);
      }
      at += piece;
    }
  }

  /** The page, to be changed in the range, whose words become uncertain. */
  private byte[] changing(int page, int within, int length) {
    if (!seenOwned.get(page)) {
      seen[page] = seen[page].clone();
      seenOwned.set(page);
    }
    byte[] bytes = seen[page];
    Doubt doubt = doubts[page];
    if (doubt == null) {
      doubt = new Doubt();
      doubts[page] = doubt;
    }
    int from = within / Long.BYTES;
    int to = (within + length + Long.BYTES - 1) / Long.BYTES;
    for (int word = doubt.words.nextSetBit(from);
        word >= 0 && word < to;
        word = doubt.words.nextSetBit(word + 1)) {
      doubt.remember(word, (long) LONG.get(bytes, word * Long.BYTES));
    }
    doubt.words.set(from, to);
    return bytes;
  }

  @Override
  public void persist(long position, long length) throws IOException {
    check(position, length);
    call(Call.PERSIST);
    if (points.before(Point.PERSIST) && durability == Durability.POWER) {
      certain(position, length);
    }
  }

  @Override
  public void force(long position, long length) throws IOException {
    check(position, length);
    if (durability == Durability.POWER) {
      return;
    }
    if (beginForce()) {
      if (type == MemoryType.FILE) {
        // fdatasync knows no ranges.
        certain(0, size);
      } else {
        certain(position, length);
      }
    }
  }

  /** {@code msync} of a file that is written by calls. */
  @Override
  public void forceAlone(long position, long length) throws IOException {
    check(position, length);
    if (durability != Durability.POWER && beginForce()) {
      certain(position, length);
    }
  }

  private void certain(long position, long length) {
    if (length == 0) {
      return;
    }
    int last = (int) ((position + length - 1) / PAGE);
    for (int page = (int) (position / PAGE); page <= last; page++) {
      Doubt doubt = doubts[page];
      if (doubt == null) {
        continue;
      }
      long start = (long) page * PAGE;
      int from = (int) (Math.max(0, position - start) / Long.BYTES);
      int to = (int) (Math.min(PAGE, position + length - start) + Long.BYTES - 1) / Long.BYTES;
      if (doubt.words.nextSetBit(0) >= from && doubt.words.length() <= to) {
        certain[page] = seen[page];
        certainOwned.clear(page);
        seenOwned.clear(page);
        doubts[page] = null;
      } else {
        makeCertain(page, doubt, from, to);
      }
    }
  }

  private void makeCertain(int page, Doubt doubt, int from, int to) {
    if (!certainOwned.get(page)) {
      certain[page] = certain[page].clone();
      certainOwned.set(page);
    }
    for (int word = doubt.words.nextSetBit(from);
        word >= 0 && word < to;
        word = doubt.words.nextSetBit(word + 1)) {
      int at = word * Long.BYTES;
      System.arraycopy(seen[page], at, certain[page], at, Long.BYTES);
    }
    doubt.forget(from, to);
    if (doubt.words.isEmpty()) {
      doubts[page] = null;
    }
  }

  @Override
  public long transferTo(long position, long count, WritableByteChannel target) throws IOException {
    ByteBuffer copy = ByteBuffer.allocate((int) count);
    load(position, copy);
    return target.write(copy.flip());
  }

  @Override
  public void close() {
    closed = true;
  }

  private void check(long position, long length) throws IOException {
    if (closed) {
      throw new ClosedChannelException();
    }
    if (position < 0 || length < 0 || position + length > size) {
      throw new IndexOutOfBoundsException(position + " + " + length + " of " + size);
    }
  }
}
