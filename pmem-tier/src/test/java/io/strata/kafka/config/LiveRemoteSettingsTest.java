package io.strata.kafka.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.config.LiveSettings.IgnoredKey;
import io.strata.kafka.migration.plan.PolicyRegistry;
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
  private Map<String, String> given;
  private RemoteSettings started;
  private LiveSettings<RemoteSettings.Live> live;

  @BeforeEach
  void aBrokerWithTwoLevels() {
    Map<String, String> file = Map.of("log.dirs", logs.toString(), "strata.pools", "/p/a");
    Map<String, Object> manager =
        Map.of(
            "broker.id",
            1,
            "levels",
            "ssd,hdd",
            "ssd.directories",
            ssd.toString(),
            "hdd.directories",
            hdd.toString(),
            "migration.rate.down",
            "10MB");
    started =
        RemoteConfig.parse(
                manager,
                Optional.of(BrokerProperties.of("test", file)),
                Optional.of(PolicyRegistry.builtIn()))
            .config()
            .orElseThrow();
    given = RemoteConfig.withPrefix(manager, Optional.empty());
    live = LiveSettings.remote(given, true, started, PolicyRegistry.builtIn());
    kafka.putAll(file);
    kafka.putAll(given);
  }

  @Test
  void namesAllKeysThatKafkaHasToAskAbout() {
    assertThat(live.names())
        .contains(
            "rsm.config.migration.rate.down",
            "rsm.config.migration.threshold",
            "rsm.config.migration.policy.after")
        .contains("rsm.config.levels", "rsm.config.hdd.capacity")
        .allMatch(name -> name.startsWith("rsm.config."))
        .noneMatch(name -> name.contains("<"));
  }

  @Test
  void withoutAChangeAllIsAsAtTheStart() {
    assertThat(live.read(kafka).settings()).isEqualTo(started.live());
  }

  @Test
  void dynamicValuesTakeThePlaceOfTheFiles() {
    kafka.put("rsm.config.migration.rate.down", "20MB");
    kafka.put("rsm.config.fetch.timeout.ms", 1234);
    kafka.put("rsm.config.migration.threshold", "0.75");

    RemoteSettings.Live read = live.read(kafka).settings();

    assertThat(read.migration().downBytesPerSecond()).isEqualTo(20_000_000);
    assertThat(read.fetchTimeout()).isEqualTo(Duration.ofMillis(1234));
    assertThat(read.migration().thresholds()).containsExactly(0.75);
    assertThat(live.written(read))
        .containsEntry("rsm.config.migration.rate.down", "20000000")
        .containsEntry("rsm.config.fetch.timeout.ms", "1234")
        .containsEntry("rsm.config.migration.threshold", "0.75");
  }

  @Test
  void aDeletedKeyGoesBackToTheDefault() {
    kafka.remove("rsm.config.migration.rate.down");

    assertThat(live.read(kafka).settings().migration().downBytesPerSecond()).isZero();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "rsm.config.migration.rate.down | 80M | unknown unit",
        "rsm.config.migration.policy | none-such | expected one of",
      })
  void leavesOutWhatCannotBeUsed(String key, String value, String message) {
    kafka.put(key, value);

    LiveSettings.Usable<RemoteSettings.Live> outcome = live.read(kafka);

    assertThat(outcome.settings()).isEqualTo(started.live());
    assertThat(outcome.wrong())
        .singleElement()
        .extracting(IgnoredKey::reason)
        .asString()
        .startsWith(key + ": found ")
        .contains(message);
  }

  @Test
  void leavesOutAndTellsWhatKafkaStoredWithoutAsking() {
    kafka.put("rsm.config.migration.rates.down", "1MB");
    kafka.put("rsm.config.typo", "1");
    kafka.put("rsm.config.migration.policy.nonsense", "1");
    kafka.put("rsm.config.ssd.capacity", "1TB");
    kafka.put("strata.migration.nonsense", "the local tiers' affair");

    LiveSettings.Usable<RemoteSettings.Live> outcome = live.read(kafka);

    assertThat(outcome.settings()).isEqualTo(started.live());
    assertThat(outcome.wrong()).isEmpty();
    assertThat(outcome.ignored().stream().map(IgnoredKey::toString))
        .containsExactly(
            "rsm.config.migration.policy.nonsense (no policy has such a parameter)",
            "rsm.config.migration.rates.down (an unknown key; did you mean"
                + " rsm.config.migration.rate.down?)",
            "rsm.config.ssd.capacity (read at the start alone: set it in the broker's file and"
                + " restart)",
            "rsm.config.typo (an unknown key)");
  }

  /** Kafka hands its keys over with the prefix of the file. */
  @Test
  void withAnotherPrefixNothingChangesOnALiveBroker() {
    LiveSettings<RemoteSettings.Live> other =
        LiveSettings.remote(given, false, started, PolicyRegistry.builtIn());
    kafka.keySet().removeAll(given.keySet());
    kafka.put("tier.migration.rate.down", "20MB");

    assertThat(other.read(kafka).settings()).isEqualTo(started.live());
    assertThat(other.names()).noneMatch(other::isDynamic);
  }

  @Test
  void theLocalTiersLeaveItsKeysAlone() {
    Map<String, String> file = Map.of("strata.pools", "/p/a");
    LiveSettings<StrataConfig> local =
        LiveSettings.local(
            BrokerProperties.of("test", file),
            StrataConfig.parse(file).config().orElseThrow(),
            PolicyRegistry.builtIn());
    kafka.put("rsm.config.migration.rate.down", "nonsense");

    assertThat(local.read(kafka).ignored()).isEmpty();
  }
}
