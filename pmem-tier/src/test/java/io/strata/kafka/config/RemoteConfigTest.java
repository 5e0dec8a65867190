package io.strata.kafka.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.config.key.ConfigProblem;
import io.strata.kafka.config.key.Parsed;
import io.strata.kafka.migration.plan.MigrationSettings;
import io.strata.kafka.migration.plan.PolicyRegistry;
import io.strata.kafka.migration.remote.RemoteSettings;
import io.strata.kafka.migration.remote.RemoteSettings.ColdSettings;
import io.strata.kafka.migration.remote.store.SegmentStore;
import io.strata.kafka.migration.remote.store.disk.DirectoryAccess;
import io.strata.kafka.migration.remote.store.disk.StoreOptions;
import io.strata.kafka.migration.remote.store.disk.StoreOptions.StoreStage;
import io.strata.kafka.migration.remote.store.layout.StoreIdentity;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The remote tier's keys, and each way in which one can be wrong. */
class RemoteConfigTest {

  @TempDir private Path temp;

  private final Map<String, Object> manager = new TreeMap<>();
  private final Map<String, String> file = new HashMap<>();

  @BeforeEach
  void aStoreOfOneDirectory() throws IOException {
    for (String name : List.of("logs", "meta", "ssd", "ssd2", "hdd", "ssd/inner")) {
      Files.createDirectories(temp.resolve(name));
    }
    Files.createSymbolicLink(temp.resolve("alias"), temp.resolve("ssd"));
    Files.createFile(temp.resolve("file"));
    file.put("log.dirs", temp.resolve("logs").toString());
    file.put("metadata.log.dir", temp.resolve("meta").toString());
    manager.put("broker.id", 7);
    manager.put("levels", "ssd");
    manager.put("ssd.directories", temp.resolve("ssd").toString());
  }

  @Test
  void levelsAndDirectoriesAreEnough() {
    assertThat(settings())
        .isEqualTo(
            new RemoteSettings(
                7,
                List.of(
                    new StoreOptions.LevelOptions(
                        "ssd", List.of(directory("ssd", OptionalLong.empty())))),
                Optional.empty(),
                256 << 10,
                new RemoteSettings.Live(
                    Duration.ofMinutes(10),
                    Duration.ofSeconds(30),
                    Duration.ofMinutes(1),
                    Duration.ofMinutes(1),
                    Duration.ofDays(7),
                    Duration.ofHours(1),
                    new MigrationSettings(
                        MigrationSettings.Mode.EAGER,
                        List.of(),
                        0.05,
                        true,
                        2,
                        0,
                        0,
                        Duration.ofSeconds(1),
                        "newest",
                        Map.of(),
                        List.of()))));
  }

  @Test
  void everyKeyIsRead() {
    manager.put("levels", "ssd, hdd");
    manager.put("ssd.directories", temp.resolve("ssd") + " , " + temp.resolve("ssd2"));
    manager.put("ssd.capacity", "500GB, 2TiB");
    manager.put("hdd.directories", temp.resolve("hdd").toString());
    manager.put("hdd.capacity", "1GB");
    manager.put("cold.class.name", "com.example.Cold");
    manager.put("cold.class.path", temp.toString());
    manager.put("cold.bucket", "b${x}");
    manager.put("cold.retries", 3);
    manager.put("log.dirs", temp.resolve("logs").toString());
    manager.put("copy.timeout.ms", "1001");
    manager.put("fetch.timeout.ms", "1002");
    manager.put("scrub.interval.ms", "0");
    manager.put("migration.threshold", "0.25");
    manager.put("migration.rate.down", "80MB");
    manager.put("migration.policy", "age");
    manager.put("migration.policy.after", "1h");

    assertThat(settings())
        .isEqualTo(
            new RemoteSettings(
                7,
                List.of(
                    new StoreOptions.LevelOptions(
                        "ssd",
                        List.of(
                            directory("ssd", OptionalLong.of(500_000_000_000L)),
                            directory("ssd2", OptionalLong.of(2L << 40)))),
                    new StoreOptions.LevelOptions(
                        "hdd", List.of(directory("hdd", OptionalLong.of(1_000_000_000))))),
                Optional.of(
                    new ColdSettings(
                        "com.example.Cold",
                        Optional.of(temp.toString()),
                        Map.of("bucket", "b${x}", "retries", 3, "broker.id", 7))),
                256 << 10,
                new RemoteSettings.Live(
                    Duration.ofMillis(1001),
                    Duration.ofMillis(1002),
                    Duration.ofMinutes(1),
                    Duration.ofMinutes(1),
                    Duration.ZERO,
                    Duration.ofHours(1),
                    new MigrationSettings(
                        MigrationSettings.Mode.EAGER,
                        List.of(0.25, 0.25),
                        0.05,
                        true,
                        2,
                        80_000_000,
                        0,
                        Duration.ofSeconds(1),
                        "age",
                        Map.of("after", "1h"),
                        List.of()))));
  }

