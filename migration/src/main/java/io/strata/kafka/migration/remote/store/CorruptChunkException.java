package io.strata.kafka.migration.remote.store;

import java.io.IOException;

/** What was read from the store is not what was written: the message names the object. */
public final class CorruptChunkException extends IOException {
  private static final long serialVersionUID = 1L;

  public CorruptChunkException(String message) {
    super(message);
  }
}
