package io.strata.kafka.migration.remote.store;

import java.io.IOException;

/** A file that describes the store, or a segment of it, cannot be read: the message names it. */
public final class CorruptManifestException extends IOException {
  private static final long serialVersionUID = 1L;

  public CorruptManifestException(String message) {
    super(message);
  }
}
