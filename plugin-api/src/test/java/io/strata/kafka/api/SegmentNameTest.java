package io.strata.kafka.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Kafka's names of segments, and the ranges of what they say. */
class SegmentNameTest {

  @ParameterizedTest
  @CsvSource({
    "orders-3, 00000000000000004711.log, orders, 3, 4711, CURRENT, LIVE",
    "a-b-c-12, 00000000000000000000.log, a-b-c, 12, 0, CURRENT, LIVE",
    "t.x-0, 00000000000000000001.log.deleted, t.x, 0, 1, CURRENT, DELETED",
    "t-0, 00000000000000000001.log.cleaned, t, 0, 1, CURRENT, CLEANED",
    "t-0, 00000000000000000001.log.swap, t, 0, 1, CURRENT, SWAP",
    "t.x-0.01ab-future, 00000000000000000001.log, t.x, 0, 1, FUTURE, LIVE",
    "t-0.01ab-delete, 00000000000000000001.log, t, 0, 1, DELETED, LIVE",
    "t-0.01ab-stray, 00000000000000000001.log, t, 0, 1, STRAY, LIVE",
    "-future-0, 00000000000000000001.log, -future, 0, 1, CURRENT, LIVE",
    "t-0, 09223372036854775807.log, t, 0, 9223372036854775807, CURRENT, LIVE",
  })
  void parsesKafkasNames(
      String directory,
      String file,
      String topic,
      int partition,
      long baseOffset,
      SegmentName.Replica replica,
      SegmentName.Stage stage) {
    assertThat(SegmentName.parse(directory, file))
        .contains(new SegmentName(new SegmentId(topic, partition, baseOffset), replica, stage));
  }

  @ParameterizedTest
  @CsvSource({
    "orders-3, 00000000000000004711.index",
    "orders-3, 0000000000000004711.log",
    "orders-3, 000000000000000004711.log",
    "orders-3, 0000000000000000471x.log",
    "orders-3, 00000000000000004711.log.tmp",
    "orders-3, +0000000000000004711.log",
    "orders-3, 99999999999999999999.log",
    "orders-3, leader-epoch-checkpoint",
    "orders, 00000000000000004711.log",
    "orders-, 00000000000000004711.log",
    "-3, 00000000000000004711.log",
    "orders-x, 00000000000000004711.log",
    "orders-+3, 00000000000000004711.log",
    "orders-99999999999, 00000000000000004711.log",
    "t-0-future, 00000000000000004711.log",
    "t.01ab-future, 00000000000000004711.log",
  })
  void refusesOtherNames(String directory, String file) {
    assertThat(SegmentName.parse(directory, file)).isEmpty();
  }

  @Test
  void idsAreOrderedOldestFirst() {
    List<SegmentId> sorted =
        List.of(
            new SegmentId("a", 2, 0),
            new SegmentId("a", 10, 5),
            new SegmentId("a", 10, 40),
            new SegmentId("b", 0, 0));

    assertThat(sorted.stream().sorted().toList()).isEqualTo(sorted);
    assertThat(sorted.get(2)).hasToString("a-10@40");
  }

  @Test
  void refusesImpossibleValues() {
    assertThatThrownBy(() -> new SegmentId("", 0, 0)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new SegmentId("t", -1, 0))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
