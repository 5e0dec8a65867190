package io.strata.kafka.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assertions.withinPercentage;

import com.yammer.metrics.core.Counter;
import com.yammer.metrics.core.Gauge;
import com.yammer.metrics.core.Histogram;
import com.yammer.metrics.core.MetricsRegistry;
import com.yammer.metrics.reporting.JmxReporter;
import io.strata.kafka.metrics.LocalSample.Guarantees;
import io.strata.kafka.migration.remote.RemoteStats;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import javax.management.JMException;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanServer;
import javax.management.MBeanServerFactory;
import javax.management.ObjectName;
import javax.management.StandardMBean;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The metrics as JMX and Kafka's registry show them. */
class StrataMetricsTest {

  /** Where they are published. */
  enum Where {
    /** In a registry of the library that Kafka has, which shows them in JMX. */
    YAMMER,
    /** In JMX, without that library. */
    JMX
  }

  private final MetricsRegistry registry = new MetricsRegistry();
  private final JmxReporter reporter = new JmxReporter(registry);
  private final MBeanServer own = MBeanServerFactory.newMBeanServer();
  private final AtomicLong now = new AtomicLong();
  private final EventCounters counters = new EventCounters(now::get);
  private final RecordedLog logged = new RecordedLog();
  private final List<StrataMetrics> opened = new ArrayList<>();

  @AfterEach
  void close() {
    opened.forEach(StrataMetrics::close);
    reporter.shutdown();
    registry.shutdown();
  }

  private final List<String> leftOut = new ArrayList<>();

  private StrataMetrics open(Where where) {
    MetricSink sink = where == Where.JMX ? new JmxSink(own) : new YammerSink(registry);
    reporter.start();
    StrataMetrics metrics =
        new StrataMetrics(
            sink,
            () -> StrataMetrics.offlineIn(own),
            () -> leftOut,
            now::get,
            () -> Instant.ofEpochMilli(TimeUnit.NANOSECONDS.toMillis(now.get())),
            logged.logger());
    opened.add(metrics);
    return metrics;
  }

  private StrataMetrics both(Where where) {
    StrataMetrics metrics = open(where);
    metrics.local("1", () -> LocalFigures.some(counters, 101), Map::of);
    metrics.remote("1", RemoteFigures::some, Map::of);
    return metrics;
  }

  private MBeanServer server(Where where) {
    return where == Where.JMX ? own : ManagementFactory.getPlatformMBeanServer();
  }

  private double value(Where where, String name, String attribute) throws JMException {
    return ((Number)
            server(where).getAttribute(new ObjectName("io.strata.kafka:type=" + name), attribute))
        .doubleValue();
  }

  /** All beans of ours but the status, with their attributes. */
  private Map<String, Set<String>> beans(Where where) throws JMException {
    MBeanServer server = server(where);
    Map<String, Set<String>> found = new TreeMap<>();
    for (ObjectName name : server.queryNames(new ObjectName("io.strata.kafka:name=*,*"), null)) {
      Set<String> attributes = new TreeSet<>();
      for (MBeanAttributeInfo attribute : server.getMBeanInfo(name).getAttributes()) {
        attributes.add(attribute.getName());
      }
      found.put(name.getCanonicalName(), attributes);
    }
    return found;
  }

