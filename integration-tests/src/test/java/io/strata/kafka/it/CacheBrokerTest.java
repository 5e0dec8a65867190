package io.strata.kafka.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A broker whose pool is written through, which is the default on tmpfs: nothing is lost with it.
 */
class CacheBrokerTest {

  private static final int RECORDS = 3_000;

  @RegisterExtension static final Workspace WORK = new Workspace();

  @Test
  void thePoolMayBeLostAndStrataTakenAwayAtAnyTime() throws Exception {
    Path pool = WORK.pool("cache");
    StockBroker broker =
        WORK.closing(
            StockBroker.in(WORK.folder("broker"))
                .strata(pool)
                .jmx()
                .set("strata.topics.exclude", "__.*")
                .set("strata.pool.type", pool.startsWith("/dev/shm") ? "auto" : "cache")
                .set("strata.pool.create", "64MiB")
                .build());
    RecordLedger ledger = new RecordLedger("hot", 2, 1);
    Map<String, String> right = broker.properties();
    broker.start();
    Topics.create(broker, "hot", 2, Map.of());
    ledger.produce(broker.bootstrap(), RECORDS, 1_000);
    assertAllThere(ledger, broker, RECORDS);
    assertThat(Jmx.sum(broker, "type=Tier,name=ReadBytesTotal,tier=hot"))
        .isGreaterThan(RECORDS * 1_000L);
    assertThat(Jmx.value(broker, "type=Read,name=LogFileBytesTotal")).isZero();
    assertThat(Jmx.value(broker, "type=Pool,name=Durability,*")).isEqualTo(1);
    assertThat(LogFiles.hotSegments(LogFiles.partition(broker, "hot", 0))).isEmpty();
    broker.kill();

    Files.delete(pool);
    assertNoMark(broker);
    broker.start();
    assertThat(broker.output()).contains("Created pool " + pool).doesNotContain("accept-loss");
    assertAllThere(ledger, broker, RECORDS);
    ledger.produce(broker.bootstrap(), RECORDS, 1_000);
    assertAllThere(ledger, broker, 2 * RECORDS);
    broker.kill();

    broker.withoutStrata().start();
    assertAllThere(ledger, broker, 2 * RECORDS);
    ledger.produce(broker.bootstrap(), RECORDS, 1_000);
    broker.kill();

    broker.setAll(right).installed(Installed.JAR_AND_FLAG).start();
    assertAllThere(ledger, broker, 3 * RECORDS);
    ledger.produce(broker.bootstrap(), RECORDS, 1_000);
    assertAllThere(ledger, broker, 4 * RECORDS);
    broker.stop();
    assertNoMark(broker);
    assertThat(pool).exists();
  }

  private static void assertAllThere(RecordLedger ledger, StockBroker broker, long records) {
    assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(records);
  }

  private static void assertNoMark(StockBroker broker) throws Exception {
    for (Path directory : broker.logDirectories()) {
      assertThat(
              Files.readString(directory.resolve("meta.properties"), StandardCharsets.ISO_8859_1))
          .doesNotContain("Strata");
    }
  }
}
