package io.strata.kafka.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.strata.kafka.layout.SessionLayout;
import io.strata.kafka.layout.SlotLayout;
import io.strata.kafka.layout.SuperblockLayout;
import io.strata.kafka.memory.Durability;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.memory.RecordingMemory;
import io.strata.kafka.pool.space.Extent;
import io.strata.kafka.pool.words.PoolException;
import io.strata.kafka.pool.words.PoolOwner;
import io.strata.kafka.pool.words.PoolSpec;
import io.strata.kafka.pool.words.SlotFlag;
import io.strata.kafka.pool.words.SlotState;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A pool's metadata, damaged byte by byte: opening it gives the same segments with the same bytes,
 * or a refusal that names the pool. It never gives one segment less, or one that is another.
 *
 * <p>{@link PoolCheckerTest} does the same for the checker; here it is what a broker does when it
 * starts. More random damage: {@code -Dstrata.pool.damage.rounds=}.
 */
class DamagedBytesTest {
  private static final int SIZE = 4 << 20;
  private static final int SLOTS = 8;
  private static final int METADATA = (int) SlotLayout.slotPosition(SLOTS);
  private static final PoolOwner OWNER = PoolOwner.of(1, "cluster");
  private static final int ROUNDS = Integer.getInteger("strata.pool.damage.rounds", 3_000);

  /** Every byte, and each of its bits in every state of the pool; otherwise every third byte. */
  private static final boolean ALL = ROUNDS > 3_000;

  private static final long SEED = Long.getLong("strata.test.seed", 20_26L);

  /** How the pool was left, and what its bytes survive. */
  private enum Left {
    CLOSED_ON_DAX(Durability.POWER, true),
    KILLED_ON_DAX(Durability.POWER, false),
    CLOSED_ON_SSD(Durability.FORCE, true),
    KILLED_ON_SSD(Durability.FORCE, false);

    private final Durability durability;
    private final boolean closed;

    Left(Durability durability, boolean closed) {
      this.durability = durability;
      this.closed = closed;
    }
  }

  /** What opening found of one slot. */
  private record Found(
      int index,
      long generation,
      SlotState state,
      UUID directory,
      String path,
      long created,
      long length,
      List<SlotFlag> flags,
      List<Extent> extents,
      long checksum) {}

  private enum Outcome {
    SAME,
    REFUSED
  }

  private final Map<Outcome, Integer> outcomes = new EnumMap<>(Outcome.class);
  private RecordingMemory memory = new RecordingMemory(SIZE);
  private byte[] image = new byte[0];
  private List<Found> sound = List.of();

  @BeforeEach
  void nothingYet() {
    outcomes.clear();
  }

  /**
   * Slots: 0 live with five extents; 1 deleting; 2 live and empty; 3 freed; 4 live, clean and
   * spilled; 5 live with one extent, of its second generation; 6 and 7 never used.
   */
  private void make(Left left) throws IOException {
    RecordingMemory made = new RecordingMemory(SIZE, left.durability);
    Pool.format(
        made,
        PoolSpec.of(Path.of("unused"), MemoryType.MAPPED, SIZE)
            .withSlotCount(SLOTS)
            .withOwner(OWNER));
    Pool pool = Pool.open(made, OWNER);
    List<Slot> slots = new ArrayList<>();
    slots.add(pool.allocateSlot(new UUID(8, 9), "topic-0/0.log").orElseThrow());
    // While it is alone, so that its extents may have several lengths.
    fill(made, slots.get(0), 5, 700_000);
    for (int i = 1; i < 6; i++) {
      slots.add(pool.allocateSlot(new UUID(8, 9), "topic-" + i + "/0.log").orElseThrow());
    }
    slots.get(0).set(SlotFlag.NAME_DURABLE);
    fill(made, slots.get(1), 1, 10);
    slots.get(1).markDeleting();
    free(pool, slots.get(3));
    fill(made, slots.get(4), 2, 131_072);
    slots.get(4).set(SlotFlag.NAME_DURABLE);
    slots.get(4).set(SlotFlag.SPILLED);
    free(pool, slots.get(5));
    Slot second = pool.allocateSlot(new UUID(8, 9), "again-0/0.log").orElseThrow();
    fill(made, second, 1, 4_711);
    if (left.closed) {
      pool.close();
    }
    memory = made.kill();
    sound = found(Pool.open(memory.kill(), OWNER));
    assertThat(sound).hasSize(5);
    byte[] bytes = new byte[METADATA];
    memory.load(0, ByteBuffer.wrap(bytes));
    image = bytes;
  }

  private static void free(Pool pool, Slot slot) throws IOException {
    List<Extent> extents = slot.extents().toList();
    slot.markDeleting();
    slot.free();
    pool.release(extents);
  }

