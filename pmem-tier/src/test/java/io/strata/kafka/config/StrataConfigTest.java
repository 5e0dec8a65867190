package io.strata.kafka.config;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.config.StrataConfig.AckDurability;
import io.strata.kafka.config.StrataConfig.SpillForce;
import io.strata.kafka.config.key.ConfigProblem;
import io.strata.kafka.config.key.ConfigRefusedException;
import io.strata.kafka.config.key.Parsed;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.migration.plan.MigrationSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The values of the keys, and each way in which one can be wrong. */
class StrataConfigTest {

  @Test
  void defaultsAreEnoughBesidesThePools() throws ConfigRefusedException {
    StrataConfig config = StrataConfig.parse(Map.of("strata.pools", "/p/a")).orElseThrow();

    assertThat(config)
        .isEqualTo(
            new StrataConfig(
                List.of(new StrataConfig.Tier("hot", List.of(Path.of("/p/a")), PoolType.AUTO)),
                OptionalLong.empty(),
                List.of(".*"),
                List.of(),
                false,
                AckDurability.POOL,
                SpillForce.AUTO,
                new MigrationSettings(
                    MigrationSettings.Mode.EAGER,
                    List.of(0.5),
                    0.05,
                    true,
                    2,
                    0,
                    0,
                    Duration.ofSeconds(1),
                    "newest",
                    Map.of(),
                    List.of())));
  }

  @Test
  void everyKeyIsRead() throws ConfigRefusedException {
    StrataConfig config =
        StrataConfig.parse(
                Map.ofEntries(
                    entry("strata.tiers", "hot, fast-ssd"),
                    entry("strata.tier.hot.pools", " /p/a , /p/b "),
                    entry("strata.pool.type", "PMEM"),
                    entry("strata.pool.create", "64GiB"),
                    entry("strata.tier.fast-ssd.pools", "/ssd/c"),
                    entry("strata.tier.fast-ssd.type", "file"),
                    entry("strata.tier.fast-ssd.threshold", "-1"),
                    entry("strata.topics.include", "orders, log{1,2}"),
                    entry("strata.topics.exclude", "tmp.*"),
                    entry("strata.require.dax", "True"),
                    entry("strata.durability", "ack"),
                    entry("strata.spill.force", "never"),
                    entry("strata.migration.threshold", "0.25"),
                    entry("strata.migration.mode", "threshold"),
                    entry("strata.migration.promote", "false"),
                    entry("strata.migration.threads", "7"),
                    entry("strata.migration.rate.down", "80MB"),
                    entry("strata.migration.rate.up", "1.5 GiB/s"),
                    entry("strata.migration.policy", "age"),
                    entry("strata.migration.policy.max.age", "1h"),
                    entry("strata.migration.pin.topics", "pay{1,2}, x"),
                    entry("log.dirs", "/not/ours")))
            .orElseThrow();

    assertThat(config)
        .isEqualTo(
            new StrataConfig(
                List.of(
                    new StrataConfig.Tier(
                        "hot",
                        List.of(Path.of("/p/a"), Path.of("/p/b")),
                        PoolType.of(MemoryType.PMEM)),
                    new StrataConfig.Tier(
                        "fast-ssd", List.of(Path.of("/ssd/c")), PoolType.of(MemoryType.FILE))),
                OptionalLong.of(64L << 30),
                List.of("orders", "log{1,2}"),
                List.of("tmp.*"),
                true,
                AckDurability.ACK,
                SpillForce.NEVER,
                new MigrationSettings(
                    MigrationSettings.Mode.THRESHOLD,
                    List.of(0.25, -1.0),
                    0.05,
                    false,
                    7,
                    80_000_000,
                    3L << 29,
                    Duration.ofSeconds(1),
                    "age",
                    Map.of("max.age", "1h"),
                    List.of("pay{1,2}", "x"))));
    assertThat(config.pools()).containsExactly(Path.of("/p/a"), Path.of("/p/b"), Path.of("/ssd/c"));
    assertThat(config.tierNames()).containsExactly("hot", "fast-ssd");
    assertThat(config.poolType(Path.of("/p/b"))).isEqualTo(PoolType.of(MemoryType.PMEM));
    assertThat(config.poolType(Path.of("/ssd/c"))).isEqualTo(PoolType.of(MemoryType.FILE));
  }

