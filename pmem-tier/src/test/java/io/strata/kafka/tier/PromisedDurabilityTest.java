package io.strata.kafka.tier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.config.StrataConfig;
import io.strata.kafka.config.StrataConfig.SpillForce;
import io.strata.kafka.memory.Durability;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code strata.durability} and {@code strata.spill.force} say together. */
final class PromisedDurabilityTest {

  private static final Path MEMORY_BACKED = Path.of("/dev/shm");

  @TempDir private Path root;

  @Test
  void aPoolThatAPowerFailureEmptiesIsRefused() throws IOException {
    Assumptions.assumeTrue(Files.isWritable(MEMORY_BACKED), "no memory-backed file system");
    Path memory = Files.createTempDirectory(MEMORY_BACKED, "strata-test").toRealPath();
    Path pool = memory.resolve("a.pool");
    try (TierFixture fixture = new TierFixture(root).pool(pool.toString(), 4 << 20)) {
      fixture.extra = Map.of("strata.durability", "ack");
      assertThatThrownBy(fixture::open)
          .isInstanceOf(FileSystemException.class)
          .hasMessageContainingAll(
              pool.toString(),
              "strata.durability=ack, and the pool is on a memory-backed file system",
              "strata.durability=pool");
      fixture.extra = Map.of();
      assertThat(fixture.open().forcesAppends()).isFalse();
    } finally {
      Files.deleteIfExists(pool);
      Files.deleteIfExists(memory);
    }
  }

  /** An operator who wants no forces sets another promise, and restarts. */
  @Test
  void noSpillGoesUnforcedWhereEachAcknowledgementIsPromised() throws IOException {
    try (TierFixture fixture = new TierFixture(root).pool("a.pool", 4 << 20)) {
      fixture.extra = Map.of("strata.durability", "ack", "strata.spill.force", "never");
      HotTier tier = fixture.open();
      Assumptions.assumeTrue(
          tier.pools().get(0).memory().durability() == Durability.FORCE, "the disk is memory");
      assertThat(tier.forcesAppends()).isTrue();
      assertThat(tier.spillsUnforced()).isFalse();
      reconfigure(fixture, SpillForce.NEVER);
      assertThat(tier.forcesAppends()).isTrue();
    }
  }

  private static void reconfigure(TierFixture fixture, SpillForce spillForce) {
    StrataConfig config = fixture.spec().config();
    fixture
        .tier()
        .reconfigure(
            new StrataConfig(
                config.tiers(),
                config.poolCreate(),
                List.of(".*"),
                List.of(),
                config.requireDax(),
                config.durability(),
                spillForce,
                config.migration()));
  }
}
