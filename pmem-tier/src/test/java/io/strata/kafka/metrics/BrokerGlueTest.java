package io.strata.kafka.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.config.StrataConfig;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.memory.ProgressListener;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.words.PoolOwner;
import io.strata.kafka.pool.words.PoolSpec;
import io.strata.kafka.tier.HotTier;
import io.strata.kafka.tier.spec.MoveStage;
import io.strata.kafka.tier.spec.RecoveryReport;
import io.strata.kafka.tier.spec.TierSpec;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.event.SubstituteLoggingEvent;

/** A real tier as the metrics and the log show it. */
class BrokerGlueTest {
  private static final long MIB = 1 << 20;
  private static final PoolOwner OWNER = PoolOwner.of(1, "c");

  @TempDir Path directory;

  private final RecordedLog logged = new RecordedLog();
  private final AtomicLong now = new AtomicLong();
  private final TierLog log = new TierLog(logged.logger(), now::get);
  private final EventCounters counters = new EventCounters();

  @Test
  void metricsAndLogFollowTheTier() throws IOException {
    Path logs = Files.createDirectory(directory.resolve("logs"));
    Path pool = directory.resolve("hot.pool");
    Pool.create(
        PoolSpec.of(pool, MemoryType.MAPPED, 8 * MIB).withSlotCount(2), ProgressListener.NONE);
    try (HotTier tier = HotTier.open(spec(logs, pool), log, counters)) {
      Supplier<LocalSample> sampler = () -> LocalSample.of(tier, Optional.empty(), counters);
      assertThat(sampler.get().pools())
          .singleElement()
          .satisfies(
              sample -> {
                assertThat(sample.info().path()).isEqualTo(pool);
                assertThat(sample.usage().usedBytes()).isZero();
                assertThat(sample.usage().freeBytes()).isEqualTo(sample.info().dataSize());
                assertThat(sample.usage().freeSlots()).isEqualTo(2);
                assertThat(sample.failure()).isEmpty();
              });
      assertThat(messages())
          .anyMatch(line -> line.startsWith("INFO Opened pool " + pool))
          .anyMatch(line -> line.contains("Bound pool " + pool) && line.contains(OWNER.toString()))
          .anyMatch(line -> line.startsWith("INFO Recovered the hot tier"));

      append(tier, logs, "orders-0", 100_000);
      append(tier, logs, "orders-1", (int) (9 * MIB));
      Path refused = segment(logs, "orders-2");
      FileChannel active = tier.open(refused, READ_WRITE).orElseThrow();
      assertThat(sampler.get().figures().refused()).as("without bytes").isZero();
      assertThat(active.write(ByteBuffer.allocate(10))).isEqualTo(10);

      LocalSample sample = sampler.get();
      assertThat(sample.figures().hot()).isEqualTo(2);
      assertThat(sample.figures().spilled()).isEqualTo(1);
      assertThat(sample.figures().spilling()).isEqualTo(1);
      assertThat(sample.figures().refused()).isEqualTo(1);
      assertThat(sample.counts().placements().sum()).isEqualTo(2);
      assertThat(sample.counts().placementsRefused().sum()).isEqualTo(1);
      assertThat(sample.counts().logFileFailures().sum()).isZero();
      assertThat(sample.migration()).isEmpty();
      LocalSample.OfPool ofPool = sample.pools().get(0);
      assertThat(sample.figures().tiers())
          .singleElement()
          .satisfies(
              ofTier -> {
                assertThat(ofTier.usage().capacityBytes()).isEqualTo(ofPool.info().dataSize());
                assertThat(ofTier.usage().usedBytes()).isEqualTo(ofPool.usage().usedBytes());
                assertThat(ofTier.usage().segments()).isEqualTo(2);
                assertThat(ofTier.oldestDirtyMillis()).as("both are active").isEmpty();
              });
      assertThat(sample.counts().tiers().get(0).spilled().number().sum()).isEqualTo(1);
      assertThat(sample.counts().tiers().get(0).spilled().bytes().sum()).isPositive();
      assertThat(ofPool.usage().freeSlots()).isZero();
      assertThat(ofPool.usage().usedBytes()).isPositive();
      assertThat(counters.appendedBytes().sum()).isEqualTo(100_000 + 9 * MIB + 10);
      assertThat(Health.of(Optional.of(sample), Optional.empty(), List.of(), List.of(), List.of()))
          .isEqualTo(
              new Health(
                  1,
                  List.of(
                      """
                      the pools had no free slot, and each segment takes one: 1 active segments \
                      are in their log files alone\
                      """,
                      "the pools are full: 1 active segments spill to their log files")));
      assertThat(messages())
          .anyMatch(line -> line.startsWith("INFO The pool is full: ") && line.contains("orders-1"))
          .anyMatch(
              line ->
                  line.startsWith(
                      "WARN No pool has a free slot and space, nor a clean segment to evict: "
                          + refused));

      assertThat(tier.delete(refused)).isTrue();
      active.close();
      assertThat(sampler.get().figures().refused()).isZero();
    }
  }

