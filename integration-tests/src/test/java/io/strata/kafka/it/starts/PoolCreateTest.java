package io.strata.kafka.it.starts;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.LogFiles;
import io.strata.kafka.it.harness.Pools;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.Topics;
import io.strata.kafka.it.harness.Workspace;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A broker that creates its pool at its first start, and never in the place of a lost one. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class PoolCreateTest {

  @RegisterExtension final Workspace work = new Workspace();

  private final RecordLedger ledger = new RecordLedger("hot", 1, 1);

  @Test
  @Order(1)
  void atTheFirstStartAndNotAfterALoss() throws Exception {
    Path pool = work.pool("created");
    StockBroker broker =
        work.closing(
            StockBroker.in(work.folder("broker"))
                .strata(pool)
                .set("strata.pool.create", "32MiB")
                .build());

    broker.start();
    Topics.create(broker, "hot", 1, Map.of());
    ledger.produce(broker.bootstrap(), 1_000, 1_000);
    broker.kill();
    assertThat(pool).hasSize(32 << 20);
    assertThat(LogFiles.hotSegments(LogFiles.partition(broker, "hot", 0))).isNotEmpty();
    assertThat(Pools.strata("pool", "info", pool.toString()).orFail().output())
        .contains("broker 1 of cluster");

    // A pool that is there is used as it is.
    broker.set("strata.pool.create", "64MiB").start();
    assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(1_000);
    broker.stop();
    assertThat(pool).hasSize(32 << 20);

    Path lost = pool.resolveSibling("lost.pool");
    Files.move(pool, lost);
    assertRefused(broker, pool, "hot-0");

    Files.move(lost, pool);
    broker.start();
    assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(1_000);
    broker.stop();
  }

  /** As after a copy that has left the extended attributes behind. */
  @Test
  @Order(2)
  void notOnDirectoriesThatHaveTheMarkAlone() throws Exception {
    Path pool = work.pool("marked");
    StockBroker broker =
        work.closing(
            StockBroker.in(work.folder("marked"))
                .strata(pool)
                .set("strata.pool.create", "32MiB")
                .build());
    broker.start();
    broker.stop();
    Files.delete(pool);
    for (Path directory : broker.logDirectories()) {
      withoutAttributes(directory);
      assertThat(
              Files.readString(directory.resolve("meta.properties"), StandardCharsets.ISO_8859_1))
          .contains("In use by Strata");
    }

    assertRefused(broker, pool, "found no such file, expected a pool");
  }

  private static void withoutAttributes(Path directory) throws IOException {
    UserDefinedFileAttributeView view =
        Files.getFileAttributeView(directory, UserDefinedFileAttributeView.class);
    for (String name : List.copyOf(view.list())) {
      view.delete(name);
    }
  }

  private static void assertRefused(StockBroker broker, Path pool, String named) throws Exception {
    StockBroker.Refusal refusal = broker.startRefused();
    assertThat(refusal.exitCode()).as("exit code; output:\n%s", refusal.output()).isNotZero();
    assertThat(refusal.output())
        .contains(pool.toString(), named, "strata.pool.create does not create")
        .doesNotContain("Kafka Server started");
    assertThat(pool).as("a pool in the place of the lost one").doesNotExist();
  }
}