  private static final String EXPECTED =
      """
      Pool,name=SizeBytes,pool=/mnt/pmem0/hot.pool | Value | 1000
      Pool,name=UsedBytes,pool=/mnt/pmem0/hot.pool | Value | 400
      Pool,name=FreeBytes,pool=/mnt/pmem0/hot.pool | Value | 600
      Pool,name=FreeSlots,pool=/mnt/pmem0/hot.pool | Value | 9
      Pool,name=Durability,pool=/mnt/pmem0/hot.pool | Value | 2
      Pool,name=Failed,pool=/mnt/pmem0/hot.pool | Value | 0
      Tier,name=CapacityBytes,tier=hot | Value | 104857600
      Tier,name=UsedBytes,tier=hot | Value | 62914560
      Tier,name=DirtyBytes,tier=hot | Value | 36700160
      Tier,name=CleanBytes,tier=hot | Value | 26214400
      Tier,name=ActiveBytes,tier=hot | Value | 5242880
      Tier,name=ReserveBytes,tier=hot | Value | 68157440
      Tier,name=Segments,tier=hot | Value | 7
      Tier,name=OldestDirtySeconds,tier=hot | Value | 61
      Tier,name=Draining,tier=hot | Value | 1
      Tier,name=BacklogBytes,tier=hot | Value | 943718400
      Tier,name=BacklogSeconds,tier=hot | Value | 90
      Tier,name=DestagedBytesTotal,tier=hot | Count | 101
      Tier,name=DestagedSegmentsTotal,tier=hot | Count | 102
      Tier,name=PromotedBytesTotal,tier=hot | Count | 103
      Tier,name=PromotedSegmentsTotal,tier=hot | Count | 104
      Tier,name=EvictedBytesTotal,tier=hot | Count | 21
      Tier,name=EvictedSegmentsTotal,tier=hot | Count | 22
      Tier,name=PressureBytesTotal,tier=hot | Count | 20
      Tier,name=PressureSegmentsTotal,tier=hot | Count | 19
      Tier,name=SpilledBytesTotal,tier=hot | Count | 3145728
      Tier,name=SpilledSegmentsTotal,tier=hot | Count | 24
      Tier,name=ReadBytesTotal,tier=hot | Count | 5242880
      Tier,name=ReadsTotal,tier=hot | Count | 26
      Tier,name=ReadsTotal,tier=logdirs | Count | 32
      Tier,name=ReadBytesTotal,tier=logdirs | Count | 31
      Migration,name=Queued | Value | 4
      Migration,name=InFlight | Value | 1
      Migration,name=Threads | Value | 2
      Migration,name=DownBytesPerSecond | Value | 10485760
      Migration,name=UpBytesPerSecond | Value | 5
      Migration,name=BackingOff | Value | 13
      Migration,name=DestageSeconds | Count | 1000
      Migration,name=DestageSeconds | Mean | 0.006831
      Migration,name=DestageSeconds | 50thPercentile | 0.006
      Migration,name=DestageSeconds | 75thPercentile | 0.007
      Migration,name=DestageSeconds | 95thPercentile | 0.008
      Migration,name=DestageSeconds | 98thPercentile | 0.009
      Migration,name=DestageSeconds | 99thPercentile | 0.010
      Migration,name=DestageSeconds | 999thPercentile | 0.011
      Migration,name=DestageSeconds | Max | 0.012
      Migration,name=PromoteSeconds | Count | 0
      Migration,name=PromoteSeconds | Mean | 0
      Migration,name=PromoteSeconds | 99thPercentile | 0
      Migration,name=FailuresTotal,cause=no-space | Count | 3
      Migration,name=FailuresTotal,cause=io-error | Count | 0
      Migration,name=CancelledTotal | Count | 11
      Migration,name=RefusedMovesTotal | Count | 12
      Migration,name=RoundSeconds | 50thPercentile | 0.016
      Migration,name=FailedRoundsTotal | Count | 15
      Migration,name=LastRoundCpuSeconds | Value | 0.017
      Segments,name=Hot | Value | 11
      Segments,name=Spilled | Value | 12
      Segments,name=PlacedTotal | Count | 16
      Segments,name=PlacementsRefusedTotal | Count | 13
      LogFiles,name=FailuresTotal | Count | 14
      LogFiles,name=MtimeRefreshesTotal | Count | 15
      RemoteOperation,name=CompletedTotal,operation=copy | Count | 11
      RemoteOperation,name=BytesTotal,operation=fetch | Count | 22
      RemoteOperation,name=Running,operation=index | Value | 33
      RemoteOperation,name=LatencySeconds,operation=delete | 50thPercentile | 0.044
      RemoteOperation,name=FailuresTotal,operation=copy,cause=full | Count | 17
      RemoteOperation,name=FailuresTotal,operation=fetch,cause=not-found | Count | 27
      RemoteOperation,name=FailuresTotal,operation=fetch,cause=io | Count | 0
      RemoteLevel,name=CapacityBytes,level=ssd | Value | 1001
      RemoteLevel,name=UsedBytes,level=hdd | Value | 2002
      RemoteLevel,name=Segments,level=ssd | Value | 1003
      RemoteLevel,name=Directories,level=ssd | Value | 1004
      RemoteLevel,name=UnavailableDirectories,level=ssd | Value | 1005
      RemoteLevel,name=CopiedBytesTotal,level=ssd | Count | 1006
      RemoteLevel,name=FetchedBytesTotal,level=ssd | Count | 1007
      RemoteLevel,name=DeletedBytesTotal,level=hdd | Count | 2008
      RemoteLevel,name=MovingCopies,level=ssd | Value | 1009
      RemoteLevel,name=DamagedCopies,level=ssd | Value | 1010
      RemoteLevel,name=DestagedBytesTotal,level=ssd | Count | 101
      RemoteLevel,name=EvictedBytesTotal,level=ssd | Count | 105
      RemoteLevel,name=EvictedBytesTotal,level=hdd | Count | 0
      RemoteLevel,name=BacklogSeconds,level=ssd | Value | 2.5
      Remote,name=StuckThreads | Value | 91
      Remote,name=ReplacedReadsTotal | Count | 92
      Remote,name=DamagedSegments | Value | 93
      RemoteScrub,name=RoundsTotal | Count | 81
      RemoteScrub,name=ObjectsTotal | Count | 82
      RemoteScrub,name=BytesTotal | Count | 83
      RemoteScrub,name=CorruptObjectsTotal | Count | 84
      RemoteScrub,name=MissingObjectsTotal | Count | 85
      RemoteScrub,name=OrphansRemovedTotal | Count | 86
      RemoteScrub,name=OrphansLeft | Value | 88
      RemoteScrub,name=LastEndTimestampSeconds | Value | 0.087
      RemoteMigration,name=Active | Value | 1
      RemoteMigration,name=Queued | Value | 111
      RemoteMigration,name=DestageSeconds | 50thPercentile | 0.2
      RemoteMigration,name=FailuresTotal,cause=no-space | Count | 120
      RemoteMigration,name=RoundSeconds | Count | 1000
      Broker,name=Health | Value | 2
      """;

