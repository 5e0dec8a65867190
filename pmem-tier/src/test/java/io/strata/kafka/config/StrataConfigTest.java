package io.strata.kafka.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.memory.MemoryType;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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
                List.of(Path.of("/p/a")),
                MemoryType.MAPPED,
                false,
                List.of(".*"),
                List.of(),
                false,
                SpillForce.AUTO,
                Duration.ofSeconds(1)));
  }

  @Test
  void everyKeyIsRead() throws ConfigRefusedException {
    StrataConfig config =
        StrataConfig.parse(
                Map.of(
                    "strata.pools", " /p/a , /p/b ",
                    "strata.pool.type", "PMEM",
                    "strata.pool.prefault", "true",
                    "strata.topics.include", "orders, log{1,2}",
                    "strata.topics.exclude", "tmp.*",
                    "strata.require.dax", "True",
                    "strata.spill.force", "never",
                    "strata.home.mtime.interval.ms", "250",
                    "log.dirs", "/not/ours"))
            .orElseThrow();

    assertThat(config)
        .isEqualTo(
            new StrataConfig(
                List.of(Path.of("/p/a"), Path.of("/p/b")),
                MemoryType.PMEM,
                true,
                List.of("orders", "log{1,2}"),
                List.of("tmp.*"),
                true,
                SpillForce.NEVER,
                Duration.ofMillis(250)));
  }

  @Test
  void relativePoolsAreMadeAbsolute() throws ConfigRefusedException {
    StrataConfig config = StrataConfig.parse(Map.of("strata.pools", "x/../pool")).orElseThrow();

    assertThat(config.pools()).containsExactly(Path.of("pool").toAbsolutePath());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "strata.pools | ''        | (the list is empty)",
        "strata.pools | /p/a,,/p/b | is empty",
        "strata.pools | /p/a,/p/a | listed twice",
        "strata.pools | /p/a,/p/b/../a | listed twice",
        "strata.pool.type | ramdisk | expected one of pmem, mapped, file",
        "strata.pool.prefault | yes | expected true or false",
        "strata.require.dax | 1 | expected true or false",
        "strata.topics.include | a[ | is not a regular expression",
        "strata.topics.exclude | *x | is not a regular expression",
        "strata.spill.force | sometimes | expected one of auto, always, never",
        "strata.home.mtime.interval.ms | 99 | expected a number from 100 to 60000",
        "strata.home.mtime.interval.ms | 60001 | expected a number from 100 to 60000",
        "strata.home.mtime.interval.ms | 1s | expected a number from 100 to 60000",
        "strata.pools | ${file:/etc/x:pools} | configuration providers are not resolved",
      })
  void refusesAMalformedValueNamingKeyAndValue(String key, String value, String message) {
    Map<String, String> properties = new HashMap<>(Map.of("strata.pools", "/p/a"));
    properties.put(key, value);

    StrataConfig.Parsed parsed = StrataConfig.parse(properties);

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
        .startsWith("strata.pools: found nothing, expected a comma-separated list of pool files");
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
    properties.put("strata.spill.force", "always");
    StrataConfig always = StrataConfig.parse(properties).orElseThrow();
    properties.put("strata.spill.force", "never");
    StrataConfig never = StrataConfig.parse(properties).orElseThrow();

    assertThat(auto.forcesSpills(true)).isTrue();
    assertThat(auto.forcesSpills(false)).isFalse();
    assertThat(always.forcesSpills(false)).isTrue();
    assertThat(never.forcesSpills(true)).isFalse();
  }

  @Test
  void splitsAtCommasOutsideOfExpressions() {
    assertThat(Values.splitAtCommas("a{1,2},[,b],(c,d) , e\\,f"))
        .containsExactly("a{1,2}", "[,b]", "(c,d)", "e\\,f");
    assertThat(Values.splitAtCommas("  ")).isEmpty();
  }
}
