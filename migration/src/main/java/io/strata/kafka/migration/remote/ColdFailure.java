package io.strata.kafka.migration.remote;

import java.io.IOException;

/** The cold manager failed. */
final class ColdFailure extends IOException {
  private static final long serialVersionUID = 1L;

  private final boolean retriable;

  ColdFailure(String message, Throwable cause, boolean retriable) {
    super(message, cause);
    this.retriable = retriable;
  }

  /** Whether the manager says that a retry may succeed. */
  boolean retriable() {
    return retriable;
  }
}
