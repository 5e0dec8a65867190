package io.strata.kafka.it.kills;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.Workspace;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Brokers that die by {@code kill -9} or stand still by {@code SIGSTOP} at random, while everything
 * that can be done with them is done: no acknowledged record is lost, none is there twice or out of
 * order, transactions are whole. In rounds, each with brokers and settings of its own; alternately
 * with one node and with three.
 *
 * <p>More by {@code integration-tests/kills.sh}. {@code cycles.log} in the class's folder has a
 * line for each cycle.
 */
@Tag("long")
class KillCampaignTest {

  private static final long SEED = Long.getLong("strata.it.seed", System.nanoTime());
  private static final int CYCLES = Integer.getInteger("strata.it.campaign.cycles", 30);

  /** 1, 3, or both in turn. */
  private static final String NODES = System.getProperty("strata.it.campaign.nodes", "both");

  /** Of one round. */
  private static final int ROUND = Integer.getInteger("strata.it.campaign.round", 25);

  @RegisterExtension static final Workspace WORK = new Workspace();

  @Test
  void everyAcknowledgedRecordIsThere(TestReporter reporter) throws Exception {
    assertThat(NODES).as("-Dstrata.it.campaign.nodes").isIn("1", "3", "both");
    // A round's own seed, so that it can be repeated without those before it.
    Random seeds = new Random(SEED);
    int share = NODES.equals("both") ? (CYCLES + 1) / 2 : CYCLES;
    int length = Math.min(ROUND, share);
    int done = 0;
    for (int round = 1; done < CYCLES; round++) {
      int cycles = Math.min(length, CYCLES - done);
      long seed = round == 1 ? SEED : seeds.nextLong();
      boolean three = NODES.equals("3") || (NODES.equals("both") && round % 2 == 0);
      try {
        round(round, three ? 3 : 1, cycles, seed);
      } catch (Throwable t) {
        throw new AssertionError(
            String.format(
                "round %d; again: integration-tests/kills.sh --nodes %d --seed %d --cycles %d",
                round, three ? 3 : 1, seed, cycles),
            t);
      }
      done += cycles;
    }
    reporter.publishEntry("cycles", done + ", seed " + SEED);
  }

  private static void round(int round, int nodes, int cycles, long seed) throws Exception {
    Path folder = WORK.folder("round-" + round);
    Path pools = Files.createDirectories(WORK.pools().resolve("round-" + round));
    Path log = WORK.folder("").resolve("cycles.log");
    try (KillCampaign campaign = KillCampaign.start(nodes, seed, folder, pools, log)) {
      try {
        for (int cycle = 1; cycle <= cycles; cycle++) {
          campaign.cycle(round + "." + cycle);
        }
        campaign.end();
      } catch (Throwable t) {
        campaign.keepPools(folder);
        throw t;
      }
    }
    // What a failure leaves stays; what a success leaves would fill the disk.
    Workspace.delete(folder);
    Workspace.delete(pools);
  }
}
