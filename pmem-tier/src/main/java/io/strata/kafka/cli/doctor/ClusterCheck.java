package io.strata.kafka.cli.doctor;

import io.strata.kafka.broker.KafkaVersions;
import io.strata.kafka.cli.terminal.Failures;
import io.strata.kafka.config.BrokerProperties;
import io.strata.kafka.config.LiveSettings;
import io.strata.kafka.config.LiveSettings.IgnoredKey;
import io.strata.kafka.config.MigrationKeys;
import io.strata.kafka.config.RemoteConfig;
import io.strata.kafka.config.StrataConfig;
import io.strata.kafka.memory.FileProbe;
import io.strata.kafka.migration.plan.PolicyRegistry;
import io.strata.kafka.migration.remote.RemoteSettings;
import io.strata.kafka.migration.remote.store.disk.StoreListing;
import io.strata.kafka.migration.remote.store.disk.StoreOptions;
import io.strata.kafka.migration.remote.store.keep.StoreInspection;
import io.strata.kafka.migration.remote.store.layout.StoreNames;
import io.strata.kafka.tier.directory.Directories;
import io.strata.kafka.unpublished.StoredConfiguration;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Looks at the broker in its cluster: at what its own copy of the cluster's metadata has of
 * configuration, topics and brokers, which is read once, and at its remote store.
 */
final class ClusterCheck extends DoctorCheck {
  private static final String REMOTE_METADATA = "__remote_log_metadata";
  private static final String STORED = "stored configuration";
  private static final String BROKER_RETENTION = "log.retention.bytes";
  private static final int MOST_NAMED = 3;

  private final InstallationCheck installation;

  /** The cluster's metadata; empty on a new broker, and where they cannot be read. */
  private Optional<StoredConfiguration> stored = Optional.empty();

  private Optional<IOException> unreadable = Optional.empty();

  ClusterCheck(InstallationCheck installation) {
    super(installation.surroundings, installation.broker, installation.process);
    this.installation = installation;
    if (StoredConfiguration.isIn(broker.metadataLogDir())) {
      try {
        stored = Optional.of(StoredConfiguration.read(broker.metadataLogDir()));
      } catch (IOException e) {
        unreadable = Optional.of(e);
      }
    }
  }

  /** Looks at what Kafka itself needs for tiered storage. */
  List<Diagnosis> remote() throws IOException {
    // The topic's key is for its creation alone. A failure is for stored() to name.
    if (broker.hasKafkasRemoteMetadata()
        && unreadable.isEmpty()
        && stored.filter(metadata -> metadata.hasTopic(REMOTE_METADATA)).isEmpty()) {
      int brokers = stored.map(metadata -> metadata.brokers().size()).orElse(0);
      remoteMetadata(brokers == 0 ? broker.combinedVoters() : brokers);
    }
    if (broker.hasOwnManager() && installation.remote().isPresent()) {
      remoteReads(installation.remote().get());
      for (StoreOptions.LevelOptions level : installation.remote().get().levels()) {
        for (StoreOptions.Directory directory : level.directories()) {
          storeDirectory(directory.path());
        }
      }
    }
    return found;
  }

  List<Diagnosis> stored(Optional<StrataConfig> local) throws IOException {
    found.clear(); // remote() has returned these.
    unreadable.ifPresent(
        e ->
            warn(
                STORED,
                "could not be read (%s)".formatted(Failures.reasonOf(e)),
                "look at the broker's log"));
    if (stored.isPresent()) {
      StoredConfiguration read = stored.get();
      Map<String, String> own =
          broker.nodeId().isPresent() ? read.ofBroker(broker.nodeId().getAsInt()) : Map.of();
      Map<String, String> all = new HashMap<>(broker.asMap());
      all.putAll(read.ofAllBrokers());
      all.putAll(own);
      keys(local, all, own);
      sizeRetention(read, all.getOrDefault(BROKER_RETENTION, "-1"));
    }
    return found;
  }

  // -- tiered storage

  /**
   * Looks for as many brokers as Kafka's topic of remote metadata has replicas: otherwise Kafka
   * cannot create it, and a broker with tiered storage stops itself after two minutes.
   *
   * @param brokers those that are known; 0 if none are
   */
  private void remoteMetadata(int brokers) {
    int replicas = broker.remoteMetadataReplicas();
    String known = "%d, and %d %s known";
    warnUnless(
        brokers == 0 || brokers >= replicas,
        broker.remoteMetadataReplicasKey(),
        brokers == 0
            ? "%d, which needs as many brokers".formatted(replicas)
            : known.formatted(replicas, brokers, brokers == 1 ? "broker is" : "brokers are"),
        """
        set it to the number of brokers, or start as many: until Kafka can create %s, it copies \
        nothing, and stops each broker after two minutes\
        """
            .formatted(REMOTE_METADATA));
  }

  /**
   * Looks at whether Kafka takes as many remote reads as wait while the store is away. A consumer
   * has one under way for each partition; when Kafka has answered without records, those stay until
   * a thread has come by, and the next ones are there already.
   */
  private void remoteReads(RemoteSettings settings) throws IOException {
    Set<String> topics = topicsIn(settings);
    long partitions = topicsHere().stream().filter(topics::contains).count();
    if (partitions > 0) {
      warnUnless(
          broker.remotePendingReads() >= 2 * partitions,
          BrokerProperties.REMOTE_PENDING_READS,
          "%d, with %d partitions here that are in the remote store"
              .formatted(broker.remotePendingReads(), partitions),
          """
          set it to %d for each consumer group that may read old records of all of them at once: \
          further reads fail while the store is away, and some clients end then\
          """
              .formatted(2 * partitions));
    }
  }

