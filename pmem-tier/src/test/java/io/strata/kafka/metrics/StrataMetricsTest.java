package io.strata.kafka.metrics;

import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.api.TierUsage;
import io.strata.kafka.config.GeneratedPage;
import io.strata.kafka.memory.Durability;
import io.strata.kafka.metrics.TierSource.PoolSample;
import io.strata.kafka.metrics.TierSource.TierSample;
import io.strata.kafka.migration.FailureCause;
import io.strata.kafka.migration.MigrationStats;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.MBeanServerFactory;
import javax.management.ObjectName;
import org.junit.jupiter.api.Test;

/** The metrics as JMX shows them, and their reference page. */
class StrataMetricsTest {
  private final MBeanServer server = MBeanServerFactory.newMBeanServer();
  private final AtomicLong now = new AtomicLong();
  private final EventCounters counters = new EventCounters(now::get);
  private final FakeTier tier = new FakeTier();

  @Test
  void publishesEveryMetricOfTheCatalogue() throws JMException {
    try (StrataMetrics metrics = StrataMetrics.publish(tier, counters, server)) {
      assertThat(metrics).isNotNull();
      // Two pools, two tiers, and home where it has a value.
      long more =
          count(MetricReading.PoolReading.class)
              + count(MetricReading.EachTierReading.class)
              + List.of(Metric.values()).stream()
                  .filter(
                      m -> m.reading() instanceof MetricReading.EachTierReading r && has(r.home()))
                  .count()
              + FailureCause.values().length
              - 1;
      assertThat(beans()).hasSize((int) (Metric.values().length + more));
    }
  }

  @Test
  void showsEachPoolUnderItsPath() throws JMException {
    try (StrataMetrics metrics = StrataMetrics.publish(tier, counters, server)) {
      assertThat(metrics).isNotNull();
      assertThat(value("type=Pool,name=SizeBytes,pool=/mnt/pmem0/hot.pool")).isEqualTo(1000);
      assertThat(value("type=Pool,name=UsedBytes,pool=/mnt/pmem0/hot.pool")).isEqualTo(400);
      assertThat(value("type=Pool,name=FreeBytes,pool=/mnt/pmem0/hot.pool")).isEqualTo(600);
      assertThat(value("type=Pool,name=FreeSlots,pool=/mnt/pmem0/hot.pool")).isEqualTo(9);
      assertThat(value("type=Pool,name=Durability,pool=/mnt/pmem0/hot.pool")).isEqualTo(2);
      assertThat(value("type=Pool,name=Durability,pool=" + ObjectName.quote("/odd,name=*")))
          .isZero();

      tier.used = 500;
      assertThat(value("type=Pool,name=UsedBytes,pool=/mnt/pmem0/hot.pool")).isEqualTo(500);
    }
  }

  @Test
  void showsWhatTheTierSays() throws JMException {
    try (StrataMetrics metrics = StrataMetrics.publish(tier, counters, server)) {
      assertThat(metrics).isNotNull();
      assertThat(value("type=Segments,name=Hot")).isEqualTo(11);
      assertThat(value("type=Segments,name=Spilled")).isEqualTo(12);
      assertThat(value("type=Segments,name=PlacementsRefusedTotal")).isEqualTo(13);
      assertThat(value("type=Home,name=FailuresTotal")).isEqualTo(14);
      assertThat(value("type=Home,name=MtimeRefreshesTotal")).isEqualTo(15);
    }
  }

  @Test
  void showsWhatSegmentsHaveDone() throws JMException {
    try (StrataMetrics metrics = StrataMetrics.publish(tier, counters, server)) {
      assertThat(metrics).isNotNull();
      counters.appended(100, 5_000);
      counters.appended(50, 5_000);
      counters.readAtHome(25);
      counters.read(70, 9_000);
      counters.spilled(30, true);
      counters.spilled(20, false);
      now.addAndGet(TimeUnit.SECONDS.toNanos(10));

      assertThat(value("type=Append,name=Total")).isEqualTo(2);
      assertThat(value("type=Append,name=BytesTotal")).isEqualTo(150);
      assertThat(value("type=Append,name=LatencyP50")).isBetween(4.9, 5.1);
      assertThat(value("type=Append,name=LatencyMax")).isBetween(4.9, 5.1);
      assertThat(value("type=Read,name=Total")).isEqualTo(1);
      assertThat(value("type=Read,name=BytesTotal")).isEqualTo(70);
      assertThat(value("type=Read,name=HomeBytesTotal")).isEqualTo(25);
      assertThat(value("type=Read,name=LatencyP999")).isBetween(8.9, 9.1);
      assertThat(value("type=Segments,name=SpillsTotal")).isEqualTo(1);
      assertThat(value("type=Segments,name=SpilledBytesTotal")).isEqualTo(50);
    }
  }

