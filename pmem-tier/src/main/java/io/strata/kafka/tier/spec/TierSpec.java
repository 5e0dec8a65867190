package io.strata.kafka.tier.spec;

import io.strata.kafka.api.SegmentName;
import io.strata.kafka.config.StrataConfig;
import io.strata.kafka.pool.words.PoolOwner;
import io.strata.kafka.tier.HotTier;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/**
 * The arguments of opening a {@link HotTier}.
 *
 * <p>All paths belong to the JDK's own file system, never to Strata's wrapper around it. Immutable.
 *
 * @param config the checked configuration
 * @param pools the pool files that it names, those of the fastest tier first
 * @param owner the broker and the cluster whose pools these must be
 * @param logDirectories the broker's log directories; one that does not exist is skipped, since
 *     Kafka itself decides what to make of it
 * @param placement which new segments may be placed in a pool
 * @param forcedPlacement for Kafka's own tests: new files whose absolute path matches are placed in
 *     a pool, whatever they are called and wherever they are
 * @param moveHook for tests: is notified of each stage of a move
 */
public record TierSpec(
    StrataConfig config,
    List<Path> pools,
    PoolOwner owner,
    List<Path> logDirectories,
    Predicate<SegmentName> placement,
    Optional<Pattern> forcedPlacement,
    MoveStage.Hook moveHook) {

  /** Copies the lists. */
  public TierSpec {
    pools = List.copyOf(pools);
    logDirectories = List.copyOf(logDirectories);
    if (pools.isEmpty()) {
      throw new IllegalArgumentException("a tier needs at least one pool");
    }
  }
}
