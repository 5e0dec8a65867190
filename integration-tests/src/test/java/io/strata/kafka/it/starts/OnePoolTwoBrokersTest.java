package io.strata.kafka.it.starts;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.JavaProcess;
import io.strata.kafka.it.harness.LogFiles;
import io.strata.kafka.it.harness.Pools;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.TestMount;
import io.strata.kafka.it.harness.Topics;
import io.strata.kafka.it.harness.Workspace;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A second broker, or a command, with a running broker's volumes, as a restart that overlaps or a
 * deployment that is scaled to two by mistake makes one. A container that was given a pool as a
 * file sees nothing beside it.
 */
class OnePoolTwoBrokersTest {

  private static final int RECORDS = 5_000;
  private static final Map<String, String> ONE_IN_FLIGHT =
      Map.of(ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION, "1");

  @RegisterExtension static final Workspace WORK = new Workspace();

  @Test
  void mapped() throws Exception {
    theSecondIsRefused("mapped");
  }

  @Test
  void file() throws Exception {
    theSecondIsRefused("file");
  }

  private static void theSecondIsRefused(String type) throws Exception {
    Path pool = Pools.create(WORK.pool(type, type), "32MiB", 128, type);
    RecordLedger ledger = new RecordLedger("hot", 1, 1);
    try (StockBroker first =
        StockBroker.in(WORK.folder(type)).strata(pool).set("strata.pool.type", type).build()) {
      first.start();
      Topics.create(first, "hot", 1, Map.of());
      ledger.produce(first.bootstrap(), RECORDS, 1_000);
      assertThat(LogFiles.hotSegments(LogFiles.partition(first, "hot", 0))).isNotEmpty();
      Path point = WORK.folder(type + "-mounts").resolve("hot.pool");
      try (TestMount mounted = TestMount.bindFile(pool, point)) {
        // It changes nothing itself meanwhile.
        first.pause();
        List<Path> all = List.of(pool, first.logDirectory());
        Fingerprint before = Fingerprint.of(all);

        StockBroker second = StockBroker.in(WORK.folder(type + "-second")).strata(pool).build();
        second.setAll(first.properties()).set("strata.pools", mounted.path().toString());
        // Kafka's lock says so first; a broker with log directories of its own meets the pool's.
        Refusals.assertAtOnce(
            second.startRefused(),
            first.logDirectory().toString(),
            "found that another process has Kafka's lock of it");
        second.set("log.dirs", WORK.folder(type + "-second").resolve("data-0").toString());
        Refusals.assertAtOnce(
            second.startRefused(), point.toString(), "found it locked by process " + first.pid());

        second.set("log.dirs", first.property("log.dirs")).writeProperties();
        String config = second.propertiesFile().toString();
        assertRefused(first, "drain", "--config", config);
        assertRefused(first, "accept-loss", "--config", config, "--yes");
        assertRefused(first, "pool", "repair", "--yes", point.toString());
        assertRefused(first, "pool", "grow", "--size", "64MiB", point.toString());
        assertRefused(first, "pool", "grow", "--size", "64MiB", "--config", config);
        assertThat(Pools.strata("pool", "create", "--size", "32MiB", point.toString()).output())
            .contains("found a file, expected none");

        assertThat(Fingerprint.of(all)).isEqualTo(before);
        first.resume();
        // Its session is over: for a moment nobody leads, and Kafka takes a later batch for a new
        // producer's first one.
        ledger.produce(first.bootstrap(), RECORDS, 1_000, ONE_IN_FLIGHT);
        assertThat(ledger.verify(first.bootstrap()).records()).isEqualTo(2 * RECORDS);
      }
      first.restart();
      assertThat(ledger.verify(first.bootstrap()).records()).isEqualTo(2 * RECORDS);
      first.stop();
      assertThat(pool.getParent()).isDirectoryNotContaining("glob:**.lock");
    }
  }

  private static void assertRefused(StockBroker running, String... command) {
    JavaProcess.Finished finished = Pools.strata(command);
    assertThat(finished.exitCode()).as(finished.output()).isNotZero();
    assertThat(finished.output()).containsAnyOf("a running broker", "process " + running.pid());
  }
}
