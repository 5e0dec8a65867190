package io.strata.kafka.migration.remote.store;

/** The directories are not what they were configured as; nothing was changed in them. */
public final class StoreRefusedException extends Exception {
  private static final long serialVersionUID = 1L;

  public StoreRefusedException(String message) {
    super(message);
  }
}