  @Test
  void showsEachTierAndHome() throws JMException {
    try (StrataMetrics metrics = StrataMetrics.publish(tier, counters, server)) {
      assertThat(metrics).isNotNull();
      assertThat(value("type=Tier,name=CapacityBytes,tier=pmem")).isEqualTo(1000);
      assertThat(value("type=Tier,name=UsedBytes,tier=pmem")).isEqualTo(600);
      assertThat(value("type=Tier,name=DirtyBytes,tier=pmem")).isEqualTo(350);
      assertThat(value("type=Tier,name=CleanBytes,tier=pmem")).isEqualTo(250);
      assertThat(value("type=Tier,name=ActiveBytes,tier=pmem")).isEqualTo(50);
      assertThat(value("type=Tier,name=ReserveBytes,tier=pmem")).isEqualTo(650);
      assertThat(value("type=Tier,name=Segments,tier=pmem")).isEqualTo(7);
      assertThat(value("type=Tier,name=SpilledBytesTotal,tier=pmem")).isEqualTo(23);
      assertThat(value("type=Tier,name=SpilledSegmentsTotal,tier=pmem")).isEqualTo(24);
      assertThat(value("type=Tier,name=ReadBytesTotal,tier=pmem")).isEqualTo(25);
      assertThat(value("type=Tier,name=ReadsTotal,tier=pmem")).isEqualTo(26);
      assertThat(value("type=Tier,name=ReadBytesTotal,tier=logdirs")).isEqualTo(31);
      assertThat(value("type=Tier,name=ReadsTotal,tier=logdirs")).isEqualTo(32);
      assertThat(value("type=Tier,name=EvictedBytesTotal,tier=pmem")).isEqualTo(21);
      assertThat(value("type=Tier,name=DestagedBytesTotal,tier=pmem")).isZero();
      assertThat(value("type=Migration,name=RoundsTotal")).isZero();
    }
  }

  @Test
  void showsWhatTheEngineHasDone() throws JMException {
    tier.stats = Optional.of(stats());
    try (StrataMetrics metrics = StrataMetrics.publish(tier, counters, server)) {
      assertThat(metrics).isNotNull();
      assertThat(value("type=Tier,name=DestagedBytesTotal,tier=pmem")).isEqualTo(101);
      assertThat(value("type=Tier,name=DestagedSegmentsTotal,tier=pmem")).isEqualTo(102);
      assertThat(value("type=Tier,name=PromotedBytesTotal,tier=pmem")).isEqualTo(103);
      assertThat(value("type=Tier,name=PromotedSegmentsTotal,tier=pmem")).isEqualTo(104);
      assertThat(value("type=Tier,name=EvictedBytesTotal,tier=pmem")).isEqualTo(21);
      assertThat(value("type=Tier,name=EvictedSegmentsTotal,tier=pmem")).isEqualTo(22);
      assertThat(value("type=Tier,name=PressureBytesTotal,tier=pmem")).isEqualTo(20);
      assertThat(value("type=Tier,name=Draining,tier=pmem")).isEqualTo(1);
      assertThat(value("type=Tier,name=BacklogBytes,tier=pmem")).isEqualTo(107);
      assertThat(value("type=Tier,name=BacklogSeconds,tier=pmem")).isEqualTo(2.5);
      assertThat(value("type=Migration,name=Queued")).isEqualTo(1);
      assertThat(value("type=Migration,name=InFlight")).isEqualTo(2);
      assertThat(value("type=Migration,name=Threads")).isEqualTo(3);
      assertThat(value("type=Migration,name=DownBytesPerSecond")).isEqualTo(4);
      assertThat(value("type=Migration,name=UpBytesPerSecond")).isEqualTo(5);
      assertThat(value("type=Migration,name=DestageLatencyP50")).isEqualTo(6);
      assertThat(value("type=Migration,name=DestageLatencyP99")).isEqualTo(8);
      assertThat(value("type=Migration,name=DestageLatencyMax")).isEqualTo(9);
      assertThat(value("type=Migration,name=PromoteLatencyMax")).isZero();
      assertThat(value("type=Migration,name=FailuresTotal,cause=no-space")).isEqualTo(10);
      assertThat(value("type=Migration,name=FailuresTotal,cause=io-error")).isZero();
      assertThat(value("type=Migration,name=CancelledTotal")).isEqualTo(11);
      assertThat(value("type=Migration,name=RefusedMovesTotal")).isEqualTo(12);
      assertThat(value("type=Migration,name=BackingOff")).isEqualTo(13);
      assertThat(value("type=Migration,name=RoundsTotal")).isEqualTo(14);
      assertThat(value("type=Migration,name=FailedRoundsTotal")).isEqualTo(15);
      assertThat(value("type=Migration,name=LastRoundTime")).isEqualTo(16);
      assertThat(value("type=Migration,name=LastRoundCpuTime")).isEqualTo(17);
      assertThat(value("type=Migration,name=RoundTimeTotal")).isEqualTo(18);
    }
  }

