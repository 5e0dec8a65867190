package io.strata.kafka.unpublished;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Kafka's calls, told apart by who makes them. */
class ConfigurationCallTest {

  @Test
  void isToldByTheMethodOfKafkas() {
    DynamicBrokerConfig kafka = new DynamicBrokerConfig();
    assertThat(kafka.validate()).isEqualTo(ConfigurationCall.VALIDATION);
    assertThat(kafka.updateDefaultConfig()).isEqualTo(ConfigurationCall.CLUSTER_DEFAULT);
    assertThat(kafka.updateBrokerConfig()).isEqualTo(ConfigurationCall.BROKER);
    assertThat(kafka.another()).isEqualTo(ConfigurationCall.UNKNOWN);
    assertThat(validate()).isEqualTo(ConfigurationCall.UNKNOWN);
  }

  private static ConfigurationCall validate() {
    return ConfigurationCall.current();
  }

  /** Named as Kafka's. */
  private static final class DynamicBrokerConfig {
    ConfigurationCall validate() {
      return apply();
    }

    ConfigurationCall updateDefaultConfig() {
      return apply();
    }

    ConfigurationCall updateBrokerConfig() {
      return apply();
    }

    ConfigurationCall another() {
      return apply();
    }

    private static ConfigurationCall apply() {
      return ConfigurationCall.current();
    }
  }
}
