package io.strata.kafka.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.layout.SessionLayout;
import io.strata.kafka.memory.Durability;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.memory.RecordingMemory;
import io.strata.kafka.pool.OpenReport.Shortened;
import java.io.IOException;
import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** A pool whose bytes must be forced to survive a power cut, across boots of the machine. */
class PowerLossTest {
  private static final int SIZE = 4 << 20;
  private static final UUID DIRECTORY = new UUID(1, 1);

  private RecordingMemory memory = new RecordingMemory(SIZE, Durability.FORCE);

  private void format() throws IOException {
    Pool.format(memory, PoolSpec.of(Path.of("unused"), MemoryType.MAPPED, SIZE));
  }

  private Pool open(long boot) throws IOException {
    return PoolOpener.open(memory, PoolOwner.ANY, OptionalLong.of(boot), () -> {});
  }

  private Slot segment(Pool pool) throws IOException {
    Slot slot = pool.allocateSlot(DIRECTORY, "t-0/0.log").orElseThrow();
    for (int i = 0; i < 3; i++) {
      assertThat(slot.grow()).isTrue();
    }
    slot.commit(150_000);
    return slot;
  }

  @Test
  void onlyWhatWasForcedIsBelievedAfterAPowerCut() throws IOException {
    format();
    Slot slot = segment(open(1));
    slot.force(0, 60_000);
    slot.commit(160_000);
    memory = memory.kill(); // every page was written back by chance, and yet cannot be relied upon

    Pool pool = open(2);

    assertThat(pool.report().powerLost()).isTrue();
    assertThat(pool.report().shortened())
        .containsExactly(new Shortened(slot.index(), "t-0/0.log", 160_000, 60_000));
    Slot found = pool.slots().get(0);
    assertThat(found.committedLength()).isEqualTo(60_000);
    assertThat(found.extents().count()).isEqualTo(1);
    assertThat(pool.usage().usedBytes()).isEqualTo(64 << 10);
    memory = memory.kill();
    Pool again = open(2);
    assertThat(again.report().powerLost()).isFalse();
    assertThat(again.slots().get(0).committedLength()).isEqualTo(60_000);
  }

  @Test
  void aKilledProcessLosesNothing() throws IOException {
    format();
    assertThat(segment(open(1)).committedLength()).isEqualTo(150_000);
    memory = memory.kill();
    Pool pool = open(1);
    assertThat(pool.report().powerLost()).isFalse();
    assertThat(pool.slots().get(0).committedLength()).isEqualTo(150_000);
    memory = memory.kill();
    assertThat(open(2).slots().get(0).committedLength()).as("still not forced").isZero();
  }

  @Test
  void aClosedPoolLosesNothing() throws IOException {
    format();
    Pool pool = open(1);
    assertThat(segment(pool).committedLength()).isEqualTo(150_000);
    pool.close();
    memory = memory.crash(new Random(1));
    Pool again = open(2);
    assertThat(again.report().powerLost()).isFalse();
    assertThat(again.slots().get(0).committedLength()).isEqualTo(150_000);
    memory = memory.kill();
    // Durable since it was closed: the next power cut does not take it.
    assertThat(open(3).slots().get(0).committedLength()).isEqualTo(150_000);
  }

  @Test
  void aSpilledSegmentThatIsShortenedIsNoLongerSpilled() throws IOException {
    format();
    Slot slot = segment(open(1));
    slot.set(SlotFlag.SPILLED);
    slot.set(SlotFlag.HOME_DURABLE);
    slot.force(0, 1000);
    memory = memory.kill();
    Slot found = open(2).slots().get(0);
    assertThat(found.has(SlotFlag.SPILLED)).as("home would begin behind a hole").isFalse();
    assertThat(found.has(SlotFlag.HOME_DURABLE)).isTrue();
    assertThat(found.committedLength()).isEqualTo(1000);
  }

  @Test
  void aSpilledSegmentWhoseHeadIsForcedStaysSpilled() throws IOException {
    format();
    Slot slot = segment(open(1));
    slot.force(0, 150_000);
    slot.set(SlotFlag.SPILLED);
    memory = memory.crash(new Random(1));
    Slot found = open(2).slots().get(0);
    assertThat(found.has(SlotFlag.SPILLED)).as("a flag is forced when it is set").isTrue();
    assertThat(found.committedLength()).isEqualTo(150_000);
  }

  @Test
  void theBytesOfACleanSegmentAreForced() throws IOException {
    format();
    Slot slot = segment(open(1));
    assertThat(slot.isForced()).isFalse();
    slot.set(SlotFlag.CLEAN);
    assertThat(slot.isForced()).isTrue();
    memory = memory.crash(new Random(1));
    Slot found = open(2).slots().get(0);
    assertThat(found.has(SlotFlag.CLEAN)).isTrue();
    assertThat(found.committedLength()).isEqualTo(150_000);
  }

  @Test
  void aBrokenSessionLineIsAsAPowerCut() throws IOException {
    format();
    Slot slot = segment(open(1));
    slot.force(0, 1000);
    memory = memory.kill();
    memory.storeLong(SessionLayout.POSITION, 0);
    Pool pool = open(1);
    assertThat(pool.report().repaired()).hasSize(1);
    assertThat(pool.slots().get(0).committedLength()).isEqualTo(1000);
    assertThat(PoolChecker.check(memory, OptionalLong.of(1)).clean()).isTrue();
  }

  @Test
  void aPoolOnMemoryThatSurvivesPowerCutsKnowsNone() throws IOException {
    memory = new RecordingMemory(SIZE, Durability.POWER);
    format();
    assertThat(segment(open(1)).committedLength()).isEqualTo(150_000);
    memory = memory.crash(new Random(1));
    Pool pool = open(2);
    assertThat(pool.report().powerLost()).isFalse();
    assertThat(pool.slots().get(0).committedLength()).isEqualTo(150_000);
  }

  @Test
  void aForceCoversWhatWasNeverForcedBeforeIt() throws IOException {
    format();
    Slot slot = segment(open(1));
    slot.force(1000, 2000);
    memory = memory.crash(new Random(1));
    assertThat(open(2).slots().get(0).committedLength()).isEqualTo(2000);
  }

  @Test
  void aForceFromFarAwayCoversTheRest() throws IOException {
    format();
    Slot slot = segment(open(1));
    slot.force(Long.MAX_VALUE, Long.MAX_VALUE);
    assertThat(slot.isForced()).isTrue();
    memory = memory.crash(new Random(1));
    assertThat(open(2).slots().get(0).committedLength()).isEqualTo(150_000);
  }
}
