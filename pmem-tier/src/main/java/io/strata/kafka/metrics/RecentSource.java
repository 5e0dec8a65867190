package io.strata.kafka.metrics;

import io.strata.kafka.migration.MigrationStats;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * Asks another source for its tiers and its engine a few times a second at most, so that a hundred
 * metrics of one JMX scrape come from the same moment and cost one question.
 *
 * <p>Thread safety: safe for use by any number of threads.
 */
final class RecentSource implements TierSource {

  private final TierSource source;
  private final Recent<List<TierSample>> tiers;
  private final Recent<Optional<MigrationStats>> migration;

  RecentSource(TierSource source, LongSupplier nanoTime) {
    this.source = source;
    this.tiers = new Recent<>(source::tiers, nanoTime);
    this.migration = new Recent<>(source::migration, nanoTime);
  }

  @Override
  public List<PoolSample> pools() {
    return source.pools();
  }

  @Override
  public List<TierSample> tiers() {
    return tiers.get();
  }

  @Override
  public HomeSample home() {
    return source.home();
  }

  @Override
  public Optional<MigrationStats> migration() {
    return migration.get();
  }

  @Override
  public long hotSegments() {
    return source.hotSegments();
  }

  @Override
  public long spilledSegments() {
    return source.spilledSegments();
  }

  @Override
  public long placementsRefused() {
    return source.placementsRefused();
  }

  @Override
  public long homeFailures() {
    return source.homeFailures();
  }

  @Override
  public long mtimeRefreshes() {
    return source.mtimeRefreshes();
  }
}
