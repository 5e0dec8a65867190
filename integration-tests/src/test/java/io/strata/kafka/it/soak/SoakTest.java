package io.strata.kafka.it.soak;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.Workspace;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The soak, briefly; {@code integration-tests/soak.sh} runs it for hours. */
@Tag("long")
class SoakTest {

  private static final long SEED = Long.getLong("strata.it.seed", System.nanoTime());
  private static final int SECONDS = Integer.getInteger("strata.it.soak.seconds", 75);

  @RegisterExtension static final Workspace WORK = new Workspace();

  @Test
  void nothingGrowsAndNothingIsLeft() throws Exception {
    List<SoakSample> samples =
        Soak.run(
            new Soak.Builder(
                WORK.folder("soak"),
                WORK.pools(),
                Duration.ofSeconds(SECONDS),
                Duration.ofSeconds(3),
                Duration.ZERO,
                SEED));
    assertThat(samples).as("samples, strata.it.seed=%d", SEED).isNotEmpty();
  }
}
