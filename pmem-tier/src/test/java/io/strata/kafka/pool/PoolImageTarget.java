package io.strata.kafka.pool;

import static io.strata.kafka.layout.SlotLayout.*;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.fuzz.FuzzTarget;
import io.strata.kafka.layout.CheckedWord;
import io.strata.kafka.layout.MomentLayout;
import io.strata.kafka.layout.SessionLayout;
import io.strata.kafka.layout.SuperblockLayout;
import io.strata.kafka.memory.Durability;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.memory.RecordingMemory;
import io.strata.kafka.pool.space.Extent;
import io.strata.kafka.pool.words.CheckFinding.Severity;
import io.strata.kafka.pool.words.PoolException;
import io.strata.kafka.pool.words.PoolException.Kind;
import io.strata.kafka.pool.words.PoolOwner;
import io.strata.kafka.pool.words.PoolSpec;
import io.strata.kafka.pool.words.SlotDecoder;
import io.strata.kafka.pool.words.SlotFlag;
import io.strata.kafka.pool.words.SlotSnapshot;
import io.strata.kafka.pool.words.SlotState;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.zip.CRC32C;

/**
 * A pool's superblocks, session and slots. An input is a list of changes to a sound image: bytes as
 * they are, and words, extents, bodies and superblocks whose checksums are made to fit.
 *
 * <p>What is promised: the checker answers; a pool that is refused is refused with a {@link
 * PoolException} that names it, and nothing has been stored; one that is accepted is one that the
 * checker accepts, its extents are inside the pool and no other slot's, lengths are within extents,
 * and it can be used until it is full; one with damaged slots can be repaired.
 */
final class PoolImageTarget implements FuzzTarget {

  private static final int SIZE = 8 << 20;
  private static final int SLOTS = 8;
  private static final int METADATA = (int) slotPosition(SLOTS) + 4096;
  private static final UUID DIRECTORY = new UUID(8, 9);

  private final byte[] sound;
  private final int salt;

  PoolImageTarget() throws IOException {
    RecordingMemory memory = new RecordingMemory(SIZE);
    Pool.format(
        memory,
        PoolSpec.of(ImageMemory.PATH, MemoryType.MAPPED, SIZE)
            .withSlotCount(SLOTS)
            .withOwner(PoolOwner.of(1, "cluster")));
    Pool pool = Pool.open(memory, PoolOwner.ANY);
    for (int i = 0; i < 5; i++) {
      Slot slot = pool.allocateSlot(DIRECTORY, "topic-" + i + "/0.log").orElseThrow();
      for (int e = 0; e < i; e++) {
        assertThat(slot.grow()).isTrue();
      }
      slot.commit(i * 1000L);
    }
    pool.slots().get(1).set(SlotFlag.NAME_DURABLE);
    pool.slots().get(2).set(SlotFlag.SPILLED);
    pool.slots().get(3).markDeleting();
    pool.slots().get(0).free();
    this.salt = pool.salt();
    ByteBuffer bytes = ByteBuffer.allocate(METADATA);
    memory.load(0, bytes);
    this.sound = bytes.array();
  }

  @Override
  public String name() {
    return "pool-image";
  }

  @Override
  public int longest() {
    return 512;
  }

  @Override
  public long mostAllocated() {
    return 96L << 20;
  }

  /** An image: the metadata, and what else an input says. */
  private static final class Image {
    private final byte[] metadata;
    private final long size;
    private final Durability durability;
    private final PoolOwner opener;

    Image(byte[] metadata, long size, Durability durability, PoolOwner opener) {
      this.metadata = metadata;
      this.size = size;
      this.durability = durability;
      this.opener = opener;
    }

    ImageMemory memory() {
      return new ImageMemory(metadata.clone(), size, durability);
    }
  }

  private Image image(byte[] input) {
    ByteBuffer in = ByteBuffer.wrap(input).order(ByteOrder.LITTLE_ENDIAN);
    byte first = in.hasRemaining() ? in.get() : 0;
    ByteBuffer bytes = ByteBuffer.wrap(sound.clone()).order(ByteOrder.LITTLE_ENDIAN);
    long size = SIZE;
    // 11 bytes for each change: what, where, and 8 bytes of a value.
    while (in.remaining() >= 11) {
      int what = in.get() & 0xFF;
      int where = in.getShort() & 0xFFFF;
      long value = in.getLong();
      if (what % 8 == 7) {
        size = Math.floorMod(value, 2L * SIZE);
      } else {
        change(bytes, what % 8, where, value);
      }
    }
    return new Image(
        bytes.array(),
        size,
        (first & 1) == 0 ? Durability.POWER : Durability.FORCE,
        (first & 6) == 6 ? PoolOwner.of(2, "cluster") : PoolOwner.ANY);
  }

