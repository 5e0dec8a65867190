package io.strata.kafka.it.starts;

import static io.strata.kafka.it.harness.Waiting.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.Tiers;
import io.strata.kafka.it.harness.Topics;
import io.strata.kafka.it.harness.Workspace;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A log directory is not there for a while and comes back. Taken out of {@code log.dirs}, stock
 * Kafka creates its partitions again in the other one, and refuses to have them twice; Strata
 * refuses the start before that, while the pools have segments of it. Configured and unusable, it
 * is offline, and complete when it is back. docs/operations.md says so.
 */
@Tag("long")
class LogDirectoryAwayTest {

  private static final int PARTITIONS = 8;
  private static final int RECORDS = 1_000;

  @RegisterExtension static final Workspace WORK = new Workspace();

  @Test
  void kafkaRefusesPartitionsThatItHasCreatedTwice() throws Exception {
    StockBroker broker = WORK.start(StockBroker.in(WORK.folder("stock")).logDirectories(2));
    Topics.create(broker, "away", PARTITIONS, Map.of());
    broker.stop();
    String both = broker.property("log.dirs");
    Path stays = Path.of(both.split(",", -1)[0]);
    Path away = Path.of(both.split(",", -1)[1]);
    assertThat(partitions(away)).as("some are in each").isBetween(1L, PARTITIONS - 1L);

    broker.set("log.dirs", stays.toString()).start();
    await().until(() -> partitions(stays) == PARTITIONS);
    broker.stop();
    broker.set("log.dirs", both);

    assertThat(broker.startRefused().output())
        .contains("Duplicate log directories for away-", "are found in both");
  }

  @Test
  void strataRefusesToStartWithoutALogDirectoryOfWhichThePoolHasSegments() throws Exception {
    RecordLedger ledger = new RecordLedger("away", PARTITIONS, 1);
    StockBroker broker = withStrata("refused", ledger);
    String both = broker.property("log.dirs");
    Path stays = broker.logDirectories().get(0);
    long there = partitions(stays);

    assertThat(broker.set("log.dirs", stays.toString()).startRefused().output())
        .contains("and none of log.dirs is that one", "put the directory back into log.dirs");
    assertThat(partitions(stays)).as("created again").isEqualTo(there);

    broker.set("log.dirs", both).start();
    assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(RECORDS);
  }

  @Test
  void whatAnUnusableLogDirectoryHasInThePoolIsThereWhenItIsBack() throws Exception {
    RecordLedger ledger = new RecordLedger("away", PARTITIONS, 1);
    StockBroker broker = withStrata("unusable", ledger);
    Path stays = broker.logDirectories().get(0);
    Path away = broker.logDirectories().get(1);
    Path elsewhere = Files.move(away, away.resolveSibling("elsewhere"));
    long there = partitions(stays);

    Files.writeString(away, "not a directory");
    broker.start();
    broker.awaitLogged("Skipped log directory " + away);
    broker.awaitLogged("Kept slots");
    assertThat(partitions(stays)).as("created again").isEqualTo(there);
    broker.stop();

    Files.delete(away);
    Path unused = Files.move(elsewhere, away);
    broker.start();
    assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(RECORDS);
    ledger.produce(broker.bootstrap(), RECORDS, 500);
    assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(2 * RECORDS);
  }

  /** A stopped broker whose two log directories have segments in a pool. */
  private static StockBroker withStrata(String name, RecordLedger ledger) throws Exception {
    Path pool = WORK.newPool(name, "32MiB");
    StockBroker broker = WORK.start(Tiers.broker(WORK.folder(name), pool).logDirectories(2));
    Topics.create(broker, "away", PARTITIONS, Map.of());
    ledger.produce(broker.bootstrap(), RECORDS, 500);
    assertThat(partitions(broker.logDirectories().get(1))).isBetween(1L, PARTITIONS - 1L);
    broker.stop();
    return broker;
  }

  private static long partitions(Path directory) {
    try (Stream<Path> all = Files.list(directory)) {
      return all.filter(path -> path.getFileName().toString().startsWith("away-")).count();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