  @Test
  void everyKeyOfTheCatalogueIsInTheTestAbove() {
    everyKeyIsRead();
    Map<String, Object> given = new TreeMap<>(file);
    manager.forEach((name, value) -> given.put("rsm.config." + name, value));

    assertThat(RemoteKeys.REMOTE.keys())
        .allSatisfy(key -> assertThat(given.keySet()).as(key.name()).anyMatch(key::matches));
  }

  /** {@code {t}} is the test's directory; {@code -} takes a key away. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "broker.id | - | node.id | found nothing, expected a number from 0; set it",
        "broker.id | -1 | node.id | found '-1', expected a number from 0",
        "levels | - | rsm.config.levels | found nothing, expected a comma-separated list of names",
        "levels | '' | rsm.config.levels | the list is empty",
        "levels | SSD | rsm.config.levels | found 'SSD' ('SSD' cannot be the name of a level",
        "levels | ssd,ssd | rsm.config.levels | is listed twice",
        "levels | ssd,cold | rsm.config.levels | cold is the level of the manager",
        "levels | ssd,logdirs | rsm.config.levels | logdirs is the tier of",
        "levels | ssd,hdd | rsm.config.hdd.directories | found nothing, expected a comma-separated",
        "ssd.directories | - | rsm.config.ssd.directories | found nothing",
        "ssd.directories | '' | rsm.config.ssd.directories | the list is empty",
        "ssd.directories | ssd | rsm.config.ssd.directories | found 'ssd' ('ssd' is not absolute)",
        "ssd.directories | {t}/ssd,{t}/ssd | rsm.config.ssd.directories | is listed twice",
        "ssd.directories | {t}/ssd,{t}/hdd/../ssd | rsm.config.ssd.directories | is listed twice",
        "ssd.directories | {t}/ssd,{t}/alias | rsm.config.ssd.directories | is the same as rsm",
        "ssd.directories | {t}/ssd,{t}/ssd/inner | rsm.config.ssd.directories | is inside rsm",
        "ssd.directories | {t}/ssd/inner,{t}/ssd | rsm.config.ssd.directories | is around rsm",
        "ssd.directories | {t}/none | rsm.config.ssd.directories | is not there, expected a"
            + " directory",
        "ssd.directories | {t}/file | rsm.config.ssd.directories | which is not a directory",
        "ssd.directories | {t}/logs | rsm.config.ssd.directories | is the same as log directory"
            + " {t}",
        "ssd.directories | {t} | rsm.config.ssd.directories | is around log directory {t}/logs",
        "ssd.directories | {t}/meta | rsm.config.ssd.directories | log directory {t}/meta",
        "ssd.capacity | 500G | rsm.config.ssd.capacity | unknown unit 'G'",
        "ssd.capacity | 0 | rsm.config.ssd.capacity | found '0' ('0' is nothing)",
        "ssd.capacity | '' | rsm.config.ssd.capacity | the list is empty",
        "ssd.capacity | 1MB/s | rsm.config.ssd.capacity | an amount, not a rate",
        "ssd.capacity | 1GB,2GB | rsm.config.ssd.capacity | found 2 amounts, expected one, or one"
            + " for each of the 1",
        "hdd.capacity | 1GB | rsm.config.hdd.capacity | found a key of level 'hdd', expected a"
            + " level that rsm.config.levels lists: ssd; add",
        "hdd.directories | {t}/hdd | rsm.config.hdd.directories | found a key of level 'hdd'",
        "level | ssd | rsm.config.level | found an unknown key, expected one that"
            + " docs/reference/configuration.md lists; did you mean rsm.config.levels?",
        "chunk.size | 1MiB | rsm.config.chunk.size | docs/reference/configuration.md lists; remove"
            + " it; keys of another manager begin with rsm.config.cold.",
        "log.dirs | '' | rsm.config.log.dirs | the list is empty",
        "log.dirs | /a,/a | rsm.config.log.dirs | '/a' is listed twice",
        "cold.bucket | b | rsm.config.cold.class.name | found nothing, expected the name of a"
            + " class",
        "cold.class.name | a b | rsm.config.cold.class.name | not the name of a class",
        "cold.class.name | io.strata.kafka.migration.remote.StrataRemoteStorageManager |"
            + " rsm.config.cold.class.name | expected the name of a class that implements",
        "cold.class.path | {t} | rsm.config.cold.class.name | found nothing",
        "copy.timeout.ms | 999 | rsm.config.copy.timeout.ms | expected a number from 1000 to"
            + " 86400000",
        "copy.timeout.ms | 10m | rsm.config.copy.timeout.ms | expected a number from 1000 to"
            + " 86400000",
        "fetch.timeout.ms | 0 | rsm.config.fetch.timeout.ms | expected a number from 100 to"
            + " 3600000",
        "scrub.interval.ms | 1 | rsm.config.scrub.interval.ms | expected 0 for never, or a number"
            + " from 1000",
        "migration.threshold | 2 | rsm.config.migration.threshold | expected -1, or a number from 0"
            + " to 1",
        "migration.rate.down | 80M | rsm.config.migration.rate.down | unknown unit",
        "migration.policy | My Own | rsm.config.migration.policy | lower-case letters, digits and"
            + " hyphens",
        "migration.policy | none-such | rsm.config.migration.policy | expected one of access, age,"
            + " newest",
        "migration.policy.beyond | 1 | rsm.config.migration.policy.beyond | found a parameter that"
            + " no policy has",
        "level.ssd.threshold | 0.5 | rsm.config.level.ssd.threshold | found an unknown key",
        "copy.timeout | 1 | rsm.config.copy.timeout | found an unknown key, expected one that"
            + " docs/reference/configuration.md lists; did you mean rsm.config.copy.timeout.ms?",
      })
  void refusesWhatKafkaGives(String key, String value, String named, String message) {
    if (value.equals("-")) {
      manager.remove(key);
    } else {
      manager.put(key, value.replace("{t}", temp.toString()));
      file.put(key.equals("broker.id") ? key : "rsm.config." + key, value);
    }

    refusedBy(named, message);
  }

  /** Kafka 4.4 adds node.id; a later one may add more, and none of it is the operator's mistake. */
  @Test
  void whatKafkaAddsByItselfIsNoUnknownKey() {
    manager.put("node.id", 8);
    manager.put("a.key.of.kafka.5", "x");
    manager.put("cold.class.name", "com.example.Cold");

    RemoteSettings settings = settings();
    assertThat(settings.brokerId()).isEqualTo(8);
    assertThat(settings.cold().orElseThrow().configs())
        .isEqualTo(Map.of("broker.id", 7, "node.id", 8, "a.key.of.kafka.5", "x"));
    assertThat(RemoteConfig.withPrefix(manager, Optional.of(BrokerProperties.of("file", file))))
        .containsOnlyKeys(
            "rsm.config.levels", "rsm.config.ssd.directories", "rsm.config.cold.class.name");
  }

