package io.strata.kafka.cli;

import io.strata.kafka.metrics.StatusMXBean;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
 * @param tierNames fastest first; home is the last; none if the broker has the remote tier alone
 * @param tiers each tier's values by name
 * @param migration the engine's values by name; empty without an engine
 * @param failures failed moves by cause
 * @param settings by key
 * @param remote the remote tier, if it has one
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
    Map<String, String> settings,
    Optional<RemoteStatus> remote) {

  static BrokerStatus of(StatusMXBean bean, List<String> tierNames, Optional<RemoteStatus> remote) {
    return new BrokerStatus(
        bean.getVersion(),
        bean.getBroker(),
        bean.getPid(),
        bean.getTimeMillis(),
        tierNames,
        bean.getTiers(),
        bean.getMigration(),
        bean.getFailures(),
        bean.getSettings(),
        remote);
  }

  /** Of a broker that has the remote tier alone. */
  static BrokerStatus of(RemoteStatus remote) {
    return new BrokerStatus(
        remote.version(),
        remote.broker(),
        remote.pid(),
        remote.timeMillis(),
        List.of(),
        Map.of(),
        Map.of(),
        Map.of(),
        Map.of(),
        Optional.of(remote));
  }

  /** One value of a tier; empty if the broker does not tell it. */
  OptionalDouble value(String tier, String name) {
    return valueOf(tiers.getOrDefault(tier, Map.of()), name);
  }

  /** One value of the engine; empty if the broker does not tell it. */
  OptionalDouble migration(String name) {
    return valueOf(migration, name);
  }

  static OptionalDouble valueOf(Map<String, Double> values, String name) {
    Double value = values.get(name);
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
      rate(value(tier, "destagedBytes"), earlier.value(tier, "destagedBytes"), seconds)
          .ifPresent(rate -> values.put("downBytesPerSecond", rate));
      rate(value(tier, "promotedBytes"), earlier.value(tier, "promotedBytes"), seconds)
          .ifPresent(rate -> values.put("upBytesPerSecond", rate));
      withRates.put(tier, values);
    }
    return new BrokerStatus(
        version,
        broker,
        pid,
        timeMillis,
        tierNames,
        withRates,
        migration,
        failures,
        settings,
        remote.map(now -> earlier.remote.map(now::since).orElse(now)));
  }

  /** What a count has grown by in each second; empty if one of the two is not known. */
  static OptionalDouble rate(OptionalDouble now, OptionalDouble then, double seconds) {
    return now.isPresent() && then.isPresent()
        ? OptionalDouble.of(Math.max(0, now.getAsDouble() - then.getAsDouble()) / seconds)
        : OptionalDouble.empty();
  }
}