  @Test
  void aScrapeAsksOnce() {
    RecentSource recent = new RecentSource(tier, now::get);
    assertThat(recent.tiers()).isSameAs(recent.tiers());

    tier.used = 500;
    assertThat(recent.pools().get(0).usedBytes()).isEqualTo(500);
    List<TierSample> before = recent.tiers();
    now.addAndGet(TimeUnit.MILLISECONDS.toNanos(200));
    assertThat(recent.tiers()).isNotSameAs(before);
  }

  private static MigrationStats stats() {
    return new MigrationStats(
        List.of(
            new MigrationStats.TierStats(
                0, 101, 102, 103, 104, 105, 106, true, 107, OptionalDouble.of(2.5))),
        1,
        2,
        3,
        4,
        5,
        new MigrationStats.Latency(1, 6_000_000, 7_000_000, 8_000_000, 9_000_000),
        MigrationStats.Latency.NONE,
        Map.of(FailureCause.NO_SPACE, 10L),
        11,
        12,
        13,
        14,
        15,
        16_000,
        17_000,
        18_000);
  }

  private static boolean has(Optional<?> value) {
    return value.isPresent();
  }

  @Test
  void closeWithdrawsEverything() throws JMException {
    StrataMetrics metrics = StrataMetrics.publish(tier, counters, server);
    assertThat(beans()).isNotEmpty();

    metrics.close();
    metrics.close();

    assertThat(beans()).isEmpty();
    // And the names are free again.
    try (StrataMetrics again = StrataMetrics.publish(tier, counters, server)) {
      assertThat(again).isNotNull();
      assertThat(beans()).isNotEmpty();
    }
  }

  @Test
  void aPoolThatIsAlreadyClosedDoesNotBreakTheOthers() throws JMException {
    try (StrataMetrics metrics = StrataMetrics.publish(tier, counters, server)) {
      assertThat(metrics).isNotNull();
      tier.gone = true;
      assertThat(value("type=Pool,name=UsedBytes,pool=/mnt/pmem0/hot.pool")).isNaN();
      assertThat(value("type=Segments,name=Hot")).isEqualTo(11);
    }
  }

  @Test
  void referencePageIsUpToDate() throws IOException {
    StringBuilder page = new StringBuilder("# Metrics\n\n");
    page.append(
        "<!-- Generated from io.strata.kafka.metrics.Metric and RemoteMetric: see"
            + " docs/contributing.md. -->\n\n");
    page.append(
        """
        In the broker's JMX, each an MBean with the one attribute `Value`; those of the local tiers as long as
        `io.strata.kafka.StrataReporter` is in `metric.reporters`. *Counted up* is since the broker's start.

        The metrics of the remote tier, whose type begins with `Remote`, are there whenever it runs, with local tiers or
        without.

        Latencies are those of the last interval: at least 10 seconds, ended by the first reading after that; 0 where
        there was no call. They are the duration of the whole call, waiting for the segment's writer lock included.
        """);
    Map<String, String> intros =
        Map.of(
            "Pool", "One for each pool; `<pool>` is the path of the pool's file.",
            "Tier",
                "One for each tier of `strata.tiers`. What is dirty, clean, active and a reserve:"
                    + " see [migration](../migration.md).",
            "Migration",
                "The engine that moves segments between tiers. Latencies are those of the last"
                    + " minutes, and include waiting for the rate limit.",
            "Segments", "What lives where.",
            "Append", "Writes to hot segments.",
            "Read", "Reads from hot segments.",
            "Home", "The segments' own files in `log.dirs`.");
    appendLocal(page, intros);
    appendRemote(page);
    GeneratedPage.check("reference/metrics.md", page.toString());
  }

