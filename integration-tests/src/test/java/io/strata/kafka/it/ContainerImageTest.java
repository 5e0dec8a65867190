package io.strata.kafka.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.github.dockerjava.api.model.Mount;
import com.github.dockerjava.api.model.MountType;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.testcontainers.kafka.KafkaContainer;
import org.testcontainers.utility.DockerImageName;

/** One node in a container, as Testcontainers' own module for Kafka starts it. */
@Tag("long")
class ContainerImageTest {

  private static final Duration LIMIT = Duration.ofMinutes(10);
  private static final String JAR = "/opt/kafka/libs/strata-kafka.jar";

  @BeforeAll
  static void engine() {
    ContainerEngine.assumeThere();
  }

  /** Kafka's image, the jar mounted, and nothing else. */
  @ParameterizedTest
  @ValueSource(strings = {"mapped", "file"})
  void theMountedJar(String type) throws Exception {
    try (KafkaContainer kafka = withJar(type)) {
      kafka.start();
      verify(kafka);
      assertThat(kafka.getLogs()).contains("type " + type);
      restart(kafka);
    }
  }

  /** JNA, which is in the jar, must not be able to load its library. */
  @ParameterizedTest
  @ValueSource(strings = {"mapped", "file"})
  void withoutNativeCalls(String type) throws Exception {
    try (KafkaContainer kafka = withJar(type)) {
      kafka.withEnv(
          "KAFKA_OPTS",
          Installed.PROVIDER_FLAG
              + " -Djna.nounpack=true -Djna.nosys=true -Djna.boot.library.path=/");
      kafka.start();
      verify(kafka);
    }
  }

  private static KafkaContainer withJar(String type) {
    Map<String, String> environment = new HashMap<>();
    environment.put("KAFKA_OPTS", Installed.PROVIDER_FLAG);
    environment.put("KAFKA_HEAP_OPTS", "-Xms160m -Xmx288m");
    environment.put("KAFKA_LOG_DIRS", "/var/lib/kafka/data/logs");
    environment.put("KAFKA_LOG_CLEANER_DEDUPE_BUFFER_SIZE", "8388608");
    environment.put("KAFKA_STRATA_POOLS", "/var/lib/kafka/data/hot.pool");
    environment.put("KAFKA_STRATA_POOL_CREATE", "24MiB");
    environment.put("KAFKA_STRATA_POOL_TYPE", type);
    environment.put(
        "KAFKA_METRIC_REPORTERS",
        "org.apache.kafka.common.metrics.JmxReporter,io.strata.kafka.StrataReporter");
    return new KafkaContainer(
            DockerImageName.parse(ContainerEngine.kafka())
                .asCompatibleSubstituteFor("apache/kafka"))
        .withCreateContainerCmdModifier(
            command -> command.getHostConfig().withMounts(List.of(mountedJar())))
        .withEnv(environment)
        .withStartupTimeout(LIMIT);
  }

  private static Mount mountedJar() {
    return new Mount()
        .withType(MountType.BIND)
        .withSource(Distribution.strataJar().toString())
        .withTarget(JAR)
        .withReadOnly(true);
  }

  private static void verify(KafkaContainer kafka) throws Exception {
    String bootstrap = kafka.getBootstrapServers();
    try (Admin admin =
        Admin.create(Map.of(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, bootstrap))) {
      Set<String> topics = Topics.await(admin.listTopics().names());
      String topic = "t" + topics.size();
      Topics.await(
          admin
              .createTopics(
                  List.of(
                      new NewTopic(topic, 1, (short) 1)
                          .configs(Map.of("segment.bytes", "1048576"))))
              .all());
      RecordLedger ledger = new RecordLedger(topic, 1, 1);
      ledger.produce(bootstrap, 3_000, 2_000);
      assertThat(ledger.verify(bootstrap).records()).isEqualTo(3_000);
    }
    assertThat(
            kafka
                .execInContainer(
                    "java", "-Xmx64m", "-jar", JAR, "pool", "info", "/var/lib/kafka/data/hot.pool")
                .getStdout())
        .contains("broker 1");
  }

  /** The same container again, on the log directories that Strata has marked. */
  private static void restart(KafkaContainer kafka) {
    var client = ContainerEngine.client();
    client.killContainerCmd(kafka.getContainerId()).exec();
    await().atMost(LIMIT).until(() -> !kafka.isRunning());
    client.startContainerCmd(kafka.getContainerId()).exec();
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () ->
                assertThat(kafka.getLogs().split("Kafka Server started", -1))
                    .as("parts of its log between starts; the log:\n%s", kafka.getLogs())
                    .hasSize(3));
    assertThat(kafka.getLogs()).contains("already formatted");
  }
}
