package io.strata.kafka.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.crash.Setup.PoolSize;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * With {@code strata.durability=ack} an append that has returned is there after a power failure, on
 * pools of type {@code file} too.
 */
final class AcknowledgedOnFilesTest {

  private static final long CUTS = 300;

  @ParameterizedTest
  @EnumSource
  void nothingAcknowledgedIsLost(PoolSize size) throws IOException {
    Campaign campaign = new Campaign(Sites.ALL).atMost(CUTS);
    for (long seed = 0; campaign.cuts() < CUTS; seed++) {
      campaign.run(seed, Setup.ACK_ON_FILES.with(size));
    }
  }

  /** The simulation would find out. */
  @Test
  void withoutItSomethingIs() {
    Setup without = Setup.ALL.get(4);
    assertThat(without.tiers()).isEqualTo(Setup.ACK_ON_FILES.tiers());
    assertThatThrownBy(() -> new Campaign(Sites.ALL).run(0, without.promisingAll()))
        .isInstanceOf(Campaign.Failure.class);
  }
}
