package io.strata.kafka.testcontainers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the container is made of; {@code ContainerModuleTest} of the integration tests runs it. */
class StrataKafkaContainerTest {

  /** As the image reads them: one underscore is a dot, two are an underscore, three a hyphen. */
  @ParameterizedTest
  @CsvSource({
    "strata.pool.create, KAFKA_STRATA_POOL_CREATE",
    "log.dirs, KAFKA_LOG_DIRS",
    "strata.tier.my-tier.pools, KAFKA_STRATA_TIER_MY___TIER_POOLS",
    "rsm.config.a_b.directories, KAFKA_RSM_CONFIG_A__B_DIRECTORIES",
  })
  void aKeyHasTheVariableOfTheImage(String key, String variable) {
    assertThat(StrataKafkaContainer.variable(key)).isEqualTo(variable);
  }

  @Test
  void theBrokerHasWhatAnInstallationAdds() {
    try (StrataKafkaContainer kafka =
        new StrataKafkaContainer("apache/kafka:4.4.0")
            .withPool("32MiB")
            .withBroker("strata.durability", "ack")) {
      assertThat(kafka.getEnvMap())
          .containsEntry("KAFKA_STRATA_POOLS", StrataKafkaContainer.POOL)
          .containsEntry("KAFKA_STRATA_POOL_CREATE", "32MiB")
          .containsEntry("KAFKA_STRATA_DURABILITY", "ack")
          .hasEntrySatisfying(
              "KAFKA_METRIC_REPORTERS",
              reporters -> assertThat(reporters).contains("io.strata.kafka.StrataReporter"))
          .hasEntrySatisfying(
              "KAFKA_OPTS", flag -> assertThat(flag).contains("StrataFileSystemProvider"));
    }
  }

  @ParameterizedTest
  @CsvSource({"64MiB, 67108864", "2GiB, 2147483648"})
  void aPoolHasSoManyBytes(String size, long bytes) {
    assertThat(StrataKafkaContainer.bytes(size)).isEqualTo(bytes);
  }

  @ParameterizedTest
  @ValueSource(strings = {"64MB", "MiB", "64", "-1MiB"})
  void anotherFormOfASizeIsRefused(String size) {
    assertThatThrownBy(() -> StrataKafkaContainer.bytes(size))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(size);
  }
}
