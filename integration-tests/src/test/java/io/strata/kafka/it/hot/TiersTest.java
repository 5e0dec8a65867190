package io.strata.kafka.it.hot;

import static io.strata.kafka.it.harness.Waiting.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.Jmx;
import io.strata.kafka.it.harness.LogFiles;
import io.strata.kafka.it.harness.Pools;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.Tiers;
import io.strata.kafka.it.harness.Topics;
import io.strata.kafka.it.harness.Workspace;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Two tiers above the log directories, with two pools each: down through all of them, and up again.
 */
class TiersTest {

  private static final String HOT = "hot";

  @RegisterExtension static final Workspace WORK = new Workspace();

  @Test
  void segmentsCascadeDownAndComeBack() throws Exception {
    Path pmem1 = WORK.newPool("pmem-1", "12MiB", 64);
    Path pmem2 = WORK.newPool("pmem-2", "12MiB", 64);
    Path ssd1 = Pools.create(WORK.pool("ssd-1", "file"), "24MiB", 64);
    Path ssd2 = Pools.create(WORK.pool("ssd-2", "file"), "24MiB", 64);
    StockBroker broker =
        WORK.start(
            Tiers.broker(WORK.folder("broker"), pmem1, pmem2)
                .secondTier(ssd1, ssd2)
                .set("strata.tier.ssd.type", "file")
                .set("strata.tier.hot.threshold", "0.5")
                .set("strata.tier.ssd.threshold", "0.25"));
    RecordLedger kept = Tiers.topic(broker, "kept", 3);
    kept.produce(broker.bootstrap(), 10_000, 1_000);
    List<Path> partitions = LogFiles.partitions(broker.logDirectory(), "kept");
    RecordLedger pushing = Tiers.topic(broker, "pushing", 2);
    await()
        .until(
            () -> {
              pushing.produce(broker.bootstrap(), 4_000, 4_000);
              return inLogFile(partitions) >= 9; // all but the active ones
            });
    Tiers.awaitQuiet(broker);
    for (Path pool : new Path[] {pmem1, pmem2, ssd1, ssd2}) {
      assertThat(Jmx.value(broker, "type=Pool,name=UsedBytes,pool=" + pool))
          .as("bytes used of %s", pool)
          .isPositive();
    }
    for (String tier : broker.tiers()) {
      assertThat(Jmx.value(broker, "type=Tier,name=DestagedBytesTotal,tier=" + tier))
          .as("bytes destaged from %s", tier)
          .isPositive();
    }
    Tiers.verify(broker, kept, pushing);
    Tiers.assertAccounting(broker);

    Topics.delete(broker, "pushing");
    await()
        .untilAsserted(
            () ->
                assertThat(inLogFile(partitions))
                    .as("segments that did not come back into a pool")
                    .isZero());
    Tiers.awaitQuiet(broker);
    assertThat(Jmx.value(broker, "type=Tier,name=PromotedBytesTotal,tier=" + HOT))
        .as("bytes promoted into the first tier")
        .isPositive();
    Tiers.assertAccounting(broker);
    kept.produce(broker.bootstrap(), 2_000, 1_000);
    broker.killAndStart();
    Tiers.verify(broker, kept);
    Tiers.assertAccounting(broker);
    Tiers.audit(broker);

    broker.strata("drain").orFail();
    broker.withoutStrata().start();
    Tiers.verify(broker, kept);
    broker.stop();
  }

  private static int inLogFile(List<Path> partitions) throws IOException {
    int count = 0;
    for (Path partition : partitions) {
      count += LogFiles.segments(partition).size() - LogFiles.hotSegments(partition).size();
    }
    return count;
  }
}
