package io.strata.kafka.broker;

import io.strata.kafka.config.BrokerProperties;
import io.strata.kafka.config.CommandLineArguments;
import io.strata.kafka.config.LiveSettings;
import io.strata.kafka.config.MigrationKeys;
import io.strata.kafka.config.RemoteConfig;
import io.strata.kafka.config.key.ConfigProblem;
import io.strata.kafka.config.key.ConfigRefusedException;
import io.strata.kafka.config.key.Parsed;
import io.strata.kafka.memory.calls.PageCache;
import io.strata.kafka.metrics.MigrationLog;
import io.strata.kafka.migration.EngineEnvironment;
import io.strata.kafka.migration.MigrationEngine;
import io.strata.kafka.migration.MigrationStats;
import io.strata.kafka.migration.plan.MigrationSettings;
import io.strata.kafka.migration.plan.PolicyRegistry;
import io.strata.kafka.migration.plan.TieredSegments;
import io.strata.kafka.migration.remote.RemoteEnvironment;
import io.strata.kafka.migration.remote.RemoteSettings;
import io.strata.kafka.migration.remote.RemoteStats;
import io.strata.kafka.migration.remote.store.disk.StoreOptions;
import io.strata.kafka.migration.remote.store.disk.StoreOptions.StoreStage;
import io.strata.kafka.tier.spec.TestHook;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.kafka.server.log.remote.storage.RemoteStorageManager;

/**
 * The remote tier's environment in a broker: its file, its local tiers where it has any, its
 * metrics. A broker may have the remote tier alone, without pools and without Strata's file system
 * provider.
 *
 * <p>Thread safety: all methods may be called by any thread.
 */
public final class RemoteRuntime implements RemoteEnvironment {

  private final BrokerSide broker;

  /** The configuration that the manager got, for a broker whose file is not known. */
  private volatile Optional<BrokerProperties> given = Optional.empty();

  /** The policies of the class path, once {@link #settings} has loaded them. */
  private volatile PolicyRegistry policies = PolicyRegistry.builtIn();

  /** For {@link java.util.ServiceLoader}: the environment of this process. */
  public RemoteRuntime() {
    this(new BrokerSide());
  }

  RemoteRuntime(BrokerSide broker) {
    this.broker = broker;
  }

  /** The broker's side, which this process has. */
  static class BrokerSide {

    /** The broker's file; empty if it is not known. */
    Optional<BrokerProperties> properties() throws IOException {
      Optional<BrokerTier> opened = tier();
      return opened.isPresent()
          ? opened.map(BrokerTier::properties)
          : CommandLineArguments.ofThisJvm().load();
    }

    /** The local tiers; without the provider there are none, and none may be opened. */
    Optional<BrokerTier> tier() throws IOException {
      return JdkFileSystem.providerActive() ? StrataRuntime.broker() : Optional.empty();
    }

    /** Returns where changes of the live broker come in. */
    RemoteChanges changes() {
      return StrataRuntime.remoteChanges();
    }
  }

  @Override
  public RemoteSettings settings(Map<String, ?> configs) {
    if (!JdkFileSystem.providerActive()) {
      ClassCopies.severalJars().ifPresent(RemoteChanges.LOG::warn);
    }
    try {
      Optional<BrokerProperties> properties = properties();
      given = RemoteConfig.logDirectories(configs);
      policies = BrokerMigration.loadPolicies(MigrationKeys.REMOTE);
      List<ConfigProblem> problems = new ArrayList<>();
      ClassCopies.problem(
              RemoteEnvironment.class.getClassLoader(),
              RemoteRuntime.class.getClassLoader(),
              RemoteStorageManager.class.getClassLoader(),
              ClassLoader.getSystemClassLoader(),
              StrataRuntime.class)
          .ifPresent(problems::add);
      Parsed<RemoteSettings> parsed =
          RemoteConfig.parse(configs, properties, Optional.of(policies));
      problems.addAll(parsed.problems());
      if (problems.stream().anyMatch(ConfigProblem::isError)) {
        throw new ConfigRefusedException(problems);
      }
      problems.stream().map(ConfigProblem::message).forEach(RemoteChanges.LOG::warn);
      RemoteSettings settings = parsed.orElseThrow();
      LiveSettings<RemoteSettings.Live> keys =
          LiveSettings.remote(
              RemoteConfig.withPrefix(configs, properties),
              RemoteConfig.hasUsualPrefix(properties),
              settings,
              policies);
      return with(settings, broker.changes().started(keys, settings));
    } catch (ConfigRefusedException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
  }

  private static RemoteSettings with(RemoteSettings settings, RemoteSettings.Live live) {
    return new RemoteSettings(
        settings.brokerId(),
        settings.levels().stream().map(RemoteRuntime::pastTheProvider).toList(),
        settings.cold(),
        settings.chunkBytes(),
        TestHook.remote(live));
  }

  /** Uses the JDK's own paths: the store's files have segments' names, and are not the tier's. */
  private static StoreOptions.LevelOptions pastTheProvider(StoreOptions.LevelOptions level) {
    return new StoreOptions.LevelOptions(
        level.name(),
        level.directories().stream()
            .map(
                directory ->
                    new StoreOptions.Directory(
                        JdkFileSystem.path(directory.path()), directory.capacityBytes()))
            .toList());
  }

  /** The broker's file; throws IllegalArgumentException if it cannot be read. */
  private Optional<BrokerProperties> properties() {
    try {
      return broker.properties();
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "The remote tier could not read the broker's configuration: " + e.getMessage(), e);
    }
  }

  @Override
  public void onChange(Consumer<RemoteSettings.Live> changed) {
    broker.changes().onChange(live -> changed.accept(TestHook.remote(live)));
  }

  @Override
  public Optional<String> clusterId() {
    return TierSpecs.clusterOf(logDirectories());
  }

  @Override
  public List<Path> logDirectories() {
    return properties().or(() -> given).map(BrokerProperties::logDirs).orElse(List.of());
  }

  @Override
  public KafkaReads reads() {
    return properties().map(BrokerProperties::remoteReads).orElse(KafkaReads.DEFAULT);
  }

  @Override
  public MigrationEngine migrationEngine(
      TieredSegments tiers,
      MigrationSettings settings,
      List<String> levels,
      Optional<MigrationStats> earlier) {
    MigrationLog log = new MigrationLog(levels);
    return new MigrationEngine(tiers, settings, policies, List.of(log), log, engine(), earlier);
  }

  @Override
  public StoreStage.Hook stages() {
    return TestHook::reached;
  }

  @Override
  public void refuseStart(Throwable reason) {
    StrataRuntime.refuseStart(reason);
  }

  @Override
  public void fillPageCache(Path file, long position, long bytes) {
    PageCache.fill(file, position, bytes);
  }

  @Override
  public EngineEnvironment engine() {
    return EngineEnvironment.system();
  }

  @Override
  public void publish(Supplier<RemoteStats> stats) {
    RemoteChanges changes = StrataRuntime.remoteChanges();
    String id = changes.brokerId().stream().mapToObj(String::valueOf).findAny().orElse("");
    StrataRuntime.metrics().remote(id, stats, changes::settings);
  }
}
