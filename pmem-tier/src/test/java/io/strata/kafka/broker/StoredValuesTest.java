package io.strata.kafka.broker;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.config.LiveSettings.IgnoredKey;
import io.strata.kafka.config.key.ConfigProblem;
import io.strata.kafka.unpublished.ConfigurationCall;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What an operator is told of stored values that are left out. */
class StoredValuesTest {

  private static final String KEY = "strata.migration.threshold";

  private final List<String> warnings = new ArrayList<>();
  private final StoredValues stored = new StoredValues(warnings::add);
  private final Map<String, Object> configs = new HashMap<>(Map.of("node.id", 7));

  @Test
  void namesKeyLevelValueAndTheCommandThatRemovesIt() {
    apply(ConfigurationCall.CLUSTER_DEFAULT, "77");

    assertThat(warnings)
        .singleElement()
        .asString()
        .contains(
            KEY + "=77, stored for all brokers, cannot be used and is left out",
            "too much",
            "--entity-type brokers --entity-default --delete-config " + KEY)
        .doesNotContain("--entity-name", "\n");
    assertThat(stored.reasons()).isEqualTo(warnings);
  }

  @Test
  void namesTheBrokersOwnLevel() {
    apply(ConfigurationCall.BROKER, "77");

    assertThat(warnings).singleElement().asString().contains("--entity-name 7 --delete-config");
  }

  /** The value of all brokers is seen again when the broker's own is removed. */
  @Test
  void namesBothLevelsWhereItMayBeEither() {
    apply(ConfigurationCall.BROKER, "77");
    apply(ConfigurationCall.BROKER, "78");

    assertThat(warnings).last().asString().contains("--entity-default (or --entity-name 7)");
  }

  @Test
  void warnsOnceUntilItIsGone() {
    apply(ConfigurationCall.CLUSTER_DEFAULT, "77");
    apply(ConfigurationCall.BROKER, "77");
    assertThat(warnings).hasSize(1);

    configs.remove(KEY);
    stored.handedOver(configs, ConfigurationCall.CLUSTER_DEFAULT);
    stored.wrong(StoredValues.Part.LOCAL, List.of());
    assertThat(stored.reasons()).isEmpty();

    apply(ConfigurationCall.CLUSTER_DEFAULT, "77");
    assertThat(warnings).hasSize(2);
  }

  @Test
  void aFailureOfOnePartIsAReasonToo() {
    stored.failed(StoredValues.Part.REMOTE, new NoClassDefFoundError("moved"));

    assertThat(stored.reasons()).singleElement().asString().contains("the remote tier", "moved");
  }

  private void apply(ConfigurationCall call, String value) {
    configs.put(KEY, value);
    stored.handedOver(configs, call);
    ConfigProblem problem = ConfigProblem.error(KEY, "too much", "less", "correct it");
    stored.wrong(
        StoredValues.Part.LOCAL,
        List.of(new IgnoredKey(KEY, value, problem.message(), Optional.of(problem))));
  }
}
