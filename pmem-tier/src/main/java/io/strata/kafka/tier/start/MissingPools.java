package io.strata.kafka.tier.start;

import io.strata.kafka.config.key.MetaProperties;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.migration.FileStatus;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.PoolReader;
import io.strata.kafka.pool.words.PoolSpec;
import io.strata.kafka.tier.directory.LogDirectory;
import io.strata.kafka.tier.directory.Marker;
import io.strata.kafka.tier.directory.TaggedLogFile;
import io.strata.kafka.tier.directory.TierParts;
import io.strata.kafka.tier.spec.FailureText;
import io.strata.kafka.tier.spec.TierEvents;
import io.strata.kafka.tier.spec.TierSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * Creates the pools that the configuration names and that are not there, as {@code
 * strata.pool.create} asks for.
 *
 * <p>A pool that was lost must not come back empty: the broker would start without its records. So
 * nothing is created unless every log directory can be read and none of them has been used with a
 * pool that is missing. A new file has its name only when it is whole; what a crash leaves before
 * that is removed by the next creation.
 *
 * <p>Thread safety: stateless; one thread at a time opens a broker's tier.
 */
public final class MissingPools {

  private MissingPools() {}

  /**
   * Creates what is missing, or notes why that must not be; does nothing without the key.
   *
   * @param events called with what was done
   * @param created is given the files of the pools that were created, also before a failure
   * @param opening creates them
   * @throws IOException if a pool cannot be created, of which nothing is left then; or if this user
   *     may not see whether it is there
   */
  public static void create(
      TierSpec spec, TierEvents events, List<Path> created, TierParts.PoolOpening opening)
      throws IOException {
    if (spec.config().poolCreate().isEmpty()) {
      return;
    }
    long size = spec.config().poolCreate().getAsLong();
    // A link without a target is a pool whose file system is not mounted.
    List<Path> missing = new ArrayList<>();
    for (Path file : spec.pools()) {
      if (!FileStatus.isThere(file)) {
        Pool.requireSearchable(file);
        missing.add(file);
      }
    }
    Map<UUID, Path> present = new HashMap<>();
    for (Path file : spec.pools()) {
      if (!missing.contains(file)) {
        try (PoolReader pool = Pool.openReadOnly(file)) {
          present.put(pool.info().id(), file);
          if (pool.info().size() != size) {
            events.poolOfAnotherSize(file, pool.info().size(), size);
          }
        } catch (IOException e) {
          List<Path> still = spec.pools().stream().filter(each -> !Files.exists(each)).toList();
          if (!still.isEmpty()) {
            events.poolsNotCreated(still, unreadable(file));
          }
          return; // Opening it says what is wrong with it.
        }
      }
    }
    if (missing.isEmpty()) {
      return;
    }
    Optional<String> obstacle = obstacle(spec, present);
    if (obstacle.isPresent()) {
      events.poolsNotCreated(missing, obstacle.get());
      return;
    }
    for (Path file : missing) {
      opening.create(poolOf(spec, file, size));
      created.add(file);
      events.poolCreated(file, size, spec.owner());
    }
  }

  /**
   * Removes what {@link #create} has made in a start that is refused, if no log directory refers to
   * it: it would lie hidden below a mount point once its file system is mounted, or be taken for
   * one that the operator has made.
   *
   * @param refusal is given what goes wrong
   */
  public static void remove(TierSpec spec, List<Path> created, Exception refusal) {
    for (Path file : created) {
      try {
        boolean unused =
            Pool.deleteIf(file, () -> obstacle(spec, readable(spec, created)).isEmpty());
      } catch (IOException e) {
        refusal.addSuppressed(e);
      }
    }
  }

  /**
   * The pools that are there, by their ids, but for some. A pool that cannot be read counts as
   * missing: what log directories refer to is known without it.
   */
  private static Map<UUID, Path> readable(TierSpec spec, List<Path> others) {
    Map<UUID, Path> readable = new HashMap<>();
    for (Path file : spec.pools()) {
      if (!others.contains(file)) {
        idOf(file).ifPresent(id -> readable.put(id, file));
      }
    }
    return readable;
  }

  private static Optional<UUID> idOf(Path file) {
    try (PoolReader pool = Pool.openReadOnly(file)) {
      return Optional.of(pool.info().id());
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  /**
   * Returns why {@link #create} would not create a pool that is missing; empty if it would. Reads
   * only.
   *
   * @param present the pools that are there, by their ids
   */
  public static Optional<String> obstacle(TierSpec spec, Map<UUID, Path> present) {
    for (Path directory : spec.logDirectories()) {
      try {
        Optional<String> found = obstacleIn(directory, present);
        if (found.isPresent()) {
          return found;
        }
      } catch (IOException e) {
        return Optional.of(
            "log directory %s cannot be read: %s".formatted(directory, FailureText.of(e)));
      } catch (UnsupportedOperationException e) {
        return Optional.of("log directory %s has no extended attributes".formatted(directory));
      }
    }
    return Optional.empty();
  }

  private static String unreadable(Path pool) {
    return Files.exists(pool)
        ? "pool %s cannot be read".formatted(pool)
        : "%s is a link whose target is not there: mount its file system".formatted(pool);
  }

  private static PoolSpec poolOf(TierSpec spec, Path file, long size) {
    // Any type's file is the same; a mapping works on every file system.
    MemoryType type = spec.config().poolType(file).fixed().orElse(MemoryType.MAPPED);
    return PoolSpec.of(file, type, size).withOwner(spec.owner());
  }

  private static Optional<String> obstacleIn(Path directory, Map<UUID, Path> present)
      throws IOException {
    if (!Files.isDirectory(directory)) {
      return Optional.of(
          """
          log directory %s is not there: mount its file system, or, on a new broker, run \
          'kafka-storage.sh format' first\
          """
              .formatted(directory));
    }
    Path real = directory.toRealPath();
    Optional<LogDirectory> known = LogDirectory.find(real);
    Map<UUID, Path> recorded = known.isPresent() ? known.get().recordedPools() : Map.of();
    for (Map.Entry<UUID, Path> pool : recorded.entrySet()) {
      if (!present.containsKey(pool.getKey())) {
        return Optional.of(
            "log directory %s was used with pool %s (%s), which is missing"
                .formatted(directory, pool.getKey(), pool.getValue()));
      }
    }
    if (recorded.isEmpty() && Marker.read(real.resolve(MetaProperties.FILE_NAME)).isPresent()) {
      return Optional.of(
          "log directory %s is marked as used with a pool, and does not say which"
              .formatted(directory));
    }
    for (TaggedLogFile file : TaggedLogFile.in(real)) {
      if (!present.containsKey(file.tag().pool())) {
        return Optional.of(
            "%s has bytes in pool %s, which is missing".formatted(file.file(), file.tag().pool()));
      }
    }
    return Optional.empty();
  }
}
