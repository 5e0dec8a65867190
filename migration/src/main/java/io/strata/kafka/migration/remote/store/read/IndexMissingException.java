package io.strata.kafka.migration.remote.store.read;

import java.io.IOException;

/** A segment is there, and was copied without an index of the kind: it never had one. */
public final class IndexMissingException extends IOException {
  private static final long serialVersionUID = 1L;

  public IndexMissingException(String message) {
    super(message);
  }
}