  @ParameterizedTest
  @EnumSource
  void showsEachValue(Where where) throws JMException {
    StrataMetrics unused = both(where);
    SoftAssertions all = new SoftAssertions();
    for (String line : EXPECTED.lines().toList()) {
      String[] parts = line.split(" \\| ", -1);
      String bean = parts[0];
      all.assertThat(value(where, bean, parts[1]))
          .as("%s", line)
          .isCloseTo(
              Double.parseDouble(parts[2]),
              withinPercentage(parts[1].matches("Value|Count") ? 0 : 1));
    }
    all.assertAll();
  }

  @Test
  void aPoolsOddPathIsQuoted() throws JMException {
    for (Where where : Where.values()) {
      StrataMetrics metrics = both(where);
      String quoted = "Pool,name=Durability,pool=" + ObjectName.quote("/odd,name=*");
      assertThat(value(where, quoted, "Value")).isZero();
      metrics.close();
    }
  }

  @Test
  void bothWaysShowTheSameBeansWithTheSameAttributes() throws JMException {
    StrataMetrics metrics = both(Where.YAMMER);
    Map<String, Set<String>> yammer = beans(Where.YAMMER);
    metrics.close();
    assertThat(beans(Where.YAMMER)).as("after the end").isEmpty();
    both(Where.JMX);

    assertThat(beans(Where.JMX)).isEqualTo(yammer);
    assertThat(yammer.values()).contains(Set.of("Value"), Set.of("Count"));
    assertThat(new LinkedHashSet<>(yammer.values())).hasSize(3);
    assertThat(yammer).hasSize(registrySizeOfAll());
  }

  private int registrySizeOfAll() {
    Map<String, Map<String, Double>> values = both(Where.YAMMER).getMetrics();
    assertThat(values).isNotEmpty();
    return registry.allMetrics().size();
  }

