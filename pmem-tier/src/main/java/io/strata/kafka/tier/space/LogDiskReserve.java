package io.strata.kafka.tier.space;

import io.strata.kafka.migration.NoSpaceException;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Bytes of a log directory's file system for Kafka's indexes and checkpoints: a hundredth, and at
 * most 1 GiB. No copy begins that would use them, and no new segment is passed on when no more is
 * left.
 */
public final class LogDiskReserve {

  private static final int SHARE = 100;
  private static final long MOST = 1L << 30;

  private LogDiskReserve() {}

  private static long of(FileStore store) throws IOException {
    return Math.min(store.getTotalSpace() / SHARE, MOST);
  }

  /** Returns whether more than the reserve is left, as far as the file system says. */
  static boolean isLeft(Path partition) {
    try {
      FileStore store = Files.getFileStore(partition);
      return store.getUsableSpace() > of(store);
    } catch (IOException e) {
      return true; // The log file meets the same failure, and Kafka is told.
    }
  }

  /**
   * Refuses a copy into a log file that would use it.
   *
   * @param bytes of the copy
   */
  public static void require(Path logFile, long bytes) throws IOException {
    FileStore store = Files.getFileStore(logFile);
    long usable = store.getUsableSpace();
    long reserve = of(store);
    if (usable - bytes < reserve) {
      throw new NoSpaceException(
          logFile,
          """
          found %d bytes usable on the file system, expected %d for a copy and %d that are kept \
          for Kafka's indexes; the copy in the pool stays\
          """
              .formatted(usable, bytes, reserve));
    }
  }
}
