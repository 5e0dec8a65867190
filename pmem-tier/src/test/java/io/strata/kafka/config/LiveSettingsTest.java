package io.strata.kafka.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.api.MigrationPolicy;
import io.strata.kafka.api.MigrationPolicyProvider;
import io.strata.kafka.config.LiveSettings.IgnoredKey;
import io.strata.kafka.config.key.ConfigProblem;
import io.strata.kafka.config.key.ServiceLinksTest;
import io.strata.kafka.migration.plan.MigrationSettings;
import io.strata.kafka.migration.plan.PolicyRegistry;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What Kafka may say about a running broker's configuration, and what becomes of it. */
class LiveSettingsTest {

  private static final Map<String, String> FILE =
      Map.of(
          "node.id", "1",
          "strata.tiers", "hot,ssd",
          "strata.tier.hot.pools", "/p/a",
          "strata.tier.ssd.pools", "/p/b",
          "strata.migration.policy", "lazy",
          "strata.migration.threads", "3");

  private final Map<String, Object> kafka = new HashMap<>(FILE);
  private final LiveSettings<StrataConfig> live = of(FILE);

  @Test
  void namesAllKeysThatKafkaHasToAskAbout() {
    assertThat(live.names())
        .contains(
            "strata.tier.hot.threshold",
            "strata.tier.ssd.threshold",
            "strata.migration.threshold",
            "strata.migration.policy.patience",
            "strata.migration.policy.speed",
            "strata.spill.force",
            "strata.pools",
            "strata.tier.ssd.pools",
            "strata.require.dax")
        .noneMatch(name -> name.contains("<"));
    assertThat(live.isDynamic("strata.migration.policy.speed")).isTrue();
    assertThat(live.isDynamic("strata.spill.force")).isTrue();
    assertThat(live.isDynamic("strata.pools")).isFalse();
  }

  @Test
  void dynamicValuesTakeThePlaceOfTheFiles() {
    kafka.put("strata.migration.threads", 7);
    kafka.put("strata.migration.threshold", " 0.25 ");
    kafka.put("strata.tier.ssd.threshold", "-1");
    kafka.put("strata.migration.policy.patience", "9");

    MigrationSettings settings = settings();

    assertThat(settings.threads()).isEqualTo(7);
    assertThat(settings.thresholds()).containsExactly(0.25, -1.0);
    assertThat(settings.policyParameters()).containsExactly(Map.entry("patience", "9"));
  }

  @Test
  void whichTopicsMayBeHotChangesToo() {
    kafka.put("strata.topics.exclude", "bulk.*");

    StrataConfig settings = live.read(kafka).settings();

    assertThat(settings.topicsInclude()).containsExactly(".*");
    assertThat(settings.topicsExclude()).containsExactly("bulk.*");
    assertThat(live.written(settings))
        .containsEntry("strata.topics.exclude", "bulk.*")
        .containsEntry("strata.spill.force", "auto")
        .containsEntry("strata.tier.ssd.threshold", "0.5");
  }

  @Test
  void aDeletedKeyGoesBackToTheFileOrToTheDefault() {
    assertThat(settings().threads()).isEqualTo(3);
    assertThat(settings().thresholds()).containsExactly(0.5, 0.5);

    kafka.remove("strata.migration.threads");
    assertThat(settings().threads()).isEqualTo(2);
  }