  /** Kafka hands over all keys of the remote tier: none is read from the file. */
  @Test
  void refusesItsKeysUnderTheLocalTiersPrefix() {
    file.put("strata.remote.levels", "ssd");

    refusedBy("strata.remote.levels", "found an unknown key");
  }

  @Test
  void refusesAnotherBrokersJarOrOursOnTheColdClassPath() throws IOException {
    manager.put("cold.class.name", "com.example.Cold");
    manager.put("cold.class.path", temp.resolve("none") + "/*");
    refusedBy("rsm.config.cold.class.path", "/none/*', which does not exist");
    manager.put("cold.class.path", "no\0path");
    refusedBy("rsm.config.cold.class.path", "which does not exist");

    Path own = temp.resolve("classes").resolve(BrokerChecks.OWN_CLASS);
    Files.createDirectories(own.getParent());
    Files.createFile(own);
    manager.put("cold.class.path", temp.resolve("classes").toString());
    refusedBy("rsm.config.cold.class.path", "holds Strata), expected a class path without");
  }

  @Test
  void refusesASecondCopyOfOurClasses() throws IOException {
    Path own = temp.resolve("strata").resolve(BrokerChecks.OWN_CLASS);
    Files.createDirectories(own.getParent());
    Files.createFile(own);
    file.put(
        "remote.log.storage.manager.class.name",
        "io.strata.kafka.migration.remote.StrataRemoteStorageManager");
    file.put("remote.log.storage.manager.class.path", temp.resolve("strata").toString());

    refusedBy("remote.log.storage.manager.class.path", "loads a second copy of Strata's classes");
  }

  @Test
  void oneCapacityHoldsForEachDirectory() {
    manager.put("ssd.directories", temp.resolve("ssd") + "," + temp.resolve("ssd2"));
    manager.put("ssd.capacity", "1GB");

    assertThat(settings().levels().get(0).directories())
        .extracting(StoreOptions.Directory::capacityBytes)
        .containsOnly(OptionalLong.of(1_000_000_000));
  }

