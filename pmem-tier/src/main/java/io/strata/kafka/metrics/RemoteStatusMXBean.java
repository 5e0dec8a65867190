package io.strata.kafka.metrics;

import java.util.List;
import java.util.Map;

/**
 * A running broker's remote tier at one moment, for {@code strata status}: all of it in one
 * question. Tools that collect metrics read the MBeans of {@code docs/reference/metrics.md}
 * instead.
 *
 * <p>Values are numbers by name, so that a command line of another version reads what it knows.
 *
 * <p>Thread safety: may be called by any thread.
 */
public interface RemoteStatusMXBean {

  /** The MBean's name. */
  String NAME = "io.strata.kafka:type=RemoteStatus";

  /** The version of Strata. */
  String getVersion();

  /** The broker's {@code node.id}. */
  String getBroker();

  /** The broker's process. */
  long getPid();

  /** The time of the values, in milliseconds since the epoch. */
  long getTimeMillis();

  /** The levels' names, fastest first. */
  List<String> getLevelNames();

  /** For each level its values by name: bytes and counts, as the metrics of that type. */
  Map<String, Map<String, Double>> getLevels();

  /** For each kind of operation its values by name. */
  Map<String, Map<String, Double>> getOperations();

  /** Failed operations, by kind and cause: {@code fetch not-found}. */
  Map<String, Long> getFailures();

  /** Cache, read-ahead, scrubbing and the rest, by name. What is not known is missing. */
  Map<String, Double> getValues();

  /** The settings that it works by, as the keys would be written. */
  Map<String, String> getSettings();
}
