package io.strata.kafka.broker;

import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.broker.TierSource.PoolSample;
import io.strata.kafka.config.GeneratedPage;
import io.strata.kafka.memory.Durability;
import java.io.IOException;
import java.util.List;
import java.util.Map;
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
      long perPool = count(Metric.PoolReading.class);
      assertThat(beans()).hasSize((int) (Metric.values().length + perPool));
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
        "<!-- Generated from io.strata.kafka.broker.Metric: see docs/contributing.md. -->\n\n");
    page.append(
        """
        In the broker's JMX, each an MBean with the one attribute `Value`, as long as
        `io.strata.kafka.StrataReporter` is in `metric.reporters`. *Counted up* is since the broker's start.

        Latencies are those of the last interval: at least 10 seconds, ended by the first reading after that; 0 where
        there was no call. They are the duration of the whole call, waiting for the segment's writer lock included.
        """);
    Map<String, String> intros =
        Map.of(
            "Pool", "One for each pool; `<pool>` is the path of the pool's file.",
            "Segments", "What lives where.",
            "Append", "Writes to hot segments.",
            "Read", "Reads from hot segments.",
            "Home", "The segments' own files in `log.dirs`.");
    String type = "";
    for (Metric metric : Metric.values()) {
      if (!metric.type().equals(type)) {
        type = metric.type();
        page.append("\n## ").append(type).append("\n\n").append(intros.get(type)).append("\n\n");
        page.append("| MBean | unit | meaning |\n|---|---|---|\n");
      }
      boolean perPool = metric.reading() instanceof Metric.PoolReading;
      page.append("| `io.strata.kafka:type=").append(metric.type());
      page.append(",name=").append(metric.metricName()).append(perPool ? ",pool=<pool>" : "");
      page.append("` | ").append(metric.unit()).append(" | ").append(metric.description());
      page.append(" |\n");
    }
    GeneratedPage.check("reference/metrics.md", page.toString());
  }

  private static long count(Class<? extends Metric.Reading> kind) {
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
