package io.strata.kafka.metrics;

import java.util.List;
import java.util.Map;

/**
 * A running broker's tiers, local and remote, at one moment, for {@code strata status}: all of it
 * in one question. Tools that collect metrics read the MBeans of {@code docs/reference/metrics.md}
 * instead.
 *
 * <p>Thread safety: may be called by any thread.
 */
public interface StatusMXBean {

  /** The MBean's name. */
  String NAME = "io.strata.kafka:type=Status";

  String getVersion();

  /** The broker's {@code node.id}; the empty string if it is not known. */
  String getBroker();

  long getPid();

  /** The time of the values, in milliseconds since the epoch. */
  long getTimeMillis();

  /** 0 fine, 1 degraded, 2 a promise does not hold. */
  int getHealth();

  /** Returns why the health is not 0, the worst reason first. */
  List<String> getReasons();

  /**
   * The values of all metrics: by type and tags ({@code Tier,tier=hot}), then by name. A
   * distribution has a value for each attribute ({@code LatencySeconds.Mean}). An unknown value is
   * missing, so that a command line of another version reads what it knows.
   */
  Map<String, Map<String, Double>> getMetrics();

  /** The settings that local and remote tiers work by, as the keys would be written. */
  Map<String, String> getSettings();
}