  private static void fill(RecordingMemory memory, Slot slot, int extents, int length)
      throws IOException {
    byte[] bytes = new byte[length];
    new Random(slot.index()).nextBytes(bytes);
    for (int i = 0; i < extents; i++) {
      assertThat(slot.grow()).isTrue();
      long start = slot.extents().start(i);
      int count = (int) Math.min(slot.extents().length(i), length - start);
      if (count > 0) {
        memory.store(slot.extents().position(i), ByteBuffer.wrap(bytes, (int) start, count));
        memory.persist(slot.extents().position(i), count);
        memory.force(slot.extents().position(i), count);
      }
    }
    slot.commit(length);
    slot.force(0, length);
  }

  private List<Found> found(Pool pool) throws IOException {
    List<Found> all = new ArrayList<>();
    for (Slot slot : pool.slots()) {
      all.add(
          new Found(
              slot.index(),
              slot.generation(),
              slot.state(),
              slot.directoryId(),
              slot.relativePath(),
              slot.createdAtMillis(),
              slot.committedLength(),
              Arrays.stream(SlotFlag.values()).filter(slot::has).toList(),
              slot.extents().toList(),
              checksum(pool, slot)));
    }
    all.sort(Comparator.comparingInt(Found::index));
    return all;
  }

  private static long checksum(Pool pool, Slot slot) throws IOException {
    CRC32C crc = new CRC32C();
    for (int i = 0; i < slot.extents().count(); i++) {
      long length =
          Math.min(slot.extents().length(i), slot.committedLength() - slot.extents().start(i));
      if (length > 0) {
        byte[] bytes = new byte[(int) length];
        pool.memory().load(slot.extents().position(i), ByteBuffer.wrap(bytes));
        crc.update(bytes);
      }
    }
    return crc.getValue();
  }

  /** Puts damaged metadata in its place, opens the pool, and compares. */
  private void open(byte[] damaged, String what) throws IOException {
    memory.store(0, ByteBuffer.wrap(damaged));
    Outcome outcome;
    try {
      Pool pool = Pool.open(memory, OWNER);
      List<Found> now = found(pool);
      if (!now.equals(sound)) {
        fail("%s: found %s, expected %s, or a refusal", what, now, sound);
      }
      outcome = Outcome.SAME;
    } catch (PoolException e) {
      assertThat(e.getMessage())
          .as(what)
          .startsWith("pool " + memory.path() + ": ")
          .containsAnyOf("expected", "this jar reads up to", "broken");
      byte[] after = new byte[METADATA];
      memory.load(0, ByteBuffer.wrap(after));
      assertThat(Arrays.mismatch(after, damaged))
          .as("%s: what is refused is left", what)
          .isEqualTo(-1);
      outcome = Outcome.REFUSED;
    } catch (IOException | RuntimeException e) {
      throw new AssertionError(what + ": expected the segments or a refusal", e);
    }
    outcomes.merge(outcome, 1, Integer::sum);
  }

  private byte[] changed(int position, int value) {
    byte[] damaged = image.clone();
    damaged[position] = (byte) value;
    return damaged;
  }

  /** Each bit on its own, and some whole bytes; of a pool that is cleared at each opening, less. */
  @ParameterizedTest
  @EnumSource
  void everyByteOfTheMetadata(Left left) throws IOException {
    make(left);
    Random random = new Random(SEED);
    boolean cleared = left == Left.KILLED_ON_SSD;
    for (int position = 0; position < METADATA; position += ALL ? 1 : 3) {
      int before = image[position] & 0xFF;
      List<Integer> values = new ArrayList<>();
      if (cleared) {
        if (!matters(position)) {
          continue;
        }
        values.add(before ^ (1 << random.nextInt(8)));
      } else {
        int bits = matters(position) && (left == Left.CLOSED_ON_DAX || ALL) ? 8 : 1;
        for (int bit = 0; bit < bits; bit++) {
          values.add(before ^ (1 << bit));
        }
        values.addAll(List.of(0, 0xFF, before ^ (1 + random.nextInt(255))));
      }
      for (int value : values) {
        if (value != before) {
          open(
              changed(position, value),
              left + ": byte " + position + ", 0x%02x for 0x%02x".formatted(value, before));
        }
      }
    }
    open(image, left + ": as it was");
    // Nothing else holds the pool up: one copy of the superblock, and the session, may be damaged.
    assertThat(outcomes.get(Outcome.SAME)).isGreaterThan(100);
    assertThat(outcomes.get(Outcome.REFUSED)).isGreaterThan(100);
  }

  /** Whether a byte is one that says something, and no zeros between the parts. */
  private static boolean matters(int position) {
    return position >= SlotLayout.TABLE
        || position < SuperblockLayout.HEADER_LENGTH + 8
        || (position >= SuperblockLayout.SECOND_COPY
            && position < SuperblockLayout.SECOND_COPY + SuperblockLayout.HEADER_LENGTH + 8)
        || (position >= SessionLayout.POSITION
            && position < SessionLayout.POSITION + SessionLayout.LENGTH + 8);
  }

