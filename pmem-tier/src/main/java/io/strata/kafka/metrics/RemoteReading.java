package io.strata.kafka.metrics;

import io.strata.kafka.migration.MigrationStats;
import io.strata.kafka.migration.MigrationStats.TierStats;
import io.strata.kafka.migration.remote.RemoteStats;
import io.strata.kafka.migration.remote.RemoteStats.LevelStats;
import io.strata.kafka.migration.remote.RemoteStats.OperationStats;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/**
 * Where a metric of the remote tier has its value from.
 *
 * <p>Immutable and safe for use by any thread.
 */
sealed interface RemoteReading {

  /** One value for each kind of operation. */
  record OperationReading(ToDoubleFunction<OperationStats> value) implements RemoteReading {
    static OperationReading of(ToDoubleFunction<OperationStats> value) {
      return new OperationReading(value);
    }
  }

  /** Failed operations, one value for each kind and cause. */
  enum OperationCauseReading implements RemoteReading {
    INSTANCE
  }

  /** One value for each level. */
  record LevelReading(ToDoubleFunction<LevelFigures> value) implements RemoteReading {
    static LevelReading of(ToDoubleFunction<LevelStats> value) {
      return new LevelReading(level -> value.applyAsDouble(level.stats()));
    }

    /** What the engine has done for it; 0 where it does nothing. */
    static LevelReading moves(ToDoubleFunction<TierStats> value) {
      return new LevelReading(level -> level.moves().map(value::applyAsDouble).orElse(0.0));
    }
  }

  /**
   * All that is known of one level.
   *
   * @param moves what the engine has done for it; empty for the lowest level, and while another
   *     broker moves segments
   */
  record LevelFigures(LevelStats stats, Optional<TierStats> moves) {}

  /** One value. */
  record StatsReading(ToDoubleFunction<RemoteStats> value) implements RemoteReading {
    static StatsReading of(ToDoubleFunction<RemoteStats> value) {
      return new StatsReading(value);
    }
  }

  /** One value, asked of the engine that moves segments between levels; 0 if there is none. */
  record EngineReading(ToDoubleFunction<MigrationStats> value) implements RemoteReading {
    static EngineReading of(ToDoubleFunction<MigrationStats> value) {
      return new EngineReading(value);
    }
  }

  /** That engine's failed moves, one value for each cause. */
  enum EngineCauseReading implements RemoteReading {
    INSTANCE
  }
}
