package io.strata.kafka.it.hot;

import static io.strata.kafka.it.harness.Waiting.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.it.harness.JavaProcess;
import io.strata.kafka.it.harness.Jmx;
import io.strata.kafka.it.harness.KafkaVersion;
import io.strata.kafka.it.harness.LogFiles;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.Tiers;
import io.strata.kafka.it.harness.Topics;
import io.strata.kafka.it.harness.Workspace;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What {@code kafka-configs.sh --alter} does to a broker that runs: each key has its effect without
 * a restart, a value that cannot be used is refused with a reason, and the old one stays.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class LiveReconfigurationTest {

  private static final int MIB = 1 << 20;

  @RegisterExtension final Workspace work = new Workspace();

  private final List<String> altered = new ArrayList<>();
  private StockBroker broker;

  @BeforeAll
  void start() throws Exception {
    Path pool = work.newPool("hot", "48MiB", 256);
    broker =
        work.start(
            Tiers.broker(work.folder("broker"), pool)
                .set("strata.migration.threshold", "-1")
                .set("strata.migration.promote", "false"));
  }

  @AfterEach
  void putBack() throws Exception {
    Tiers.reset(broker, altered.toArray(String[]::new));
    altered.clear();
    Tiers.deleteTopics(broker);
    await().until(() -> Tiers.usage(broker).used() == 0);
  }

  @Test
  void thresholdModeAndPromotion() throws Exception {
    RecordLedger ledger = Tiers.topic(broker, "moved", 1);
    ledger.produce(broker.bootstrap(), 10_000, 1_000);
    TimeUnit.SECONDS.sleep(1);
    assertThat(Tiers.usage(broker).clean()).as("clean bytes at threshold -1").isZero();

    // The tool, as an operator has it.
    assertThat(configure("strata.migration.threshold=0").exitCode()).isZero();
    altered.add("strata.migration.threshold");
    Tiers.awaitClean(broker, "hot");
    assertThat(Tiers.usage(broker).clean()).as("clean bytes").isGreaterThan(7L * MIB);

    alter("strata.migration.mode", "threshold");
    awaitHot("moved", 1);

    alter("strata.migration.mode", "eager");
    alter("strata.migration.promote", "true");
    awaitHot("moved", LogFiles.segments(LogFiles.partition(broker, "moved", 0)).size());
    assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(10_000);
  }

  @Test
  void rateAndThreads() throws Exception {
    Tiers.topic(broker, "limited", 1).produce(broker.bootstrap(), 20_000, 1_000);
    long before = Tiers.total(broker, "DestagedBytesTotal");
    alter("strata.migration.rate.down", "1MiB");
    alter("strata.migration.threads", "3");
    long began = System.nanoTime();
    alter("strata.migration.threshold", "0");
    await().until(() -> Tiers.total(broker, "DestagedBytesTotal") - before > 3L * MIB);
    long destaged = Tiers.total(broker, "DestagedBytesTotal") - before;
    double seconds = (System.nanoTime() - began) / 1e9;
    assertThat((double) destaged)
        .as("bytes destaged in %.1f s at 1 MiB/s, of which 6 MiB may be ahead", seconds)
        .isLessThan((seconds + 6) * MIB);
    assertThat(Jmx.value(broker, "type=Migration,name=Threads")).isEqualTo(3);
    alter("strata.migration.rate.down", "0");
    Tiers.awaitClean(broker, "hot");
    alter("strata.migration.threads", "1");
    await().until(() -> Jmx.value(broker, "type=Migration,name=Threads") == 1);
  }

  @Test
  void pinsAndExclusions() throws Exception {
    for (String topic : List.of("pinned-a", "excluded-b", "other")) {
      Tiers.topic(broker, topic, 1).produce(broker.bootstrap(), 5_000, 1_000);
    }
    alter("strata.topics.exclude", "excluded-.*");
    awaitHot("excluded-b", 1);
    assertThat(hot("other")).as("hot segments of a topic that neither concerns").isGreaterThan(3);

    alter("strata.migration.pin.topics", "pinned-.*,nothing");
    alter("strata.migration.mode", "threshold");
    alter("strata.migration.threshold", "0");
    awaitHot("other", 1);
    assertThat(hot("pinned-a"))
        .as("hot segments of a pinned topic")
        .isEqualTo(LogFiles.segments(LogFiles.partition(broker, "pinned-a", 0)).size());
  }

  @Test
  void policyAndItsParameters() throws Exception {
    Tiers.topic(broker, "old", 1).produce(broker.bootstrap(), 8_000, 1_000);
    alter("strata.migration.policy", "age");
    TimeUnit.SECONDS.sleep(1);
    assertThat(Tiers.usage(broker).clean()).as("clean bytes, younger than the default").isZero();
    alter("strata.migration.policy.after", "1s");
    Tiers.awaitClean(broker, "hot");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "strata.migration.threshold       | 1.5      | -1, or a number from 0 to 1",
        "strata.migration.mode            | lazy     | eager, threshold",
        "strata.migration.threads         | 0        | from 1 to 64",
        "strata.migration.rate.down       | fast     | bytes per second",
        "strata.topics.exclude            | (        | regular expression",
        "strata.migration.promote         | perhaps  | true or false",
        "strata.migration.policy          | none     | newest",
        "strata.migration.policy.after    | soon     | durations",
        "strata.migration.pin.topics      | (        | regular expression",
        "strata.tier.hot.threshold       | -2       | -1, or a number from 0 to 1",
        "strata.pools                     | /x.pool  | restart",
      })
  void whatCannotBeUsedIsRefusedWithAReason(String key, String value, String reason)
      throws Exception {
    String before = valueOf(key);
    assertThatThrownBy(() -> Tiers.alter(broker, Map.of(key, value)))
        .rootCause()
        .hasMessageContaining(key)
        .hasMessageContaining(value)
        .hasMessageContaining(reason);
    assertThat(valueOf(key)).as("value of %s after the refusal", key).isEqualTo(before);
  }

  @Test
  void theToolShowsTheReason() throws Exception {
    JavaProcess.Finished refused = configure("strata.migration.threads=many");
    assertThat(refused.output()).contains("strata.migration.threads", "many", "64");
    assertThat(refused.exitCode()).isNotZero();
  }

  @Test
  void outlivesARestart() throws Exception {
    alter("strata.migration.threshold", "0");
    broker.restart();
    Tiers.topic(broker, "after", 1).produce(broker.bootstrap(), 5_000, 1_000);
    Tiers.awaitClean(broker, "hot");
    assertThat(Tiers.usage(broker).clean()).as("clean bytes").isGreaterThan(2L * MIB);
  }

  private JavaProcess.Finished configure(String setting) throws IOException, InterruptedException {
    return broker.tool(
        KafkaVersion.ofThisRun().configs(),
        "--bootstrap-server",
        broker.bootstrap(),
        "--entity-type",
        "brokers",
        "--entity-name",
        "1",
        "--alter",
        "--add-config",
        setting);
  }

  private void alter(String key, String value) throws InterruptedException {
    altered.add(key);
    Tiers.alter(broker, Map.of(key, value));
  }

  private String valueOf(String key) throws InterruptedException {
    try (Admin admin = broker.admin()) {
      ConfigEntry entry =
          Objects.requireNonNull(
                  Topics.await(admin.describeConfigs(List.of(Tiers.resource(broker))).all())
                      .get(Tiers.resource(broker)))
              .get(key);
      return entry == null ? "" : String.valueOf(entry.value());
    }
  }

  private int hot(String topic) throws IOException {
    return LogFiles.hotSegments(LogFiles.partition(broker, topic, 0)).size();
  }

  private void awaitHot(String topic, int segments) {
    await()
        .untilAsserted(
            () -> assertThat(hot(topic)).as("hot segments of %s", topic).isEqualTo(segments));
  }
}
