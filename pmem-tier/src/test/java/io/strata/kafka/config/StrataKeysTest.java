package io.strata.kafka.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.config.key.NearNames;
import io.strata.kafka.config.key.StrataKey;
import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The catalogue of the keys, and its reference page. */
class StrataKeysTest {

  @Test
  void everyKeyIsDeclaredWhole() {
    assertThat(StrataKeys.LOCAL.keys())
        .allSatisfy(
            key -> {
              assertThat(key.name()).matches("strata(\\.(?:[a-z]+|<[a-z]+>))+").isLowerCase();
              assertThat(key.documentation()).matches("(?s)[A-Z`].*\\.");
              assertThat(key.expected()).isNotBlank();
            });
    assertThat(StrataKeys.all().stream().map(StrataKey::name)).doesNotHaveDuplicates();
  }

  /** As many as an operator can be asked to know. */
  @Test
  void thereAreFortyKeysAtMost() {
    assertThat(StrataKeys.all()).hasSizeLessThanOrEqualTo(40);
  }

  /** What both sides have is the same with another prefix. */
  @Test
  void noKeyIsDeclaredTwiceWithOtherBounds() {
    for (StrataKey<?> remote : MigrationKeys.REMOTE.all()) {
      String twin = remote.name().replace("rsm.config.", "strata.");
      assertThat(StrataKeys.LOCAL.keys())
          .anySatisfy(
              local -> {
                assertThat(local.name()).isEqualTo(twin);
                assertThat(local.expected()).isEqualTo(remote.expected());
                assertThat(local.defaultValue()).isEqualTo(remote.defaultValue());
                assertThat(local.dynamic()).isEqualTo(remote.dynamic());
              });
    }
  }

  /** Every constant of a catalogue is in it: the reference page is complete. */
  @Test
  void everyDeclaredKeyIsListed() throws IllegalAccessException {
    for (Class<?> catalogue : List.of(StrataKeys.class, RemoteKeys.class)) {
      for (Field field : catalogue.getDeclaredFields()) {
        if (field.getType() == StrataKey.class) {
          assertThat(StrataKeys.all()).as(field.getName()).contains((StrataKey<?>) field.get(null));
        }
      }
    }
    for (MigrationKeys keys : List.of(MigrationKeys.LOCAL, MigrationKeys.REMOTE)) {
      for (Field field : MigrationKeys.class.getDeclaredFields()) {
        if (field.getType() == StrataKey.class) {
          field.setAccessible(true);
          assertThat(StrataKeys.all()).as(field.getName()).contains((StrataKey<?>) field.get(keys));
        }
      }
    }
  }

  @Test
  void everyKeyOfTheRemoteTierIsDeclaredWhole() {
    assertThat(RemoteKeys.REMOTE.keys())
        .allSatisfy(
            key -> {
              assertThat(key.name()).matches("rsm\\.config(\\.(?:[a-z]+|<[a-z]+>))+").isLowerCase();
              assertThat(key.documentation()).matches("(?s)[A-Z`].*\\.");
              assertThat(key.expected()).isNotBlank();
            });
    assertThat(RemoteKeys.REMOTE.keys().stream().map(StrataKey::name)).doesNotHaveDuplicates();
  }

  @Test
  void theRemoteTierHasFifteenKeysAtMost() {
    assertThat(RemoteKeys.REMOTE.keys()).hasSizeLessThanOrEqualTo(15);
    assertThat(RemoteKeys.REMOTE.dynamicNames(List.of("ssd"), Set.of("after")))
        .containsExactly(
            "rsm.config.copy.timeout.ms",
            "rsm.config.fetch.timeout.ms",
            "rsm.config.scrub.interval.ms",
            "rsm.config.migration.threshold",
            "rsm.config.migration.rate.down",
            "rsm.config.migration.policy",
            "rsm.config.migration.policy.after");
  }

  @Test
  void findsAKeyByItsName() {
    assertThat(StrataKeys.find("strata.pools")).contains(StrataKeys.POOLS);
    assertThat(StrataKeys.find("strata.pool")).isEmpty();
    assertThat(StrataKeys.find("strata.tier.ssd.type")).contains(StrataKeys.TIER_TYPE);
    assertThat(StrataKeys.find("strata.migration.policy.max.age"))
        .contains(MigrationKeys.LOCAL.policyParameter());
    assertThat(StrataKeys.find("strata.tier.<name>.type")).isEmpty();
    assertThat(StrataKeys.find("strata.tier..type")).isEmpty();
  }

