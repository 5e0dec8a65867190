package io.strata.kafka.cli;

import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.PoolReader;
import io.strata.kafka.tier.LogDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * A pool file from before what the log directories have been used with: a copy of a backup, say. A
 * broker refuses to start with it.
 *
 * @param id the pool's
 * @param file the pool's
 * @param sequence the count of uses that the file has
 * @param recorded the count of uses that a log directory has recorded, which is higher
 */
record OlderPool(UUID id, Path file, int sequence, int recorded) {

  /**
   * Finds them.
   *
   * @param pools the files that can be opened, by the pools' identities
   * @param logDirectories those that are not there are skipped
   */
  static List<OlderPool> among(Map<UUID, Path> pools, Collection<Path> logDirectories)
      throws IOException {
    Map<UUID, Integer> newest = new HashMap<>();
    for (Path directory : logDirectories) {
      if (Files.isDirectory(directory)) {
        Optional<LogDirectory> known = LogDirectory.find(directory.toRealPath());
        if (known.isPresent()) {
          known
              .get()
              .recordedSequences()
              .forEach((id, sequence) -> newest.merge(id, sequence, Math::max));
        }
      }
    }
    // The pools after the directories: a broker that starts meanwhile counts in the pool first.
    List<OlderPool> older = new ArrayList<>();
    for (Map.Entry<UUID, Path> each : pools.entrySet()) {
      int recorded = newest.getOrDefault(each.getKey(), 0);
      try (PoolReader pool = Pool.openReadOnly(each.getValue())) {
        if (pool.sequence() < recorded) {
          older.add(new OlderPool(each.getKey(), each.getValue(), pool.sequence(), recorded));
        }
      }
    }
    return older;
  }

  /** Returns what was found, as a phrase behind the pool's name. */
  String description() {
    return """
    is older than the log directories: they were last used with it at sequence %d, and the file \
    has sequence %d; the broker would not start\
    """
        .formatted(recorded, sequence);
  }
}
