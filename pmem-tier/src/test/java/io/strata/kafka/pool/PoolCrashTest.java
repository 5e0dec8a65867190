package io.strata.kafka.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.memory.CrashError;
import io.strata.kafka.memory.Durability;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.memory.RecordingMemory;
import io.strata.kafka.pool.words.PoolOwner;
import io.strata.kafka.pool.words.PoolSpec;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Cuts small random workloads at every persist point, loses some of what was not persisted, opens
 * what is left, and holds it against what the workload was told had been done.
 *
 * <p>{@code -Dstrata.pool.crash.seeds=n} runs n seeds for each kind.
 */
class PoolCrashTest {
  private static final int SIZE = 4 << 20;
  private static final int SLOTS = 6;
  private static final int STEPS = 45;
  private static final int SEEDS = Integer.getInteger("strata.pool.crash.seeds", 1);

  /** How the machine goes down. */
  private enum End {
    /** The process ends: everything stored is there. */
    KILL,
    /** The power goes: what was not persisted, or forced, may be gone. */
    POWER_CUT
  }

  private Set<PoolWorkload.Identity> used = new HashSet<>();
  private long boot;

  @ParameterizedTest
  @CsvSource({
    "POWER, POWER_CUT",
    "FORCE, POWER_CUT",
    "POWER, KILL",
    "FORCE, KILL",
    "PROCESS, KILL"
  })
  void everyPersistPoint(Durability durability, End end) throws IOException {
    for (long seed = 1; seed <= SEEDS; seed++) {
      long points = persistPoints(durability, seed);
      for (long point = 1; point <= points; point++) {
        try {
          cut(durability, end, seed, point);
        } catch (AssertionError | IOException | RuntimeException e) {
          throw new AssertionError(
              durability + " " + end + ", seed " + seed + ", persist point " + point, e);
        }
      }
    }
  }

  private long persistPoints(Durability durability, long seed) throws IOException {
    used = new HashSet<>();
    boot = 1;
    RecordingMemory memory = format(durability);
    long before = memory.persistPoints();
    run(memory, new Random(seed));
    return memory.persistPoints() - before;
  }

  private void cut(Durability durability, End end, long seed, long point) throws IOException {
    used = new HashSet<>();
    boot = 1;
    RecordingMemory memory = format(durability);
    memory.crashBefore(memory.persistPoints() + point);
    PoolWorkload before = run(memory, new Random(seed));
    // Recovery may be cut too, and the workload after it: twice, at random points.
    Random random = new Random(seed * 1_000_003 + point);
    for (int round = 0; round < 2; round++) {
      memory = left(memory, end, random);
      memory.crashBefore(memory.persistPoints() + 1 + random.nextInt(8));
      PoolWorkload after = before;
      try {
        Pool pool = open(memory);
        after = new PoolWorkload(pool, random, used);
        before.verify(pool, end == End.POWER_CUT);
        after.run(STEPS / 3);
      } catch (CrashError e) {
        // What is certain is still what the workload before was told, or the one that was begun.
      }
      before = after;
    }
    memory = left(memory, end, random);
    // One copy of the superblock may be torn, if it was being written; nothing worse.
    CheckReport report = PoolChecker.check(memory);
    assertThat(report.usable()).as("%s", report.findings()).isTrue();
    Pool pool = open(memory);
    before.verify(pool, end == End.POWER_CUT);
    assertThat(pool.report().repaired()).isEqualTo(report.findings());
    assertThat(PoolChecker.check(memory).findings()).isEmpty();
    assertNoGenerationComesTwice(pool);
    pool.close();
  }

  private RecordingMemory left(RecordingMemory memory, End end, Random random) {
    if (end == End.KILL) {
      return memory.kill();
    }
    boot++;
    return memory.crash(random);
  }

  private PoolWorkload run(RecordingMemory memory, Random random) throws IOException {
    PoolWorkload workload = new PoolWorkload(random, used);
    try {
      Pool pool = open(memory);
      workload = new PoolWorkload(pool, random, used);
      workload.run(STEPS);
      pool.close();
    } catch (CrashError e) {
      // As asked for.
    }
    return workload;
  }

  private Pool open(RecordingMemory memory) throws IOException {
    return PoolOpener.open(memory, PoolOwner.of(1, "cluster"), OptionalLong.of(boot), () -> {});
  }

  private static RecordingMemory format(Durability durability) throws IOException {
    RecordingMemory memory = new RecordingMemory(SIZE, durability);
    Pool.format(
        memory, PoolSpec.of(Path.of("unused"), MemoryType.MAPPED, SIZE).withSlotCount(SLOTS));
    return memory;
  }

  private void assertNoGenerationComesTwice(Pool pool) throws IOException {
    while (true) {
      var slot = pool.allocateSlot(PoolWorkload.DIRECTORY, "new");
      if (slot.isEmpty()) {
        return;
      }
      assertThat(used)
          .doesNotContain(new PoolWorkload.Identity(slot.get().index(), slot.get().generation()));
    }
  }
}
