package io.strata.kafka.cli.pool;

import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.PoolReader;
import io.strata.kafka.pool.words.PoolException;
import io.strata.kafka.tier.directory.LogDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;

/**
 * The pools where the log directories have recorded them: the broker's last start knew where they
 * are, whatever a configuration says since.
 */
final class PoolsElsewhere {
  private final Map<UUID, Path> found = new HashMap<>();
  private final Set<Path> searched = new TreeSet<>();

  private PoolsElsewhere() {}

  /**
   * Looks at each recorded path.
   *
   * @throws IOException if what is there may not be looked at: it may be the pool
   */
  static PoolsElsewhere recordedIn(Collection<Path> logDirectories) throws IOException {
    PoolsElsewhere pools = new PoolsElsewhere();
    for (Path directory : logDirectories) {
      Optional<LogDirectory> known =
          Files.isDirectory(directory)
              ? LogDirectory.find(directory.toRealPath())
              : Optional.empty();
      if (known.isPresent()) {
        for (Map.Entry<UUID, Path> each : known.get().recordedPools().entrySet()) {
          pools.look(each.getKey(), each.getValue());
        }
      }
    }
    return pools;
  }

  private void look(UUID id, Path file) throws IOException {
    searched.add(file);
    try (PoolReader pool = Pool.openReadOnly(file)) {
      if (pool.info().id().equals(id)) {
        found.put(id, file);
      }
    } catch (PoolException e) {
      if (!AcceptLossCommand.LOST.contains(e.kind())) {
        throw e;
      }
    }
  }

  /** Returns the file of a pool. */
  Optional<Path> find(UUID id) {
    return Optional.ofNullable(found.get(id));
  }

  /** The paths that were looked at. */
  Set<Path> searched() {
    return searched;
  }
}
