package io.strata.kafka.cli.doctor;

import io.strata.kafka.cli.status.Surroundings;
import io.strata.kafka.config.BrokerProperties;
import io.strata.kafka.config.RemoteConfig;
import io.strata.kafka.migration.EngineEnvironment;
import io.strata.kafka.migration.remote.RemoteSettings;
import io.strata.kafka.migration.remote.store.disk.StoreListing;
import io.strata.kafka.migration.remote.store.disk.StoreOptions;
import io.strata.kafka.migration.remote.store.keep.StoreInspection;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * Looks at whether Kafka takes as many remote reads as wait while the store is away. A consumer has
 * one under way for each partition; when Kafka has answered without records, those stay until a
 * thread has come by, and the next ones are there already.
 */
final class RemoteReadsCheck extends DoctorCheck {

  RemoteReadsCheck(Surroundings surroundings, BrokerProperties broker, OptionalLong process) {
    super(surroundings, broker, process);
  }

  @Override
  List<Diagnosis> run() throws IOException {
    if (broker.hasOwnManager()) {
      Optional<RemoteSettings> settings = RemoteConfig.parse(broker).config();
      long partitions = settings.isPresent() ? partitionsOf(topics(settings.get())) : 0;
      long needed = 2 * partitions;
      if (partitions > 0) {
        warnUnless(
            broker.remotePendingReads() >= needed,
            BrokerProperties.REMOTE_PENDING_READS,
            "%d, with %d partitions here that are in the remote store"
                .formatted(broker.remotePendingReads(), partitions),
            """
            set it to %d for each consumer group that may read old records of all of them at once: \
            further reads fail while the store is away, and some clients end then\
            """
                .formatted(needed));
      }
    }
    return found;
  }

  /** The topics in the store, as far as it answers. */
  private static Set<String> topics(RemoteSettings settings) {
    Set<String> topics = new HashSet<>();
    for (StoreOptions.LevelOptions level : settings.levels()) {
      for (StoreOptions.Directory each : level.directories()) {
        Path directory = each.path();
        try {
          topics.addAll(
              StoreInspection.whileItAnswers(
                  directory,
                  "listing " + directory,
                  EngineEnvironment.system().threads(),
                  control -> StoreListing.topics(directory)));
        } catch (IOException e) {
          // 'strata remote verify' says what is wrong with it.
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          return topics;
        }
      }
    }
    return topics;
  }

  private long partitionsOf(Set<String> topics) throws IOException {
    long partitions = 0;
    for (Path directory : broker.logDirs()) {
      if (Files.isDirectory(directory)) {
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
          for (Path entry : entries) {
            String name = String.valueOf(entry.getFileName());
            int dash = name.lastIndexOf('-');
            partitions += dash > 0 && topics.contains(name.substring(0, dash)) ? 1 : 0;
          }
        }
      }
    }
    return partitions;
  }
}
