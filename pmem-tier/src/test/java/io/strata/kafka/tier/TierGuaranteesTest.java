package io.strata.kafka.tier;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.memory.Durability;
import io.strata.kafka.memory.MemoryOpener;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.memory.PersistentMemory;
import io.strata.kafka.metrics.EventCounters;
import io.strata.kafka.metrics.LocalSample;
import io.strata.kafka.metrics.LocalSample.Guarantees;
import io.strata.kafka.pool.SimPools;
import io.strata.kafka.segment.SegmentEvents;
import io.strata.kafka.tier.directory.TierParts;
import io.strata.kafka.tier.spec.TierEvents;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a tier says of its promises, for the health of the broker. */
@SuppressWarnings("try") // a fixture is closed and opened again
final class TierGuaranteesTest {

  private static final byte[] RECORDS = Batches.of(100_000, 1);

  @TempDir private Path root;

  private static Guarantees of(HotTier tier) {
    return LocalSample.of(tier, Optional.empty(), new EventCounters()).guarantees();
  }

  /** Acknowledged records are in its files that no force has made durable. */
  @Test
  void aLogDirectoryThatCannotBeForcedIsNamed() throws Exception {
    Path second = Files.createDirectory(root.resolve("second")).toRealPath();
    try (TierFixture fixture =
        new TierFixture(Files.createDirectory(root.resolve("live"))).pool("a.pool", 16 << 20)) {
      fixture.logDirectories.add(second);
      fixture.extra = Map.of("strata.spill.force", "never");
      HotTier tier = fixture.open();
      Path away = root.toRealPath().resolve("away");
      Files.move(second, away);

      tier.forceAppends(true);
      fixture.awaitBackgroundWork();
      assertThat(of(tier).unforcedLogDirectories()).containsExactly(second);

      // A force that succeeds after one that failed proves nothing.
      Files.move(away, second);
      assertThat(of(tier).unforcedLogDirectories()).containsExactly(second);
    }
  }

  @Test
  void whatIsNoLongerToBeForcedIsNotMissed() throws Exception {
    try (TierFixture fixture = new TierFixture(root).pool("a.pool", 16 << 20)) {
      Path second = Files.createDirectory(root.resolve("second")).toRealPath();
      fixture.logDirectories.add(second);
      fixture.extra = Map.of("strata.spill.force", "never");
      HotTier tier = fixture.open();
      Files.delete(second);
      tier.forceAppends(true);
      fixture.awaitBackgroundWork();

      tier.forceAppends(false);

      assertThat(of(tier).unforcedLogDirectories()).isEmpty();
    }
  }

  /** Mounted without DAX by mistake: what is acknowledged from now on is less durable. */
  @Test
  void aPoolThatHasLostDaxIsNamedAtEachStart() throws Exception {
    TierFixture fixture = new TierFixture(root).pool("a.pool", 16 << 20);
    Path pool = fixture.pools.get(0);

    assertThat(daxLost(fixture, Durability.FORCE)).as("it never had it").isEmpty();
    assertThat(daxLost(fixture, Durability.POWER)).isEmpty();
    assertThat(daxLost(fixture, Durability.FORCE)).containsExactly(pool);
    assertThat(daxLost(fixture, Durability.FORCE)).as("the next start").containsExactly(pool);
    assertThat(daxLost(fixture, Durability.POWER)).as("mounted again").isEmpty();

    fixture.extra = Map.of("strata.pool.type", "file");
    assertThat(daxLost(fixture, Durability.FORCE)).as("the operator wants it so").isEmpty();
  }

  private static Iterable<Path> daxLost(TierFixture fixture, Durability durability)
      throws Exception {
    TierParts.PoolOpening opening =
        (file, type, owner) ->
            SimPools.open(
                with(durability, MemoryOpener.open(MemoryType.MAPPED, file, true)), owner, 1);
    try (HotTier tier =
        HotTier.open(
            fixture.spec(),
            TierEvents.NONE,
            SegmentEvents.NONE,
            new TierParts(opening, TierParts.STANDARD.background(), TierParts.STANDARD.time()))) {
      return of(tier).daxLost();
    }
  }

  private static PersistentMemory with(Durability durability, PersistentMemory memory) {
    return (PersistentMemory)
        Proxy.newProxyInstance(
            PersistentMemory.class.getClassLoader(),
            new Class<?>[] {PersistentMemory.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("durability")) {
                return durability;
              }
              try {
                return method.invoke(memory, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  @Test
  void segmentsWhoseLogFilesAreMissingAreCounted() throws Exception {
    try (TierFixture fixture = new TierFixture(root).pool("a.pool", 16 << 20)) {
      fixture.open();
      Path file = fixture.segment("orders-0", 0);
      fixture.append(file, RECORDS);
      fixture.awaitBackgroundWork();
      fixture.close();
      Files.delete(file);

      assertThat(of(fixture.open()).orphaned()).isEqualTo(1);
      assertThat(of(fixture.reopen()).orphaned()).as("freed").isZero();
    }
  }
}