  /** Reporters ask for a metric's class, and skip or refuse what is not one of these. */
  @Test
  void theRegistryHasGaugesCountersAndHistogramsWithTagsInTheScope() {
    both(Where.YAMMER);

    assertThat(registry.allMetrics())
        .isNotEmpty()
        .allSatisfy(
            (name, metric) -> {
              assertThat(metric).isInstanceOfAny(Gauge.class, Counter.class, Histogram.class);
              assertThat(name.getGroup()).isEqualTo("strata");
              assertThat(name.getName()).doesNotEndWith("Total");
              assertThat(metric instanceof Counter)
                  .as("%s", name)
                  .isEqualTo(
                      name.getMBeanName()
                          .matches("[^,]+,name=%sTotal(,.*)?".formatted(name.getName())));
            })
        .anySatisfy(
            (name, metric) -> {
              assertThat(name.getMBeanName())
                  .isEqualTo("io.strata.kafka:type=Pool,name=UsedBytes,pool=/mnt/pmem0/hot.pool");
              assertThat(name.getScope()).isEqualTo("pool./mnt/pmem0/hot_pool");
              assertThat(((Gauge<?>) metric).value()).isEqualTo(400.0);
            })
        .anySatisfy(
            (name, metric) -> {
              assertThat(name.getScope()).isEqualTo("cause.full.operation.copy");
              assertThat(((Counter) metric).count()).isEqualTo(17);
            })
        .anySatisfy(
            (name, metric) -> {
              assertThat(name.getName()).isEqualTo("DestageSeconds");
              Histogram histogram = (Histogram) metric;
              assertThat(histogram.count()).isEqualTo(1000);
              assertThat(histogram.sum()).isCloseTo(6.831, within(1e-9));
              assertThat(histogram.getSnapshot().getValue(0.99))
                  .isCloseTo(0.01, withinPercentage(1));
              assertThat(histogram.getSnapshot().get999thPercentile())
                  .isCloseTo(0.011, withinPercentage(1));
            });
  }

  @Test
  void appendsAndReadsAreCounted() throws JMException {
    StrataMetrics metrics = both(Where.YAMMER);
    assertThat(metrics.health().value()).isEqualTo(2);
    counters.appended(100, 5_000, 0);
    counters.appended(50, 5_000, 0);
    counters.readInLogFile(25);
    counters.read(70, 9_000);
    pass(Duration.ofSeconds(1));

    assertThat(value(Where.YAMMER, "Append,name=LatencySeconds", "Count")).isEqualTo(2);
    assertThat(value(Where.YAMMER, "Append,name=LatencySeconds", "Mean")).isEqualTo(5e-6);
    assertThat(value(Where.YAMMER, "Append,name=LatencySeconds", "99thPercentile"))
        .isBetween(4.9e-6, 5.1e-6);
    assertThat(value(Where.YAMMER, "Append,name=BytesTotal", "Count")).isEqualTo(150);
    assertThat(value(Where.YAMMER, "Read,name=LatencySeconds", "Count")).isEqualTo(1);
    assertThat(value(Where.YAMMER, "Read,name=BytesTotal", "Count")).isEqualTo(70);
    assertThat(value(Where.YAMMER, "Read,name=LogFileBytesTotal", "Count")).isEqualTo(25);
  }

  @ParameterizedTest
  @EnumSource
  void withoutAnEngineCountsAreZero(Where where) throws JMException {
    StrataMetrics metrics = open(where);
    metrics.local("1", () -> LocalFigures.quiet(counters), Map::of);
    metrics.remote("1", RemoteFigures::quiet, Map::of);

    assertThat(value(where, "Migration,name=Queued", "Value")).isZero();
    assertThat(value(where, "Migration,name=RoundSeconds", "Count")).isZero();
    assertThat(value(where, "Tier,name=DestagedBytesTotal,tier=hot", "Count")).isZero();
    assertThat(value(where, "Tier,name=BacklogSeconds,tier=hot", "Value")).isZero();
    assertThat(value(where, "RemoteMigration,name=Active", "Value")).isZero();
    assertThat(value(where, "RemoteMigration,name=FailuresTotal,cause=other", "Count")).isZero();
    assertThat(value(where, "RemoteScrub,name=LastEndTimestampSeconds", "Value")).isNaN();
    assertThat(value(where, "Broker,name=Health", "Value")).isZero();
    assertThat(metrics.getMetrics().get("RemoteScrub"))
        .doesNotContainKey("LastEndTimestampSeconds");
  }

