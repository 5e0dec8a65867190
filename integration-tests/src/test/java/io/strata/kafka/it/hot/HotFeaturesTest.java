package io.strata.kafka.it.hot;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.LogFiles;
import io.strata.kafka.it.harness.StockBroker;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** The scenarios on a broker whose segments are in a pool that holds them all. */
class HotFeaturesTest extends BrokerFeatures {

  @Override
  void configure(StockBroker.Builder builder) {
    builder.strata(work.newPool("hot", "256MiB"));
  }

  /** The newest segment of each partition is in the pool, and holds nothing in the log file. */
  @Override
  void assertPlacement(StockBroker broker, String topic) throws IOException {
    for (Path dir : broker.logDirectories()) {
      for (Path partition : LogFiles.partitions(dir, topic)) {
        List<Path> segments = LogFiles.segments(partition);
        Path active = segments.get(segments.size() - 1);
        assertThat(LogFiles.isHot(active)).as("%s is in the pool", active).isTrue();
        assertThat(LogFiles.allocatedBytes(active))
            .as("bytes of %s in the log file", active)
            .isZero();
      }
    }
  }
}
