package io.strata.kafka.migration.remote.store.disk;

import java.io.IOException;

/**
 * A directory of the store cannot be used now: unmounted, read-only, or not the store's any more.
 */
public final class StoreUnavailableException extends IOException {
  private static final long serialVersionUID = 1L;

  public StoreUnavailableException(String message) {
    super(message);
  }
}
