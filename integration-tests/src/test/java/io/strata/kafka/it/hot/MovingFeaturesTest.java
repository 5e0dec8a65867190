package io.strata.kafka.it.hot;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.LogFiles;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.Tiers;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;

/**
 * The scenarios on a broker whose pool is far too small for them, and whose sealed segments leave
 * it at once and come back when there is space.
 */
class MovingFeaturesTest extends BrokerFeatures {

  @Override
  void configure(StockBroker.Builder builder) {
    builder
        .strata(work.newPool("hot", "24MiB", 256))
        .jmx()
        .set("strata.migration.threshold", "0")
        .set("strata.migration.threads", "4");
  }

  /** Where a segment is at a moment, no one knows. */
  @Override
  void assertPlacement(StockBroker broker, String topic) throws IOException {
    for (Path directory : broker.logDirectories()) {
      for (Path partition : LogFiles.partitions(directory, topic)) {
        assertThat(LogFiles.segments(partition)).as("segments of %s", partition).isNotEmpty();
      }
    }
  }

  @Test
  @Order(AFTER_ALL_SCENARIOS)
  void segmentsHaveMovedAndTheAccountingIsExact() throws Exception {
    Tiers.awaitQuiet(broker());
    Tiers.Usage usage = Tiers.usage(broker());
    assertThat(usage.clean()).as("clean bytes, %s", usage).isGreaterThan(usage.capacity() / 4);
    assertThat(usage.dirty()).as("dirty bytes, %s", usage).isEqualTo(usage.active());
    Tiers.assertAccounting(broker());
    broker().stop();
    Tiers.audit(broker());
  }
}
