package io.strata.kafka.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.migration.PolicyRegistry;
import io.strata.kafka.migration.remote.RemoteSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What Kafka may say about the remote tier of a running broker. */
class LiveRemoteSettingsTest {

  @TempDir private Path ssd;
  @TempDir private Path hdd;
  @TempDir private Path logs;

  private final Map<String, Object> kafka = new HashMap<>();
  private RemoteSettings started;
  private LiveSettings<RemoteSettings.Live> live;

  @BeforeEach
  void aBrokerWithTwoLevels() {
    Map<String, String> file =
        Map.of(
            "log.dirs", logs.toString(),
            "strata.pools", "/p/a",
            "strata.remote.rate.copy", "10MB",
            "strata.remote.cache.size", "32MiB");
    started =
        RemoteConfig.parse(
                Map.of(
                    "broker.id",
                    1,
                    "levels",
                    "ssd,hdd",
                    "ssd.directories",
                    ssd.toString(),
                    "hdd.directories",
                    hdd.toString()),
                Optional.of(BrokerProperties.of("test", file)),
                Optional.of(PolicyRegistry.builtIn()))
            .settings()
            .orElseThrow();
    live = LiveSettings.remote(file, started, PolicyRegistry.builtIn());
    kafka.putAll(file);
  }

  @Test
  void namesAllKeysThatKafkaHasToAskAbout() {
    assertThat(live.names())
        .contains(
            "strata.remote.rate.copy",
            "strata.remote.migration.threshold",
            "strata.remote.migration.policy.after",
            "strata.remote.cache.size")
        .contains("rsm.config.levels", "rsm.config.hdd.capacity")
        .allMatch(name -> name.startsWith("strata.remote.") || name.startsWith("rsm.config."))
        .noneMatch(name -> name.contains("<"));
  }

  @Test
  void withoutAChangeAllIsAsAtTheStart() {
    assertThat(live.read(kafka).settings()).contains(started.live());
  }

  @Test
  void dynamicValuesTakeThePlaceOfTheFiles() {
    kafka.put("strata.remote.rate.copy", "20MB");
    kafka.put("strata.remote.fetch.timeout.ms", 1234);
    kafka.put("strata.remote.migration.threshold", "0.75");

    RemoteSettings.Live read = live.read(kafka).settings().orElseThrow();

    assertThat(read.copyBytesPerSecond()).isEqualTo(20_000_000);
    assertThat(read.fetchTimeout()).isEqualTo(Duration.ofMillis(1234));
    assertThat(read.migration().thresholds()).containsExactly(0.75);
    assertThat(live.written(read))
        .containsEntry("strata.remote.rate.copy", "20000000")
        .containsEntry("strata.remote.fetch.timeout.ms", "1234")
        .containsEntry("strata.remote.migration.threshold", "0.75");
  }

  @Test
  void aDeletedKeyGoesBackToTheDefault() {
    kafka.remove("strata.remote.rate.copy");

    assertThat(live.read(kafka).settings().orElseThrow().copyBytesPerSecond()).isZero();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "strata.remote.rate.copy | 80M | unknown unit",
        "strata.remote.migration.policy | none-such | expected one of",
        "strata.remote.cache.size | 16MiB | expected '32MiB', as in the broker's file; set it"
            + " there",
        "strata.remote.cache.size | 1GiB | cannot be changed on a live one",
      })
  void refuses(String key, String value, String message) {
    kafka.put(key, value);

    LiveSettings.Outcome<RemoteSettings.Live> outcome = live.read(kafka);

    assertThat(outcome.settings()).isEmpty();
    assertThat(outcome.problems())
        .singleElement()
        .extracting(ConfigProblem::message)
        .asString()
        .startsWith(key + ": found ")
        .contains(message);
  }

  @Test
  void leavesOutAndTellsWhatKafkaStoredWithoutAsking() {
    kafka.put("strata.remote.rates.copy", "1MB");
    kafka.put("strata.remote.typo", "1");
    kafka.put("strata.remote.migration.policy.nonsense", "1");
    kafka.put("rsm.config.ssd.capacity", "1TB");
    kafka.put("strata.migration.nonsense", "the local tiers' affair");

    LiveSettings.Outcome<RemoteSettings.Live> outcome = live.read(kafka);

    assertThat(outcome.settings()).contains(started.live());
    assertThat(outcome.ignored().stream().map(IgnoredKey::toString))
        .containsExactly(
            "rsm.config.ssd.capacity (read at the start alone: set it in the broker's file and"
                + " restart)",
            "strata.remote.migration.policy.nonsense (no policy has such a parameter)",
            "strata.remote.rates.copy (an unknown key; did you mean strata.remote.rate.copy?)",
            "strata.remote.typo (an unknown key)");
  }

  @Test
  void theLocalTiersLeaveItsKeysAlone() {
    Map<String, String> file = Map.of("strata.pools", "/p/a");
    LiveSettings<LocalSettings> local =
        LiveSettings.local(
            BrokerProperties.of("test", file),
            StrataConfig.parse(file).config().orElseThrow(),
            PolicyRegistry.builtIn());
    kafka.put("strata.remote.rate.copy", "nonsense");

    LiveSettings.Outcome<LocalSettings> outcome = local.read(kafka);

    assertThat(outcome.problems()).isEmpty();
    assertThat(outcome.ignored()).isEmpty();
  }
}
