package io.strata.kafka.it.hot;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.Jmx;
import io.strata.kafka.it.harness.KafkaVersion;
import io.strata.kafka.it.harness.LogFiles;
import io.strata.kafka.it.harness.Pools;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.Topics;
import io.strata.kafka.it.harness.Workspace;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The life of a broker's pools, in the order of an operator's days: in use, full, restarted, grown,
 * two of them, drained, gone. After each step every record of the steps before is read.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class PoolLifecycleTest {

  private static final int SEGMENT = 4 << 20;
  private static final int DUMPED = 3_000;
  private static final Pattern BATCH_COUNT = Pattern.compile(" count: (\\d+) ");

  @RegisterExtension final Workspace work = new Workspace();

  private final RecordLedger dumped = new RecordLedger("dumped", 1, 1);
  private final RecordLedger filling = new RecordLedger("filling", 2, 2);
  private StockBroker broker;
  private Path pool;

  @BeforeAll
  void start() throws Exception {
    pool = work.newPool("first", "24MiB");
    // A full pool is what this is about: nothing is to leave it in the background.
    broker =
        work.start(
            StockBroker.in(work.folder("broker"))
                .strata(pool)
                .set("strata.migration.threshold", "-1")
                .set("strata.migration.promote", "false")
                .jmx());
    Topics.create(broker, "dumped", 1, Map.of());
    Topics.create(broker, "filling", 2, Map.of("segment.bytes", "" + SEGMENT));
  }

  @Test
  @Order(1)
  void dumpLogReadsAHotSegmentWhileTheBrokerRunsAndAfterIt() throws Exception {
    dumped.produce(broker.bootstrap(), DUMPED, 500);
    Path segment = LogFiles.segments(LogFiles.partition(broker, "dumped", 0)).get(0);
    assertThat(LogFiles.isHot(segment)).as("%s is in the pool", segment).isTrue();
    assertThat(LogFiles.allocatedBytes(segment))
        .as("bytes of %s in the log file", segment)
        .isZero();

    assertThat(recordsDumped(segment)).as("records, while the broker runs").isEqualTo(DUMPED);
    broker.stop();
    assertThat(recordsDumped(segment)).as("records, after the broker").isEqualTo(DUMPED);
    broker.start();
  }

  @Test
  @Order(2)
  void producersGoOnWhenThePoolIsFull() throws Exception {
    filling.produce(broker.bootstrap(), 40_000, 1_000);

    assertThat(filling.verify(broker.bootstrap()).records()).isEqualTo(40_000);
    // In small steps, so that fetches begin and end on both sides of the borders.
    Map<String, String> smallSteps = Map.of("max.partition.fetch.bytes", "60000");
    assertThat(filling.verify(broker.bootstrap(), smallSteps).records()).isEqualTo(40_000);

    assertThat(segments()).as("strata segments").contains("spilled", "hot", "logdirs");
    assertThat(metric("type=Segments,name=Spilled")).as("spilled segments").isPositive();
    assertThat(metric("type=Segments,name=Hot")).as("hot segments").isPositive();
    assertThat(metric("type=Tier,name=SpilledSegmentsTotal,*")).as("spills").isPositive();
    assertThat(metric("type=Append,name=BytesTotal")).as("bytes").isGreaterThan(15_000_000);
    assertThat(metric("type=Read,name=BytesTotal")).as("bytes read").isGreaterThan(15_000_000);
    assertThat(metric("type=Pool,name=UsedBytes,*") + metric("type=Pool,name=FreeBytes,*"))
        .as("used and free bytes of the pool")
        .isEqualTo(metric("type=Pool,name=SizeBytes,*"));
  }

  @Test
  @Order(3)
  void everythingIsThereAfterACleanRestart() throws Exception {
    broker.restart();
    filling.produce(broker.bootstrap(), 4_000, 1_000);
    verifyAll();
  }

  @Test
  @Order(4)
  void aGrownPoolTakesNewSegments() throws Exception {
    String before = moments();
    broker.stop();
    assertThat(moments())
        .as("what the next start refuses a copy of the running broker by")
        .isNotEqualTo(before);
    Pools.strata("pool", "grow", "--size", "48MiB", pool.toString()).orFail();
    broker.start();
    filling.produce(broker.bootstrap(), 12_000, 1_000);
    verifyAll();
    assertActiveSegmentsAreHot();
  }

  private String moments() throws IOException {
    return new String(
        (byte[]) Files.getAttribute(broker.logDirectory(), "user:strata.moments"),
        StandardCharsets.UTF_8);
  }

  @Test
  @Order(5)
  void twoPoolsServeOneTier() throws Exception {
    broker.stop();
    Path second = work.newPool("second", "48MiB");
    broker.set("strata.pools", pool + "," + second);
    broker.start();
    filling.produce(broker.bootstrap(), 20_000, 1_000);
    verifyAll();
    assertThat(segments()).as("strata segments").contains("first.pool", "second.pool");
    broker.killAndStart();
    verifyAll();
    assertActiveSegmentsAreHot();
  }

  @Test
  @Order(6)
  void afterADrainAStockBrokerHasEverything() throws Exception {
    broker.stop();
    broker.strata("drain").orFail();
    for (Path partition : partitions()) {
      assertThat(LogFiles.hotSegments(partition)).as("tags in %s", partition).isEmpty();
    }
    for (String file : List.of(pool.toString(), work.pool("second").toString())) {
      Pools.strata("pool", "check", file).orFail();
      Files.delete(Path.of(file));
    }
    broker.withoutStrata().start();
    verifyAll();
    filling.produce(broker.bootstrap(), 4_000, 1_000);
    broker.killAndStart();
    verifyAll();
  }

  private void verifyAll() {
    assertThat(dumped.verify(broker.bootstrap()).records()).isEqualTo(dumped.acknowledged());
    assertThat(filling.verify(broker.bootstrap()).records()).isEqualTo(filling.acknowledged());
  }

  private List<Path> partitions() throws Exception {
    return LogFiles.partitions(broker.logDirectory(), "(dumped|filling)");
  }

  private void assertActiveSegmentsAreHot() throws Exception {
    for (Path partition : LogFiles.partitions(broker.logDirectory(), "filling")) {
      List<Path> segments = LogFiles.segments(partition);
      Path active = segments.get(segments.size() - 1);
      assertThat(LogFiles.isHot(active)).as("%s is in a pool", active).isTrue();
    }
  }

  private String segments() {
    return broker.strata("segments").orFail().output();
  }

  /** The records that kafka-dump-log finds in a segment, each batch having been valid. */
  private int recordsDumped(Path segment) throws Exception {
    String output =
        broker
            .tool(KafkaVersion.ofThisRun().dumpLog(), "--files", segment.toString())
            .orFail()
            .output();
    assertThat(output).contains("isvalid: true").doesNotContain("isvalid: false");
    return BATCH_COUNT
        .matcher(output)
        .results()
        .map(MatchResult::group)
        .mapToInt(group -> Integer.parseInt(group.replaceAll("\\D", "")))
        .sum();
  }

  private long metric(String name) throws IOException {
    return Jmx.value(broker, name);
  }
}
