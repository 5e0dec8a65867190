package io.strata.kafka.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.layout.CheckedWord;
import io.strata.kafka.layout.SessionLayout;
import io.strata.kafka.layout.SlotLayout;
import io.strata.kafka.layout.SuperblockLayout;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.memory.RecordingMemory;
import io.strata.kafka.pool.space.Extent;
import io.strata.kafka.pool.space.ExtentList;
import io.strata.kafka.pool.words.CheckFinding;
import io.strata.kafka.pool.words.CheckFinding.Severity;
import io.strata.kafka.pool.words.PoolOwner;
import io.strata.kafka.pool.words.PoolSpec;
import io.strata.kafka.pool.words.SlotDecoder;
import io.strata.kafka.pool.words.SlotFlag;
import io.strata.kafka.pool.words.SlotSnapshot;
import io.strata.kafka.pool.words.SlotState;
import io.strata.kafka.pool.words.Superblock;
import io.strata.kafka.pool.words.Superblocks;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Damages a pool's metadata byte by byte and bit by bit: it is noticed, or it does not matter. */
class PoolCheckerTest {
  private static final int SIZE = 4 << 20;
  private static final int SLOTS = 4;
  private static final long TABLE_END = SlotLayout.slotPosition(SLOTS);
  private static final UUID DIRECTORY = new UUID(8, 9);

  private final RecordingMemory memory = new RecordingMemory(SIZE);
  private Superblock superblock = Superblock.create(new UUID(0, 0), SIZE, SLOTS, 0, PoolOwner.ANY);
  private Map<Integer, SlotSnapshot> sound = Map.of();

  /** Slots: 0 live with four extents, 1 deleting, 2 live and empty, 3 freed. */
  @BeforeEach
  void createPool() throws IOException {
    Pool.format(
        memory,
        PoolSpec.of(Path.of("unused"), MemoryType.MAPPED, SIZE)
            .withSlotCount(SLOTS)
            .withOwner(PoolOwner.of(1, "cluster")));
    Pool pool = Pool.open(memory, PoolOwner.ANY);
    List<Slot> slots = new ArrayList<>();
    slots.add(pool.allocateSlot(DIRECTORY, "topic-0/0.log").orElseThrow());
    // While it is alone, so that its extents may have several lengths.
    for (int i = 0; i < 4; i++) {
      assertThat(slots.get(0).grow()).isTrue();
    }
    for (int i = 1; i < SLOTS; i++) {
      slots.add(pool.allocateSlot(DIRECTORY, "topic-" + i + "/0.log").orElseThrow());
    }
    slots.get(0).commit(500_000);
    slots.get(0).set(SlotFlag.NAME_DURABLE);
    assertThat(slots.get(1).grow()).isTrue();
    slots.get(1).commit(10);
    slots.get(1).markDeleting();
    slots.get(3).free();
    superblock = Superblocks.read(memory).current();
    sound = images();
    assertThat(PoolChecker.check(memory).clean()).isTrue();
    assertThat(sound).containsOnlyKeys(0, 1, 2);
  }

  private Map<Integer, SlotSnapshot> images() throws IOException {
    Map<Integer, SlotSnapshot> images = new HashMap<>();
    for (SlotSnapshot slot : PoolScan.of(memory, superblock, false).used()) {
      images.put(slot.index(), slot);
    }
    return images;
  }

  private byte get(long position) throws IOException {
    ByteBuffer one = ByteBuffer.allocate(1);
    memory.load(position, one);
    return one.get(0);
  }

  private void put(long position, int value) throws IOException {
    memory.store(position, ByteBuffer.wrap(new byte[] {(byte) value}));
  }

  private void putWord(int slot, int offset, long value) throws IOException {
    long position = SlotLayout.slotPosition(slot) + offset;
    memory.storeLong(position, CheckedWord.encode(value, position, superblock.salt()));
  }

  private List<CheckFinding> findings() throws IOException {
    return PoolChecker.check(memory).findings();
  }

  @Test
  void everySingleBitFlipInASlotIsNoticedOrDoesNotMatter() throws IOException {
    int unnoticed = 0;
    for (long position = SlotLayout.TABLE; position < TABLE_END; position++) {
      byte before = get(position);
      for (int bit = 0; bit < 8; bit++) {
        put(position, before ^ (1 << bit));
        unnoticed += assertNoticedOrHarmless(position) ? 0 : 1;
      }
      put(position, before);
    }
    assertThat(findings()).isEmpty();
    // What is not noticed lies behind the last extent, in the extents of a slot that is DELETING,
    // or in the body of a free slot.
    int deadWords = (76 - 4) + 76 + 76 + (SlotLayout.SLOT_LENGTH - 64) / 8;
    assertThat(unnoticed).isEqualTo(deadWords * 64);
  }

