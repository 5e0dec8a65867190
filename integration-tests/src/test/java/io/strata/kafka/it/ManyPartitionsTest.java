package io.strata.kafka.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Two thousand partitions with one small segment each start, run and restart. */
@Tag("long")
class ManyPartitionsTest {

  private static final int PARTITIONS = 2_000;

  @RegisterExtension static final Workspace WORK = new Workspace();

  @Test
  void startRunAndRestart() throws Exception {
    Path pool = WORK.pool("many");
    Pools.strata("pool", "create", "--size", "256MiB", "--slots", "4096", pool.toString()).orFail();
    StockBroker broker =
        WORK.closing(StockBroker.in(WORK.folder("broker")).strata(pool).build()).start();
    Topics.create(broker, "many", PARTITIONS, Map.of());
    RecordLedger ledger = new RecordLedger("many", PARTITIONS, 1);
    ledger.produce(broker.bootstrap(), 2 * PARTITIONS, 1_000);
    assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(2 * PARTITIONS);
    List<Path> partitions = LogFiles.partitions(broker.logDirectory(), "many");
    assertThat(partitions).hasSize(PARTITIONS);
    for (Path partition : partitions) {
      assertThat(LogFiles.hotSegments(partition)).as("hot segments of %s", partition).hasSize(1);
    }

    broker.stop();
    broker.start();
    ledger.produce(broker.bootstrap(), PARTITIONS, 1_000);
    broker.kill();
    broker.start();
    assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(3 * PARTITIONS);
    broker.stop();
  }
}
