package io.strata.kafka.crash;

/** What is about to happen where a crash can come: each of these changes what a crash leaves. */
public enum Point {
  /** Stores of a pool are flushed and fenced. */
  PERSIST,
  /** Stores of a pool are forced to their medium. */
  FORCE,
  /** Bytes are written to a file. */
  WRITE,
  /** A file is cut. */
  TRUNCATE,
  /** A file is forced. */
  FILE_FORCE,
  /** A directory is forced. */
  DIRECTORY_FORCE,
  /** A file or directory is made. */
  CREATE,
  /** A file or directory is renamed. */
  RENAME,
  /** A file or directory is removed. */
  UNLINK,
  /** An extended attribute is set or removed. */
  ATTRIBUTE;

  /** Whether it makes something durable, and changes nothing else. */
  public boolean makesDurable() {
    return this == PERSIST || this == FORCE || this == FILE_FORCE || this == DIRECTORY_FORCE;
  }
}
