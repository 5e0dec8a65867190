package io.strata.kafka.broker;

import io.strata.kafka.config.BrokerProperties;
import io.strata.kafka.config.StrataConfig;
import io.strata.kafka.config.key.MetaProperties;
import io.strata.kafka.pool.words.PoolOwner;
import io.strata.kafka.tier.spec.TestHook;
import io.strata.kafka.tier.spec.TierSpec;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/** Makes of a broker's configuration what a tier is opened with. */
public final class TierSpecs {

  private TierSpecs() {}

  public static TierSpec of(StrataConfig config, BrokerProperties broker) {
    return of(config, broker, Optional.empty());
  }

  static TierSpec of(StrataConfig config, BrokerProperties broker, Optional<Pattern> forced) {
    List<Path> logDirectories = logDirectories(broker);
    return new TierSpec(
        config,
        config.pools().stream().map(JdkFileSystem::path).toList(),
        ownerIn(broker),
        logDirectories,
        config.placement(),
        forced,
        TestHook::reached);
  }

  public static PoolOwner ownerIn(BrokerProperties broker) {
    return new PoolOwner(broker.nodeId(), clusterOf(logDirectories(broker)));
  }

  private static List<Path> logDirectories(BrokerProperties broker) {
    Set<Path> directories = new LinkedHashSet<>();
    broker.logDirs().forEach(directory -> directories.add(JdkFileSystem.path(directory)));
    directories.add(JdkFileSystem.path(broker.metadataLogDir()));
    return List.copyOf(directories);
  }

  /** The cluster that the directories belong to; empty if no directory has it. */
  static Optional<String> clusterOf(List<Path> logDirectories) {
    return logDirectories.stream().flatMap(directory -> clusterOf(directory).stream()).findFirst();
  }

  /** Empty for a directory on a failing disk, which Kafka takes offline; another one says. */
  private static Optional<String> clusterOf(Path directory) {
    try {
      return MetaProperties.clusterId(directory);
    } catch (IOException unreadable) {
      return Optional.empty();
    }
  }
}