  private void change(ByteBuffer bytes, int what, int where, long value) {
    int slot = where / 128 % SLOTS;
    int at = (int) slotPosition(slot);
    switch (what) {
      case 0 -> bytes.put(where % METADATA, (byte) value);
      case 1 -> bytes.putLong(where % (METADATA / 8) * 8, value);
      case 2 -> putWord(bytes, at + where % 8 * 8, value, salt);
      case 3 -> {
        long generation = bytes.getLong(at + GENERATION_OFFSET) & CheckedWord.MAX_VALUE;
        putWord(
            bytes,
            at + EXTENTS_OFFSET + where % MAX_EXTENTS * 8,
            extentValue(value >>> 8 & 0xFFFFFFFFL, (int) (value & 0xFF) - 1),
            extentSalt(salt, generation));
      }
      case 4 -> {
        bytes.putLong(at + LINE_LENGTH + where % 43 * 8, value);
        long generation = bytes.getLong(at + GENERATION_OFFSET) & CheckedWord.MAX_VALUE;
        ByteBuffer body = bytes.slice(at + LINE_LENGTH, EXTENTS_OFFSET - LINE_LENGTH);
        putWord(bytes, at + BODY_CHECK_OFFSET, SlotDecoder.bodyCheck(generation, body), salt);
      }
      case 5 -> {
        int copy = (where & 1) * SuperblockLayout.COPY_LENGTH;
        bytes.putLong(copy + where / 2 % 31 * 8, value);
        CRC32C crc = new CRC32C();
        crc.update(bytes.slice(copy, SuperblockLayout.CHECKSUM_OFFSET));
        bytes.putInt(copy + SuperblockLayout.CHECKSUM_OFFSET, (int) crc.getValue());
      }
      default -> putWord(bytes, (int) SessionLayout.POSITION + where % 2 * 8, value, salt);
    }
  }

  private static void putWord(ByteBuffer bytes, int position, long value, int salt) {
    bytes.putLong(position, CheckedWord.encode(value & CheckedWord.MAX_VALUE, position, salt));
  }

  @Override
  public void run(byte[] input) throws Exception {
    Image image = image(input);
    boolean sane = checkerAnswers(image);
    readerAnswers(image);
    Optional<Kind> refused = open(image.memory(), image.opener, sane);
    if (refused.isPresent() && refused.get() == Kind.CORRUPT) {
      repair(image);
    }
  }

  private static boolean checkerAnswers(Image image) throws IOException {
    ImageMemory memory = image.memory();
    CheckReport report = PoolChecker.check(memory);
    assertThat(memory.stores()).as("stores of the checker").isZero();
    assertThat(report.findings()).allSatisfy(f -> assertThat(f.toString()).isNotBlank());
    return report.findings().stream().noneMatch(f -> f.severity() == Severity.ERROR);
  }

  private static void readerAnswers(Image image) throws IOException {
    ImageMemory memory = image.memory();
    try (PoolReader reader = new PoolReader(memory)) {
      for (int i = -1; i <= SLOTS; i++) {
        Optional<SlotSnapshot> slot = reader.read(i);
        assertThat(slot.isEmpty() || reader.valid(slot.get()) == isLive(slot.get())).isTrue();
        slot.ifPresent(s -> assertThat(s.committedLength()).isLessThanOrEqualTo(s.extents().end()));
      }
    } catch (PoolException e) {
      assertThat(e).hasMessageContaining(ImageMemory.PATH.toString());
    }
    assertThat(memory.stores()).as("stores of a reader").isZero();
  }

  private static boolean isLive(SlotSnapshot slot) {
    return slot.state() == SlotState.LIVE;
  }

  private static Optional<Kind> open(ImageMemory memory, PoolOwner opener, boolean sane)
      throws IOException {
    Pool pool;
    try {
      pool = Pool.open(memory, opener);
    } catch (PoolException e) {
      assertThat(e).hasMessageContaining(ImageMemory.PATH.toString());
      assertThat(memory.stores()).as("stores into a pool that is refused: " + e).isZero();
      assertThat(e.kind() == Kind.OTHER_OWNER || !sane)
          .as("refused, though the checker finds nothing: " + e)
          .isTrue();
      return Optional.of(e.kind());
    }
    assertThat(sane).as("opened, though the checker finds errors").isTrue();
    Map<Integer, String> opened = use(pool);
    pool.close();
    // A damaged moment stays: the log directory that it was of may be away, and is permitted.
    assertThat(PoolChecker.check(memory).findings())
        .as("clean after use")
        .allMatch(
            found ->
                found.severity() == Severity.WARNING
                    && found.position() >= MomentLayout.POSITION
                    && found.position() < MomentLayout.position(MomentLayout.COUNT));
    Pool again = Pool.open(memory, PoolOwner.ANY);
    assertThat(slots(again)).isEqualTo(opened);
    return Optional.empty();
  }

