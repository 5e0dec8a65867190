package io.strata.kafka.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.memory.PersistentMemory;
import io.strata.kafka.pool.space.Extent;
import io.strata.kafka.pool.space.ExtentList;
import io.strata.kafka.pool.words.SlotFlag;
import io.strata.kafka.pool.words.SlotState;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.UUID;

/**
 * Random changes to a pool's segments, and what must be true of them after a crash at any moment.
 */
final class PoolWorkload {
  static final UUID DIRECTORY = new UUID(1, 2);
  private static final List<SlotFlag> FLAGS = List.of(SlotFlag.values());

  /** One segment among all that a pool has ever held. */
  record Identity(int index, long generation) {}

  /** What may be found of a segment. Widened before each change, narrowed after it. */
  private static final class Expectation {
    private final Slot slot;
    private long minLength;
    private long maxLength;
    private long minForced;
    private long maxClean;

    /** Up to the longest that it may be; while it is truncated, what it was before. */
    private byte[] content;

    private Set<SlotState> states = EnumSet.of(SlotState.LIVE);
    private Set<SlotFlag> mustHave = EnumSet.noneOf(SlotFlag.class);
    private Set<SlotFlag> mayHave = EnumSet.noneOf(SlotFlag.class);

    Expectation(Slot slot, byte[] content, long minForced) {
      this.slot = slot;
      this.minLength = slot.committedLength();
      this.maxLength = minLength;
      this.minForced = minForced;
      this.maxClean = slot.cleanLength();
      this.content = content;
      this.states = EnumSet.of(slot.state());
      for (SlotFlag flag : SlotFlag.values()) {
        if (slot.has(flag)) {
          mustHave.add(flag);
          mayHave.add(flag);
        }
      }
    }
  }

  private final Random random;
  private final Set<Identity> used;
  private final Optional<Pool> pool;
  private final Map<Identity, Expectation> segments = new HashMap<>();
  private final List<Extent> dropped = new ArrayList<>();
  private int created;

  /** What the next append writes is not what the last one wrote, at any offset. */
  private int appends;

  private Optional<String> creating = Optional.empty();

  /** On a pool that could not be opened: nothing is expected. */
  PoolWorkload(Random random, Set<Identity> used) {
    this.random = random;
    this.used = used;
    this.pool = Optional.empty();
  }

  /** On a pool as it is. */
  PoolWorkload(Pool pool, Random random, Set<Identity> used) throws IOException {
    this.random = random;
    this.used = used;
    this.pool = Optional.of(pool);
    for (Slot slot : pool.slots()) {
      long forced = pool.report().powerLost() ? slot.committedLength() : 0;
      segments.put(
          new Identity(slot.index(), slot.generation()),
          new Expectation(slot, content(pool, slot), forced));
    }
  }

  void run(int steps) throws IOException {
    for (int i = 0; i < steps; i++) {
      List<Expectation> open = new ArrayList<>();
      segments.values().stream()
          .filter(segment -> segment.slot.state() != SlotState.FREE)
          .sorted((a, b) -> Integer.compare(a.slot.index(), b.slot.index()))
          .forEach(open::add);
      int choice = random.nextInt(100);
      if (open.isEmpty() || choice < 12) {
        allocate();
      } else {
        change(open.get(random.nextInt(open.size())), choice);
      }
    }
  }

  private void change(Expectation segment, int choice) throws IOException {
    if (segment.slot.state() == SlotState.DELETING) {
      // Another segment may have its extents.
      free(segment);
    } else if (choice < 48) {
      append(segment, random.nextInt(4) == 0 ? random.nextInt(200_000) : random.nextInt(3000));
    } else if (choice < 60) {
      truncate(segment);
    } else if (choice < 67) {
      if (segment.slot.has(SlotFlag.SPILLED) && random.nextBoolean()) {
        beginAgain(segment);
      } else {
        evict(segment);
      }
    } else if (choice < 75) {
      setFlag(segment, FLAGS.get(random.nextInt(FLAGS.size())));
    } else if (choice < 80) {
      clearFlag(segment, FLAGS.get(random.nextInt(FLAGS.size())));
    } else if (choice < 87) {
      long to = segment.slot.committedLength();
      segment.slot.force(0, to);
      segment.minForced = to;
    } else if (choice < 92) {
      release();
    } else {
      delete(segment);
    }
  }

  private Pool pool() {
    return pool.orElseThrow();
  }

  private void allocate() throws IOException {
    String path = "segment-" + created++;
    creating = Optional.of(path);
    Optional<Slot> slot = pool().allocateSlot(DIRECTORY, path);
    creating = Optional.empty();
    if (slot.isPresent()) {
      Identity identity = new Identity(slot.get().index(), slot.get().generation());
      assertThat(used.add(identity)).as("%s is new", identity).isTrue();
      // A slot is forced to be free before it is used again.
      segments.keySet().removeIf(other -> other.index() == identity.index());
      segments.put(identity, new Expectation(slot.get(), new byte[0], 0));
    }
  }

