package io.strata.kafka.metrics;

import io.strata.kafka.api.TierUsage;
import io.strata.kafka.metrics.TierSource.HomeSample;
import io.strata.kafka.metrics.TierSource.PoolSample;
import io.strata.kafka.metrics.TierSource.TierSample;
import io.strata.kafka.migration.MigrationStats;
import io.strata.kafka.migration.MigrationStats.TierStats;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/**
 * Where a metric's value comes from.
 *
 * <p>Immutable and safe for use by any thread.
 */
sealed interface MetricReading {

  /** One value for each pool. */
  record PoolReading(ToDoubleFunction<PoolSample> value) implements MetricReading {
    static PoolReading of(ToDoubleFunction<PoolSample> value) {
      return new PoolReading(value);
    }
  }

  /** One value for each tier, and for home if it has such a value. */
  record EachTierReading(
      ToDoubleFunction<TierFigures> value, Optional<ToDoubleFunction<HomeSample>> home)
      implements MetricReading {
    static EachTierReading of(ToDoubleFunction<TierFigures> value) {
      return new EachTierReading(value, Optional.empty());
    }

    static EachTierReading moves(ToDoubleFunction<TierStats> value) {
      return of(tier -> tier.moved(value));
    }

    static EachTierReading withHome(
        ToDoubleFunction<TierFigures> value, ToDoubleFunction<HomeSample> home) {
      return new EachTierReading(value, Optional.of(home));
    }
  }

  /**
   * All that is known of one tier.
   *
   * @param moves what the engine has done for it; empty if there is no engine
   */
  record TierFigures(TierSample sample, Optional<TierStats> moves) {
    TierUsage usage() {
      return sample.usage();
    }

    double moved(ToDoubleFunction<TierStats> value) {
      return moves.map(value::applyAsDouble).orElse(0.0);
    }
  }

  /** One value, asked of the migration engine; 0 if there is none. */
  record EngineReading(ToDoubleFunction<MigrationStats> value) implements MetricReading {
    static EngineReading of(ToDoubleFunction<MigrationStats> value) {
      return new EngineReading(value);
    }
  }

  /** Failed moves, one value for each cause. */
  enum CauseReading implements MetricReading {
    INSTANCE
  }

  /** One value, asked of the tier. */
  record TierReading(ToDoubleFunction<TierSource> value) implements MetricReading {
    static TierReading of(ToDoubleFunction<TierSource> value) {
      return new TierReading(value);
    }
  }

  /** One value, counted on the append and read paths. */
  record EventReading(ToDoubleFunction<EventCounters> value) implements MetricReading {
    static EventReading of(ToDoubleFunction<EventCounters> value) {
      return new EventReading(value);
    }
  }
}
