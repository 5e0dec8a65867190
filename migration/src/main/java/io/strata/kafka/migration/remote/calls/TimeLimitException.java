package io.strata.kafka.migration.remote.calls;

import java.io.IOException;

/** A call did not end in its time. It may be made again. */
public final class TimeLimitException extends IOException {
  private static final long serialVersionUID = 1L;

  /** With the whole message. */
  public TimeLimitException(String message) {
    super(message);
  }
}
