package io.strata.kafka.migration.remote;

import io.strata.kafka.migration.EngineEnvironment;
import io.strata.kafka.migration.EngineEvents;
import io.strata.kafka.migration.MigrationEngine;
import io.strata.kafka.migration.MigrationStats;
import io.strata.kafka.migration.plan.MigrationSettings;
import io.strata.kafka.migration.plan.PolicyRegistry;
import io.strata.kafka.migration.plan.TieredSegments;
import io.strata.kafka.migration.remote.store.disk.StoreOptions.StoreStage;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The broker's side of a manager under test: its settings never change, and it keeps the figures.
 */
final class FixedEnvironment implements RemoteEnvironment {
  private final RemoteSettings settings;
  private final StoreStage.Hook stages;
  private final AtomicReference<Supplier<RemoteStats>> stats = new AtomicReference<>();
  Optional<String> clusterId = Optional.of("cluster");

  FixedEnvironment(RemoteSettings settings, StoreStage.Hook stages) {
    this.settings = settings;
    this.stages = stages;
  }

  /** The figures of the manager that has been configured last. */
  RemoteStats stats() {
    Supplier<RemoteStats> supplier = stats.get();
    if (supplier == null) {
      throw new AssertionError("no figures were published");
    }
    return supplier.get();
  }

  @Override
  public RemoteSettings settings(Map<String, ?> configs) {
    if (configs.containsKey("bad")) {
      throw new IllegalArgumentException("bad: found it, expected none");
    }
    return settings;
  }

  @Override
  public void onChange(Consumer<RemoteSettings.Live> changed) {}

  @Override
  public Optional<String> clusterId() {
    return clusterId;
  }

  @Override
  public List<Path> logDirectories() {
    return List.of();
  }

  @Override
  public MigrationEngine migrationEngine(
      TieredSegments tiers,
      MigrationSettings settings,
      List<String> levels,
      Optional<MigrationStats> earlier) {
    PolicyRegistry policies = PolicyRegistry.load(getClass().getClassLoader());
    return new MigrationEngine(
        tiers, settings, policies, List.of(), EngineEvents.NONE, engine(), earlier);
  }

  @Override
  public StoreStage.Hook stages() {
    return stages;
  }

  @Override
  public EngineEnvironment engine() {
    return EngineEnvironment.system();
  }

  @Override
  public void publish(Supplier<RemoteStats> source) {
    stats.set(source);
  }
}
