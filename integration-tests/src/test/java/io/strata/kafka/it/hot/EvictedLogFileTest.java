package io.strata.kafka.it.hot;

import static io.strata.kafka.it.harness.Waiting.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.LogFiles;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.Tiers;
import io.strata.kafka.it.harness.Workspace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * What a move leaves in the log file is what a stock broker would have there: byte for byte, and a
 * stock broker goes on with it.
 */
class EvictedLogFileTest {

  private static final String TOPIC = "fixed";

  @RegisterExtension static final Workspace WORK = new Workspace();

  private final FixedInput input = new FixedInput(TOPIC, 12_000);

  @Test
  void aStockBrokerHasTheSameBytesAndReadsThem() throws Exception {
    Path pool = WORK.newPool("hot", "24MiB", 128);
    StockBroker stock = WORK.start(Tiers.plain(WORK.folder("stock")));
    input.produceTo(stock);
    stock.stop();
    List<Path> expected = LogFiles.segments(LogFiles.partition(stock, TOPIC, 0));
    assertThat(expected).as("segments of a stock broker").hasSizeGreaterThan(10);

    StockBroker broker =
        WORK.start(
            Tiers.broker(WORK.folder("broker"), pool)
                .set("strata.migration.threshold", "0")
                .set("strata.migration.promote", "false"));
    input.produceTo(broker);
    Tiers.awaitClean(broker, "hot");
    input.verify(broker);
    Path partition = LogFiles.partition(broker, TOPIC, 0);
    List<Path> sealed = LogFiles.segments(partition).subList(0, expected.size() - 1);
    // Clean segments are whole in the log file too, also for a reader past the provider.
    assertSameBytes(sealed, expected.subList(0, sealed.size()));

    Tiers.alter(broker, Map.of("strata.migration.mode", "threshold"));
    await().until(() -> LogFiles.hotSegments(partition).size() == 1);
    assertSameBytes(sealed, expected.subList(0, sealed.size()));
    for (Path segment : sealed) {
      assertThat(LogFiles.allocatedBytes(segment))
          .as("bytes on the medium of %s", segment)
          .isGreaterThanOrEqualTo(Files.size(segment));
    }
    input.verify(broker);
    Tiers.assertAccounting(broker);
    Tiers.audit(broker);

    broker.strata("drain").orFail();
    assertSameBytes(LogFiles.segments(partition), expected);
    assertThat(LogFiles.hotSegments(partition)).as("tags after a drain").isEmpty();
    broker.withoutStrata().start();
    input.verify(broker);
    RecordLedger more = Tiers.topic(broker, "more", 1);
    more.produce(broker.bootstrap(), 3_000, 1_000);
    assertThat(more.verify(broker.bootstrap()).records()).isEqualTo(3_000);
    broker.stop();
  }

  private static void assertSameBytes(List<Path> found, List<Path> expected) throws IOException {
    assertThat(found).as("segments").hasSameSizeAs(expected);
    for (int i = 0; i < found.size(); i++) {
      assertThat(found.get(i).getFileName()).isEqualTo(expected.get(i).getFileName());
      assertThat(Files.mismatch(found.get(i), expected.get(i)))
          .as("first byte at which %s differs from a stock broker's", found.get(i))
          .isEqualTo(-1);
    }
  }
}
