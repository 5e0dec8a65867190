package io.strata.kafka.migration.remote.store.layout;

import java.io.IOException;

/** A file that describes the store, or a segment of it, cannot be read: the message names it. */
public final class CorruptManifestException extends IOException {
  private static final long serialVersionUID = 1L;

  private final boolean otherVersion;

  public CorruptManifestException(String message) {
    this(message, false);
  }

  CorruptManifestException(String message, boolean otherVersion) {
    super(message);
    this.otherVersion = otherVersion;
  }

  /** Returns whether a failure is that another version of Strata wrote a file, which is sound. */
  public static boolean isOfOtherVersion(IOException failure) {
    return failure instanceof CorruptManifestException corrupt && corrupt.otherVersion;
  }
}