  @Test
  void everyByteOfASlotChangedAtRandomIsNoticedOrDoesNotMatter() throws IOException {
    Random random = new Random(5);
    for (long position = SlotLayout.TABLE; position < TABLE_END; position++) {
      byte before = get(position);
      put(position, before ^ (1 + random.nextInt(255)));
      boolean noticed = assertNoticedOrHarmless(position);
      put(position, before);
      long within = (position - SlotLayout.TABLE) % SlotLayout.SLOT_LENGTH;
      assertThat(noticed || within >= SlotLayout.LINE_LENGTH)
          .as("damage at %d, in the first line, is noticed", position)
          .isTrue();
    }
  }

  /** Whether it is noticed; fails if it is not, and the slot reads differently. */
  private boolean assertNoticedOrHarmless(long position) throws IOException {
    int slot = (int) ((position - SlotLayout.TABLE) / SlotLayout.SLOT_LENGTH);
    List<CheckFinding> findings = new ArrayList<>();
    ByteBuffer bytes = ByteBuffer.allocate(SlotLayout.SLOT_LENGTH).order(ByteOrder.LITTLE_ENDIAN);
    memory.load(SlotLayout.slotPosition(slot), bytes);
    Optional<SlotSnapshot> image =
        SlotDecoder.decode(superblock, bytes.flip(), slot, false, findings::add);
    if (!findings.isEmpty()) {
      assertThat(image).as("a damaged slot is not read, at %d", position).isEmpty();
      assertThat(findings)
          .allSatisfy(
              finding -> {
                assertThat(finding.severity()).isEqualTo(Severity.ERROR);
                assertThat(finding.slot()).hasValue(slot);
              });
      return true;
    }
    Optional<SlotSnapshot> used = image.filter(read -> read.state() != SlotState.FREE);
    assertThat(used).isEqualTo(Optional.ofNullable(sound.get(slot)));
    return false;
  }

  @Test
  void everyByteOfTheSuperblocksAndTheSessionIsNoticed() throws IOException {
    for (long copy : new long[] {SuperblockLayout.FIRST_COPY, SuperblockLayout.SECOND_COPY}) {
      for (int i = 0; i < SuperblockLayout.HEADER_LENGTH + 10; i++) {
        byte before = get(copy + i);
        for (int flip : new int[] {1, 0x80, 0xFF}) {
          put(copy + i, before ^ flip);
          assertThat(findings())
              .as("byte %d of the copy at %d", i, copy)
              .singleElement()
              .satisfies(
                  finding -> {
                    assertThat(finding.severity()).isEqualTo(Severity.WARNING);
                    assertThat(finding.position()).isBetween(copy, copy + 4095);
                  });
        }
        put(copy + i, before);
      }
    }
    for (int i = 0; i < SessionLayout.LENGTH; i++) {
      byte before = get(SessionLayout.POSITION + i);
      for (int bit = 0; bit < 8; bit++) {
        put(SessionLayout.POSITION + i, before ^ (1 << bit));
        assertThat(findings()).singleElement().extracting(CheckFinding::severity).isNotNull();
      }
      put(SessionLayout.POSITION + i, before);
    }
    assertThat(findings()).isEmpty();
  }

  @Test
  void bothSuperblocksDamagedIsAFindingToo() throws IOException {
    Random random = new Random(6);
    for (int i = 0; i < 2000; i++) {
      int first = random.nextInt(SuperblockLayout.HEADER_LENGTH);
      int second =
          (int) SuperblockLayout.SECOND_COPY + random.nextInt(SuperblockLayout.HEADER_LENGTH);
      byte firstBefore = get(first);
      byte secondBefore = get(second);
      put(first, random.nextInt(256));
      put(second, random.nextInt(256));
      boolean changed = get(first) != firstBefore || get(second) != secondBefore;
      assertThat(findings().isEmpty()).isNotEqualTo(changed);
      put(first, firstBefore);
      put(second, secondBefore);
    }
  }

  @Test
  void aRandomTableGivesFindingsAndNothingElse() throws IOException {
    Random random = new Random(7);
    byte[] noise = new byte[SLOTS * SlotLayout.SLOT_LENGTH];
    for (int i = 0; i < 200; i++) {
      random.nextBytes(noise);
      memory.store(SlotLayout.TABLE, ByteBuffer.wrap(noise));
      CheckReport report = PoolChecker.check(memory);
      assertThat(report.usable()).isFalse();
      assertThat(report.liveSlots()).isZero();
    }
    memory.zero(SlotLayout.TABLE, noise.length);
    assertThat(findings().stream().map(finding -> finding.slot().getAsInt())).contains(0, 1, 2, 3);
  }