  @Test
  void theFirstTiersPoolsMayBeNamedLikeTheOthers() throws ConfigRefusedException {
    StrataConfig config =
        StrataConfig.parse(
                Map.of(
                    "strata.tiers", "a,b",
                    "strata.tier.a.pools", "/p/a",
                    "strata.tier.b.pools", "/p/b"))
            .orElseThrow();

    assertThat(config.pools()).containsExactly(Path.of("/p/a"), Path.of("/p/b"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      nullValues = "-",
      value = {
        "strata.tier.ssd.threshold | 0.5 | found a key of tier 'ssd', expected strata.pools for the"
            + " pools of one tier, or tiers in strata.tiers; add the tier",
        "strata.tier.ssd.type | file | found a key of tier 'ssd'",
        "strata.tier.hot.pools | /p/b | found a key of tier 'hot', expected strata.pools",
        "strata.tier.hot.pool | /p/b | unknown key",
        "strata.migration.policy. | 1 | unknown key",
      })
  void refusesKeysOfTiersThatDoNotFit(String key, String value, String message) {
    Map<String, String> properties = new HashMap<>(Map.of("strata.pools", "/p/a"));
    properties.put(key, value);

    Parsed<StrataConfig> parsed = StrataConfig.parse(properties);

    assertThat(parsed.config()).isEmpty();
    assertThat(parsed.problems())
        .singleElement()
        .extracting(ConfigProblem::message)
        .asString()
        .contains(message);
  }

  /** One way to say a thing: a list of tiers names its pools by tier. */
  @Test
  void refusesThePoolsOfOneTierBesideAListOfTiers() {
    assertThat(
            StrataConfig.parse(
                    Map.of(
                        "strata.tiers",
                        "a",
                        "strata.tier.a.pools",
                        "/p/a",
                        "strata.tier.b.type",
                        "file",
                        "strata.pools",
                        "/p/b"))
                .problems())
        .extracting(ConfigProblem::message)
        .containsExactly(
            "strata.pools: found this key and strata.tiers, expected one of the two: this one is"
                + " short for one tier; name the pools by strata.tier.a.pools, and remove this key",
            "strata.tier.b.type: found a key of tier 'b', expected a tier that strata.tiers lists:"
                + " a; add the tier to strata.tiers, or remove the key");
  }

  @Test
  void refusesATierWithoutPoolsByTheKeyThatItsListNeeds() {
    assertThat(
            StrataConfig.parse(Map.of("strata.tiers", "a,b", "strata.tier.b.pools", "/p"))
                .problems())
        .singleElement()
        .extracting(ConfigProblem::key)
        .isEqualTo("strata.tier.a.pools");
  }

  @Test
  void refusesAPoolInTwoTiers() {
    assertThat(
            StrataConfig.parse(
                    Map.of(
                        "strata.tiers",
                        "a,b",
                        "strata.tier.a.pools",
                        "/p/a",
                        "strata.tier.b.pools",
                        "/p/b,/p/../p/a"))
                .problems())
        .singleElement()
        .extracting(ConfigProblem::message)
        .isEqualTo(
            "strata.tier.b.pools: found '/p/a', which tier a has too, expected each pool in one"
                + " tier only; take it out of one of them");
  }

  @Test
  void relativePoolsAreRefused() {
    for (String key : List.of("strata.pools", "strata.tier.a.pools")) {
      Map<String, String> keys = new HashMap<>(Map.of(key, "pools/hot.pool"));
      if (!key.equals("strata.pools")) {
        keys.put("strata.tiers", "a");
      }

      assertThat(StrataConfig.parse(keys).problems())
          .singleElement()
          .extracting(ConfigProblem::message)
          .asString()
          .contains(key, "'pools/hot.pool' is not absolute");
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "strata.pools | ''        | (the list is empty)",
        "strata.pools | /p/a,,/p/b | is empty",
        "strata.pools | /p/a,/p/a | listed twice",
        "strata.pools | /p/a,/p/b/../a | listed twice",
        "strata.pool.type | ramdisk | expected one of auto, pmem, mapped, file",
        "strata.pool.create | 64m | unknown unit 'm', which may be a power of 1000",
        "strata.pool.create | 1MiB | expected an amount of at least 4MiB",
        "strata.require.dax | 1 | expected true or false",
        "strata.topics.include | a[ | is not a regular expression",
        "strata.topics.exclude | *x | is not a regular expression",
        "strata.spill.force | sometimes | expected one of auto, never",
        "strata.tiers | '' | the list is empty",
        "strata.tiers | hot,logdirs | logdirs is always the last tier",
        "strata.tiers | hot,hot | listed twice",
        "strata.tiers | PMem | cannot be the name of a tier",
        "strata.tiers | a.b | cannot be the name of a tier",
        "strata.tier.hot.type | disk | expected one of auto, pmem, mapped, file",
        "strata.tier.hot.threshold | 1.5 | expected -1, or a number from 0 to 1",
        "strata.migration.threshold | -0.5 | expected -1, or a number from 0 to 1",
        "strata.migration.threshold | 50% | expected -1, or a number from 0 to 1",
        "strata.migration.threshold | NaN | expected -1, or a number from 0 to 1",
        "strata.migration.mode | lazy | expected one of eager, threshold",
        "strata.migration.promote | maybe | expected true or false",
        "strata.migration.threads | 0 | expected a number from 1 to 64",
        "strata.migration.threads | 65 | expected a number from 1 to 64",
        "strata.migration.rate.down | 80M | unknown unit",
        "strata.migration.rate.down | -1 | not a number with a unit",
        "strata.migration.rate.up | fast | not a number with a unit",
        "strata.migration.policy | My Policy | lower-case letters, digits and hyphens",
        "strata.migration.policy | '' | lower-case letters, digits and hyphens",
        "strata.migration.policy.age | ${env:AGE} | configuration providers are not resolved",
        "strata.migration.pin.topics | a( | is not a regular expression",
        "strata.pools | ${file:/etc/x:pools} | configuration providers are not resolved",
      })
  void refusesAMalformedValueNamingKeyAndValue(String key, String value, String message) {
    Map<String, String> properties = new HashMap<>(Map.of("strata.pools", "/p/a"));
    properties.put(key, value);

    Parsed<StrataConfig> parsed = StrataConfig.parse(properties);

    assertThat(parsed.config()).isEmpty();
    assertThat(parsed.problems())
        .singleElement()
        .satisfies(
            problem -> {
              assertThat(problem.isError()).isTrue();
              assertThat(problem.key()).isEqualTo(key);
              assertThat(problem.message())
                  .startsWith(key + ": found '" + value + "'")
                  .contains(message)
                  .contains("; ")
                  .doesNotContain("\n");
            });
  }

  @Test
  void refusesMissingPools() {
    assertThat(StrataConfig.parse(Map.of()).problems())
        .singleElement()
        .extracting(ConfigProblem::message)
        .asString()
        .startsWith("strata.pools: found nothing, expected a comma-separated list of pool files")
        .contains("if 'strata drain' has taken Strata out, remove -Djava.nio.file.spi");
    assertThat(StrataConfig.parse(Map.of("strata.placement.topics", "a.*")).problems())
        .noneMatch(problem -> problem.message().contains("drain"));
  }

  @Test
  void refusesAnUnknownKeyAndSuggestsTheNearest() {
    Map<String, String> properties = Map.of("strata.pools", "/p", "strata.pool.typ", "mapped");

    assertThat(StrataConfig.parse(properties).problems())
        .singleElement()
        .extracting(ConfigProblem::message)
        .asString()
        .startsWith("strata.pool.typ: found an unknown key")
        .contains("did you mean strata.pool.type?");
  }

  @Test
  void reportsEveryProblemAtOnce() {
    Map<String, String> properties =
        Map.of("strata.pool.type", "x", "strata.require.dax", "x", "strata.foo", "x");

    assertThat(StrataConfig.parse(properties).problems())
        .extracting(ConfigProblem::key)
        .containsExactly("strata.pools", "strata.pool.type", "strata.require.dax", "strata.foo");
    assertThatThrownBy(() -> StrataConfig.parse(properties).orElseThrow())
        .isInstanceOf(ConfigRefusedException.class)
        .message()
        .hasLineCount(4);
  }

  @Test
  void spillsAreForcedByDefaultOnlyWhereThePoolSurvivesPower() throws ConfigRefusedException {
    Map<String, String> properties = new HashMap<>(Map.of("strata.pools", "/p/a"));
    StrataConfig auto = StrataConfig.parse(properties).orElseThrow();
    properties.put("strata.spill.force", "never");
    StrataConfig never = StrataConfig.parse(properties).orElseThrow();

    assertThat(auto.durability()).isEqualTo(AckDurability.POOL);
    assertThat(auto.spillForce().forces(AckDurability.POOL, true)).isTrue();
    assertThat(auto.spillForce().forces(AckDurability.POOL, false)).isFalse();
    assertThat(auto.spillForce().forces(AckDurability.ACK, false)).isTrue();
    assertThat(never.spillForce().forces(AckDurability.POOL, true)).isFalse();
    assertThat(never.spillForce().forces(AckDurability.ACK, false)).isTrue();
  }

  @Test
  void splitsAtCommasOutsideOfExpressions() {
    assertThat(Values.splitAtCommas("a{1,2},[,b],(c,d) , e\\,f"))
        .containsExactly("a{1,2}", "[,b]", "(c,d)", "e\\,f");
    assertThat(Values.splitAtCommas("  ")).isEmpty();
  }
}