  @Test
  void aDirectoryThatTheBrokerHasUsedMayBeUnmounted() throws Exception {
    manager.put("ssd.directories", temp.resolve("ssd2").toString());
    SegmentStore unused =
        new SegmentStore(
            new StoreOptions(
                settings().levels(),
                7,
                "cluster",
                List.of(temp.resolve("logs")),
                InstantSource.system(),
                StoreStage.Hook.NONE,
                StoreIdentity::read,
                DirectoryAccess.Threads.NONE),
            Optional.empty());
    Files.move(temp.resolve("ssd2"), temp.resolve("unplugged"));

    assertThat(settings().levels()).hasSize(1);
    manager.put("ssd.directories", temp.resolve("ssd3").toString());
    refusedBy("rsm.config.ssd.directories", "is not there");
  }

  @Test
  void namesKeysWithThePrefixThatTheFileGivesThem() {
    file.put("remote.log.storage.manager.impl.prefix", "tier.");
    manager.put("levels", "ssd,hdd");

    refusedBy("tier.hdd.directories", "found nothing");
  }

  @Test
  void reportsEveryProblemAtOnce() {
    manager.put("levels", "ssd,hdd");
    manager.put("ssd.capacity", "1G");
    file.put("rsm.config.nonsense", "1");
    manager.put("nonsense", "1");
    manager.put("copy.timeout.ms", "x");

    assertThat(parse().problems())
        .extracting(ConfigProblem::key)
        .containsExactly(
            "rsm.config.ssd.capacity",
            "rsm.config.hdd.directories",
            "rsm.config.nonsense",
            "rsm.config.copy.timeout.ms");
  }

  @Test
  void aBrokerWithoutAKnownFileHasTheDefaults() {
    Parsed<RemoteSettings> parsed =
        RemoteConfig.parse(manager, Optional.empty(), Optional.of(PolicyRegistry.builtIn()));

    assertThat(parsed.problems()).isEmpty();
    assertThat(parsed.config().map(RemoteSettings::chunkBytes)).contains(256 << 10);
  }

  /** It names its log directories to the manager, and they are kept apart from the store. */
  @Test
  void aBrokerWithoutAKnownFileMayHaveItsLogDirectoriesInTheManagersKeys() {
    manager.put("log.dirs", temp.resolve("logs").toString());
    assertThat(RemoteConfig.parse(manager, Optional.empty(), Optional.empty()).problems())
        .isEmpty();
    manager.put("log.dirs", temp.resolve("ssd").toString());

    assertThat(RemoteConfig.parse(manager, Optional.empty(), Optional.empty()).problems())
        .singleElement()
        .extracting(ConfigProblem::message)
        .asString()
        .contains("rsm.config.ssd.directories", "is the same as log directory");
  }

  @Test
  void parametersOfAPolicyThatIsNotChosenStay() {
    manager.put("migration.policy.after", "1h");

    assertThat(settings().live().migration().policyParameters())
        .containsExactly(Map.entry("after", "1h"));
  }

  @Test
  void aToolReadsTheFileAlone() {
    file.put("node.id", "3");
    file.put("remote.log.storage.manager.impl.prefix", "tier.");
    file.put("tier.levels", "ssd");
    file.put("tier.ssd.directories", temp.resolve("ssd").toString());

    Parsed<RemoteSettings> parsed = RemoteConfig.parse(BrokerProperties.of("test", file));

    assertThat(parsed.problems()).isEmpty();
    assertThat(parsed.config().map(RemoteSettings::brokerId)).contains(3);
    assertThat(parsed.config().map(RemoteSettings::levelNames)).contains(List.of("ssd"));
  }

  private void refusedBy(String key, String message) {
    Parsed<RemoteSettings> parsed = parse();

    assertThat(parsed.config()).isEmpty();
    assertThat(parsed.problems())
        .singleElement()
        .satisfies(
            problem -> {
              assertThat(problem.isError()).isTrue();
              assertThat(problem.key()).isEqualTo(key);
              assertThat(problem.message())
                  .startsWith(key + ": found ")
                  .contains(message.replace("{t}", temp.toString()))
                  .contains(", expected ")
                  .contains("; ")
                  .doesNotContain("\n");
            });
  }

  private RemoteSettings settings() {
    Parsed<RemoteSettings> parsed = parse();
    assertThat(parsed.problems()).isEmpty();
    return parsed.config().orElseThrow();
  }

  private Parsed<RemoteSettings> parse() {
    return RemoteConfig.parse(
        manager,
        Optional.of(BrokerProperties.of("test", file)),
        Optional.of(PolicyRegistry.builtIn()));
  }

  private StoreOptions.Directory directory(String name, OptionalLong capacity) {
    return new StoreOptions.Directory(temp.resolve(name), capacity);
  }
}
