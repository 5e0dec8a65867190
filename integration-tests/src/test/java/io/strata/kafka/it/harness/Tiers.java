package io.strata.kafka.it.harness;

import static io.strata.kafka.it.harness.Waiting.await;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.config.ConfigResource;

/**
 * Brokers whose segments move, and what tests ask about their tiers: from outside, by the broker's
 * metrics, by its files, and by the command line.
 */
public final class Tiers {

  public static final int SEGMENT = 1 << 20;

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final List<String> MOVES =
      List.of("DestagedBytesTotal", "PromotedBytesTotal", "EvictedBytesTotal");

  private Tiers() {}

  /** How full a tier is, in bytes. */
  public record Usage(long capacity, long used, long dirty, long clean, long active) {

    /** What an append finds without waiting for a copy. */
    public long reserve() {
      return capacity - used + clean;
    }
  }

  // ---------------------------------------------------------------------------------------------
  // brokers
  // ---------------------------------------------------------------------------------------------

  /**
   * A broker of small segments, whose engine plans ten times a second; internal topics stay out of
   * the pools, so that what is there is the test's.
   */
  public static StockBroker.Builder broker(Path folder, Path... pools) {
    return plain(folder).strata(pools).jmx().set("strata.topics.exclude", "__.*");
  }

  /** The same broker, stock. */
  public static StockBroker.Builder plain(Path folder) {
    return StockBroker.in(folder)
        .set("log.segment.bytes", "" + SEGMENT)
        .set("log.retention.check.interval.ms", "300")
        .set("log.initial.task.delay.ms", "300")
        .set("log.segment.delete.delay.ms", "100")
        .set("log.cleaner.backoff.ms", "200")
        .set("broker.session.timeout.ms", "1500")
        .set("broker.heartbeat.interval.ms", "300");
  }

  /** Sets keys on the running broker, as {@code kafka-configs.sh --alter} does. */
  public static void alter(StockBroker broker, Map<String, String> settings)
      throws InterruptedException {
    try (Admin admin = broker.admin()) {
      Topics.await(alter(admin, broker, settings));
    }
  }

  /** The same, without waiting for the answer. */
  public static KafkaFuture<Void> alter(
      Admin admin, StockBroker broker, Map<String, String> settings) {
    return Topics.configure(admin, resource(broker), AlterConfigOp.OpType.SET, settings);
  }

  /** Takes back what {@link #alter} has set. */
  public static void reset(StockBroker broker, String... keys) throws InterruptedException {
    Map<String, String> all = new TreeMap<>();
    for (String key : keys) {
      all.put(key, "");
    }
    try (Admin admin = broker.admin()) {
      Topics.await(Topics.configure(admin, resource(broker), AlterConfigOp.OpType.DELETE, all));
    }
  }

  /** The broker, as the admin client names it. */
  public static ConfigResource resource(StockBroker broker) {
    return new ConfigResource(ConfigResource.Type.BROKER, broker.property("node.id"));
  }

  /** A topic with the broker's settings, and what is known of its records. */
  public static RecordLedger topic(StockBroker broker, String name, int partitions)
      throws InterruptedException {
    return topic(broker, name, partitions, Map.of());
  }

  /** A topic with settings of its own, and what is known of its records. */
  public static RecordLedger topic(
      StockBroker broker, String name, int partitions, Map<String, String> config)
      throws InterruptedException {
    Topics.create(broker, name, partitions, config);
    return new RecordLedger(name, partitions, name.hashCode());
  }

  /** Reads the topics from their beginning: exactly what was acknowledged is there. */
  public static void verify(StockBroker broker, RecordLedger... ledgers) {
    for (RecordLedger ledger : ledgers) {
      assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(ledger.acknowledged());
    }
  }

  /**
   * Deletes all topics but Kafka's own: without that of remote metadata the remote copies would
   * stay for ever.
   */
  public static void deleteTopics(StockBroker broker) throws InterruptedException {
    try (Admin admin = broker.admin()) {
      List<String> names = new ArrayList<>(Topics.await(admin.listTopics().names()));
      names.removeIf(name -> name.startsWith("__"));
      Topics.await(admin.deleteTopics(names).all());
    }
  }

  // ---------------------------------------------------------------------------------------------
  // metrics
  // ---------------------------------------------------------------------------------------------

  /** The first tier's usage. */
  public static Usage usage(StockBroker broker) throws IOException {
    return usage(broker, "hot");
  }

  /** A tier's usage. */
  public static Usage usage(StockBroker broker, String tier) throws IOException {
    Map<String, Number> all = Jmx.values(broker, "type=Tier,tier=" + tier + ",*");
    return new Usage(
        of(all, "CapacityBytes"),
        of(all, "UsedBytes"),
        of(all, "DirtyBytes"),
        of(all, "CleanBytes"),
        of(all, "ActiveBytes"));
  }

