package io.strata.kafka.metrics;

import java.util.List;
import java.util.Map;

/**
 * A running broker's tiers at one moment, for {@code strata status}: all of it in one question.
 * Tools that collect metrics read the MBeans of {@code docs/reference/metrics.md} instead.
 *
 * <p>Values are numbers by name, so that a command line of another version reads what it knows.
 *
 * <p>Thread safety: may be called by any thread.
 */
public interface StatusMXBean {

  /** The MBean's name. */
  String NAME = "io.strata.kafka:type=Status";

  /** The version of Strata. */
  String getVersion();

  /** The broker's {@code node.id}. */
  String getBroker();

  /** The broker's process. */
  long getPid();

  /** The time of the values, in milliseconds since the epoch. */
  long getTimeMillis();

  /** The tiers' names, fastest first; home is the last. */
  List<String> getTierNames();

  /**
   * For each tier its values by name: bytes and counts, as the metrics of the type {@code Tier}.
   * What does not apply or is not known is missing.
   */
  Map<String, Map<String, Double>> getTiers();

  /** Values of the migration engine by name; empty if there is none. */
  Map<String, Double> getMigration();

  /** Failed moves by cause. */
  Map<String, Long> getFailures();

  /** The settings that the engine works by, as the keys would be written. */
  Map<String, String> getSettings();
}
