package io.strata.kafka.migration.remote.store.keep;

import java.nio.file.Path;

/**
 * Something in the store that is not as it should be.
 *
 * @param kind what
 * @param path the file or directory
 * @param message the whole sentence: what was found, what is expected
 */
public record Finding(Kind kind, Path path, String message) {

  /** The kinds of fault. */
  public enum Kind {
    /** A file's bytes are not what its manifest says. */
    CORRUPT,
    /** A file is missing that the manifest names. */
    MISSING,
    /** A manifest, or another file that describes, cannot be read. */
    UNREADABLE,
    /** It belongs to another store. */
    FOREIGN,
    /** A file or directory that Strata does not make. */
    STRANGER,
    /** Left by a process that died: nothing refers to it. */
    ORPHAN,
    /** A move's copy that was never confirmed; the broker that moves segments will settle it. */
    UNCONFIRMED;

    /** Returns whether data is at risk. */
    public boolean damage() {
      return this == CORRUPT || this == MISSING || this == UNREADABLE;
    }
  }
}
