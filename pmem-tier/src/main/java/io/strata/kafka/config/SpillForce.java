package io.strata.kafka.config;

import io.strata.kafka.config.key.AckDurability;
import java.util.Locale;

/**
 * Whether the tail of a segment that has spilled to its log file is forced to the medium with each
 * append. {@link #forces} decides it for pools that need a force too, and {@code
 * strata.durability=ack} overrides the key.
 */
public enum SpillForce {
  /** Forced when the pool survives a power failure, so that a spill does not lower the promise. */
  AUTO,
  /** As a stock broker: forced when Kafka flushes. */
  NEVER;

  /**
   * Returns whether what goes to the log file because the pools are full is forced with each
   * append.
   *
   * @param durability what was promised of each acknowledgement
   * @param durableOnPersist whether what the first tier's pools take survives a power failure at
   *     once
   */
  public boolean forces(AckDurability durability, boolean durableOnPersist) {
    return durability == AckDurability.ACK || (this == AUTO && durableOnPersist);
  }

  /** The name in the configuration, for example {@code auto}. */
  public String configName() {
    return name().toLowerCase(Locale.ROOT);
  }
}
