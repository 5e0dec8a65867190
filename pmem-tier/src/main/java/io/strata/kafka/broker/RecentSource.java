package io.strata.kafka.broker;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.strata.kafka.migration.MigrationStats;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Asks another source for its tiers and its engine a few times a second at most, so that a hundred
 * metrics of one JMX scrape come from the same moment and cost one question.
 *
 * <p>Thread safety: safe for use by any number of threads.
 */
final class RecentSource implements TierSource {

  private static final Duration KEPT = Duration.ofMillis(200);

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

  /** One value, kept for a moment. */
  private static final class Recent<T> {
    private final Supplier<T> source;
    private final LongSupplier nanoTime;

    @GuardedBy("this")
    private @Nullable T value;

    @GuardedBy("this")
    private long takenAt;

    Recent(Supplier<T> source, LongSupplier nanoTime) {
      this.source = source;
      this.nanoTime = nanoTime;
    }

    synchronized T get() {
      long now = nanoTime.getAsLong();
      T kept = value;
      if (kept == null || now - takenAt >= KEPT.toNanos()) {
        kept = source.get();
        value = kept;
        takenAt = now;
      }
      return kept;
    }
  }
}
