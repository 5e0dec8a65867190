package io.strata.kafka.config.key;

import java.util.Locale;

/** The records that a power failure leaves of those that were acknowledged. */
public enum AckDurability {
  /**
   * Records are durable as the pool's medium makes them: when stored on DAX; elsewhere when
   * flushed.
   */
  POOL,
  /** All of them, on any medium. */
  ACK;

  /** The name in the configuration, for example {@code pool}. */
  public String configName() {
    return name().toLowerCase(Locale.ROOT);
  }
}