  /** A scrape reads each of some 150 gauges; all segments are counted once for all of them. */
  @ParameterizedTest
  @EnumSource
  void aScrapeOfAHundredThousandSegmentsCountsThemOnce(Where where) throws JMException {
    int segments = 100_000;
    AtomicInteger counted = new AtomicInteger();
    StrataMetrics metrics = open(where);
    metrics.local(
        "1",
        () -> {
          IntStream.range(0, segments).forEach(segment -> counted.incrementAndGet());
          return LocalFigures.some(counters, 101);
        },
        Map::of);
    pass(Duration.ofMinutes(1));
    counted.set(0);

    for (Map.Entry<String, Set<String>> bean : beans(where).entrySet()) {
      for (String attribute : bean.getValue()) {
        assertThat(server(where).getAttribute(new ObjectName(bean.getKey()), attribute))
            .isNotNull();
      }
    }
    assertThat(counted).hasValue(segments);
  }

  /** However long a sample takes, samples take a twentieth of the time at most. */
  @Test
  void aSampleIsKeptForTwentyTimesAsLongAsItTook() {
    AtomicInteger taken = new AtomicInteger();
    Recent<Integer> recent =
        new Recent<>(
            () -> {
              pass(Duration.ofSeconds(1));
              return taken.incrementAndGet();
            },
            now::get);
    assertThat(recent.get()).isEqualTo(1);
    pass(Duration.ofMillis(19_900));
    assertThat(recent.get()).isEqualTo(1);
    pass(Duration.ofMillis(100));
    assertThat(recent.get()).isEqualTo(2);
  }

  @Test
  void aQuickSampleIsKeptForAMoment() {
    AtomicInteger taken = new AtomicInteger();
    Recent<Integer> recent = new Recent<>(taken::incrementAndGet, now::get);
    assertThat(recent.get()).isEqualTo(1);
    pass(Duration.ofMillis(199));
    assertThat(recent.get()).isEqualTo(1);
    pass(Duration.ofMillis(1));
    assertThat(recent.get()).isEqualTo(2);
  }

  /** A source that fails may take as long as one that does not. */
  @Test
  void aFailureIsKeptAsLong() {
    AtomicInteger taken = new AtomicInteger();
    Recent<Integer> recent =
        new Recent<>(
            () -> {
              throw new IllegalStateException("failure " + taken.incrementAndGet());
            },
            now::get);
    for (int i = 0; i < 3; i++) {
      assertThatThrownBy(recent::get).hasRootCauseMessage("failure 1");
    }
    pass(Duration.ofMillis(200));
    assertThatThrownBy(recent::get).hasRootCauseMessage("failure 2");
  }

  /** Otherwise a rate is that of other numbers, or 0 as long as a sample is kept. */
  @Test
  void theStatusHasTheTimeOfItsNumbers() {
    StrataMetrics metrics = open(Where.JMX);
    metrics.local(
        "1",
        () -> {
          pass(Duration.ofMillis(100));
          return LocalFigures.some(counters, now.get());
        },
        Map::of);
    long time = metrics.getTimeMillis();
    double count = destaged(metrics);

    pass(Duration.ofMillis(1_900));
    assertThat(metrics.getTimeMillis()).isEqualTo(time);
    assertThat(destaged(metrics)).isEqualTo(count);
    pass(Duration.ofMillis(200));
    assertThat(metrics.getTimeMillis()).isEqualTo(time + 2_200);
    assertThat(destaged(metrics)).isEqualTo(count + 2_200e6);
  }

  private static double destaged(StrataMetrics metrics) {
    return metrics
        .getMetrics()
        .getOrDefault("Tier,tier=hot", Map.of())
        .getOrDefault("DestagedBytesTotal", Double.NaN);
  }

  @ParameterizedTest
  @EnumSource
  void whatCannotBeReadIsNaNAndACounterStays(Where where) throws JMException {
    AtomicInteger broken = new AtomicInteger();
    StrataMetrics metrics = open(where);
    metrics.local(
        "1",
        () -> {
          if (broken.get() > 0) {
            throw new IllegalStateException("the pool is closed");
          }
          return LocalFigures.some(counters, 101);
        },
        Map::of);
    metrics.remote("1", RemoteFigures::quiet, Map::of);
    assertThat(value(where, "Tier,name=DestagedBytesTotal,tier=hot", "Count")).isEqualTo(101);

    broken.set(1);
    pass(Duration.ofMinutes(1));

    assertThat(value(where, "Tier,name=UsedBytes,tier=hot", "Value")).isNaN();
    assertThat(value(where, "Tier,name=DestagedBytesTotal,tier=hot", "Count")).isEqualTo(101);
    assertThat(value(where, "Migration,name=DestageSeconds", "Count")).isZero();
    assertThat(value(where, "RemoteLevel,name=UsedBytes,level=ssd", "Value"))
        .as("the others")
        .isEqualTo(1002);
  }

