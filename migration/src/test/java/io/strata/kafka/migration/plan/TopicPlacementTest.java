package io.strata.kafka.migration.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.api.SegmentName;
import java.util.List;
import java.util.regex.PatternSyntaxException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which segments may be hot, by topic and by what their files are. */
class TopicPlacementTest {
  private static final String FILE = "00000000000000000042.log";
  private static final String UNIQUE = ".0123456789abcdef0123456789abcdef";

  private final TopicPlacement all = new TopicPlacement(List.of(".*"), List.of());

  @Test
  void placesEveryTopicByDefault() {
    assertThat(mayBeHot(all, "orders-0", FILE)).isTrue();
    assertThat(mayBeHot(all, "__consumer_offsets-49", FILE)).isTrue();
  }

  @Test
  void anExpressionMatchesTheWholeName() {
    TopicPlacement some = new TopicPlacement(List.of("orders", "log-[a-z]+"), List.of());

    assertThat(mayBeHot(some, "orders-0", FILE)).isTrue();
    assertThat(mayBeHot(some, "log-web-7", FILE)).isTrue();
    assertThat(mayBeHot(some, "orders2-0", FILE)).isFalse();
    assertThat(mayBeHot(some, "my-orders-0", FILE)).isFalse();
  }

  @Test
  void exclusionWins() {
    TopicPlacement some = new TopicPlacement(List.of(".*"), List.of("tmp\\..*", "__.*"));

    assertThat(mayBeHot(some, "orders-0", FILE)).isTrue();
    assertThat(mayBeHot(some, "tmp.x-0", FILE)).isFalse();
    assertThat(mayBeHot(some, "__consumer_offsets-0", FILE)).isFalse();
  }

  @Test
  void nothingIncludedMeansNothingHot() {
    assertThat(mayBeHot(new TopicPlacement(List.of(), List.of()), "orders-0", FILE)).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"__cluster_metadata", "__remote_log_metadata"})
  void metadataIsNeverHot(String metadata) {
    TopicPlacement asked = new TopicPlacement(List.of("orders", metadata), List.of());
    TopicPlacement forbidden = new TopicPlacement(List.of(metadata), List.of("__.*"));

    assertThat(mayBeHot(all, metadata + "-0", FILE)).isFalse();
    assertThat(mayBeHot(asked, metadata + "-0", FILE)).isFalse();
    assertThat(mayBeHot(forbidden, metadata + "-0", FILE)).isFalse();
  }

  @Test
  void onlyTheServedReplicaIsHot() {
    assertThat(mayBeHot(all, "orders-0" + UNIQUE + "-future", FILE)).isFalse();
    assertThat(mayBeHot(all, "orders-0" + UNIQUE + "-delete", FILE)).isFalse();
    assertThat(mayBeHot(all, "orders-0" + UNIQUE + "-stray", FILE)).isFalse();
  }

  @Test
  void whatTheCleanerWritesIsNotHot() {
    assertThat(mayBeHot(all, "orders-0", FILE + ".cleaned")).isFalse();
    assertThat(mayBeHot(all, "orders-0", FILE + ".swap")).isFalse();
    assertThat(mayBeHot(all, "orders-0", FILE + ".deleted")).isFalse();
  }

  @Test
  void refusesWhatIsNoExpression() {
    List<String> none = List.of("[");
    assertThatThrownBy(() -> new TopicPlacement(none, List.of()))
        .isInstanceOf(PatternSyntaxException.class);
  }

  private static boolean mayBeHot(TopicPlacement placement, String directory, String file) {
    return placement.test(SegmentName.parse(directory, file).orElseThrow());
  }
}
