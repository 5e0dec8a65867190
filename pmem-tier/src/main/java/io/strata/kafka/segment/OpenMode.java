package io.strata.kafka.segment;

import java.nio.file.OpenOption;
import java.nio.file.StandardOpenOption;
import java.util.Set;

/**
 * The mode that a caller of {@code FileChannel.open} asked for, by the JDK's rules.
 *
 * @param append whether each write goes to the end, wherever the caller wants it
 * @param truncate whether the file is emptied at first
 * @param sync when a write must have been forced before it returns
 */
record OpenMode(boolean readable, boolean writable, boolean append, boolean truncate, Sync sync) {

  /** When a write is forced. */
  enum Sync {
    /** When the caller asks. */
    NEVER,
    /** Its bytes before it returns. */
    DATA,
    /** Its bytes and all attributes before it returns. */
    ALL
  }

  /** As Kafka opens its segments: one object for the channels on all of them. */
  private static final OpenMode USUAL = new OpenMode(true, true, false, false, Sync.NEVER);

  /**
   * The mode for {@code options}. Options that create or delete the file are for the caller that
   * opens the log file.
   *
   * @throws IllegalArgumentException for options that exclude each other
   * @throws UnsupportedOperationException for an option that is not known here
   */
  static OpenMode of(Set<? extends OpenOption> options) {
    for (OpenOption option : options) {
      if (!(option instanceof StandardOpenOption)) {
        throw new UnsupportedOperationException(option + " not supported");
      }
    }
    boolean append = options.contains(StandardOpenOption.APPEND);
    boolean write = append || options.contains(StandardOpenOption.WRITE);
    boolean read = options.contains(StandardOpenOption.READ) || !write;
    boolean truncate = options.contains(StandardOpenOption.TRUNCATE_EXISTING) && write;
    if (read && append) {
      throw new IllegalArgumentException("READ + APPEND not allowed");
    }
    if (append && truncate) {
      throw new IllegalArgumentException("APPEND + TRUNCATE_EXISTING not allowed");
    }
    Sync sync =
        options.contains(StandardOpenOption.SYNC)
            ? Sync.ALL
            : options.contains(StandardOpenOption.DSYNC) ? Sync.DATA : Sync.NEVER;
    OpenMode mode = new OpenMode(read, write, append, truncate, sync);
    return mode.equals(USUAL) ? USUAL : mode;
  }
}
