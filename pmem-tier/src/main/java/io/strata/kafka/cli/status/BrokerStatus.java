package io.strata.kafka.cli.status;

import io.strata.kafka.metrics.StatusMXBean;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;

/**
 * The status of a broker's tiers, local and remote, at one moment.
 *
 * @param version of Strata in the broker
 * @param broker its {@code node.id}
 * @param timeMillis when, by its clock
 * @param health 0 fine, 1 degraded, 2 a promise does not hold
 * @param reasons why the health is not 0
 * @param metrics values by type and tags ({@code Tier,tier=hot}), then by name
 * @param settings by key
 */
public record BrokerStatus(
    String version,
    String broker,
    long pid,
    long timeMillis,
    int health,
    List<String> reasons,
    Map<String, Map<String, Double>> metrics,
    Map<String, String> settings) {

  /** The counts that a rate is computed from, and the name of the rate, for each type. */
  private static final Map<String, List<String>> RATES =
      Map.of(
          "Tier", List.of("DestagedBytes", "PromotedBytes"),
          "RemoteLevel", List.of("CopiedBytes", "FetchedBytes"));

  static BrokerStatus of(StatusMXBean bean) {
    return new BrokerStatus(
        bean.getVersion(),
        bean.getBroker(),
        bean.getPid(),
        bean.getTimeMillis(),
        bean.getHealth(),
        bean.getReasons(),
        bean.getMetrics(),
        bean.getSettings());
  }

  /** The values of the one tag of a type, in the broker's order: the names of tiers, say. */
  List<String> names(String type, String tag) {
    String prefix = "%s,%s=".formatted(type, tag);
    return metrics.keySet().stream()
        .filter(key -> key.startsWith(prefix))
        .map(key -> key.substring(prefix.length()))
        .toList();
  }

  /** Returns whether the broker has metrics of the type. */
  boolean has(String type) {
    return metrics.containsKey(type);
  }

  /** One value; empty if the broker does not have it. */
  OptionalDouble value(String thing, String name) {
    Double value = metrics.getOrDefault(thing, Map.of()).get(name);
    return value == null ? OptionalDouble.empty() : OptionalDouble.of(value);
  }

  /**
   * This status with what has changed since an earlier one of the same broker: {@code
   * DestagedBytesPerSecond} and {@code PromotedBytesPerSecond} of each tier, {@code
   * CopiedBytesPerSecond} and {@code FetchedBytesPerSecond} of each remote level.
   */
  BrokerStatus since(BrokerStatus earlier) {
    double seconds = (timeMillis - earlier.timeMillis) / 1e3;
    if (seconds <= 0 || earlier.pid != pid) {
      return this;
    }
    Map<String, Map<String, Double>> withRates = new LinkedHashMap<>();
    metrics.forEach(
        (thing, values) -> {
          Map<String, Double> now = new LinkedHashMap<>(values);
          for (String rate : RATES.getOrDefault(thing.split(",", 2)[0], List.of())) {
            OptionalDouble count = value(thing, rate + "Total");
            OptionalDouble before = earlier.value(thing, rate + "Total");
            if (count.isPresent() && before.isPresent()) {
              now.put(
                  rate + "PerSecond",
                  Math.max(0, count.getAsDouble() - before.getAsDouble()) / seconds);
            }
          }
          withRates.put(thing, now);
        });
    return new BrokerStatus(version, broker, pid, timeMillis, health, reasons, withRates, settings);
  }
}
