package io.strata.kafka.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.config.CommandLineArguments;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The role of a JVM: only a broker opens pools for writing. */
class StrataRuntimeTest {

  @ParameterizedTest
  @CsvSource({
    "kafka.Kafka server.properties, , true",
    "kafka.Kafka server.properties, tool, false",
    "kafka.Kafka server.properties, broker, true",
    "com.acme.Embedded x, , false",
    "com.acme.Embedded x, broker, true",
    "com.acme.Copy client.properties, , false",
    "org.apache.kafka.tools.TopicCommand --list, broker, false",
    "kafka.tools.StorageTool format, broker, false",
    "kafka.admin.ConfigCommand --alter, broker, false",
    "kafka.docker.KafkaDockerWrapper start, , false",
    "kafka.docker.KafkaDockerWrapper start, broker, true"
  })
  void theCommandLineOrThePropertyTells(String command, String given, boolean broker)
      throws IOException {
    assertThat(StrataRuntime.isBroker(line(command), Optional.ofNullable(given))).isEqualTo(broker);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "Broker", "controller"})
  void refusesARoleThatIsNone(String given) {
    assertThatThrownBy(
            () -> StrataRuntime.isBroker(line("kafka.Kafka s.properties"), Optional.of(given)))
        .isInstanceOf(IOException.class)
        .hasMessageContainingAll("strata.role", "'" + given + "'", "expected broker or tool");
  }

  @Test
  void refusesABrokerWithoutAFile() {
    assertThatThrownBy(() -> BrokerTier.propertiesOf(line("com.acme.Embedded")))
        .isInstanceOf(IOException.class)
        .hasMessageContainingAll(
            "no properties file was found on the command line 'com.acme.Embedded '",
            "-Dstrata.config=");
  }

  private static CommandLineArguments line(String command) {
    return CommandLineArguments.of(command, List.of(), Optional.empty());
  }
}
