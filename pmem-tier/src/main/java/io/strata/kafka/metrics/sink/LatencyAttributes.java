package io.strata.kafka.metrics.sink;

import io.strata.kafka.migration.MigrationStats.Latency;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;

/** The attributes of a distribution, named as in Kafka's own histograms; durations in seconds. */
public final class LatencyAttributes {
  private static final double NANOS = 1e9;

  /** The attributes by name, in the order in which they are shown. */
  public static final Map<String, Function<Latency, Number>> ALL;

  static {
    Map<String, Function<Latency, Number>> all = new LinkedHashMap<>();
    all.put("Count", Latency::count);
    all.put("Mean", LatencyAttributes::mean);
    all.put("Min", latency -> latency.minNanos() / NANOS);
    all.put("Max", latency -> latency.maxNanos() / NANOS);
    all.put("StdDev", latency -> latency.stdDevNanos() / NANOS);
    all.put("50thPercentile", latency -> latency.p50Nanos() / NANOS);
    all.put("75thPercentile", latency -> latency.p75Nanos() / NANOS);
    all.put("95thPercentile", latency -> latency.p95Nanos() / NANOS);
    all.put("98thPercentile", latency -> latency.p98Nanos() / NANOS);
    all.put("99thPercentile", latency -> latency.p99Nanos() / NANOS);
    all.put("999thPercentile", latency -> latency.p999Nanos() / NANOS);
    ALL = Collections.unmodifiableMap(all);
  }

  private LatencyAttributes() {}

  /** The mean of all calls since the start; 0 if there was none. */
  static double mean(Latency latency) {
    return latency.count() == 0 ? 0 : latency.totalNanos() / NANOS / latency.count();
  }
}
