package io.strata.kafka.metrics;

import io.micrometer.core.instrument.Measurement;
import io.micrometer.core.instrument.Statistic;
import io.strata.kafka.migration.MigrationStats.Latency;
import java.util.Iterator;
import java.util.List;
import java.util.function.Supplier;

/**
 * Durations as Micrometer has them of a meter whose values are kept elsewhere.
 *
 * <p>Thread safety: as the supplier.
 */
final class LatencyMeasurements implements Iterable<Measurement> {

  private final Supplier<Latency> latency;

  LatencyMeasurements(Supplier<Latency> latency) {
    this.latency = latency;
  }

  Latency latency() {
    return latency.get();
  }

  @Override
  public Iterator<Measurement> iterator() {
    return List.of(
            new Measurement(() -> (double) latency().count(), Statistic.COUNT),
            new Measurement(() -> latency().totalNanos() / 1e9, Statistic.TOTAL_TIME),
            new Measurement(() -> latency().maxNanos() / 1e9, Statistic.MAX))
        .iterator();
  }
}