  @Test
  void aSourceThatFailsFromTheStartFailsNothingElse() throws JMException {
    StrataMetrics metrics = open(Where.JMX);
    metrics.local(
        "1",
        () -> {
          throw new NoClassDefFoundError("gone");
        },
        Map::of);
    metrics.remote("1", RemoteFigures::quiet, Map::of);

    assertThat(beans(Where.JMX).keySet()).noneMatch(name -> name.contains("type=Tier"));
    assertThat(value(Where.JMX, "RemoteLevel,name=UsedBytes,level=ssd", "Value")).isEqualTo(1002);
    assertThat(logged.messages())
        .anyMatch(line -> line.startsWith("WARN Metrics of the type Tier are not published"));
  }

  @Test
  void aSinkThatFailsFailsNothingElse() {
    MetricSink failing =
        new MetricSink() {
          @Override
          public void gauge(BeanName name, DoubleSupplier value) {
            throw new IllegalStateException("refused");
          }

          @Override
          public void counter(BeanName name, LongSupplier count) {
            throw new NoSuchMethodError("another version of the library");
          }

          @Override
          public void distribution(BeanName name, ToDoubleFunction<String> attributes) {
            throw new IllegalStateException("refused");
          }

          @Override
          public void remove(BeanName name) {}
        };
    try (StrataMetrics metrics =
        new StrataMetrics(
            failing, List::of, List::of, now::get, InstantSource.system(), logged.logger())) {
      metrics.local("1", () -> LocalFigures.some(counters, 101), Map::of);
      assertThat(metrics.getMetrics()).isNotEmpty();
      assertThat(logged.messages())
          .anyMatch(line -> line.startsWith("WARN Metric io.strata.kafka:type=Pool"));
    }
  }

  @ParameterizedTest
  @EnumSource
  void aSecondRemoteTierTakesThePlaceOfTheFirst(Where where) throws JMException {
    StrataMetrics metrics = open(where);
    metrics.remote("1", RemoteFigures::some, Map::of);
    assertThat(beans(where).keySet()).anyMatch(name -> name.contains("level=hdd"));

    metrics.remote("2", RemoteFigures::quiet, () -> Map.of("key", "value"));

    assertThat(beans(where).keySet()).noneMatch(name -> name.contains("level=hdd"));
    assertThat(value(where, "RemoteMigration,name=Active", "Value")).isZero();
    assertThat(metrics.getBroker()).isEqualTo("2");
    assertThat(metrics.getSettings()).containsExactly(Map.entry("key", "value"));
  }

  @Test
  void healthIsTheWorstOfItsReasons() {
    StrataMetrics metrics = open(Where.JMX);
    metrics.local("1", () -> LocalFigures.quiet(counters), Map::of);
    assertThat(metrics.health()).isEqualTo(new Health(0, List.of()));

    metrics.local("1", () -> LocalFigures.some(counters, 101), Map::of);
    assertThat(metrics.health())
        .isEqualTo(
            new Health(
                1, List.of("13 segments wait for a retry after a failed move between tiers")));

    metrics.local("1", () -> LocalFigures.failed(counters), Map::of);
    assertThat(metrics.health().value()).isEqualTo(2);
    assertThat(metrics.health().reasons())
        .containsExactly(
            "pool /mnt/pmem0/hot.pool failed, and nothing more is stored in it: restart the"
                + " machine: the device is gone");

    metrics.local("1", () -> LocalFigures.quiet(counters), Map::of);
    metrics.remote("1", RemoteFigures::some, Map::of);
    assertThat(metrics.health().value()).isEqualTo(2);
    assertThat(metrics.health().reasons())
        .containsExactly(
            "93 segments of the remote store have no copy that is not damaged",
            "segments found corrupt by moves between levels of the remote store: 2",
            "1010 damaged copies in remote level ssd",
            "remote directory /hdd of level hdd cannot be used",
            "copies go past remote directory /hdd of level hdd: copying t-0 failed",
            "cold manager a.Manager hangs in 3 copies, 2 reads and 1 deletions",
            "91 threads hang in operations of the remote tier",
            "123 segments wait for a retry after a failed move between levels of the remote store");
  }