  @Test
  void parametersOfAPolicyThatIsNotChosenStay() {
    kafka.put("strata.migration.policy", "eager-one");
    kafka.put("strata.migration.policy.patience", "9");
    kafka.put("strata.migration.policy.speed", "fast");

    MigrationSettings settings = settings();

    assertThat(settings.policyParameters())
        .containsOnly(Map.entry("patience", "9"), Map.entry("speed", "fast"));
    assertThat(POLICIES.own("eager-one", settings.policyParameters()))
        .containsExactly(Map.entry("speed", "fast"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "strata.migration.threshold | 1.5 | found '1.5', expected -1, or a number from 0 to 1",
        "strata.tier.ssd.threshold | x | found 'x', expected -1, or a number from 0 to 1",
        "strata.topics.include | __cluster_metadata | expected topics that can be hot",
        "strata.topics.include | __remote_log_metadata | expected topics that can be hot",
        "strata.migration.threads | 0 | expected a number from 1 to 64",
        "strata.migration.rate.down | 80M | unknown unit",
        "strata.migration.policy | none-such | expected one of",
        "strata.migration.policy.patience | none | policy 'lazy' refuses (no patience)",
        "strata.migration.policy.speed | none | policy 'eager-one' refuses (no speed)",
        "strata.migration.pin.topics | a( | is not a regular expression",
        "strata.tier.hot.pools | /p/c | expected '/p/a', as in the broker's file; set it there and"
            + " restart",
        "strata.require.dax | true | expected nothing, as in the broker's file",
        "strata.tier.ssd.pools | /p/c | cannot be changed on a live one",
      })
  void leavesOutWhatCannotBeUsed(String key, String value, String message) {
    kafka.put(key, value);

    LiveSettings.Usable<StrataConfig> outcome = live.read(kafka);

    assertThat(outcome.settings()).as("without that key").isEqualTo(live.read(FILE).settings());
    assertThat(outcome.wrong())
        .singleElement()
        .satisfies(
            wrong -> {
              assertThat(wrong.name()).isEqualTo(key);
              assertThat(wrong.value()).isEqualTo(value);
              assertThat(wrong.reason()).contains(message).doesNotContain("\n");
            });
  }

  @Test
  void aWrongValueReachesNoOtherKey() {
    kafka.put("strata.migration.threads", "0");
    kafka.put("strata.migration.promote", "2");
    kafka.put("strata.migration.threshold", "0.2");
    kafka.put("strata.tier.ssd.pools", "/x");

    LiveSettings.Usable<StrataConfig> outcome = live.read(kafka);

    assertThat(outcome.settings().migration().threads()).as("as in the file").isEqualTo(3);
    assertThat(outcome.settings().migration().thresholds()).containsExactly(0.2, 0.2);
    assertThat(outcome.wrong())
        .extracting(IgnoredKey::name)
        .containsExactlyInAnyOrder(
            "strata.migration.threads", "strata.migration.promote", "strata.tier.ssd.pools");
  }

  /** The keys come in the order of their names: the policy before what it needs. */
  @Test
  void keysThatNeedEachOtherAreTakenTogether() {
    kafka.put("strata.migration.policy", "needy");
    kafka.put("strata.migration.policy.need", "met");
    kafka.put("strata.migration.threads", "0");

    LiveSettings.Usable<StrataConfig> outcome = live.read(kafka);

    assertThat(outcome.settings().migration().policy()).isEqualTo("needy");
    assertThat(outcome.wrong())
        .extracting(IgnoredKey::name)
        .containsExactly("strata.migration.threads");
  }

  @Test
  void leavesOutAndTellsWhatKafkaStoredWithoutAsking() {
    kafka.put("strata.migration.treshold", "0.1");
    kafka.put("strata.tier.tape.threshold", "0.1");
    kafka.put("strata.migration.policy.nonsense", "1");

    LiveSettings.Usable<StrataConfig> outcome = live.read(kafka);

    assertThat(outcome.wrong()).isEmpty();
    assertThat(outcome.ignored().stream().map(IgnoredKey::toString))
        .containsExactly(
            "strata.migration.policy.nonsense (this broker has no such tier, and no policy with"
                + " such a parameter)",
            "strata.migration.treshold (an unknown key; did you mean strata.migration.threshold?)",
            "strata.tier.tape.threshold (this broker has no such tier, and no policy with such a"
                + " parameter)");
  }

  /** The operator was told of them at the start. */
  @Test
  void saysNothingOfTheAddressesOfAService() {
    kafka.putAll(ServiceLinksTest.keys("kafka-strata", "client"));

    settings();
  }

  @Test
  void atTheStartAParameterThatNoPolicyHasIsRefused() {
    Map<String, String> file = new HashMap<>(FILE);
    file.put("strata.migration.policy.nonsense", "1");
    MigrationSettings settings = StrataConfig.parse(file).config().orElseThrow().migration();

    assertThat(MigrationKeys.LOCAL.unknownParameters(settings, POLICIES))
        .singleElement()
        .extracting(ConfigProblem::message)
        .asString()
        .startsWith("strata.migration.policy.nonsense: found a parameter that no policy has")
        .contains("patience")
        .contains("speed");
  }

  private MigrationSettings settings() {
    LiveSettings.Usable<StrataConfig> outcome = live.read(kafka);
    assertThat(outcome.ignored()).isEmpty();
    return outcome.settings().migration();
  }

  private static LiveSettings<StrataConfig> of(Map<String, String> file) {
    return LiveSettings.local(
        BrokerProperties.of("test", file),
        StrataConfig.parse(file).config().orElseThrow(),
        POLICIES);
  }

  private static final PolicyRegistry POLICIES =
      new PolicyRegistry(
          List.of(
              new Provider("lazy", "patience"), new Provider("eager-one", "speed"), new Needy()));

  /** A policy that needs its parameter. */
  private record Needy() implements MigrationPolicyProvider {
    @Override
    public String name() {
      return "needy";
    }

    @Override
    public Set<String> parameters() {
      return Set.of("need");
    }

    @Override
    public MigrationPolicy create(Map<String, String> parameters) {
      if (parameters.isEmpty()) {
        throw new IllegalArgumentException("no need");
      }
      return snapshot -> List.of();
    }
  }

  private record Provider(String name, String parameter) implements MigrationPolicyProvider {
    @Override
    public Set<String> parameters() {
      return Set.of(parameter);
    }

    @Override
    public MigrationPolicy create(Map<String, String> parameters) {
      if (parameters.containsValue("none")) {
        throw new IllegalArgumentException("no " + parameter);
      }
      return snapshot -> List.of();
    }
  }
}
