package io.strata.kafka.migration.remote.store;

import java.io.IOException;

/** No level of the store has space: the message says why of each. It may have later. */
public final class StoreFullException extends IOException {
  private static final long serialVersionUID = 1L;

  public StoreFullException(String message) {
    super(message);
  }
}
