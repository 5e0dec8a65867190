package io.strata.kafka.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.layout.SlotLayout;
import io.strata.kafka.layout.SuperblockLayout;
import io.strata.kafka.memory.Durability;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.memory.RecordingMemory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class CacheRegionTest {

  private static final int SIZE = 8 << 20;
  private static final int SLOTS = 16;
  private static final int BLOCK = SuperblockLayout.SMALLEST_EXTENT;
  private static final UUID DIRECTORY = new UUID(1, 2);

  private RecordingMemory memory = new RecordingMemory(SIZE, Durability.FORCE);

  @BeforeEach
  void format() throws IOException {
    format(Durability.FORCE);
  }

  private void format(Durability durability) throws IOException {
    memory = new RecordingMemory(SIZE, durability);
    PoolSpec spec = PoolSpec.of(Path.of("unused"), MemoryType.MAPPED, SIZE).withSlotCount(SLOTS);
    PoolFormatter.format(memory, spec, Session.CLEARED);
  }

  private Pool open() throws IOException {
    return Pool.open(memory, PoolOwner.ANY);
  }

  private Session session() throws IOException {
    int salt = Superblocks.read(memory).current().salt();
    return Session.read(memory, salt).session();
  }

  private void fill(CacheRegion region) throws IOException {
    byte[] noise = new byte[(int) region.length()];
    new Random(1).nextBytes(noise);
    memory.store(region.position(), ByteBuffer.wrap(noise));
  }

  private static void append(Pool pool, Slot slot, int length) throws IOException {
    byte[] bytes = new byte[length];
    Arrays.fill(bytes, (byte) 7);
    while (slot.extents().capacity() < length) {
      assertThat(slot.grow()).isTrue();
    }
    pool.memory().storeAndPersist(slot.extents().position(0), ByteBuffer.wrap(bytes));
    slot.commit(length);
    slot.force(0, length);
  }

  @Test
  void isLentFromTheEndAndGivenBack() throws IOException {
    Pool pool = open();
    PoolUsage before = pool.usage();
    CacheRegion region = pool.lend(4 * BLOCK).orElseThrow();
    assertThat(region.length()).isEqualTo(4 * BLOCK);
    assertThat(region.position() + region.length())
        .isEqualTo(pool.info().dataPosition() + pool.info().dataSize());
    Slot slot = pool.allocateSlot(DIRECTORY, "a").orElseThrow();
    append(pool, slot, 10);
    PoolUsage lent = pool.usage();
    assertThat(lent.cacheBytes()).isEqualTo(4 * BLOCK);
    assertThat(lent.cacheSlots()).isEqualTo(1);
    assertThat(lent.usedBytes()).isEqualTo(before.usedBytes() + BLOCK);
    assertThat(lent.liveSlots()).isEqualTo(1);
    assertThat(lent.capacityBytes()).isEqualTo(pool.info().dataSize());
    assertThat(pool.slots()).containsExactly(slot);
    assertThat(pool.regions()).containsExactly(region);
    region.giveBack();
    region.giveBack();
    assertThat(pool.regions()).isEmpty();
    assertThat(pool.usage().freeBytes()).isEqualTo(before.freeBytes() - BLOCK);
    assertThat(pool.usage().freeSlots()).isEqualTo(before.freeSlots() - 1);
  }

  @Test
  void thereMayBeNoBlockOrNoSlot() throws IOException {
    Pool pool = open();
    assertThat(pool.lend(SuperblockLayout.LARGEST_EXTENT)).isEmpty();
    for (int i = 0; i < SLOTS; i++) {
      assertThat(pool.lend(BLOCK)).isPresent();
    }
    long free = pool.usage().freeBytes();
    assertThat(pool.lend(BLOCK)).isEmpty();
    assertThat(pool.usage().freeBytes()).isEqualTo(free);
    assertThat(pool.allocateSlot(DIRECTORY, "a")).isEmpty();
    pool.regions().get(0).giveBack();
    assertThat(pool.allocateSlot(DIRECTORY, "a")).isPresent();
  }

  @Test
  void outlivesTheProcess() throws IOException {
    Pool pool = open();
    CacheRegion region = pool.lend(BLOCK).orElseThrow();
    fill(region);
    pool.close();
    memory = memory.kill();
    assertThat(session().cleared()).as("what is lent is not what must be zeros").isTrue();
    CacheRegion found = open().regions().get(0);
    assertThat(found.position()).isEqualTo(region.position());
    assertThat(found.generation()).isEqualTo(region.generation());
  }

  @Test
  void keepsItsBytesWhenTheProcessIsKilled() throws IOException {
    CacheRegion region = open().lend(BLOCK).orElseThrow();
    fill(region);
    byte[] before = bytes(region);
    memory = memory.kill();
    CacheRegion found = open().regions().get(0);
    assertThat(bytes(found)).isEqualTo(before);
  }

  private byte[] bytes(CacheRegion region) throws IOException {
    byte[] bytes = new byte[(int) region.length()];
    memory.load(region.position(), ByteBuffer.wrap(bytes));
    return bytes;
  }

  @Test
  void isZerosBeforeItIsASegments() throws IOException {
    CacheRegion region = open().lend(BLOCK).orElseThrow();
    fill(region);
    region.giveBack();
    assertThat(bytes(region)).containsOnly(0);
  }

  /** As a power cut leaves it that undoes the giving back, and not what came then. */
  @Test
  void losesItsRoomToASegmentThatClaimsIt() throws IOException {
    Pool pool = open();
    CacheRegion region = pool.lend(BLOCK).orElseThrow();
    region.giveBack();
    // A segment gets all room, and so that block, too.
    for (int i = 0; i < 4; i++) {
      Slot segment = pool.allocateSlot(DIRECTORY, "segment-" + i).orElseThrow();
      while (segment.grow()) {
        segment.commit(segment.extents().capacity());
      }
      segment.force(0, segment.committedLength());
    }
    assertThat(pool.usage().freeBytes()).isZero();
    long used = pool.usage().usedBytes();
    // In a slot that nobody has now.
    memory = memory.kill();
    int index = SLOTS - 1;
    SlotWords words = new SlotWords(memory, Superblocks.read(memory).current().salt(), index, 1);
    words.persistCache(
        0, SlotLayout.extentValue((region.position() - pool.info().dataPosition()) / BLOCK, 0));
    assertThat(PoolChecker.check(memory).findings()).isEmpty();
    assertThat(PoolChecker.check(memory).liveSlots()).isEqualTo(4);
    Pool opened = open();
    assertThat(opened.regions()).isEmpty();
    assertThat(opened.slots()).hasSize(4);
    assertThat(opened.usage().usedBytes()).isEqualTo(used);
    assertThat(opened.usage().freeSlots()).isEqualTo(SLOTS - 4);
    assertThat(opened.allocateSlot(DIRECTORY, "next")).isPresent();
  }

  /** Whatever is torn of it, it is free room, and no damage. */
  @Test
  void isFreeWhereItsSlotIsTorn() throws IOException {
    for (int offset = SlotLayout.LINE_LENGTH; offset <= SlotLayout.EXTENTS_OFFSET; offset += 8) {
      format(Durability.FORCE);
      Pool pool = open();
      long free = pool.usage().freeBytes();
      CacheRegion region = pool.lend(BLOCK).orElseThrow();
      memory.storeLong(SlotLayout.slotPosition(region.index()) + offset, 0x1234_5678_9abc_def0L);
      memory = memory.kill();
      assertThat(PoolChecker.check(memory).findings()).as("word at %s", offset).isEmpty();
      Pool opened = open();
      assertThat(opened.usage().roomBytes()).as("word at %s", offset).isEqualTo(free);
      assertThat(opened.usage().roomSlots()).as("word at %s", offset).isEqualTo(SLOTS);
      for (int i = 0; i < SLOTS; i++) {
        opened.regions().forEach(CacheRegionTest::giveBack);
        assertThat(opened.allocateSlot(DIRECTORY, "s" + i)).isPresent();
      }
    }
  }

  private static void giveBack(CacheRegion region) {
    try {
      region.giveBack();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void aReaderInAnotherProcessSeesNoSegment() throws IOException {
    Pool pool = open();
    CacheRegion region = pool.lend(BLOCK).orElseThrow();
    try (PoolReader reader = new PoolReader(memory)) {
      assertThat(reader.readAll()).isEmpty();
      assertThat(reader.read(region.index())).isEmpty();
    }
  }
}
