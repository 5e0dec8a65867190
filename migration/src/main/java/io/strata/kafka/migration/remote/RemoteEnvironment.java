package io.strata.kafka.migration.remote;

import io.strata.kafka.migration.EngineEnvironment;
import io.strata.kafka.migration.MigrationEngine;
import io.strata.kafka.migration.MigrationStats;
import io.strata.kafka.migration.plan.MigrationSettings;
import io.strata.kafka.migration.plan.TieredSegments;
import io.strata.kafka.migration.remote.store.disk.StoreOptions.StoreStage;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The process in which the manager runs: its settings, log directories, local tiers and policies.
 * {@link java.util.ServiceLoader} finds the broker's implementation in the manager's class loader.
 */
public interface RemoteEnvironment {

  /**
   * Reads the settings: {@code rsm.config.*} as Kafka gives them to the manager, without the
   * prefix.
   *
   * @throws IllegalArgumentException if they cannot be used; the message names every key at fault,
   *     what was found, what is expected and what to do
   */
  RemoteSettings settings(Map<String, ?> configs);

  /** Calls {@code changed} at each change of settings from now on; replaces an earlier one. */
  void onChange(Consumer<RemoteSettings.Live> changed);

  /** The cluster that the broker belongs to; empty where that cannot be found out. */
  Optional<String> clusterId();

  /** The broker's log directories; empty where they cannot be found out. */
  List<Path> logDirectories();

  /**
   * The broker's way to read from the remote tier.
   *
   * @param maxWait after so long it answers a fetch without records ({@code
   *     remote.fetch.max.wait.ms})
   * @param threads on which it reads ({@code remote.log.reader.threads})
   */
  record KafkaReads(Duration maxWait, int threads) {

    /** Kafka's own default. */
    public static final KafkaReads DEFAULT = new KafkaReads(Duration.ofMillis(500), 10);
  }

  /** Returns how the broker reads; Kafka does not tell its manager. */
  default KafkaReads reads() {
    return KafkaReads.DEFAULT;
  }

  /**
   * Makes an engine, with those who are notified of its moves.
   *
   * @param earlier the figures of the one before; empty for the first one
   */
  MigrationEngine migrationEngine(
      TieredSegments tiers,
      MigrationSettings settings,
      List<String> levels,
      Optional<MigrationStats> earlier);

  /** For tests: is notified of the stages of copies, moves and deletions. */
  default StoreStage.Hook stages() {
    return StoreStage.Hook.NONE;
  }

  /**
   * Ends the process, with the reason as the last thing on its log, if it is a broker of which no
   * log is loaded: an exception would go through Kafka's shutdown. Returns in any other process.
   */
  default void refuseStart(Throwable reason) {}

  /**
   * Asks the kernel to read bytes of a file into the page cache, where the system can be asked for
   * that. Does not wait for the bytes.
   */
  default void fillPageCache(Path file, long position, long bytes) {}

  /** Clocks, threads and chance. */
  EngineEnvironment engine();

  /**
   * Publishes the metrics over JMX, as the broker's other Strata metrics; replaces an earlier one.
   */
  void publish(Supplier<RemoteStats> stats);
}
