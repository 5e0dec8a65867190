package io.strata.kafka.crash;

/** A call that the system can refuse. */
public enum Call {
  /** Bytes of a pool are read. */
  LOAD,
  /** Bytes of a pool are stored. */
  STORE,
  /** Stores of a pool are flushed and fenced. */
  PERSIST,
  /** Stores of a pool are forced to their medium. */
  FORCE,
  /** A file that is there is opened. */
  OPEN,
  /** A file or directory is made. */
  CREATE,
  /** Bytes of a file are read. */
  READ,
  /** Bytes are written to a file. */
  WRITE,
  /** A file is cut. */
  TRUNCATE,
  /** A file is forced. */
  FILE_FORCE,
  /** A directory is forced. */
  DIRECTORY_FORCE,
  /** A file or directory is renamed. */
  RENAME,
  /** A file or directory is removed. */
  UNLINK,
  /** The names or the value of an extended attribute are read. */
  ATTRIBUTE_READ,
  /** An extended attribute is set. */
  ATTRIBUTE_WRITE,
  /** An extended attribute is removed. */
  ATTRIBUTE_DELETE,
  /** A directory is listed. */
  LIST,
  /** A file's size and kind are asked for. */
  STATUS,
  /** A device's space is asked for. */
  SPACE
}
