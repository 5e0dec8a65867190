package io.strata.kafka.cli;

import io.strata.kafka.metrics.RemoteStatusMXBean;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;

/**
 * What a broker said of its remote tier at one moment.
 *
 * <p>Immutable and safe for use by any thread.
 *
 * @param version of Strata in the broker
 * @param broker its {@code node.id}
 * @param pid its process
 * @param timeMillis when, by its clock
 * @param levelNames fastest first
 * @param levels each level's values by name
 * @param operations each kind's values by name
 * @param failures by kind and cause
 * @param values the rest, by name
 * @param settings by key
 */
record RemoteStatus(
    String version,
    String broker,
    long pid,
    long timeMillis,
    List<String> levelNames,
    Map<String, Map<String, Double>> levels,
    Map<String, Map<String, Double>> operations,
    Map<String, Long> failures,
    Map<String, Double> values,
    Map<String, String> settings) {

  static RemoteStatus of(RemoteStatusMXBean bean) {
    return new RemoteStatus(
        bean.getVersion(),
        bean.getBroker(),
        bean.getPid(),
        bean.getTimeMillis(),
        bean.getLevelNames(),
        bean.getLevels(),
        bean.getOperations(),
        bean.getFailures(),
        bean.getValues(),
        bean.getSettings());
  }

  /** One value of a level; empty if the broker does not tell it. */
  OptionalDouble level(String level, String name) {
    return BrokerStatus.valueOf(levels.getOrDefault(level, Map.of()), name);
  }

  /** One value of a kind of operation; empty if the broker does not tell it. */
  OptionalDouble operation(String operation, String name) {
    return BrokerStatus.valueOf(operations.getOrDefault(operation, Map.of()), name);
  }

  /** One of the other values; empty if the broker does not tell it. */
  OptionalDouble value(String name) {
    return BrokerStatus.valueOf(values, name);
  }

  /**
   * This status with what has changed since an earlier one of the same broker: {@code
   * copiedBytesPerSecond} and {@code fetchedBytesPerSecond} of each level.
   */
  RemoteStatus since(RemoteStatus earlier) {
    double seconds = (timeMillis - earlier.timeMillis) / 1e3;
    if (seconds <= 0 || earlier.pid != pid) {
      return this;
    }
    Map<String, Map<String, Double>> withRates = new LinkedHashMap<>();
    for (String level : levelNames) {
      Map<String, Double> now = new LinkedHashMap<>(levels.getOrDefault(level, Map.of()));
      for (String counted : List.of("copiedBytes", "fetchedBytes")) {
        BrokerStatus.rate(level(level, counted), earlier.level(level, counted), seconds)
            .ifPresent(rate -> now.put(counted + "PerSecond", rate));
      }
      withRates.put(level, now);
    }
    return new RemoteStatus(
        version,
        broker,
        pid,
        timeMillis,
        levelNames,
        withRates,
        operations,
        failures,
        values,
        settings);
  }
}
