package io.strata.kafka.it.soak;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.Workspace;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The random walk of {@link OrdinaryYear}, briefly; {@code verify.sh --part year} walks longer. */
@Tag("long")
class OrdinaryYearTest {

  private static final long SEED = Long.getLong("strata.it.seed", System.nanoTime());
  private static final long SECONDS = Long.getLong("strata.it.year.seconds", 180);

  @RegisterExtension static final Workspace WORK = new Workspace();

  @Test
  void ordinaryWorkLosesNothing() throws Exception {
    System.out.println("strata.it.seed=" + SEED);
    Map<String, Integer> done = new OrdinaryYear(WORK, SEED).run(Duration.ofSeconds(SECONDS));
    System.out.println("ordinary work, seed " + SEED + ": " + done);
    assertThat(done).isNotEmpty();
  }
}