  private static long of(Map<String, Number> values, String name) {
    return values.entrySet().stream()
        .filter(entry -> List.of(entry.getKey().split(",", -1)).contains("name=" + name))
        .mapToLong(entry -> entry.getValue().longValue())
        .findFirst()
        .orElseThrow(() -> new AssertionError("no metric " + name + " among " + values.keySet()));
  }

  /** A counter of moves, over all tiers. */
  public static long total(StockBroker broker, String name) throws IOException {
    return Jmx.sum(broker, "type=Tier,name=" + name + ",*");
  }

  /** How many segments did not find space in the pools since the broker's start. */
  public static long overflows(StockBroker broker) throws IOException {
    return Jmx.sum(broker, "type=Tier,name=SpilledSegmentsTotal,*")
        + Jmx.value(broker, "type=Segments,name=PlacementsRefusedTotal");
  }

  /** Waits until nothing but active segments is dirty in the tier. */
  public static void awaitClean(StockBroker broker, String tier) {
    await()
        .untilAsserted(
            () -> {
              Usage usage = usage(broker, tier);
              assertThat(usage.dirty()).as("dirty bytes, %s", usage).isEqualTo(usage.active());
            });
  }

  /** Waits until the tier has nothing but active segments. */
  public static void awaitEvicted(StockBroker broker) {
    await()
        .untilAsserted(
            () -> {
              Usage usage = usage(broker);
              assertThat(usage.used()).as("used bytes, %s", usage).isEqualTo(usage.active());
            });
  }

  /** Waits until nothing has moved for two seconds. */
  public static void awaitQuiet(StockBroker broker) {
    AtomicReference<List<Long>> last = new AtomicReference<>(List.of());
    await()
        .pollInterval(Duration.ofSeconds(2))
        .until(
            () -> {
              List<Long> now = moved(broker);
              return now.equals(last.getAndSet(now));
            });
  }

  /** Bytes destaged, promoted and evicted so far. */
  public static List<Long> moved(StockBroker broker) throws IOException {
    List<Long> totals = new ArrayList<>();
    for (String name : MOVES) {
      totals.add(total(broker, name));
    }
    return totals;
  }

  // ---------------------------------------------------------------------------------------------
  // accounting
  // ---------------------------------------------------------------------------------------------

  /** The running broker, in which nothing moves, counts what is in its pools' files. */
  public static void assertAccounting(StockBroker broker) {
    await().pollInterval(Duration.ofMillis(500)).untilAsserted(() -> assertCounts(broker));
  }

  private static void assertCounts(StockBroker broker) throws IOException {
    long counted = 0;
    for (String tier : broker.tiers()) {
      Usage usage = usage(broker, tier);
      assertThat(usage.dirty() + usage.clean())
          .as("dirty and clean bytes of tier %s, %s", tier, usage)
          .isEqualTo(usage.used());
      assertThat(usage.active())
          .as("active bytes of tier %s, %s", tier, usage)
          .isLessThanOrEqualTo(usage.dirty());
      counted += usage.used();
    }
    long recounted = 0;
    for (JsonNode pool : json("pool", "info", broker).path("pools")) {
      recounted += pool.path("usedBytes").asLong();
    }
    assertThat(counted).as("used bytes by the metrics, against the pools'").isEqualTo(recounted);
  }

  /**
   * Stops the broker, if it runs: its pools and log directories agree. The checker finds nothing,
   * every slot has its log file and every tag its slot, and nothing is half deleted.
   */
  public static void audit(StockBroker broker) throws IOException, InterruptedException {
    if (broker.isRunning()) {
      int unused = broker.stop();
    }
    for (JsonNode pool : json("pool", "check", broker).path("pools")) {
      assertThat(pool.path("usable").asBoolean()).as("%s", pool).isTrue();
      assertThat(pool.path("findings")).as("findings, %s", pool).isEmpty();
      assertThat(pool.path("deletingSegments").asInt()).as("half deleted, %s", pool).isZero();
    }
    JsonNode inventory = json("segments", "--totals", broker);
    assertThat(inventory.path("findings")).as("findings of strata segments").isEmpty();
    assertThat(inventory.path("total").path("unreachable").asInt()).as("unreachable").isZero();
    long inPools = 0;
    for (JsonNode pool : json("pool", "info", broker).path("pools")) {
      inPools += pool.path("segments").asLong();
    }
    long tags = 0;
    for (Path directory : broker.logDirectories()) {
      tags += tagged(directory);
    }
    if (broker.tiers().size() == 1) {
      assertThat(inPools).as("slots, against tagged files in the log directories").isEqualTo(tags);
    } else { // a segment has a slot in each tier that has a copy
      assertThat(inPools).as("slots, against tagged files").isGreaterThanOrEqualTo(tags);
    }
  }

  private static long tagged(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      long count = 0;
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        count += LogFiles.isHot(file) ? 1 : 0;
      }
      return count;
    }
  }

  /** What a command of {@code strata} prints about the stopped broker. */
  public static JsonNode json(String command, String option, StockBroker broker)
      throws IOException {
    String output = broker.strata(command, option, "--json").orFail().output();
    return JSON.readTree(output.substring(output.indexOf('{')));
  }
}