  @Test
  void whatCanHappenOftenIsLoggedOnceAMinute() {
    for (int i = 0; i < 5; i++) {
      log.spilled(Path.of("/logs/t-" + i + "/x.log"), 10);
      log.placementRefused(Path.of("/logs/t-" + i + "/x.log"));
    }
    assertThat(messages()).hasSize(2).allMatch(line -> line.contains("t-0"));

    now.addAndGet(TimeUnit.MINUTES.toNanos(1));
    log.spilled(Path.of("/logs/t-9/x.log"), 10);
    log.spilled(Path.of("/logs/t-10/x.log"), 10);

    assertThat(messages())
        .hasSize(3)
        .last()
        .asString()
        .contains("t-9")
        .endsWith("4 other segments did so since the last such line");
  }

  @Test
  void whatMatteredIsNamed() {
    log.warning("a warning");
    log.logDirectorySkipped(Path.of("/gone"), "it is offline");
    log.backgroundFailure("free a slot", new IOException("disk"));

    assertThat(messages())
        .containsExactly(
            "WARN a warning",
            "WARN Skipped log directory /gone: it is offline. Its segments in the pools are"
                + " kept.",
            "WARN Could not free a slot");
    assertThat(logged.events()).last().extracting(SubstituteLoggingEvent::getThrowable).isNotNull();
  }

  /** They share their reasons; how many there are matters. */
  @Test
  void slotsThatAreKeptAreCountedAndAFewNamed() {
    List<String> kept =
        IntStream.range(0, 5).mapToObj(i -> "orders-%d: it is offline".formatted(i)).toList();

    log.recovered(new RecoveryReport(0, List.of(), List.of(), List.of(), 0, 0, 0, kept, 1));

    assertThat(messages())
        .last()
        .isEqualTo(
            "WARN Kept slots (5): orders-0: it is offline, orders-1: it is offline, orders-2: it is"
                + " offline, and 2 more");
  }

  private static final Set<StandardOpenOption> READ_WRITE =
      Set.of(StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);

  private static void append(HotTier tier, Path logs, String partition, int length)
      throws IOException {
    try (FileChannel channel = tier.open(segment(logs, partition), READ_WRITE).orElseThrow()) {
      ByteBuffer source = ByteBuffer.allocate(length);
      while (source.hasRemaining()) {
        channel.write(source);
      }
    }
  }

  private static Path segment(Path logs, String partition) throws IOException {
    return Files.createDirectories(logs.resolve(partition)).resolve("00000000000000000000.log");
  }

  private static TierSpec spec(Path logs, Path pool) {
    StrataConfig config =
        StrataConfig.parse(Map.of("strata.pools", pool.toString())).config().orElseThrow();
    return new TierSpec(
        config,
        List.of(pool),
        OWNER,
        List.of(logs),
        config.placement(),
        Optional.empty(),
        MoveStage.Hook.NONE);
  }

  private List<String> messages() {
    return logged.messages();
  }
}
