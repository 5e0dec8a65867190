package io.strata.kafka.bench.run;

import java.io.IOException;
import java.util.Map;

/** Watches one broker. */
interface BrokerProbe extends AutoCloseable {

  /** Returns what it is: its versions. */
  Map<String, String> facts() throws IOException;

  /** The processor time that it has used since its start, and what its tiers hold. */
  Reading read() throws IOException;

  @Override
  void close();

  /**
   * A broker at a moment.
   *
   * @param processorSeconds since its start
   * @param tiers bytes, by tier and kind; empty for a broker without tiers
   */
  record Reading(double processorSeconds, Map<String, Long> tiers) {}
}
