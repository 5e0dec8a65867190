package io.strata.kafka.migration.remote.store;

import java.io.IOException;

/** A segment is not in the store: the message says where it was looked for, and who wrote it. */
public final class SegmentMissingException extends IOException {
  private static final long serialVersionUID = 1L;

  public SegmentMissingException(String message) {
    super(message);
  }
}
