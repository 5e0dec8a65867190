package io.strata.kafka.migration.remote.store;

import java.io.IOException;

/** The store has other bytes than were written: the message names the object. */
public final class CorruptChunkException extends IOException {
  private static final long serialVersionUID = 1L;

  public CorruptChunkException(String message) {
    super(message);
  }
}
