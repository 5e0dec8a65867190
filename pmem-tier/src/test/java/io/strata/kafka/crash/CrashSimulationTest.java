package io.strata.kafka.crash;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.api.Test;

/**
 * The promises of the tier, held against power cuts and kills at every point of random workloads.
 *
 * <p>{@code -Dstrata.crash.seeds=n} runs n seeds, of about 850 cut points each; {@code
 * -Dstrata.crash.first=n} begins at another one; {@code -Dstrata.crash.seed=n} runs one, {@code
 * -Dstrata.crash.cut=n} one cut of it, {@code -Dstrata.crash.trace=true} shows what led there.
 * {@code -Dstrata.crash.pools=small} leaves out the seeds whose pools are large.
 */
final class CrashSimulationTest {

  private static final int SEEDS = Integer.getInteger("strata.crash.seeds", 8);
  private static final long FIRST = Long.getLong("strata.crash.first", 0);
  private static final int SEEDS_BETWEEN_REPORTS = 10;

  /** Fewer mean that the simulation has lost what it cuts. */
  private static final int FEWEST_CUTS_OF_A_SEED = 400;

  private static final boolean SMALL_ALONE =
      "small".equals(System.getProperty("strata.crash.pools"));

  @Test
  void nothingIsLost() throws IOException {
    Long one = Long.getLong("strata.crash.seed");
    Campaign campaign = new Campaign(Sites.ALL).failing().only(Long.getLong("strata.crash.cut", 0));
    if (one != null) {
      campaign.run(one);
    } else {
      long seed = FIRST;
      for (int i = 0; i < SEEDS; i++) {
        while (SMALL_ALONE && Setup.of(seed).size() != Setup.PoolSize.SMALL) {
          seed++;
        }
        campaign.run(seed++);
        if ((i + 1) % SEEDS_BETWEEN_REPORTS == 0) {
          System.out.println(
              "crash simulation: " + (i + 1) + " seeds below " + seed + ", " + campaign.report());
        }
      }
      assertThat(campaign.cuts()).isGreaterThan((long) SEEDS * FEWEST_CUTS_OF_A_SEED);
    }
    System.out.println("crash simulation: " + campaign.report());
  }
}
