package io.strata.kafka.memory;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DurabilityTest {

  @ParameterizedTest
  @CsvSource({
    "POWER, true, false, true",
    "FORCE, false, true, true",
    "PROCESS, false, false, false"
  })
  void answers(Durability is, boolean durableOnPersist, boolean needsForce, boolean reboot) {
    assertThat(is.durableOnPersist()).isEqualTo(durableOnPersist);
    assertThat(is.needsForce()).isEqualTo(needsForce);
    assertThat(is.survivesReboot()).isEqualTo(reboot);
  }
}
