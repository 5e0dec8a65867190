package io.strata.kafka.config.key;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.config.BrokerProperties;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A service of a broker's namespace ends no start. */
public class ServiceLinksTest {
  private static final Map<String, String> BROKER =
      Map.of(
          "node.id", "1",
          "log.dirs", "/logs",
          "strata.pools", "/pool",
          "metric.reporters",
              "io.strata.kafka.StrataReporter,org.apache.kafka.common.metrics.JmxReporter");

  /** What Kubernetes gives to a pod for a service, as Kafka's image writes it to the file. */
  public static Map<String, String> keys(String service, String port) {
    String base = service.toUpperCase(Locale.ROOT).replace('-', '_');
    Map<String, String> variables = new HashMap<>();
    variables.put(base + "_SERVICE_HOST", "10.96.0.7");
    variables.put(base + "_SERVICE_PORT", "9092");
    variables.put(
        base + "_SERVICE_PORT_" + port.toUpperCase(Locale.ROOT).replace('-', '_'), "9092");
    variables.put(base + "_PORT", "tcp://10.96.0.7:9092");
    variables.put(base + "_PORT_9092_TCP", "tcp://10.96.0.7:9092");
    variables.put(base + "_PORT_9092_TCP_PROTO", "tcp");
    variables.put(base + "_PORT_9092_TCP_PORT", "9092");
    variables.put(base + "_PORT_9092_TCP_ADDR", "10.96.0.7");
    variables.put(base + "_PORT_53_UDP", "udp://[fd00::7]:53");
    variables.put(base + "_PORT_53_UDP_ADDR", "fd00::7");
    Map<String, String> keys = new TreeMap<>();
    variables.forEach(
        (name, value) ->
            keys.put(
                name.substring("KAFKA_".length())
                    .toLowerCase(Locale.ROOT)
                    .replace("___", "-")
                    .replace("__", "\0")
                    .replace('_', '.')
                    .replace('\0', '_'),
                value));
    return keys;
  }

  private static BrokerProperties broker(Map<String, String> more) {
    Map<String, String> all = new HashMap<>(BROKER);
    all.putAll(more);
    return BrokerProperties.of("server.properties", all);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "kafka-strata",
        "kafka-strata-foo",
        "kafka-strata-a-b-2",
        "kafka-strata-a--b",
        "kafka-strata-a---b",
        "kafka-strata-port",
        "kafka-strata-service-port",
        "kafka-strata-migration-policy",
        "kafka-strata-tier-hot",
      })
  void aServiceIsIgnoredWithOneWarningThatNamesIt(String service) throws Exception {
    BrokerProperties broker = broker(keys(service, "client-tls"));

    assertThat(broker.checkedConfig()).isEqualTo(broker(Map.of()).checkedConfig());
    assertThat(broker.asMap()).isEqualTo(BROKER);
    assertThat(broker.check())
        .singleElement()
        .extracting(ConfigProblem::message)
        .asString()
        .contains(
            "found the address of the Kubernetes service " + service + ", expected",
            "enableServiceLinks: false")
        .startsWith("strata");
  }

  @Test
  void servicesAreNamedInOneWarning() {
    Map<String, String> both = new HashMap<>(keys("kafka-strata", "a"));
    both.putAll(keys("kafka-strata-ui", "b"));

    assertThat(broker(both).check())
        .singleElement()
        .extracting(ConfigProblem::found)
        .isEqualTo("the address of the Kubernetes service kafka-strata, kafka-strata-ui");
  }

  /** Kafka hands all keys to the reporter, in which Strata looks for differences. */
  @Test
  void theReporterSeesNoDifference() {
    BrokerProperties kafka = broker(keys("kafka-strata", "client"));

    assertThat(broker(Map.of()).difference(kafka)).isEmpty();
  }

  /** Keys that an operator may have written are refused as before. */
  @ParameterizedTest
  @CsvSource({
    "strata.port, tcp://10.96.0.7:9092",
    "strata.service.host, 10.96.0.7",
    "strata.service.port, 9092",
    "strata.port, 9092",
  })
  void oneKeyMakesNoService(String key, String value) {
    assertThat(broker(Map.of(key, value)).strataConfig().problems())
        .singleElement()
        .extracting(ConfigProblem::key)
        .isEqualTo(key);
  }

  @ParameterizedTest
  @CsvSource({
    "strata.pool, /mnt/pool",
    "strata.port.9092.tcp.name, x",
    "strata.service.name, x",
    "strata.service.port.client, x",
  })
  void whatNoServiceMakesIsRefusedBesideOne(String key, String value) {
    Map<String, String> all = new HashMap<>(keys("kafka-strata", "admin"));
    all.put(key, value);

    assertThat(broker(all).strataConfig().problems())
        .singleElement()
        .extracting(ConfigProblem::key)
        .isEqualTo(key);
  }

  /** A pool or another key of Strata makes a broker one with pools; a service does not. */
  @Test
  void aServiceIsNoKeyOfAPool() {
    Map<String, String> all = new HashMap<>(keys("kafka-strata", "client"));
    all.put(
        "remote.log.storage.manager.class.name",
        "io.strata.kafka.migration.remote.StrataRemoteStorageManager");

    assertThat(BrokerProperties.of("x", all).hasRemoteTierAlone()).isTrue();
  }
}
