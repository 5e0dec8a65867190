package io.strata.kafka.migration.plan;

import java.util.Locale;

/** Why a move failed, as metrics distinguish it. */
public enum FailureCause {
  /** The target's file system has no space, or a quota is used up. */
  NO_SPACE,
  /** Reading or writing failed. */
  IO_ERROR,
  /** The segment's own bytes are not what Kafka wrote: they are copied nowhere. */
  CORRUPT_SEGMENT,
  /** Anything else: a fault of Strata. */
  OTHER;

  /** For metrics and tables: lower-case letters and hyphens. */
  public String label() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
