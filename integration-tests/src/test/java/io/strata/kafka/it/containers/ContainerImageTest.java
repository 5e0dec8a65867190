package io.strata.kafka.it.containers;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.Distribution;
import io.strata.kafka.it.harness.Installed;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.Topics;
import io.strata.kafka.testcontainers.StrataKafkaContainer;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.testcontainers.utility.DockerImageName;

/** One node in a container, as Testcontainers' own module for Kafka starts it. */
@Tag("long")
class ContainerImageTest {

  private static final Duration LIMIT = Duration.ofMinutes(10);

  @BeforeAll
  static void engine() {
    ContainerEngine.assumeThere();
  }

  /**
   * Kafka's image and the jar, on log directories that Strata has marked before the second start.
   */
  @ParameterizedTest
  @ValueSource(strings = {"mapped", "file"})
  void theAddedJar(String type) throws Exception {
    try (StrataKafkaContainer kafka = container(type)) {
      kafka.start();
      verify(kafka);
      assertThat(kafka.getLogs()).contains("type " + type);
      kafka.killBroker();
      kafka.startBroker();
      assertThat(kafka.getLogs()).contains("already formatted");
    }
  }

  /** JNA, which is in the jar, must not be able to load its library. */
  @ParameterizedTest
  @ValueSource(strings = {"mapped", "file"})
  void withoutNativeCalls(String type) throws Exception {
    try (StrataKafkaContainer kafka = container(type)) {
      kafka.withEnv(
          "KAFKA_OPTS",
          Installed.PROVIDER_FLAG
              + " -Djna.nounpack=true -Djna.nosys=true -Djna.boot.library.path=/");
      kafka.start();
      verify(kafka);
    }
  }

  /** A small broker with the jar under test and a pool of 24 MiB. */
  static StrataKafkaContainer container(String type) {
    StrataKafkaContainer kafka =
        new StrataKafkaContainer(
                DockerImageName.parse(ContainerEngine.kafka())
                    .asCompatibleSubstituteFor("apache/kafka"))
            .withStrataJar(Distribution.strataJar())
            .withPool("24MiB")
            .withBroker("strata.pool.type", type)
            .withBroker("log.cleaner.dedupe.buffer.size", "8388608");
    kafka.withEnv("KAFKA_HEAP_OPTS", "-Xms160m -Xmx288m").withStartupTimeout(LIMIT);
    return kafka;
  }

  private static void verify(StrataKafkaContainer kafka) throws Exception {
    String bootstrap = kafka.getBootstrapServers();
    try (Admin admin =
        Admin.create(Map.of(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, bootstrap))) {
      Set<String> topics = Topics.await(admin.listTopics().names());
      String topic = "t" + topics.size();
      Topics.create(
          admin, new NewTopic(topic, 1, (short) 1).configs(Map.of("segment.bytes", "1048576")));
      RecordLedger ledger = new RecordLedger(topic, 1, 1);
      ledger.produce(bootstrap, 3_000, 2_000);
      assertThat(ledger.verify(bootstrap).records()).isEqualTo(3_000);
    }
    assertThat(kafka.strata("pool", "info", "/var/lib/kafka/data/strata.pool"))
        .contains("broker 1");
  }
}