  private void append(Expectation segment, int bytes) throws IOException {
    Slot slot = segment.slot;
    if (slot.has(SlotFlag.SPILLED)) {
      // What comes behind a spill offset goes to the log file.
      return;
    }
    long from = slot.committedLength();
    long to = from + bytes;
    while (slot.extents().end() < to) {
      if (!slot.grow()) {
        to = slot.extents().end();
      }
    }
    byte[] longer = Arrays.copyOf(segment.content, (int) to);
    fill(longer, (int) from, new Identity(slot.index(), slot.generation()), ++appends);
    segment.content = longer;
    for (long at = from; at < to; ) {
      ExtentList extents = slot.extents();
      int i = extents.find(at);
      long within = at - extents.start(i);
      int length = (int) Math.min(to - at, extents.length(i) - within);
      pool()
          .memory()
          .storeAndPersist(extents.position(i) + within, ByteBuffer.wrap(longer, (int) at, length));
      at += length;
    }
    segment.maxLength = to;
    slot.commit(to);
    segment.minLength = to;
  }

  private void truncate(Expectation segment) throws IOException {
    long length = segment.slot.committedLength();
    long keep = random.nextInt(3) == 0 ? 0 : random.nextLong(length + 1);
    segment.minLength = keep;
    segment.minForced = Math.min(segment.minForced, keep);
    boolean below = keep < segment.slot.extents().start();
    if (keep < segment.slot.cleanLength()) {
      segment.slot.setCleanLength(keep);
    }
    // The new count of extents may reach the medium before the new length; the slot is then taken
    // for one that has been shortened. The log file has been truncated before, so that nothing is
    // lost by that.
    // Below all extents the log file alone is truncated, before the slot.
    boolean mayBeLost = below || (pool().info().durability().needsForce() && keep < length);
    boolean spilled = mayBeLost && segment.mustHave.remove(SlotFlag.SPILLED);
    dropped.addAll(segment.slot.truncate(keep));
    if (spilled) {
      segment.mustHave.add(SlotFlag.SPILLED);
    }
    segment.maxLength = keep;
    segment.maxClean = Math.min(segment.maxClean, keep);
    segment.content = Arrays.copyOf(segment.content, (int) keep);
    if (random.nextBoolean()) {
      release();
    }
  }

  private void evict(Expectation segment) throws IOException {
    Slot slot = segment.slot;
    long clean = random.nextLong(slot.cleanLength(), slot.committedLength() + 1);
    segment.maxClean = clean;
    slot.setCleanLength(clean);
    segment.minForced = Math.max(segment.minForced, clean);
    dropped.addAll(slot.evict(random.nextInt(3) == 0 ? clean : random.nextLong(clean + 1)));
    if (random.nextBoolean()) {
      release();
    }
  }

  /** Where the log file ends, which has all bytes before. */
  private void beginAgain(Expectation segment) throws IOException {
    Slot slot = segment.slot;
    long offset = slot.committedLength() + random.nextInt(100_000);
    segment.maxClean = offset;
    segment.content = Arrays.copyOf(segment.content, (int) offset);
    slot.setCleanLength(slot.committedLength());
    segment.minForced = slot.committedLength();
    segment.maxLength = offset;
    dropped.addAll(slot.beginAt(offset));
    segment.minLength = offset;
    segment.minForced = offset;
    if (random.nextBoolean()) {
      release();
    }
  }

  private void setFlag(Expectation segment, SlotFlag flag) throws IOException {
    segment.mayHave.add(flag);
    segment.slot.set(flag);
    segment.mustHave.add(flag);
  }

  private void clearFlag(Expectation segment, SlotFlag flag) throws IOException {
    segment.mustHave.remove(flag);
    segment.slot.clear(flag);
    segment.mayHave.remove(flag);
  }

  private void delete(Expectation segment) throws IOException {
    segment.states.add(SlotState.DELETING);
    segment.slot.markDeleting();
    segment.states.remove(SlotState.LIVE);
    dropped.addAll(segment.slot.extents().toList());
    if (random.nextBoolean()) {
      release();
    }
    if (random.nextInt(4) > 0) {
      free(segment);
    }
  }

  private void free(Expectation segment) throws IOException {
    segment.states.add(SlotState.FREE);
    segment.slot.free();
    segment.states.remove(SlotState.DELETING);
  }

  private void release() throws IOException {
    List<Extent> extents = List.copyOf(dropped);
    dropped.clear();
    pool().release(extents);
  }

