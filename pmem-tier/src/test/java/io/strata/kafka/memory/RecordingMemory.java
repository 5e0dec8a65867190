package io.strata.kafka.memory;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A memory on the heap that knows what a power cut would leave of it.
 *
 * <p>It keeps two images: the bytes as the process sees them, and the bytes that are certain to be
 * on the medium. A store changes the first one only. A persist (for {@link Durability#FORCE}: a
 * force) copies the words of exactly its range to the second one; that the rest of a 64-byte line
 * comes along on real hardware is not relied upon. {@link #crash} yields what a power cut may
 * leave: every certain word, and of each line with uncertain words nothing, all, or some, a word
 * being either its certain value or any value stored since.
 *
 * <p>Each persist, storeAndPersist and force is a persist point, counted from 1. {@link
 * #crashBefore} makes the memory throw a {@link CrashError} before the effect of such a point, so
 * that a test can cut a workload at each of them in turn.
 *
 * <p>Thread safety: all methods may be called by any number of threads; each runs under one lock.
 */
public final class RecordingMemory implements PersistentMemory {
  /** Bytes of a cache line: what reaches the medium at a time. */
  public static final int LINE = 64;

  private static final int WORDS_PER_LINE = LINE / Long.BYTES;
  private static final int VALUES_KEPT = 4;
  private static final long NEVER = Long.MAX_VALUE;

  private final Durability durability;
  private final Path path;
  private final int size;

  @GuardedBy("this")
  private final ByteBuffer seen;

  @GuardedBy("this")
  private final ByteBuffer certain;

  /**
   * By number of word: the last few values that it had since it was persisted, the newest one
   * excepted, for words stored more than once.
   */
  @GuardedBy("this")
  private final long[] @Nullable [] between;

  /** Ranges that answer with a fault, by start; the value is the end. */
  @GuardedBy("this")
  private final TreeMap<Long, Long> faults = new TreeMap<>();

  /** What to do once, before the next force of a position. */
  @GuardedBy("this")
  private final Map<Long, Action> beforeForce = new TreeMap<>();

  /** What to do once, after the next storeLong at a position. */
  @GuardedBy("this")
  private final Map<Long, Action> afterStoreLong = new TreeMap<>();

  @GuardedBy("this")
  private long persistPoints;

  @GuardedBy("this")
  private long crashBefore = NEVER;

  @GuardedBy("this")
  private boolean crashed;

  @GuardedBy("this")
  private boolean closed;

  /** What a test does in the middle of something else. */
  @FunctionalInterface
  public interface Action {
    /** Does it. */
    void run() throws IOException;
  }

  /** A memory of zeros with {@link Durability#POWER}. */
  public RecordingMemory(int size) {
    this(size, Durability.POWER);
  }

  /** A memory of zeros. */
  public RecordingMemory(int size, Durability durability) {
    this(new byte[size], durability);
  }

  private RecordingMemory(byte[] content, Durability durability) {
    this.durability = durability;
    this.size = content.length;
    this.path = Path.of("recording-memory");
    this.seen = ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN);
    this.certain = ByteBuffer.wrap(content.clone()).order(ByteOrder.LITTLE_ENDIAN);
    this.between = new long[wordAfter(size)][];
  }

  /** The number of persist points so far. */
  public synchronized long persistPoints() {
    return persistPoints;
  }

  /**
   * Throws a {@link CrashError} before the effect of a persist point, and from every call after it.
   *
   * @param persistPoint counted from 1 since the memory was made; must be yet to come
   */
  public synchronized void crashBefore(long persistPoint) {
    if (persistPoint <= persistPoints) {
      throw new IllegalArgumentException(
          "Persist point " + persistPoint + " has passed: there were " + persistPoints);
    }
    crashBefore = persistPoint;
  }

  /** Whether the crash asked for has happened. */
  public synchronized boolean crashed() {
    return crashed;
  }

  /** Runs an action once, before the next force that covers a position has an effect. */
  public synchronized void beforeForce(long position, Action action) {
    beforeForce.put(position, action);
  }

  /** Runs an action once, after the next {@link #storeLong} at a position. */
  public synchronized void afterStoreLong(long position, Action action) {
    afterStoreLong.put(position, action);
  }

  /** Makes every access to a range fail as a bad block does. */
  public synchronized void fail(long position, long length) {
    MemoryOnFile.check(position, length, size);
    faults.put(position, position + length);
  }

  /** Takes back every {@link #fail}. */
  public synchronized void heal() {
    faults.clear();
  }

  /** Whether every byte of a range is certain to survive a power cut. */
  public synchronized boolean isPersisted(long position, long length) {
    MemoryOnFile.check(position, length, size);
    for (int word = word(position); word < wordAfter(position + length); word++) {
      if (isUncertain(word)) {
        return false;
      }
    }
    return true;
  }

  /** What may be left after a power cut now; every run of the same random gives the same. */
  public synchronized RecordingMemory crash(Random random) {
    byte[] left = certain.array().clone();
    if (durability != Durability.PROCESS) {
      ByteBuffer words = ByteBuffer.wrap(left).order(ByteOrder.LITTLE_ENDIAN);
      for (int line = 0; line < wordAfter(size); line += WORDS_PER_LINE) {
        leaveSomeOf(line, Math.min(line + WORDS_PER_LINE, wordAfter(size)), words, random);
      }
    } else {
      Arrays.fill(left, (byte) 0);
    }
    return new RecordingMemory(left, durability);
  }

  /** What is left when the process ends and the power stays: everything stored. */
  public synchronized RecordingMemory kill() {
    RecordingMemory left = new RecordingMemory(seen.array().clone(), durability);
    left.takeUncertainty(this);
    return left;
  }

  private synchronized void takeUncertainty(RecordingMemory before) {
    synchronized (before) {
      System.arraycopy(before.certain.array(), 0, certain.array(), 0, size);
      System.arraycopy(before.between, 0, between, 0, between.length);
    }
  }

  @GuardedBy("this")
  private void leaveSomeOf(int from, int to, ByteBuffer left, Random random) {
    boolean uncertain = false;
    for (int word = from; word < to && !uncertain; word++) {
      uncertain = isUncertain(word);
    }
    if (!uncertain) {
      return;
    }
    switch (random.nextInt(3)) {
      case 0 -> {} // the line never reached the medium
      case 1 -> { // it did, with its newest stores
        for (int word = from; word < to; word++) {
          put(left, word, get(seen, word));
        }
      }
      default -> { // it did, at some time, and torn
        for (int word = from; word < to; word++) {
          put(left, word, anyOf(word, random));
        }
      }
    }
  }

  /** Any value that the word had since it was persisted, or had then. */
  @GuardedBy("this")
  private long anyOf(int word, Random random) {
    long[] values = between[word];
    int kept = values == null ? 0 : values.length;
    int choice = random.nextInt(kept + 2);
    if (values != null && choice < kept) {
      return values[choice];
    }
    return choice == kept ? get(certain, word) : get(seen, word);
  }

  @Override
  public MemoryType type() {
    return MemoryType.MAPPED;
  }

  @Override
  public Durability durability() {
    return durability;
  }

  @Override
  public Path path() {
    return path;
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
  public synchronized void load(long position, ByteBuffer target) throws IOException {
    int length = target.remaining();
    checkAccess(position, length);
    target.put(target.position(), seen, (int) position, length);
    target.position(target.position() + length);
  }

  @Override
  public synchronized long loadLong(long position) throws IOException {
    checkOpen();
    MemoryOnFile.checkWord(position, size);
    checkAccess(position, Long.BYTES);
    return seen.getLong((int) position);
  }

  @Override
  public synchronized void store(long position, ByteBuffer source) throws IOException {
    int length = source.remaining();
    checkAccess(position, length);
    remember(position, length);
    seen.put((int) position, source, source.position(), length);
    source.position(source.position() + length);
  }

  @Override
  public synchronized void storeAndPersist(long position, ByteBuffer source) throws IOException {
    int start = source.position();
    int length = source.remaining();
    store(position, source);
    try {
      persist(position, length);
    } catch (IOException | CrashError e) {
      source.position(start);
      throw e;
    }
  }

  @Override
  public synchronized void storeLong(long position, long value) throws IOException {
    checkOpen();
    MemoryOnFile.checkWord(position, size);
    checkAccess(position, Long.BYTES);
    remember(position, Long.BYTES);
    seen.putLong((int) position, value);
    Action action = afterStoreLong.remove(position);
    if (action != null) {
      action.run();
    }
  }

  @Override
  public synchronized void zero(long position, long length) throws IOException {
    checkAccess(position, length);
    remember(position, length);
    Arrays.fill(seen.array(), (int) position, (int) (position + length), (byte) 0);
  }

  @Override
  public synchronized void persist(long position, long length) throws IOException {
    checkAccess(position, length);
    persistPoint();
    if (durability == Durability.POWER) {
      makeCertain(position, length);
    }
  }

  @Override
  public synchronized void force(long position, long length) throws IOException {
    checkAccess(position, length);
    for (long at : List.copyOf(beforeForce.keySet())) {
      if (position <= at && at < position + length) {
        Objects.requireNonNull(beforeForce.remove(at)).run();
      }
    }
    persistPoint();
    if (durability == Durability.FORCE) {
      makeCertain(position, length);
    }
  }

  @Override
  public long transferTo(long position, long count, WritableByteChannel target) throws IOException {
    ByteBuffer copy;
    synchronized (this) {
      checkAccess(position, count);
      copy = ByteBuffer.allocate((int) count);
      load(position, copy);
    }
    return target.write(copy.flip());
  }

  @Override
  public synchronized void close() {
    closed = true;
  }

  @GuardedBy("this")
  private void persistPoint() {
    persistPoints++;
    if (persistPoints == crashBefore) {
      crashed = true;
      throw new CrashError(crashBefore);
    }
  }

  /** Keeps the values of the range's words that have been stored before and are not certain. */
  @GuardedBy("this")
  private void remember(long position, long length) {
    for (int word = word(position); word < wordAfter(position + length); word++) {
      if (isUncertain(word)) {
        between[word] = append(between[word], get(seen, word));
      }
    }
  }

  @GuardedBy("this")
  private void makeCertain(long position, long length) {
    if (length == 0) {
      return;
    }
    for (int word = word(position); word < wordAfter(position + length); word++) {
      put(certain, word, get(seen, word));
      between[word] = null;
    }
  }

  @GuardedBy("this")
  private boolean isUncertain(int word) {
    return get(seen, word) != get(certain, word) || between[word] != null;
  }

  @GuardedBy("this")
  private void checkAccess(long position, long length) throws IOException {
    checkOpen();
    MemoryOnFile.check(position, length, size);
    Map.Entry<Long, Long> fault = faults.lowerEntry(position + length);
    if (fault != null && fault.getValue() > position) {
      throw new IOException(
          "Fault staged at position " + fault.getKey() + ", met from " + position);
    }
  }

  @GuardedBy("this")
  private void checkOpen() throws IOException {
    if (crashed) {
      throw new CrashError(crashBefore);
    }
    if (closed) {
      throw new ClosedChannelException();
    }
  }

  /** A new array, so that the images of a kill may share it. */
  private static long[] append(long @Nullable [] values, long value) {
    if (values == null) {
      return new long[] {value};
    }
    int from = values.length < VALUES_KEPT ? 0 : 1;
    long[] longer = Arrays.copyOfRange(values, from, values.length + 1);
    longer[longer.length - 1] = value;
    return longer;
  }

  private static int word(long position) {
    return (int) (position / Long.BYTES);
  }

  private static int wordAfter(long position) {
    return (int) ((position + Long.BYTES - 1) / Long.BYTES);
  }

  /** The word's bytes, of which the last word of a memory of odd size has fewer than 8. */
  private static long get(ByteBuffer image, int word) {
    int at = word * Long.BYTES;
    if (at + Long.BYTES <= image.capacity()) {
      return image.getLong(at);
    }
    long value = 0;
    for (int i = image.capacity() - 1; i >= at; i--) {
      value = (value << Byte.SIZE) | (image.get(i) & 0xFF);
    }
    return value;
  }

  private static void put(ByteBuffer image, int word, long value) {
    int at = word * Long.BYTES;
    if (at + Long.BYTES <= image.capacity()) {
      image.putLong(at, value);
      return;
    }
    for (int i = at; i < image.capacity(); i++) {
      image.put(i, (byte) (value >>> ((i - at) * Byte.SIZE)));
    }
  }
}