  private static void appendRemote(StringBuilder page) {
    Map<String, String> intros =
        Map.of(
            "RemoteOperation",
            "What Kafka asks the remote tier for; `<operation>` is `copy`, `fetch`, `index` or"
                + " `delete`, `<cause>` is `full`, `timeout`, `not-found`, `corrupt`,"
                + " `unavailable`, `cancelled` (Kafka gave it up), `cold`, `fault` (Strata's or the"
                + " JVM's: see the broker's log) or `io`. Latencies are those of the last minutes;"
                + " of a fetch, until its first byte.",
            "RemoteLevel",
            "One for each of `rsm.config.levels`, and `cold` where another manager has the lowest"
                + " level.",
            "Remote",
            "The remote tier as a whole.",
            "RemoteCache",
            "The cache of chunks.",
            "RemoteReadAhead",
            "What was read ahead of readers that read on.",
            "RemoteScrub",
            "The scrubber, which reads all of the store and compares it with its checksums. One"
                + " broker of the cluster does it.",
            "RemoteMigration",
            "The engine that moves segments between the levels of the store.");
    String type = "";
    for (RemoteMetric metric : RemoteMetric.values()) {
      if (!metric.type().equals(type)) {
        type = metric.type();
        page.append("\n## ").append(type).append("\n\n").append(intros.get(type)).append("\n\n");
        page.append("| MBean | unit | meaning |\n|---|---|---|\n");
      }
      RemoteReading reading = metric.reading();
      String tags = "";
      if (reading instanceof RemoteReading.OperationReading) {
        tags = ",operation=<operation>";
      } else if (reading instanceof RemoteReading.OperationCauseReading) {
        tags = ",operation=<operation>,cause=<cause>";
      } else if (reading instanceof RemoteReading.LevelReading) {
        tags = ",level=<level>";
      } else if (reading instanceof RemoteReading.EngineCauseReading) {
        tags = ",cause=<cause>";
      }
      page.append("| `io.strata.kafka:type=").append(metric.type());
      page.append(",name=").append(metric.metricName()).append(tags);
      page.append("` | ").append(metric.unit()).append(" | ").append(metric.description());
      page.append(" |\n");
    }
  }

  private static void appendLocal(StringBuilder page, Map<String, String> intros) {
    String type = "";
    for (Metric metric : Metric.values()) {
      if (!metric.type().equals(type)) {
        type = metric.type();
        page.append("\n## ").append(type).append("\n\n").append(intros.get(type)).append("\n\n");
        page.append("| MBean | unit | meaning |\n|---|---|---|\n");
      }
      String tag = "";
      if (metric.reading() instanceof MetricReading.PoolReading) {
        tag = ",pool=<pool>";
      } else if (metric.reading() instanceof MetricReading.EachTierReading) {
        tag = ",tier=<tier>";
      } else if (metric.reading() instanceof MetricReading.CauseReading) {
        tag = ",cause=<cause>";
      }
      page.append("| `io.strata.kafka:type=").append(metric.type());
      page.append(",name=").append(metric.metricName()).append(tag);
      page.append("` | ").append(metric.unit()).append(" | ").append(metric.description());
      page.append(" |\n");
    }
  }

  private static long count(Class<? extends MetricReading> kind) {
    return List.of(Metric.values()).stream().filter(m -> kind.isInstance(m.reading())).count();
  }

  private Map<String, Double> beans() throws JMException {
    return server.queryNames(new ObjectName("io.strata.kafka:*"), null).stream()
        .collect(toMap(ObjectName::toString, name -> 0.0));
  }

  private double value(String name) throws JMException {
    return ((Number) server.getAttribute(new ObjectName("io.strata.kafka:" + name), "Value"))
        .doubleValue();
  }

  private static final class FakeTier implements TierSource {
    long used = 400;
    boolean gone;
    Optional<MigrationStats> stats = Optional.empty();

    @Override
    public List<TierSample> tiers() {
      return new ArrayList<>(
          List.of(
              new TierSample(
                  "pmem",
                  new TierUsage(0, "pmem", 1000, 600, 350, 250, 50, 7, 8, 0, 0),
                  21,
                  22,
                  20,
                  23,
                  24,
                  25,
                  26),
              new TierSample(
                  "ssd",
                  new TierUsage(1, "ssd", 2000, 0, 0, 0, 0, 0, 8, 0, 0),
                  0,
                  0,
                  0,
                  0,
                  0,
                  0,
                  0)));
    }

    @Override
    public HomeSample home() {
      return new HomeSample(31, 32);
    }

    @Override
    public Optional<MigrationStats> migration() {
      return stats;
    }

    @Override
    public List<PoolSample> pools() {
      if (gone) {
        throw new IllegalStateException("the tier has been closed");
      }
      return List.of(
          new PoolSample("/mnt/pmem0/hot.pool", 1000, used, 1000 - used, 9, Durability.POWER),
          new PoolSample("/odd,name=*", 10, 4, 6, 1, Durability.PROCESS));
    }

    @Override
    public long hotSegments() {
      return 11;
    }

    @Override
    public long spilledSegments() {
      return 12;
    }

    @Override
    public long placementsRefused() {
      return 13;
    }

    @Override
    public long homeFailures() {
      return 14;
    }

    @Override
    public long mtimeRefreshes() {
      return 15;
    }
  }
}