  /**
   * What a device does to a line, a sector, a page: zeros, ones, noise, or another place's bytes.
   */
  @ParameterizedTest
  @EnumSource(names = {"CLOSED_ON_DAX", "CLOSED_ON_SSD"})
  void wholeLinesSectorsAndPages(Left left) throws IOException {
    make(left);
    Random random = new Random(SEED);
    for (int round = 0; round < ROUNDS; round++) {
      int length = new int[] {8, 64, 512, 1024, 4096}[random.nextInt(5)];
      int at = random.nextInt(METADATA / length) * length;
      byte[] damaged = image.clone();
      String how;
      switch (random.nextInt(4)) {
        case 0 -> {
          how = "zeros";
          Arrays.fill(damaged, at, at + length, (byte) 0);
        }
        case 1 -> {
          how = "ones";
          Arrays.fill(damaged, at, at + length, (byte) 0xFF);
        }
        case 2 -> {
          byte[] noise = new byte[length];
          random.nextBytes(noise);
          System.arraycopy(noise, 0, damaged, at, length);
          how = "noise";
        }
        default -> {
          int from = random.nextInt(METADATA / length) * length;
          System.arraycopy(image, from, damaged, at, length);
          how = "the bytes of " + from;
        }
      }
      open(
          damaged,
          "%s, -Dstrata.test.seed=%d, round %d: %d bytes at %d are %s"
              .formatted(left, SEED, round, length, at, how));
    }
  }

  /** Both copies of the superblock at once: never two that pass for one. */
  @ParameterizedTest
  @EnumSource(names = "CLOSED_ON_DAX")
  void bothSuperblocks(Left left) throws IOException {
    make(left);
    Random random = new Random(SEED);
    for (int round = 0; round < ROUNDS; round++) {
      byte[] damaged = image.clone();
      int first = random.nextInt(SuperblockLayout.HEADER_LENGTH);
      int second = random.nextInt(SuperblockLayout.HEADER_LENGTH);
      damaged[first] ^= (byte) (1 + random.nextInt(255));
      damaged[(int) SuperblockLayout.SECOND_COPY + second] ^= (byte) (1 + random.nextInt(255));
      open(
          damaged,
          "-Dstrata.test.seed=%d, round %d: bytes %d and %d".formatted(SEED, round, first, second));
    }
    assertThat(outcomes).containsOnlyKeys(Outcome.REFUSED);
  }

  /**
   * A file that was truncated is refused, wherever it was truncated; a longer one is the same pool.
   */
  @ParameterizedTest
  @EnumSource(names = "CLOSED_ON_DAX")
  void everyLength(Left left) throws IOException {
    make(left);
    byte[] whole = new byte[SIZE];
    memory.load(0, ByteBuffer.wrap(whole));
    for (int length = 0; length < SIZE; length += length < 2 * METADATA ? 509 : 40_009) {
      RecordingMemory cut = new RecordingMemory(Math.max(8, length));
      cut.store(0, ByteBuffer.wrap(whole, 0, (int) Math.min(cut.size(), length)));
      try {
        Pool unused = Pool.open(cut, OWNER);
        fail("%d of %d bytes: expected a refusal", length, SIZE);
      } catch (PoolException e) {
        assertThat(e.kind())
            .as("%d bytes", length)
            .isIn(
                PoolException.Kind.TRUNCATED,
                PoolException.Kind.NOT_A_POOL,
                PoolException.Kind.CORRUPT);
      }
    }
    RecordingMemory longer = new RecordingMemory(SIZE + 65_536);
    longer.store(0, ByteBuffer.wrap(whole));
    assertThat(found(Pool.open(longer, OWNER))).isEqualTo(sound);
  }

  /** Of the data every byte may be anything: no metadata follows from it. */
  @ParameterizedTest
  @EnumSource
  void randomBytesOfTheData(Left left) throws IOException {
    make(left);
    Random random = new Random(SEED);
    List<Found> before = withoutChecksums(sound);
    for (int round = 0; round < 30; round++) {
      RecordingMemory damaged = memory.kill();
      byte[] noise = new byte[1 + random.nextInt(200_000)];
      random.nextBytes(noise);
      long at = METADATA + (long) random.nextInt(SIZE - METADATA - noise.length);
      damaged.store(at, ByteBuffer.wrap(noise));
      assertThat(withoutChecksums(found(Pool.open(damaged, OWNER))))
          .as("%s, -Dstrata.test.seed=%d, round %d", left, SEED, round)
          .isEqualTo(before);
    }
  }

  private static List<Found> withoutChecksums(List<Found> all) {
    return all.stream()
        .map(
            each ->
                new Found(
                    each.index,
                    each.generation,
                    each.state,
                    each.directory,
                    each.path,
                    each.created,
                    each.length,
                    each.flags,
                    each.extents,
                    0))
        .toList();
  }
}
