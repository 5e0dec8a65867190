package io.strata.kafka.tier.start;

import io.strata.kafka.config.PoolType;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.words.PoolOwner;
import io.strata.kafka.pool.words.PoolSpec;
import io.strata.kafka.tier.directory.LogDirectory;
import io.strata.kafka.tier.directory.TierParts;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * Opens what a start opens, and changes nothing: a pool takes stores in memory only, one that is to
 * be created is there in memory only, and a log directory has the identity that it would get.
 *
 * <p>Thread safety: used by one thread.
 */
public final class Trial implements TierParts.PoolOpening {
  private final Map<Path, PoolSpec> created = new HashMap<>();

  @Override
  public Pool open(Path file, PoolType type, PoolOwner owner) throws IOException {
    PoolSpec spec = created.get(file);
    return spec == null
        ? Pool.openOnTrial(file, type.on(file), owner)
        : Pool.createOnTrial(
            new PoolSpec(file, type.on(file), spec.size(), spec.slotCount(), spec.owner()));
  }

  @Override
  public void create(PoolSpec pool) throws IOException {
    Pool.requireCreatable(pool);
    created.put(pool.path(), pool);
  }

  @Override
  public LogDirectory claim(Path directory) throws IOException {
    Path real = directory.toRealPath();
    Optional<LogDirectory> known = LogDirectory.find(real);
    if (known.isPresent()) {
      return known.get();
    }
    LogDirectory.refuseBare(real);
    return new LogDirectory(UUID.randomUUID(), real);
  }
}