  /** Kafka answers such a read without records, and the consumer stands still. */
  @Test
  void healthNamesReadsThatKafkaDiscards() {
    Duration patience = Duration.ofMillis(500);
    assertThat(healthOf(RemoteFigures.fetching(20, Duration.ofMillis(730), patience)))
        .isEqualTo(
            new Health(
                1,
                List.of(
                    "one of twenty reads of the remote store takes 734 ms or more until its first"
                        + " byte, and Kafka discards what comes later than"
                        + " remote.fetch.max.wait.ms (500), and asks again: raise the key")));
    assertThat(healthOf(RemoteFigures.fetching(20, Duration.ofMillis(400), patience)).value())
        .isZero();
    assertThat(healthOf(RemoteFigures.fetching(19, Duration.ofMillis(730), patience)).value())
        .isZero();
  }

  private Health healthOf(RemoteStats stats) {
    StrataMetrics metrics = open(Where.JMX);
    metrics.remote("1", () -> stats, Map::of);
    return metrics.health();
  }

  /** A reason for each promise of the local tiers that does not hold. */
  @Test
  void healthNamesWhatDoesNotHold() {
    assertThat(healthOf(new Guarantees(true, List.of(), List.of(), 0, List.of())))
        .isEqualTo(
            new Health(
                1,
                List.of(
                    "strata.spill.force=never: records that spill from a pool on DAX do not survive"
                        + " a power failure until Kafka or a copy forces them")));
    assertThat(
            healthOf(new Guarantees(false, List.of(Path.of("/data/a")), List.of(), 0, List.of())))
        .isEqualTo(
            new Health(
                2,
                List.of(
                    "the newest log files in /data/a could not be forced: what was acknowledged"
                        + " there before strata.spill.force was changed may not survive a power"
                        + " failure")));
    assertThat(healthOf(new Guarantees(false, List.of(), List.of(Path.of("/mnt/p")), 0, List.of())))
        .isEqualTo(
            new Health(
                2,
                List.of(
                    "pool /mnt/p has been on DAX and is not: acknowledged records do not survive a"
                        + " power failure until they are flushed or replicated; mount its file"
                        + " system with DAX, or say that this is meant (type file)")));
    assertThat(healthOf(new Guarantees(false, List.of(), List.of(), 3, List.of())))
        .isEqualTo(
            new Health(
                2,
                List.of(
                    "the log files of 3 segments in the pools were missing at the start, and a"
                        + " later one frees their bytes: see the log")));
    assertThat(healthOf(new Guarantees(false, List.of(), List.of(), 0, List.of("/data/a: gone"))))
        .isEqualTo(new Health(1, List.of("log directory skipped at the start: /data/a: gone")));
  }

  private Health healthOf(Guarantees guarantees) {
    LocalSample fine = LocalFigures.quiet(counters);
    LocalSample sample =
        new LocalSample(
            fine.pools(),
            fine.figures(),
            fine.counts(),
            fine.migration(),
            guarantees,
            fine.counters());
    List<String> offline =
        guarantees.skippedLogDirectories().isEmpty() ? List.of() : List.of("/data/a");
    return Health.of(Optional.of(sample), Optional.empty(), offline, List.of(), List.of());
  }

  @Test
  void aStoredValueThatIsLeftOutIsAReason() {
    StrataMetrics metrics = both(Where.JMX);
    int before = metrics.health().value();

    leftOut.add("key=wrong is left out");
    pass(Duration.ofSeconds(1));
    assertThat(metrics.health().reasons()).contains("key=wrong is left out");
    assertThat(metrics.health().value()).isEqualTo(Math.max(1, before));
  }

