package io.strata.kafka.pool.words;

import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A pool that cannot be used. The message names the file, what was found, what was expected and
 * what to do.
 */
public final class PoolException extends IOException {
  private static final long serialVersionUID = 1L;

  /** Why a pool was refused. */
  public enum Kind {
    /** There is no such file. */
    MISSING,
    /** The file exists already, and was to be created. */
    EXISTS,
    /** The file is not a pool. */
    NOT_A_POOL,
    /** The pool belongs to another broker or another cluster. */
    OTHER_OWNER,
    /** The pool was written by a newer version. */
    NEWER_VERSION,
    /** The pool is damaged. */
    CORRUPT,
    /** The file is shorter than the pool that it holds. */
    TRUNCATED,
    /** The file system is mounted read-only. */
    READ_ONLY,
    /** This process's user may not read or write the file or its directory. */
    NO_PERMISSION,
    /** Another process, or another part of this one, has the pool open for writing. */
    LOCKED,
    /** The memory type does not work here. */
    TYPE_UNAVAILABLE,
    /** Some of the file's blocks are not allocated, and cannot be. */
    SPARSE,
    /** The file system has no space for the pool. */
    NO_SPACE,
    /** The asked-for size, slot count or owner is out of range. */
    INVALID_SPEC
  }

  private final Kind kind;

  public PoolException(Kind kind, Path file, String text) {
    this(kind, file, text, null);
  }

  public PoolException(Kind kind, Path file, String text, @Nullable Throwable cause) {
    super("pool " + file + ": " + text, cause);
    this.kind = kind;
  }

  /** Returns why the pool was refused. */
  public Kind kind() {
    return kind;
  }
}