  /**
   * Compares what was opened after a crash with what this workload was told.
   *
   * @param powerCut whether what was not forced may be gone, where the pool needs that
   */
  void verify(Pool opened, boolean powerCut) throws IOException {
    boolean forcedOnly = powerCut && opened.info().durability().needsForce();
    for (Slot slot : opened.slots()) {
      Identity identity = new Identity(slot.index(), slot.generation());
      Expectation segment = segments.get(identity);
      if (segment == null) {
        assertThat(Optional.of(slot.relativePath())).as("%s", slot).isEqualTo(creating);
        assertThat(slot.committedLength()).as("%s", slot).isZero();
        used.add(identity);
      } else {
        if (slot.state() == SlotState.DELETING) {
          assertThat(segment.states).as("states of %s", slot).contains(SlotState.DELETING);
          assertThat(slot.extents().count()).as("extents of %s", slot).isZero();
          assertThat(slot.committedLength()).as("committed length of %s", slot).isZero();
        } else {
          verify(slot, segment, forcedOnly);
          assertContent(opened, slot, segment, forcedOnly);
        }
      }
    }
    if (opened.info().durability().needsForce()) {
      assertZerosOutside(opened);
    }
    for (Map.Entry<Identity, Expectation> segment : segments.entrySet()) {
      if (!segment.getValue().states.contains(SlotState.FREE) && !forcedOnly) {
        assertPresent(opened, segment.getKey());
      }
      if (segment.getValue().states.contains(SlotState.LIVE)
          && !segment.getValue().states.contains(SlotState.FREE)) {
        assertPresent(opened, segment.getKey());
      }
    }
  }

  private static void assertPresent(Pool opened, Identity identity) {
    assertThat(opened.slot(identity.index(), identity.generation())).as("%s", identity).isPresent();
  }

  private static void verify(Slot slot, Expectation segment, boolean forcedOnly) {
    assertThat(slot.relativePath()).isEqualTo(segment.slot.relativePath());
    assertThat(slot.createdAtMillis()).isEqualTo(segment.slot.createdAtMillis());
    assertThat(slot.directoryId()).isEqualTo(segment.slot.directoryId());
    assertThat(slot.committedLength())
        .as("committed length of %s", slot)
        .isBetween(forcedOnly ? segment.minForced : segment.minLength, segment.maxLength);
    assertThat(slot.extents().start())
        .as("start of the extents of %s", slot)
        .isBetween(0L, slot.cleanLength());
    assertThat(slot.cleanLength()).as("clean length of %s", slot).isBetween(0L, segment.maxClean);
    if (forcedOnly) {
      if (segment.mustHave.contains(SlotFlag.SPILLED)) {
        assertThat(slot.has(SlotFlag.SPILLED)).as("SPILLED of %s", slot).isTrue();
      }
      return;
    }
    assertThat(segment.states).as("states of %s", slot).contains(slot.state());
    for (SlotFlag flag : SlotFlag.values()) {
      if (segment.mustHave.contains(flag)) {
        assertThat(slot.has(flag)).as("%s of %s", flag, slot).isTrue();
      }
      if (!segment.mayHave.contains(flag)) {
        assertThat(slot.has(flag)).as("%s of %s", flag, slot).isFalse();
      }
    }
  }

  /**
   * Every committed byte is the segment's own, and what it wrote there last; or, if it was not
   * forced and the power went, zero.
   */
  private static void assertContent(Pool opened, Slot slot, Expectation segment, boolean forcedOnly)
      throws IOException {
    byte[] found = content(opened, slot);
    for (int i = (int) slot.extents().start(); i < found.length; i++) {
      boolean lost = forcedOnly && i >= segment.minForced && found[i] == 0;
      if (found[i] != segment.content[i] && !lost) {
        throw new AssertionError(
            "%s: found %d at %d, expected %d; %d bytes, of which %d were forced"
                .formatted(slot, found[i], i, segment.content[i], found.length, segment.minForced));
      }
    }
  }

  /** What is not committed is zeros: it may become part of any segment. */
  static void assertZerosOutside(Pool opened) throws IOException {
    PoolInfo info = opened.info();
    byte[] data = new byte[(int) info.dataSize()];
    opened.memory().load(info.dataPosition(), ByteBuffer.wrap(data));
    for (Slot slot : opened.slots()) {
      ExtentList extents = slot.extents();
      for (int i = 0; i < extents.count(); i++) {
        int from = (int) (extents.position(i) - info.dataPosition());
        long length = Math.min(extents.length(i), slot.committedLength() - extents.start(i));
        Arrays.fill(data, from, from + (int) Math.max(0, length), (byte) 0);
      }
    }
    assertThat(Arrays.mismatch(data, new byte[data.length]))
        .as("first byte not zero")
        .isEqualTo(-1);
  }

  /** The committed bytes; zeros for those that the pool has not got any more. */
  static byte[] content(Pool pool, Slot slot) throws IOException {
    PersistentMemory memory = pool.memory();
    ExtentList extents = slot.extents();
    byte[] content = new byte[(int) slot.committedLength()];
    assertThat(extents.end()).isGreaterThanOrEqualTo(content.length);
    for (int i = 0, at = (int) extents.start(); at < content.length; i++) {
      int length = (int) Math.min(content.length - at, extents.length(i));
      memory.load(extents.position(i), ByteBuffer.wrap(content, at, length));
      at += length;
    }
    return content;
  }

  /** Fills the bytes from {@code from} on with what only this segment writes, and only once. */
  static void fill(byte[] content, int from, Identity identity, int append) {
    long seed = identity.index() * 1_000_003L + identity.generation() * 7919 + append * 104_729L;
    for (int i = from; i < content.length; i++) {
      content[i] = (byte) (((seed + i) * 0x9E3779B97F4A7C15L) >>> 56 | 1);
    }
  }
}