  /** Looks at whether the broker's user may use a directory of the store. */
  private void storeDirectory(Path directory) {
    String what = "remote store " + directory;
    try {
      Optional<Diagnosis> barred =
          StoreInspection.whileItAnswers(
              directory, "looking at " + directory, control -> barred(what, directory));
      barred.ifPresent(found::add);
    } catch (IOException e) {
      warn(what, Failures.messageOf(e), "repair it: what it alone has cannot be read until then");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Without a directory that it knows the broker starts; it must make a new one its own. */
  private static Optional<Diagnosis> barred(String what, Path directory) throws IOException {
    if (!Files.isDirectory(directory)
        || (Files.isReadable(directory)
            && Files.isWritable(directory)
            && Files.isExecutable(directory))) {
      return Optional.empty();
    }
    Diagnosis barred = StorageCheck.notWritable(what, directory, FileProbe.isReadOnly(directory));
    boolean known = Files.exists(directory.resolve(StoreNames.IDENTITY));
    return Optional.of(
        known ? new Diagnosis(Verdict.WARN, what, barred.found(), barred.remedy()) : barred);
  }

  /** The topics in the store, as far as it answers. */
  private static Set<String> topicsIn(RemoteSettings settings) {
    Set<String> topics = new HashSet<>();
    for (StoreOptions.LevelOptions level : settings.levels()) {
      for (StoreOptions.Directory each : level.directories()) {
        Path directory = each.path();
        try {
          topics.addAll(
              StoreInspection.whileItAnswers(
                  directory, "listing " + directory, control -> StoreListing.topics(directory)));
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

  /** The topic of each partition's directory here. */
  private List<String> topicsHere() throws IOException {
    List<String> topics = new ArrayList<>();
    for (Path directory : broker.logDirs()) {
      if (Files.isDirectory(directory)) {
        for (Path partition : Directories.list(directory)) {
          String name = String.valueOf(partition.getFileName());
          topics.add(name.substring(0, Math.max(0, name.lastIndexOf('-'))));
        }
      }
    }
    return topics;
  }

  /** Finds tiered topics of which some versions of Kafka delete too much by size (KAFKA-20732). */
  private void sizeRetention(StoredConfiguration read, String usual) {
    List<String> affected =
        installation.versions().stream().filter(KafkaVersions::countsTwice).toList();
    if (affected.isEmpty() || broker.remoteStorageManagerClassName().isEmpty()) {
      return;
    }
    Set<String> here;
    try {
      here = Set.copyOf(topicsHere()); // A topic that was deleted is stored still, perhaps.
    } catch (IOException e) {
      return; // The check of the log directories says so.
    }
    List<String> topics =
        read.ofTopics().entrySet().stream()
            .filter(topic -> here.contains(topic.getKey()))
            .filter(topic -> "true".equals(topic.getValue().get("remote.storage.enable")))
            .filter(
                topic ->
                    !topic.getValue().getOrDefault("retention.bytes", usual).strip().equals("-1"))
            .map(Map.Entry::getKey)
            .sorted()
            .toList();
    if (!topics.isEmpty()) {
      warn(
          "size retention",
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
  }

  // -- the broker's dynamic configuration

  private void keys(
      Optional<StrataConfig> local, Map<String, String> all, Map<String, String> own) {
    for (IgnoredKey key : wrong(local, all)) {
      wrong(
          own,
          key.name(),
          "%s=%s cannot be used and is left out: %s"
              .formatted(key.name(), key.value(), key.reason()));
    }
    BrokerProperties now = BrokerProperties.of(STORED, all);
    if (now.logPreallocate() && !broker.logPreallocate()) {
      wrong(own, "log.preallocate", "log.preallocate=true: no new segment is in a pool");
    }
    if (broker.namesReporter() && !now.namesReporter()) {
      wrong(
          own, "metric.reporters", "metric.reporters is without Strata's: changes are not checked");
    }
    if (found.isEmpty()) {
      ok(STORED, "nothing in it is left out");
    }
  }

  private void wrong(Map<String, String> own, String key, String text) {
    warn(
        STORED,
        text,
        "kafka-configs.sh --bootstrap-server <broker> --alter --entity-type brokers %s --delete-config %s"
            .formatted(
                own.containsKey(key)
                    ? "--entity-name " + broker.nodeId().orElse(0)
                    : "--entity-default",
                key));
  }

  /** Policies and their parameters are left to the broker: they depend on its class path. */
  private List<IgnoredKey> wrong(Optional<StrataConfig> local, Map<String, String> all) {
    PolicyRegistry policies = PolicyRegistry.builtIn();
    Optional<RemoteSettings> remote =
        RemoteConfig.hasUsualPrefix(Optional.of(broker)) && broker.hasOwnManager()
            ? installation.remote()
            : Optional.empty();
    try {
      return Stream.<LiveSettings<?>>concat(
              local.map(config -> LiveSettings.local(broker, config, policies)).stream(),
              remote
                  .map(settings -> LiveSettings.remote(broker.asMap(), true, settings, policies))
                  .stream())
          .flatMap(keys -> keys.read(all).wrong().stream())
          .filter(key -> !MigrationKeys.isOfPolicy(key.name()))
          .toList();
    } catch (IllegalStateException e) {
      return List.of(); // The file's policy is on the broker's class path alone.
    }
  }
}