  @Test
  void aKeyWithAPlaceholderStandsForMany() {
    assertThat(StrataKeys.TIER_TYPE.patterned()).isTrue();
    assertThat(StrataKeys.TIER_TYPE.with("ssd").name()).isEqualTo("strata.tier.ssd.type");
    assertThat(StrataKeys.TIER_TYPE.with("ssd").patterned()).isFalse();
    assertThat(StrataKeys.TIER_TYPE.partOf("strata.tier.ssd.type")).contains("ssd");
    assertThat(StrataKeys.TIER_TYPE.partOf("strata.tier.ssd.pools")).isEmpty();
    assertThat(StrataKeys.POOLS.partOf("strata.pools")).isEmpty();
  }

  @Test
  void theMigrationKeysAndHowSpillsAreForcedAreDynamic() {
    assertThat(StrataKeys.LOCAL.dynamicNames(List.of("hot", "ssd"), Set.of("max.age")))
        .containsExactly(
            "strata.topics.include",
            "strata.topics.exclude",
            "strata.spill.force",
            "strata.migration.threshold",
            "strata.migration.rate.down",
            "strata.migration.policy",
            "strata.migration.policy.max.age",
            "strata.migration.pin.topics",
            "strata.tier.hot.threshold",
            "strata.tier.ssd.threshold",
            "strata.migration.mode",
            "strata.migration.promote",
            "strata.migration.threads",
            "strata.migration.rate.up");
  }

  /** A message that names a key which is not there sends an operator the wrong way. */
  @Test
  void messagesNameKeysThatExist() throws IOException {
    Set<String> others =
        Set.of(
            "strata.config",
            "strata.role",
            "strata.jar",
            "strata.segment",
            "strata.below",
            "strata.directory",
            "strata.moments",
            "strata.room");
    Pattern key =
        Pattern.compile("(?<![a-z.])(?:strata|rsm\\.config)(?:\\.[a-z]++)++(?![a-zA-Z.*<(-])");
    for (Path file : sources()) {
      key.matcher(Files.readString(file))
          .results()
          .map(MatchResult::group)
          .filter(name -> !others.contains(name))
          .forEach(
              name -> assertThat(StrataKeys.find(name)).as("%s, in %s", name, file).isPresent());
    }
  }

  /** The catalogues alone declare keys, so that no reader has one that no page lists. */
  @Test
  void keysAreDeclaredInTheCataloguesAlone() throws IOException {
    for (Path file : sources()) {
      if (Files.readString(file).contains("StrataKey.named(")) {
        assertThat(file.getFileName().toString())
            .isIn("StrataKeys.java", "RemoteKeys.java", "MigrationKeys.java");
      }
    }
  }

  /** Kafka hands the manager a map, from which anything could be taken by any name. */
  @Test
  void whatTheManagerIsAskedForByNameIsListed() {
    Set<String> asked = new TreeSet<>();
    Map<String, Object> manager =
        new HashMap<>(Map.of("broker.id", 1, "levels", "ssd", "cold.class.name", "A")) {
          @Override
          public @Nullable Object get(@Nullable Object key) {
            asked.add(String.valueOf(key));
            return super.get(key);
          }

          @Override
          public @Nullable Object getOrDefault(@Nullable Object key, @Nullable Object otherwise) {
            asked.add(String.valueOf(key));
            return super.getOrDefault(key, otherwise);
          }

          @Override
          public boolean containsKey(@Nullable Object key) {
            asked.add(String.valueOf(key));
            return super.containsKey(key);
          }
        };
    var unusedDirectories = RemoteConfig.logDirectories(manager);
    var unusedSettings = RemoteConfig.parse(manager, Optional.empty(), Optional.empty());

    assertThat(asked)
        .contains("log.dirs", "broker.id")
        .allSatisfy(
            name ->
                assertThat(name)
                    .matches(
                        each ->
                            List.of("broker.id", "node.id").contains(each) // which Kafka adds
                                || StrataKeys.find("rsm.config." + each).isPresent()));
  }

  private static List<Path> sources() throws IOException {
    List<Path> sources = new ArrayList<>();
    for (String module : List.of("plugin-api", "migration", "pmem-tier")) {
      try (Stream<Path> files =
          Files.walk(GeneratedPage.docs().resolveSibling(module).resolve("src/main"))) {
        files.filter(path -> path.toString().endsWith(".java")).forEach(sources::add);
      }
    }
    return sources;
  }

  @Test
  void suggestsTheNearestKey() {
    assertThat(StrataKeys.nearest("strata.pool")).contains("strata.pools");
    assertThat(StrataKeys.nearest("strata.topic.excludes")).contains("strata.topics.exclude");
    assertThat(StrataKeys.nearest("strata.requires.dax")).contains("strata.require.dax");
    assertThat(StrataKeys.nearest("rsm.config.policy.migration"))
        .as("a name in another order is another name")
        .isEmpty();
  }