  /** Takes all that is free; what there was stays as it was. */
  private static Map<Integer, String> use(Pool pool) throws IOException {
    requireSound(pool);
    int slots = 0;
    while (slots++ < 4) {
      Optional<Slot> slot = pool.allocateSlot(DIRECTORY, "new/" + slots);
      if (slot.isEmpty() || !slot.get().grow()) {
        break;
      }
      slot.get().commit(7);
      requireSound(pool);
    }
    List<Slot> all = pool.slots();
    while (!all.isEmpty() && all.get(0).grow()) {
      // Until all is taken, or the slot is full.
      requireSound(pool);
    }
    if (!all.isEmpty()) {
      pool.release(all.get(0).truncate(0));
      List<Extent> extents = all.get(0).extents().toList();
      all.get(0).free();
      pool.release(extents);
    }
    requireSound(pool);
    return slots(pool);
  }

  private static Map<Integer, String> slots(Pool pool) {
    Map<Integer, String> slots = new TreeMap<>();
    for (Slot slot : pool.slots()) {
      slots.put(
          slot.index(), slot + " " + slot.state() + " " + slot.committedLength() + slot.extents());
    }
    return slots;
  }

  private static void requireSound(Pool pool) {
    PoolInfo info = pool.info();
    TreeMap<Long, Long> taken = new TreeMap<>();
    long sum = 0;
    List<Extent> extents = new ArrayList<>();
    for (Slot slot : pool.slots()) {
      assertThat(slot.committedLength()).isBetween(0L, slot.extents().end());
      assertThat(slot.state()).isIn(Set.of(SlotState.LIVE, SlotState.DELETING));
      extents.addAll(slot.extents().toList());
    }
    for (Extent extent : extents) {
      assertThat(extent.position()).isGreaterThanOrEqualTo(info.dataPosition());
      assertThat(extent.position() + extent.length())
          .isLessThanOrEqualTo(info.dataPosition() + info.dataSize());
      assertThat((extent.position() - info.dataPosition()) % extent.length()).isZero();
      Map.Entry<Long, Long> before = taken.floorEntry(extent.position() + extent.length() - 1);
      assertThat(before == null || before.getValue() <= extent.position())
          .as("%s belongs to one", extent)
          .isTrue();
      taken.put(extent.position(), extent.position() + extent.length());
      sum += extent.length();
    }
    assertThat(pool.usage().freeBytes() + sum).isEqualTo(info.dataSize());
  }

  private static void repair(Image image) throws IOException {
    ImageMemory memory = image.memory();
    try {
      RepairReport report = PoolFile.repair(memory);
      assertThat(report.findings()).isNotEmpty();
    } catch (PoolException e) {
      assertThat(memory.stores()).as("stores into a pool that is not repaired: " + e).isZero();
      return;
    }
    assertThat(open(memory, PoolOwner.ANY, true)).as("refused after a repair").isEmpty();
  }

  /** One change. */
  private static byte[] input(int first, long... changes) {
    ByteBuffer input =
        ByteBuffer.allocate(1 + changes.length / 3 * 11).order(ByteOrder.LITTLE_ENDIAN);
    input.put((byte) first);
    for (int i = 0; i < changes.length; i += 3) {
      input.put((byte) changes[i]).putShort((short) changes[i + 1]).putLong(changes[i + 2]);
    }
    return input.array();
  }

  @Override
  public List<byte[]> seeds() {
    List<byte[]> seeds = new ArrayList<>();
    for (int first : new int[] {0, 1, 6}) {
      seeds.add(input(first));
      seeds.add(input(first, 0, 12288, 1));
      seeds.add(input(first, 1, 2, 77));
      for (int word = 0; word < 8; word++) {
        seeds.add(input(first, 2, 128 + word, 1));
      }
      for (long state : new long[] {STATE_FREE, STATE_LIVE, STATE_DELETING}) {
        seeds.add(input(first, 2, 4 * 128, state));
        seeds.add(input(first, 2, 6 * 128, state));
      }
      // Two slots with one extent; one beyond the end; of an order that is none.
      seeds.add(input(first, 3, 128, 1));
      seeds.add(input(first, 3, 128, 0xFFFF01));
      seeds.add(input(first, 3, 128, 0x113));
      seeds.add(input(first, 4, 4 * 128 + 3, 400));
      seeds.add(input(first, 5, 8, SIZE - 1, 5, 9, SIZE - 1));
      seeds.add(input(first, 5, 10, 16 << 20, 5, 11, 16 << 20));
      seeds.add(input(first, 6, 0, 1, 6, 1, 5));
      seeds.add(input(first, 7, 0, SIZE - 1));
      // The last generation that there is.
      seeds.add(input(first, 2, 7 * 128 + 1, CheckedWord.MAX_VALUE));
    }
    // A superblock that names more slots than there are; found by Jazzer.
    seeds.add(Base64.getDecoder().decode("AAUKAAAABQsAAAAABQsAigAAAAAAAAA="));
    return seeds;
  }
}