  @Test
  void valuesThatContradictEachOtherAreNoticed() throws IOException {
    putWord(0, SlotLayout.COMMITTED_LENGTH_OFFSET, 524_289);
    assertOneFinding("committed length 524289", "at most 524288, where its extents end");
    putWord(0, SlotLayout.COMMITTED_LENGTH_OFFSET, 500_000);

    putWord(0, SlotLayout.EXTENTS_IN_USE_OFFSET, 77);
    assertOneFinding("77 extents from entry 0 on", "at most 76");
    putWord(0, SlotLayout.EXTENTS_IN_USE_OFFSET, SlotLayout.extentsInUse(0, 76, 4));
    assertOneFinding("4 extents from entry 76 on", "at most 76, and an entry below that");
    putWord(0, SlotLayout.EXTENTS_IN_USE_OFFSET, 4);

    putWord(0, SlotLayout.FLAGS_OFFSET, 32);
    assertOneFinding("flags 32", "known flags, at most 31");
    putWord(0, SlotLayout.FLAGS_OFFSET, SlotLayout.FLAG_NAME_DURABLE);

    putWord(0, SlotLayout.STATE_OFFSET, 1);
    assertOneFinding("state 0x1", "a known one");
    putWord(0, SlotLayout.STATE_OFFSET, SlotLayout.STATE_LIVE);

    putWord(0, SlotLayout.BODY_CHECK_OFFSET, 1);
    assertOneFinding("body check 0x00000001", "0x");
  }

  private void assertOneFinding(String found, String expected) throws IOException {
    assertThat(findings())
        .singleElement()
        .satisfies(
            finding -> {
              assertThat(finding.slot()).hasValue(0);
              assertThat(finding.found()).startsWith(found);
              assertThat(finding.expected()).startsWith(expected);
            });
  }

  @Test
  void extentsThatAreNotAlignedOrOutsideAreNoticed() throws IOException {
    long[] wrong = {
      SlotLayout.extentValue(1, 1), // not aligned
      SlotLayout.extentValue(32, 0), // behind the data
      SlotLayout.extentValue(16, 5), // reaching behind it
      SlotLayout.extentValue(0, 11), // larger than the largest
      0 // none
    };
    for (long value : wrong) {
      putExtent(0, 0, value);
      assertThat(findings()).as("extent value %d", value).isNotEmpty();
      assertThat(findings().get(0).expected()).contains("an aligned one within 32 blocks");
    }
  }

  private void putExtent(int slot, int i, long value) throws IOException {
    long position = SlotLayout.slotPosition(slot) + SlotLayout.EXTENTS_OFFSET + 8L * i;
    memory.storeLong(
        position, CheckedWord.encode(value, position, SlotLayout.extentSalt(superblock.salt(), 1)));
  }

  @Test
  void twoSegmentsOnOneExtentAreBothNamed() throws IOException {
    // Slot 2's only extent becomes the second of slot 0's.
    Extent extent = Objects.requireNonNull(sound.get(0)).extents().get(1);
    long block = (extent.position() - superblock.dataPosition()) / 65_536;
    putExtent(2, 0, SlotLayout.extentValue(block, 0));
    putWord(2, SlotLayout.EXTENTS_IN_USE_OFFSET, ExtentList.EMPTY.with(extent).inUse());
    assertThat(findings().stream().map(finding -> finding.slot().getAsInt()).toList())
        .containsExactlyInAnyOrder(0, 2);
    assertThat(findings().get(0).found()).contains("another segment's");
    assertThatThrownBy(() -> Pool.open(memory, PoolOwner.ANY))
        .hasMessageContaining("found damaged slots")
        .hasMessageContaining("slot 0")
        .hasMessageContaining("slot 2");

    RepairReport repaired = PoolFile.repair(memory);

    assertThat(repaired.freedSlots()).containsExactly(0, 2);
    assertThat(findings()).isEmpty();
    assertThat(Pool.open(memory, PoolOwner.ANY).slots()).extracting(Slot::index).containsExactly(1);
  }

  @Test
  void aSlotWrittenToAnotherPlaceIsNoticed() throws IOException {
    ByteBuffer slot = ByteBuffer.allocate(SlotLayout.SLOT_LENGTH);
    memory.load(SlotLayout.slotPosition(0), slot);
    memory.store(SlotLayout.slotPosition(2), slot.flip());
    assertThat(
            findings().stream()
                .map(finding -> finding.slot().getAsInt())
                .collect(Collectors.toSet()))
        .containsExactly(2);
  }

  @Test
  void checkingStoresNothing() throws IOException {
    put(SuperblockLayout.SECOND_COPY + 3, 0);
    long points = memory.persistPoints();
    assertThat(findings()).hasSize(1);
    assertThat(findings()).hasSize(1);
    assertThat(memory.persistPoints()).isEqualTo(points);
  }

  @Test
  void aReportCounts() throws IOException {
    CheckReport report = PoolChecker.check(memory);
    assertThat(report.liveSlots()).isEqualTo(2);
    assertThat(report.deletingSlots()).isEqualTo(1);
    assertThat(report.freeSlots()).isEqualTo(1);
    assertThat(report.usedBytes()).isEqualTo((1 + 1 + 2 + 4) * 65_536);
    assertThat(report.info().orElseThrow().owner()).isEqualTo(PoolOwner.of(1, "cluster"));
  }
}
