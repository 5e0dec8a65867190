package io.strata.kafka.it.hot;

import static io.strata.kafka.it.harness.Waiting.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.it.harness.Jmx;
import io.strata.kafka.it.harness.LogFiles;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.TieredBrokers;
import io.strata.kafka.it.harness.Tiers;
import io.strata.kafka.it.harness.Topics;
import io.strata.kafka.it.harness.Workspace;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Values that a broker cannot use and that are stored all the same: a controller stores what it is
 * given. Kafka drops all that is stored at the level of a value that a plugin refuses, the
 * retention included, so nothing of Strata's may refuse what is stored.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class StoredValueTest {

  private static final int RECORDS = 300;

  /** As old as Kafka's default retention does not keep it. */
  private static final Duration AGE = Duration.ofDays(8);

  private static final String RETENTION = "" + Duration.ofDays(100).toMillis();

  @RegisterExtension final Workspace work = new Workspace();

  /**
   * A start loads the log files before it takes what is stored since the last snapshot, so that the
   * first check of retention waits here as long as a loaded machine may need for that.
   */
  @Test
  void reachesNoOtherKey() throws Exception {
    StockBroker broker = broker("wrong", "log.initial.task.delay.ms", "10000");
    setByController(
        broker,
        Map.of(
            "log.retention.ms", RETENTION,
            "strata.migration.threshold", "77",
            "strata.migration.threads", "3",
            "strata.pools", "/x.pool"));
    await().until(() -> Jmx.value(broker, "type=Migration,name=Threads") == 3);
    produceOldRecords(broker, "old", Map.of());
    broker.restart();

    awaitRetentionCheck(broker);
    assertThat(earliest(broker, "old")).as("first offset of %d records", RECORDS).isZero();
    assertThat(Jmx.value(broker, "type=Migration,name=Threads")).isEqualTo(3);
    assertThat(Jmx.value(broker, "type=Broker,name=Health")).isEqualTo(1);
    for (String each :
        List.of("strata.migration.threshold: found '77'", "strata.pools: found '/x.pool'")) {
      assertThat(broker.output().lines().filter(line -> line.contains(each)))
          .as("lines on %s since the start", each)
          .hasSize(1)
          .allMatch(line -> line.contains("WARN") && line.contains("--entity-default"));
    }

    assertThat(broker.strata("doctor").output())
        .contains("strata.migration.threshold=77 cannot be used", "strata.pools=/x.pool")
        .contains("--entity-default --delete-config strata.migration.threshold");

    // Other changes are taken, one of the wrong key is refused, and so it comes right again.
    Tiers.alter(broker, Map.of("message.max.bytes", "2000000", "strata.migration.threads", "2"));
    await().until(() -> Jmx.value(broker, "type=Migration,name=Threads") == 2);
    assertThatThrownBy(() -> Tiers.alter(broker, Map.of("strata.migration.threshold", "78")))
        .rootCause()
        .hasMessageContaining("strata.migration.threshold: found '78'")
        .hasMessageNotContaining("strata.pools");
    change(
        broker.admin(), "", AlterConfigOp.OpType.DELETE, Map.of("strata.migration.threshold", ""));
    change(broker.admin(), "", AlterConfigOp.OpType.DELETE, Map.of("strata.pools", ""));
    await().until(() -> Jmx.value(broker, "type=Broker,name=Health") == 0);
  }

  /** The file still names the reporter, so the broker starts; what is stored takes it out. */
  @Test
  void whatIsStoredStaysInForceWithoutTheReporter() throws Exception {
    StockBroker broker = broker("removed");
    Tiers.alter(
        broker, Map.of("strata.migration.threshold", "0.2", "strata.migration.threads", "3"));
    await().until(() -> Jmx.value(broker, "type=Migration,name=Threads") == 3);
    Tiers.alter(broker, Map.of("metric.reporters", "org.apache.kafka.common.metrics.JmxReporter"));
    broker.awaitLogged("StrataReporter is not in metric.reporters");
    Tiers.alter(broker, Map.of("strata.migration.threads", "4"));
    broker.restart();

    await().until(() -> Jmx.value(broker, "type=Migration,name=Threads") == 4);
    assertThat(broker.strata("status", "--json").output())
        .containsPattern("strata.tier.hot.threshold\"\\s*:\\s*\"0.2\"");
  }

  /** As above, of a broker without pools. */
  @Test
  void whatIsStoredForTheRemoteTierStaysInForceWithoutTheReporter() throws Exception {
    TieredBrokers tier = TieredBrokers.over(work.folder("data-removed"));
    StockBroker broker =
        work.start(
            tier.alone(work.folder("removed-alone"))
                .set("metric.reporters", StockBroker.REPORTERS));
    Tiers.alter(broker, Map.of("rsm.config.migration.rate.down", "123MB"));
    await().until(() -> status(broker).contains("rate.down=123000000"));
    Tiers.alter(broker, Map.of("metric.reporters", "org.apache.kafka.common.metrics.JmxReporter"));
    broker.restart();

    await().until(() -> status(broker).contains("rate.down=123000000"));
  }

  private static String status(StockBroker broker) throws Exception {
    return broker.strata("status").output();
  }

  /** Kafka then creates segments past Strata. */
  @Test
  void preallocationOnTheLiveBrokerIsAReason() throws Exception {
    StockBroker broker = broker("preallocated");
    Tiers.alter(broker, Map.of("log.preallocate", "true"));
    await().until(() -> Jmx.value(broker, "type=Broker,name=Health") == 1);
    broker.awaitLogged("log.preallocate=true", "WARN");
    Topics.create(broker, "past", 1, Map.of());
    new RecordLedger("past", 1, 1).produce(broker.bootstrap(), 100, 1000);
    assertThat(LogFiles.hotSegments(LogFiles.partition(broker, "past", 0))).isEmpty();

    Tiers.reset(broker, "log.preallocate");
    await().until(() -> Jmx.value(broker, "type=Broker,name=Health") == 0);
    Topics.create(broker, "hot", 1, Map.of());
    new RecordLedger("hot", 1, 1).produce(broker.bootstrap(), 100, 1000);
    assertThat(LogFiles.hotSegments(LogFiles.partition(broker, "hot", 0))).hasSize(1);
  }

  private StockBroker broker(String name) throws Exception {
    return broker(name, "log.initial.task.delay.ms", "300");
  }

  private StockBroker broker(String name, String key, String value) throws Exception {
    return work.start(Tiers.broker(work.folder(name), work.newPool(name, "32MiB")).set(key, value));
  }

  private static void setByController(StockBroker broker, Map<String, String> values)
      throws Exception {
    String voters = broker.property("controller.quorum.voters");
    change(
        Admin.create(Map.of("bootstrap.controllers", voters.substring(voters.indexOf('@') + 1))),
        "",
        AlterConfigOp.OpType.SET,
        values);
  }

  private static void change(
      Admin client, String level, AlterConfigOp.OpType type, Map<String, String> values)
      throws Exception {
    try (Admin admin = client) {
      ConfigResource resource = new ConfigResource(ConfigResource.Type.BROKER, level);
      Topics.await(Topics.configure(admin, resource, type, values));
    }
  }

  private static void produceOldRecords(
      StockBroker broker, String topic, Map<String, String> settings) throws Exception {
    RecordLedger old = Tiers.topic(broker, topic, 1, settings);
    long timestamp = Instant.now().minus(AGE).toEpochMilli();
    try (var producer = RecordLedger.producer(broker.bootstrap(), Map.of())) {
      for (int i = 0; i < RECORDS; i++) {
        old.send(producer, 0, 1000, timestamp + i);
      }
    }
  }

  /** Waits until the broker has removed what no retention keeps, then for one more check. */
  private static void awaitRetentionCheck(StockBroker broker) throws Exception {
    produceOldRecords(broker, "removed", Map.of("retention.ms", "1000"));
    await().until(() -> earliest(broker, "removed") == RECORDS);
    TimeUnit.SECONDS.sleep(1);
  }

  private static long earliest(StockBroker broker, String topic) throws InterruptedException {
    TopicPartition partition = new TopicPartition(topic, 0);
    try (Admin admin = broker.admin()) {
      return Topics.await(
              admin
                  .listOffsets(Map.of(partition, OffsetSpec.earliest()))
                  .partitionResult(partition))
          .offset();
    }
  }
}
