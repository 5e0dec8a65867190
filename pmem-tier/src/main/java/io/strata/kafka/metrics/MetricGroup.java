package io.strata.kafka.metrics;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

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
record MetricGroup<F, S>(
    String type,
    List<String> tags,
    Function<F, List<Instance<F, S>>> instances,
    List<Metric<S>> metrics) {

  MetricGroup {
    tags = List.copyOf(tags);
    metrics = List.copyOf(metrics);
  }

  /**
   * One of the things.
   *
   * @param values of the tags
   * @param read finds it in a sample; empty while there is nothing to read
   */
  record Instance<F, S>(List<String> values, Function<F, Optional<S>> read) {}

  /** A group of one thing. */
  static <F, S> MetricGroup<F, S> one(
      String type, Function<F, Optional<S>> read, List<Metric<S>> metrics) {
    List<Instance<F, S>> only = List.of(new Instance<>(List.of(), read));
    return new MetricGroup<>(type, List.of(), sample -> only, metrics);
  }

  /** The instance's tags with their values. */
  Map<String, String> tagsOf(Instance<F, S> instance) {
    Map<String, String> named = new LinkedHashMap<>();
    for (int i = 0; i < tags.size(); i++) {
      named.put(tags.get(i), instance.values().get(i));
    }
    return named;
  }
}
