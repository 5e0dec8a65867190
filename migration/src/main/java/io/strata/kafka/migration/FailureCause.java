package io.strata.kafka.migration;

/** Why a move failed, as far as metrics tell it. Immutable and safe for use by any thread. */
public enum FailureCause {
  /** The target's file system has no space, or a quota is used up. */
  NO_SPACE("no-space"),
  /** Reading or writing failed. */
  IO_ERROR("io-error"),
  /** The segment's own bytes are not what Kafka wrote: they are copied nowhere. */
  CORRUPT_SEGMENT("corrupt-segment"),
  /** Anything else: a fault of Strata. */
  OTHER("other");

  private final String label;

  FailureCause(String label) {
    this.label = label;
  }

  /** For metrics and tables: lower-case letters and hyphens. */
  public String label() {
    return label;
  }
}
