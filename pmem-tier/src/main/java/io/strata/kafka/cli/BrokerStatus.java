package io.strata.kafka.cli;

import io.strata.kafka.broker.StatusMXBean;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;

/**
 * What a broker said of its tiers at one moment.
 *
 * <p>Immutable and safe for use by any thread.
 *
 * @param version of Strata in the broker
 * @param broker its {@code node.id}
 * @param pid its process
 * @param timeMillis when, by its clock
 * @param tierNames fastest first; home is the last
 * @param tiers each tier's values by name
 * @param migration the engine's values by name; empty without an engine
 * @param failures failed moves by cause
 * @param settings by key
 */
record BrokerStatus(
    String version,
    String broker,
    long pid,
    long timeMillis,
    List<String> tierNames,
    Map<String, Map<String, Double>> tiers,
    Map<String, Double> migration,
    Map<String, Long> failures,
    Map<String, String> settings) {

  static BrokerStatus of(StatusMXBean bean, List<String> tierNames) {
    return new BrokerStatus(
        bean.getVersion(),
        bean.getBroker(),
        bean.getPid(),
        bean.getTimeMillis(),
        tierNames,
        bean.getTiers(),
        bean.getMigration(),
        bean.getFailures(),
        bean.getSettings());
  }

  /** One value of a tier; empty if the broker does not tell it. */
  OptionalDouble value(String tier, String name) {
    Double value = tiers.getOrDefault(tier, Map.of()).get(name);
    return value == null ? OptionalDouble.empty() : OptionalDouble.of(value);
  }

  /** One value of the engine; empty if the broker does not tell it. */
  OptionalDouble migration(String name) {
    Double value = migration.get(name);
    return value == null ? OptionalDouble.empty() : OptionalDouble.of(value);
  }

  /**
   * This status with what has changed since an earlier one of the same broker: {@code
   * downBytesPerSecond} and {@code upBytesPerSecond} of each tier.
   */
  BrokerStatus since(BrokerStatus earlier) {
    double seconds = (timeMillis - earlier.timeMillis) / 1e3;
    if (seconds <= 0 || earlier.pid != pid) {
      return this;
    }
    Map<String, Map<String, Double>> withRates = new LinkedHashMap<>();
    for (String tier : tierNames) {
      Map<String, Double> values = new LinkedHashMap<>(tiers.getOrDefault(tier, Map.of()));
      rate(earlier, tier, "destagedBytes", seconds)
          .ifPresent(rate -> values.put("downBytesPerSecond", rate));
      rate(earlier, tier, "promotedBytes", seconds)
          .ifPresent(rate -> values.put("upBytesPerSecond", rate));
      withRates.put(tier, values);
    }
    return new BrokerStatus(
        version, broker, pid, timeMillis, tierNames, withRates, migration, failures, settings);
  }

  private OptionalDouble rate(BrokerStatus earlier, String tier, String name, double seconds) {
    OptionalDouble now = value(tier, name);
    OptionalDouble then = earlier.value(tier, name);
    return now.isPresent() && then.isPresent()
        ? OptionalDouble.of(Math.max(0, now.getAsDouble() - then.getAsDouble()) / seconds)
        : OptionalDouble.empty();
  }
}
