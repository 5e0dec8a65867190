package io.strata.kafka.migration.remote;

import io.strata.kafka.migration.plan.MigrationSettings;
import io.strata.kafka.migration.remote.store.disk.StoreOptions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * How the remote tier works: the checked values of the {@code rsm.config.*} keys. The settings that
 * the operator may change on a live broker are in {@link Live}.
 *
 * @param brokerId this broker's {@code node.id}
 * @param levels the store's levels, fastest first; at least one
 * @param cold the manager that has the lowest level, below {@code levels}, if another has it
 * @param chunkBytes a segment is checked and read in chunks of so many bytes: a power of two from
 *     64 KiB to 16 MiB. It holds for segments copied from now on: a manifest has its own
 * @param live what can be changed while it runs
 */
public record RemoteSettings(
    int brokerId,
    List<StoreOptions.LevelOptions> levels,
    Optional<ColdSettings> cold,
    int chunkBytes,
    Live live) {

  /** The size of chunks on every broker: large enough for a catch-up read, small for one record. */
  public static final int CHUNK_BYTES = 256 << 10;

  /** Copies the list. */
  public RemoteSettings {
    levels = List.copyOf(levels);
    if (levels.isEmpty()) {
      throw new IllegalArgumentException("levels: found none, expected at least one");
    }
  }

  /**
   * Which other {@code RemoteStorageManager} has the lowest level.
   *
   * @param classPath where its classes are, as for {@code remote.log.storage.manager.class.path};
   *     empty for the broker's class path
   * @param configs what it is configured with: {@code rsm.config.cold.*} without that prefix,
   *     {@code class.name} and {@code class.path} excepted, and {@code broker.id}
   */
  public record ColdSettings(
      String className, Optional<String> classPath, Map<String, Object> configs) {
    public ColdSettings {
      configs = Map.copyOf(configs);
    }
  }

  /**
   * The settings that can be changed while the broker runs.
   *
   * @param fetchTimeout the longest that the reads of one fetch may take, all together, and that of
   *     an index
   * @param inventoryInterval how often the directories are listed
   * @param scrubInterval how often every object is read and checked; zero for never
   * @param orphanAge how old what a failed copy left must be before it is removed
   * @param migration how segments move between levels; a threshold for each level but the lowest
   *     (the cold manager's counts as one)
   */
  public record Live(
      Duration copyTimeout,
      Duration fetchTimeout,
      Duration deleteTimeout,
      Duration inventoryInterval,
      Duration scrubInterval,
      Duration orphanAge,
      MigrationSettings migration) {}

  /** The levels' names, fastest first; {@code cold} is the last where another manager has one. */
  public List<String> levelNames() {
    return Stream.concat(
            levels.stream().map(StoreOptions.LevelOptions::name), cold.stream().map(other -> COLD))
        .toList();
  }

  /** The name of the level that another manager has. */
  public static final String COLD = "cold";
}
