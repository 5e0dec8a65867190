package io.strata.kafka.tier.start;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.segment.view.SegmentTag;
import java.nio.file.Path;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class LostPoolsTest {

  /** Fifty partitions of Kafka's own would leave no room for them. */
  @Test
  void theRefusalNamesUsersTopicsFirst() {
    LostPools lost = new LostPools();
    UUID pool = UUID.randomUUID();
    for (int i = 0; i < 50; i++) {
      lost.add(new SegmentTag(pool, i, 1), logFile("__consumer_offsets-" + i));
    }
    lost.add(new SegmentTag(pool, 50, 1), logFile("orders-0"));

    assertThatThrownBy(() -> lost.refuse("none"))
        .hasMessageContaining("51 partitions (orders-0, __consumer_offsets-0, ");
  }

  private static Path logFile(String partition) {
    return Path.of("/kafka", partition, "00000000000000000000.log");
  }
}