  @Test
  void suggestsAKeyOfTheSameTierOrLevel() {
    assertThat(StrataKeys.nearest("strata.tier.warm.pool")).contains("strata.tier.warm.pools");
    assertThat(StrataKeys.nearest("strata.tiers.warm.type")).contains("strata.tier.warm.type");
    assertThat(StrataKeys.nearest("rsm.config.ssd.directory"))
        .contains("rsm.config.ssd.directories");
    assertThat(StrataKeys.nearest("strata.tier.$1.pool")).isEmpty();
    assertThat(StrataKeys.nearest("strata.tier..type")).isEmpty();
  }

  /** Another key than the one that is meant is a worse answer than none. */
  @Test
  void suggestsNothingWhereNoKeyIsNear() {
    assertThat(StrataKeys.nearest("strata.nonsense")).isEmpty();
    assertThat(StrataKeys.nearest("rsm.config.chunk.size")).isEmpty();
    assertThat(StrataKeys.nearest("rsm.config.bucket")).isEmpty();
    assertThat(StrataKeys.nearest("strata.")).isPresent();
  }

  @Test
  void namesThatAreNearComeFirst() {
    assertThat(NearNames.of("Order", List.of("payments", "order-items", "orders", "border")))
        .containsExactly("orders", "border", "order-items");
    assertThat(NearNames.of("ordrs", List.of("orders", "audit"))).containsExactly("orders");
    assertThat(NearNames.of("a.b.paid", List.of("a.b.void", "a.b.pay", "a.b.paids")))
        .containsExactly("a.b.paids");
  }

  @Test
  void distanceCountsEdits() {
    assertThat(NearNames.distance("", "abc")).isEqualTo(3);
    assertThat(NearNames.distance("abc", "")).isEqualTo(3);
    assertThat(NearNames.distance("kitten", "sitting")).isEqualTo(3);
    assertThat(NearNames.distance("same", "same")).isZero();
  }

  @Test
  void referencePageIsUpToDate() throws IOException {
    StringBuilder page = new StringBuilder();
    page.append("# Configuration keys\n\n");
    page.append(
        "<!-- Generated from io.strata.kafka.config.StrataKeys: see"
            + " docs/contributing.md. -->\n\n");
    page.append(
        """
        All keys go into the broker's `server.properties`. A key that begins with `strata.` and is not listed
        here is refused. Values are read before Kafka starts: configuration providers (`${...}`) are not resolved.

        [Tiers](#tiers) are local: pools and the log directories. The [remote tier](#remote-tier) is what Kafka's tiered storage copies
        to; see [remote](../remote.md). Two system properties, `-Dstrata.config` and `-Dstrata.role`, say
        [which file that is](../configuration.md#how-the-file-is-found) where the command line does not.

        ## Tiers

        """);
    contents(page, StrataKeys.LOCAL.keys());
    page.append(
        """

        ## Remote tier

        All of its keys begin with `rsm.config.`. Kafka hands them to the manager, with configuration providers resolved.
        Another prefix can be chosen with `remote.log.storage.manager.impl.prefix`; then none changes on a live broker. A key
        that is not listed here is refused. Changes on a live broker come through `io.strata.kafka.StrataReporter`, since Kafka
        hands its manager none; a broker that has the remote tier alone, without the reporter, needs a restart.

        """);
    contents(page, RemoteKeys.REMOTE.keys());
    StrataKeys.all().forEach(key -> section(page, key));
    GeneratedPage.check("reference/configuration.md", page.toString().replace("\r", ""));
  }

  private static void contents(StringBuilder page, List<StrataKey<?>> keys) {
    page.append("| key | default |\n|---|---|\n");
    for (StrataKey<?> key : keys) {
      page.append(
          String.format(
              Locale.ROOT,
              "| [`%s`](#%s) | %s |%n",
              key.name(),
              key.name().replaceAll("[.<>]", ""),
              defaultOf(key)));
    }
  }

  private static void section(StringBuilder page, StrataKey<?> key) {
    page.append("\n## ").append(key.name()).append("\n\n");
    page.append(key.documentation()).append("\n\n");
    page.append("- type: ").append(key.kind().type()).append('\n');
    page.append("- default: ").append(defaultOf(key)).append('\n');
    page.append("- allowed: ").append(key.expected()).append('\n');
    page.append("- changeable on a live broker: ");
    page.append(key.dynamic() ? "yes, with `kafka-configs.sh`" : "no").append('\n');
    page.append("- since: 0.1.0\n");
  }

  private static String defaultOf(StrataKey<?> key) {
    return key.defaultValue()
        .map(value -> value.isEmpty() ? "(empty)" : "`" + value + "`")
        .or(key::otherwise)
        .orElse("none: the key is required");
  }
}