  /** As Kafka publishes them; one that was skipped at the start is named once. */
  @Test
  void aLogDirectoryThatKafkaTakesOfflineIsAReason() throws JMException {
    StrataMetrics metrics = open(Where.JMX);
    metrics.local("1", () -> LocalFigures.quiet(counters), Map::of);
    ObjectName plain =
        new ObjectName(
            "kafka.log:type=LogManager,name=LogDirectoryOffline,logDirectory=/data/kafka a");
    ObjectName quoted =
        new ObjectName(
            "kafka.log:type=LogManager,name=LogDirectoryOffline,logDirectory="
                + ObjectName.quote("/data/b,c"));
    AtomicInteger first = new AtomicInteger();
    AtomicInteger second = new AtomicInteger();
    own.registerMBean(new StandardMBean(first::get, KafkaGauge.class), plain);
    own.registerMBean(new StandardMBean(second::get, KafkaGauge.class), quoted);
    assertThat(metrics.health()).isEqualTo(new Health(0, List.of()));

    second.set(1);
    pass(Duration.ofSeconds(1));
    assertThat(metrics.health())
        .isEqualTo(new Health(1, List.of("Kafka has taken log directory /data/b,c offline")));
    first.set(1);
    pass(Duration.ofSeconds(1));
    assertThat(metrics.health().reasons())
        .containsExactly(
            "Kafka has taken log directory /data/b,c offline",
            "Kafka has taken log directory /data/kafka a offline");
  }

  @ParameterizedTest
  @EnumSource
  void aGaugeOfKafkasThatFailsHidesNothingElse(Where where) throws Exception {
    StrataMetrics metrics = both(where);
    KafkaGauge failing =
        () -> {
          throw new IllegalStateException("the log manager is gone");
        };
    own.registerMBean(
        new StandardMBean(failing, KafkaGauge.class),
        new ObjectName("kafka.log:type=LogManager,name=LogDirectoryOffline,logDirectory=/data"));
    pass(Duration.ofSeconds(1));

    assertThat(metrics.health().reasons())
        .contains("the state of Kafka's log directories cannot be read: see the log");
    assertThat(value(where, "Tier,name=DestagedBytesTotal,tier=hot", "Count")).isEqualTo(101);
  }

  /** What Kafka's gauges look like in JMX. */
  public interface KafkaGauge {
    /** The attribute. */
    int getValue();
  }

  /** Not NaN, which is above no threshold of an alert. */
  @ParameterizedTest
  @EnumSource
  void healthIsNotFineWhereAPartCannotBeReadAndStillHasTheOther(Where where) throws JMException {
    StrataMetrics metrics = open(where);
    metrics.local(
        "1",
        () -> {
          throw new IllegalStateException("the pool is closed");
        },
        Map::of);
    assertThat(value(where, "Broker,name=Health", "Value")).isEqualTo(1);
    assertThat(metrics.health().reasons())
        .containsExactly("the state of the local tiers cannot be read: see the log");

    metrics.remote("1", RemoteFigures::some, Map::of);

    assertThat(value(where, "Broker,name=Health", "Value")).isEqualTo(2);
    assertThat(metrics.health().reasons())
        .startsWith("93 segments of the remote store have no copy that is not damaged")
        .contains("the state of the local tiers cannot be read: see the log");
    assertThat(metrics.getMetrics()).containsKey("RemoteScrub").doesNotContainKey("Tier,tier=hot");
  }

  @Test
  void theStatusHasEachValueOnce() {
    StrataMetrics metrics = both(Where.JMX);
    Map<String, Map<String, Double>> values = metrics.getMetrics();
    assertThat(values.get("Tier,tier=hot"))
        .containsEntry("UsedBytes", 62914560.0)
        .containsEntry("ReadsTotal", 26.0);
    assertThat(values.get("Migration"))
        .hasEntrySatisfying(
            "DestageSeconds.99thPercentile",
            value -> assertThat(value).isCloseTo(0.01, withinPercentage(1)));
    assertThat(values.get("RemoteOperation,cause=full,operation=copy"))
        .containsExactly(Map.entry("FailuresTotal", 17.0));
    List<RemoteStats.LevelStats> levels = RemoteFigures.some().levels();
    assertThat(values.keySet())
        .containsSubsequence(
            levels.stream().map(level -> "RemoteLevel,level=" + level.name()).toList());
  }

  private void pass(Duration time) {
    now.addAndGet(time.toNanos());
  }
}
