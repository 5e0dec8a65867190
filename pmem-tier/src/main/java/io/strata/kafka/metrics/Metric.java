package io.strata.kafka.metrics;

import io.strata.kafka.migration.MigrationStats.Latency;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/**
 * One metric of the catalogue, read from a sample.
 *
 * <p>Immutable and safe for use by any thread, as its functions are.
 *
 * @param <S> what it is read from
 */
sealed interface Metric<S> {

  /** The {@code name} in the MBean's name: says the unit where it is bytes or seconds. */
  String name();

  /** The unit, for the reference page. */
  String unit();

  /** The meaning of its value, for the reference page. */
  String meaning();

  /** A value that rises and falls; the attribute {@code Value}. */
  record OfGauge<S>(String name, String unit, String meaning, ToDoubleFunction<S> value)
      implements Metric<S> {}

  /** A count since the broker's start; the attribute {@code Count}. */
  record OfCounter<S>(String name, String unit, String meaning, ToDoubleFunction<S> value)
      implements Metric<S> {}

  /** How long calls took, in seconds; the attributes of Kafka's own histograms. */
  record OfLatency<S>(String name, String unit, String meaning, Function<S, Latency> value)
      implements Metric<S> {}

  /** Declares a gauge. */
  static <S> Metric<S> gauge(String name, String unit, ToDoubleFunction<S> value, String meaning) {
    return new OfGauge<>(name, unit, meaning, value);
  }

  /** Declares a gauge whose name says the unit. */
  static <S> Metric<S> gauge(String name, ToDoubleFunction<S> value, String meaning) {
    return gauge(name, unitOf(name), value, meaning);
  }

  /** Declares a counter whose name says the unit. */
  static <S> Metric<S> counter(String name, ToDoubleFunction<S> value, String meaning) {
    return counter(name, unitOf(name), value, meaning);
  }

  private static String unitOf(String name) {
    if (name.endsWith("Seconds")) {
      return "seconds";
    }
    return name.contains("Bytes") ? "bytes" : "segments";
  }

  /** Declares a counter. */
  static <S> Metric<S> counter(
      String name, String unit, ToDoubleFunction<S> value, String meaning) {
    return new OfCounter<>(name, unit, meaning, value);
  }

  /** Declares a distribution of durations. */
  static <S> Metric<S> latency(String name, Function<S, Latency> value, String meaning) {
    return new OfLatency<>(name, "seconds", meaning, value);
  }
}
