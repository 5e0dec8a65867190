package io.strata.kafka.it.starts;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.Tiers;
import io.strata.kafka.it.harness.Topics;
import io.strata.kafka.it.harness.Workspace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A log directory's volume is restored from a snapshot, with its attributes, and the pool is not.
 * Much of what the snapshot's tags name has left the pool since.
 */
@Tag("long")
class OlderLogDirectoryTest {

  private static final int RECORDS = 20_000;
  private static final int SIZE = 1_000;

  @RegisterExtension static final Workspace WORK = new Workspace();

  private final RecordLedger ledger = new RecordLedger("orders", 2, 1);

  @Test
  void itIsRefusedAndNothingIsLost() throws Exception {
    Path pool = WORK.newPool("pool", "24MiB", 128);
    StockBroker broker =
        WORK.start(
            Tiers.broker(WORK.folder("broker"), pool).set("strata.migration.threshold", "0"));
    Topics.create(broker, "orders", 2, Map.of("segment.bytes", "" + (1 << 20)));
    produce(broker);
    broker.stop();
    final Path afterAStop = copy(broker.logDirectory(), "after-a-stop");
    broker.start();
    produce(broker);
    broker.kill();
    final Path afterAKill = copy(broker.logDirectory(), "after-a-kill");
    broker.start();
    produce(broker);
    final Path running = copy(broker.logDirectory(), "running");
    produce(broker);
    broker.stop();

    Path place = broker.logDirectory();
    Path current = Files.move(place, place.resolveSibling("current"));
    for (Path snapshot : List.of(afterAStop, afterAKill, running)) {
      Files.move(snapshot, place);
      assertRefusedAndUnchanged(broker, pool);
      Files.move(place, snapshot);
    }

    Files.move(current, place);
    broker.start();
    assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(4 * RECORDS);
    Tiers.audit(broker);
  }

  private void produce(StockBroker broker) throws Exception {
    ledger.produce(broker.bootstrap(), RECORDS, SIZE);
  }

  private static Path copy(Path original, String name) throws IOException, InterruptedException {
    Path copy = WORK.folder("snapshots-" + name).resolve("data");
    Process process = new ProcessBuilder("cp", "-a", "" + original, "" + copy).inheritIO().start();
    // Of a running broker a file may be gone before it is copied.
    assertThat(process.waitFor()).isBetween(0, 1);
    return copy;
  }

  /** At two automatic restarts, too. */
  private static void assertRefusedAndUnchanged(StockBroker broker, Path pool) throws Exception {
    List<Path> trees = List.of(broker.logDirectory(), pool);
    Fingerprint before = Fingerprint.of(trees);
    for (int i = 0; i < 2; i++) {
      Refusals.assertAtOnce(
          broker.startRefused(),
          broker.logDirectory().toString(),
          pool.toString(),
          "the log directory is older than the pool file",
          "the log directory was last used with this pool at 20",
          "bring the current log directory back");
      assertThat(Fingerprint.of(trees)).isEqualTo(before);
    }
  }
}
