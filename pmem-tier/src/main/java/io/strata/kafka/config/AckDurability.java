package io.strata.kafka.config;

/**
 * The records that a power failure leaves of those that were acknowledged.
 *
 * <p>Immutable and safe for use by any thread.
 */
public enum AckDurability {
  /** Those that the pool's medium makes durable when stored: all on DAX; else what was flushed. */
  POOL("pool"),
  /** All of them, on any medium. */
  ACK("ack");

  private final String configName;

  AckDurability(String configName) {
    this.configName = configName;
  }

  /** The name in the configuration, for example {@code pool}. */
  public String configName() {
    return configName;
  }
}
