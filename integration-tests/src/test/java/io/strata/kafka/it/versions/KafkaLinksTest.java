package io.strata.kafka.it.versions;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.Distribution;
import io.strata.kafka.it.harness.KafkaVersion;
import io.strata.kafka.it.versions.ClassIndex.Reference;
import java.io.IOException;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Everything of Kafka and of its metrics library that the jar's classes link to is in each
 * supported release, and is published, or is in the one package that says what happens without it.
 * Reads classes; starts no broker.
 */
class KafkaLinksTest {

  private static final String OURS = "io/strata/kafka/";

  /** Libraries: what they have for others is not asked of Kafka. */
  private static final String SHADED = OURS + "shaded/";

  /** Our classes in the package of the metrics library. */
  private static final String OURS_AMONG_YAMMERS = "com/yammer/metrics/core/PulledMetrics";

  private static final String UNPUBLISHED = OURS + "unpublished/";

  private static final List<String> FOREIGN = List.of("org/apache/kafka/", "kafka/", "com/yammer/");

  /** Kafka 4.4 marks so what it publishes (KIP-1265). */
  private static final String PUBLIC =
      "org/apache/kafka/common/annotation/InterfaceAudience$Public";

  private static final String REMOTE = "org/apache/kafka/server/log/remote/storage/";

  private static final String METADATA = REMOTE + "RemoteLogSegmentMetadata";

  /** Published in a later release than the oldest: the class that may name it, and who lacks it. */
  private record Optional(String by, Set<KafkaVersion> missingIn) {}

  private static final Map<String, Optional> OPTIONAL =
      Map.of(
          REMOTE + "RetriableRemoteStorageException",
          new Optional(
              "migration/remote/RemoteFailures$Known",
              EnumSet.of(KafkaVersion.V3_9, KafkaVersion.V4_0, KafkaVersion.V4_1)),
          METADATA + ".isTxnIdxEmpty()Z",
          new Optional("migration/remote/KafkaSegments$Known", EnumSet.of(KafkaVersion.V3_9)),
          METADATA + ".<init>(L" + REMOTE + "RemoteLogSegmentId;JJJIJILjava/util/Map;Z)V",
          new Optional("migration/remote/KafkaSegments$Known", EnumSet.of(KafkaVersion.V3_9)));

  /** Names that the jar compares as text: the broker's main class, and a default of Kafka's. */
  private static final List<String> BY_NAME =
      List.of("kafka/Kafka", "org/apache/kafka/common/metrics/JmxReporter");

  /** What calls plugins about the dynamic configuration: see ConfigurationCall. */
  private static final String CALLER = "kafka/server/DynamicBrokerConfig";

  private static final List<String> CALLERS =
      List.of(
          "validate(Ljava/util/Properties;Z)V",
          "updateDefaultConfig(Ljava/util/Properties;Z)V",
          "updateBrokerConfig(ILjava/util/Properties;Z)V");

  @ParameterizedTest
  @EnumSource
  void whatTheJarLinksToIsThere(KafkaVersion version) throws IOException {
    ClassIndex index = index(version);
    Set<String> missing = new TreeSet<>();
    int references = 0;
    for (String name : ours(index)) {
      for (Reference reference : references(index, name)) {
        references++;
        if (!index.resolves(reference)) {
          missing.add(name + " names " + reference);
        }
      }
      FOREIGN.stream()
          .flatMap(prefix -> index.unimplemented(name, prefix).stream())
          .forEach(open -> missing.add(name + " does not implement " + open));
    }
    assertThat(references).isGreaterThan(200);
    assertThat(missing.stream().filter(found -> !isOptional(found, version))).isEmpty();
    assertThat(
            OPTIONAL.entrySet().stream()
                .filter(entry -> entry.getValue().missingIn().contains(version))
                .map(Map.Entry::getKey))
        .as("listed as missing")
        .allMatch(reference -> missing.stream().anyMatch(found -> found.contains(reference)));
    assertThat(BY_NAME).allMatch(name -> index.resolves(new Reference(name, "")));
    assertThat(CALLERS).allMatch(member -> index.resolves(new Reference(CALLER, member)));
  }

  private static boolean isOptional(String missing, KafkaVersion version) {
    return OPTIONAL.entrySet().stream()
        .filter(entry -> entry.getValue().missingIn().contains(version))
        .anyMatch(
            entry -> missing.startsWith(OURS + entry.getValue().by() + " names " + entry.getKey()));
  }

  /** A class that Kafka does not publish may move in any release, as 32 did in 4.4. */
  @Test
  void whatKafkaDoesNotPublishIsNamedInOnePackage() throws IOException {
    ClassIndex index = index(KafkaVersion.CURRENT);
    Set<String> unpublished =
        ours(index).stream()
            .filter(name -> !name.startsWith(UNPUBLISHED))
            .flatMap(
                name ->
                    references(index, name).stream()
                        .map(Reference::owner)
                        .filter(owner -> !owner.startsWith("com/yammer/"))
                        .filter(owner -> !index.isAnnotated(owner, PUBLIC))
                        .map(owner -> name + " names " + owner))
            .collect(Collectors.toCollection(TreeSet::new));
    assertThat(unpublished).isEmpty();
    assertThat(
            ours(index).stream()
                .filter(
                    name ->
                        references(index, name).stream()
                            .anyMatch(reference -> reference.owner().startsWith("com/yammer/"))))
        .as("classes that name the metrics library")
        .allMatch(
            name ->
                name.startsWith(UNPUBLISHED)
                    || name.startsWith(OURS_AMONG_YAMMERS)
                    || name.startsWith(OURS + "metrics/YammerSink"));
  }

  private static ClassIndex index(KafkaVersion version) throws IOException {
    return new ClassIndex()
        .addAll(version.linked(), FOREIGN)
        .add(Distribution.strataJar(), OURS)
        .add(Distribution.strataJar(), OURS_AMONG_YAMMERS);
  }

  private static List<String> ours(ClassIndex index) {
    return Stream.concat(
            index.names(OURS).stream().filter(name -> !name.startsWith(SHADED)),
            index.names(OURS_AMONG_YAMMERS).stream())
        .toList();
  }

  private static Set<Reference> references(ClassIndex index, String name) {
    return FOREIGN.stream()
        .flatMap(prefix -> index.references(name, prefix).stream())
        .collect(Collectors.toSet());
  }
}
