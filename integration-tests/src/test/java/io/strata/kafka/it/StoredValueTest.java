package io.strata.kafka.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.ByteArraySerializer;
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
    await()
        .atMost(Tiers.PATIENCE)
        .until(() -> Jmx.value(broker, "type=Migration,name=Threads") == 3);
    produceOldRecords(broker, "old", Map.of());
    broker.stop();
    broker.start();

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

    assertThat(Pools.strata("doctor", "--config", broker.propertiesFile().toString()).output())
        .contains("strata.migration.threshold=77 cannot be used", "strata.pools=/x.pool")
        .contains("--entity-default --delete-config strata.migration.threshold");

    // Other changes are taken, one of the wrong key is refused, and so it comes right again.
    Tiers.alter(broker, Map.of("message.max.bytes", "2000000", "strata.migration.threads", "2"));
    await()
        .atMost(Tiers.PATIENCE)
        .until(() -> Jmx.value(broker, "type=Migration,name=Threads") == 2);
    assertThatThrownBy(() -> Tiers.alter(broker, Map.of("strata.migration.threshold", "78")))
        .rootCause()
        .hasMessageContaining("strata.migration.threshold: found '78'")
        .hasMessageNotContaining("strata.pools");
    change(
        broker.admin(), "", AlterConfigOp.OpType.DELETE, Map.of("strata.migration.threshold", ""));
    change(broker.admin(), "", AlterConfigOp.OpType.DELETE, Map.of("strata.pools", ""));
    await().atMost(Tiers.PATIENCE).until(() -> Jmx.value(broker, "type=Broker,name=Health") == 0);
  }

  /** The file still names the reporter, so the broker starts; what is stored takes it out. */
  @Test
  void whatIsStoredStaysInForceWithoutTheReporter() throws Exception {
    StockBroker broker = broker("removed");
    Tiers.alter(
        broker, Map.of("strata.migration.threshold", "0.2", "strata.migration.threads", "3"));
    await()
        .atMost(Tiers.PATIENCE)
        .until(() -> Jmx.value(broker, "type=Migration,name=Threads") == 3);
    Tiers.alter(broker, Map.of("metric.reporters", "org.apache.kafka.common.metrics.JmxReporter"));
    broker.awaitLogged("StrataReporter is not in metric.reporters");
    Tiers.alter(broker, Map.of("strata.migration.threads", "4"));
    broker.stop();
    broker.start();

    await()
        .atMost(Tiers.PATIENCE)
        .until(() -> Jmx.value(broker, "type=Migration,name=Threads") == 4);
    assertThat(
            Pools.strata("status", "--json", "--config", broker.propertiesFile().toString())
                .output())
        .containsPattern("strata.tier.hot.threshold\"\\s*:\\s*\"0.2\"");
  }

  /** As above, of a broker without pools. */
  @Test
  void whatIsStoredForTheRemoteTierStaysInForceWithoutTheReporter() throws Exception {
    TieredBrokers tier = TieredBrokers.over(work.folder("data-removed"));
    StockBroker broker =
        work.closing(
                tier.alone(work.folder("removed-alone"))
                    .set("metric.reporters", StockBroker.REPORTERS)
                    .build())
            .start();
    Tiers.alter(broker, Map.of("rsm.config.migration.rate.down", "123MB"));
    await().atMost(Tiers.PATIENCE).until(() -> status(broker).contains("rate.down=123000000"));
    Tiers.alter(broker, Map.of("metric.reporters", "org.apache.kafka.common.metrics.JmxReporter"));
    broker.stop();
    broker.start();

    await().atMost(Tiers.PATIENCE).until(() -> status(broker).contains("rate.down=123000000"));
  }

  private static String status(StockBroker broker) throws Exception {
    return Pools.strata("status", "--config", broker.propertiesFile().toString()).output();
  }

  /** Kafka then creates segments past Strata. */
  @Test
  void preallocationOnTheLiveBrokerIsAReason() throws Exception {
    StockBroker broker = broker("preallocated");
    Tiers.alter(broker, Map.of("log.preallocate", "true"));
    await().atMost(Tiers.PATIENCE).until(() -> Jmx.value(broker, "type=Broker,name=Health") == 1);
    broker.awaitLogged("log.preallocate=true", "WARN");
    Topics.create(broker, "past", 1, Map.of());
    new RecordLedger("past", 1, 1).produce(broker.bootstrap(), 100, 1000);
    assertThat(LogFiles.hotSegments(LogFiles.partition(broker, "past", 0))).isEmpty();

    Tiers.reset(broker, "log.preallocate");
    await().atMost(Tiers.PATIENCE).until(() -> Jmx.value(broker, "type=Broker,name=Health") == 0);
    Topics.create(broker, "hot", 1, Map.of());
    new RecordLedger("hot", 1, 1).produce(broker.bootstrap(), 100, 1000);
    assertThat(LogFiles.hotSegments(LogFiles.partition(broker, "hot", 0))).hasSize(1);
  }

  private StockBroker broker(String name) throws Exception {
    return broker(name, "log.initial.task.delay.ms", "300");
  }

  private StockBroker broker(String name, String key, String value) throws Exception {
    return work.closing(
            Tiers.broker(work.folder(name), Pools.create(work.pool(name), "32MiB"))
                .set(key, value)
                .build())
        .start();
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
    List<AlterConfigOp> changes = new ArrayList<>();
    values.forEach(
        (key, value) -> changes.add(new AlterConfigOp(new ConfigEntry(key, value), type)));
    try (Admin admin = client) {
      Topics.await(
          admin
              .incrementalAlterConfigs(
                  Map.of(new ConfigResource(ConfigResource.Type.BROKER, level), changes))
              .all());
    }
  }

  private static void produceOldRecords(
      StockBroker broker, String topic, Map<String, String> settings) throws Exception {
    Topics.create(broker, topic, 1, settings);
    long timestamp = Instant.now().minus(AGE).toEpochMilli();
    try (var producer =
        new KafkaProducer<>(
            Map.<String, Object>of("bootstrap.servers", broker.bootstrap()),
            new ByteArraySerializer(),
            new ByteArraySerializer())) {
      for (int i = 0; i < RECORDS; i++) {
        var unused =
            producer.send(new ProducerRecord<>(topic, 0, timestamp + i, null, new byte[1000]));
      }
    }
  }

  /** Waits until the broker has removed what no retention keeps, then for one more check. */
  private static void awaitRetentionCheck(StockBroker broker) throws Exception {
    produceOldRecords(broker, "removed", Map.of("retention.ms", "1000"));
    await().atMost(Tiers.PATIENCE).until(() -> earliest(broker, "removed") == RECORDS);
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
