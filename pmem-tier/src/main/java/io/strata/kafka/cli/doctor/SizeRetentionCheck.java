package io.strata.kafka.cli.doctor;

import io.strata.kafka.broker.KafkaVersions;
import io.strata.kafka.cli.status.Surroundings;
import io.strata.kafka.config.BrokerProperties;
import io.strata.kafka.unpublished.StoredConfiguration;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Finds tiered topics whose retention by size deletes too much in some versions of Kafka
 * (KAFKA-20732), with any manager: by what is stored of topics and brokers in the broker's own copy
 * of the cluster's metadata.
 */
final class SizeRetentionCheck extends DoctorCheck {

  private static final String WHAT = "size retention";
  private static final String TOPIC_KEY = "retention.bytes";
  private static final String BROKER_KEY = "log.retention.bytes";
  private static final int MOST_NAMED = 3;

  /** The versions of Kafka's jars. */
  private final List<String> versions;

  SizeRetentionCheck(
      Surroundings surroundings,
      BrokerProperties broker,
      OptionalLong process,
      List<String> versions) {
    super(surroundings, broker, process);
    this.versions = versions;
  }

  @Override
  List<Diagnosis> run() throws IOException {
    List<String> affected = versions.stream().filter(KafkaVersions::countsTwice).toList();
    if (affected.isEmpty()
        || broker.remoteStorageManagerClassName().isEmpty()
        || !StoredConfiguration.isIn(broker.metadataLogDir())) {
      return found;
    }
    List<String> topics;
    try {
      topics = topics(StoredConfiguration.read(broker.metadataLogDir()));
    } catch (IOException e) {
      return found; // The check of the stored configuration says so.
    }
    if (!topics.isEmpty()) {
      warn(
          WHAT,
          """
          Kafka %s may count what is local and remote twice after a restart, and delete records \
          within the retention (KAFKA-20732) of %d tiered topics with a retention by size: %s%s\
          """
              .formatted(
                  affected.get(0),
                  topics.size(),
                  String.join(", ", topics.subList(0, Math.min(topics.size(), MOST_NAMED))),
                  topics.size() > MOST_NAMED ? ", ..." : ""),
          "upgrade to Kafka 4.4.0, or set their retention.bytes to -1 until then");
    }
    return found;
  }

  private List<String> topics(StoredConfiguration stored) throws IOException {
    Map<String, String> own =
        broker.nodeId().isPresent() ? stored.ofBroker(broker.nodeId().getAsInt()) : Map.of();
    String usual =
        Stream.of(own, stored.ofAllBrokers(), broker.asMap())
            .filter(level -> level.containsKey(BROKER_KEY))
            .map(level -> level.getOrDefault(BROKER_KEY, ""))
            .findFirst()
            .orElse("-1");
    Set<String> here = topicsHere();
    return stored.ofTopics().entrySet().stream()
        .filter(topic -> here.contains(topic.getKey()))
        .filter(topic -> "true".equals(topic.getValue().get("remote.storage.enable")))
        .filter(topic -> !topic.getValue().getOrDefault(TOPIC_KEY, usual).strip().equals("-1"))
        .map(Map.Entry::getKey)
        .sorted()
        .collect(Collectors.toList());
  }

  /** A topic that was deleted is stored still, perhaps. */
  private Set<String> topicsHere() throws IOException {
    Set<String> topics = new HashSet<>();
    for (Path directory : broker.logDirs()) {
      if (Files.isDirectory(directory)) {
        try (DirectoryStream<Path> partitions = Files.newDirectoryStream(directory)) {
          for (Path partition : partitions) {
            String name = String.valueOf(partition.getFileName());
            topics.add(name.substring(0, Math.max(0, name.lastIndexOf('-'))));
          }
        }
      }
    }
    return topics;
  }
}
