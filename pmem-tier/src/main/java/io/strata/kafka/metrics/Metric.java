package io.strata.kafka.metrics;

import io.strata.kafka.migration.LatencyWindow;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/**
 * One metric of the catalogue.
 *
 * <p>Immutable and safe for use by any thread, as its function is.
 *
 * @param <S> what it is read from
 * @param name the {@code name} in the MBean's name: says the unit where it is bytes or seconds
 * @param read reads its value by its name; of a distribution, by {@code name.attribute}
 */
record Metric<S>(
    String name, Kind kind, String unit, String meaning, Function<S, Map<String, Double>> read) {

  enum Kind {
    /** A value that rises and falls; the attribute {@code Value}. */
    GAUGE,
    /** A count since the broker's start; the attribute {@code Count}. */
    COUNTER,
    /** How long calls took, in seconds; {@link LatencyWindow#ATTRIBUTES}. */
    DISTRIBUTION
  }

  static <S> Metric<S> gauge(String name, String unit, ToDoubleFunction<S> value, String meaning) {
    return new Metric<>(name, Kind.GAUGE, unit, meaning, s -> Map.of(name, value.applyAsDouble(s)));
  }

  /** Declares a gauge whose name says the unit. */
  static <S> Metric<S> gauge(String name, ToDoubleFunction<S> value, String meaning) {
    return gauge(name, unitOf(name), value, meaning);
  }

  static <S> Metric<S> counter(
      String name, String unit, ToDoubleFunction<S> value, String meaning) {
    return new Metric<>(
        name, Kind.COUNTER, unit, meaning, s -> Map.of(name, value.applyAsDouble(s)));
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

  static <S> Metric<S> latency(String name, Function<S, LatencyWindow> value, String meaning) {
    return new Metric<>(
        name,
        Kind.DISTRIBUTION,
        "seconds",
        meaning,
        s -> {
          Map<String, Double> named = new LinkedHashMap<>();
          value.apply(s).seconds().forEach((attribute, v) -> named.put(name + "." + attribute, v));
          return named;
        });
  }

  /**
   * Metrics of one type that are read from the same thing, of which there may be several: pools,
   * tiers, causes.
   *
   * @param <F> the sample of which it is a part
   * @param <S> the thing
   * @param type the {@code type} in the MBeans' names
   * @param tags the names of the tags that distinguish the things, sorted; none for one thing
   * @param instances the things that a sample has; the same for every sample
   * @param metrics what is read from each
   */
  record Group<F, S>(
      String type,
      List<String> tags,
      Function<F, List<Instance<S>>> instances,
      List<Metric<S>> metrics) {

    Group {
      tags = List.copyOf(tags);
      metrics = List.copyOf(metrics);
    }

    /** One of the things, by the values of the tags; empty while there is nothing to read. */
    record Instance<S>(List<String> values, Optional<S> thing) {}

    static <F, S> Group<F, S> one(
        String type, Function<F, Optional<S>> thing, List<Metric<S>> metrics) {
      return new Group<>(
          type,
          List.of(),
          sample -> List.of(new Instance<>(List.of(), thing.apply(sample))),
          metrics);
    }

    BeanName name(Instance<S> instance, String metric) {
      Map<String, String> named = new TreeMap<>();
      for (int i = 0; i < tags.size(); i++) {
        named.put(tags.get(i), instance.values().get(i));
      }
      return new BeanName(type, metric, named);
    }
  }
}
