package io.strata.kafka.tier.space;

import io.strata.kafka.migration.NoSpaceException;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * Bytes of a log directory's file system for Kafka's indexes and checkpoints: a hundredth, and at
 * most 1 GiB. No copy begins that would use them, and no new segment is passed on when no more is
 * left.
 *
 * <p>Thread safety: all methods may be called by any thread. Two copies that ask at the same moment
 * may both be let through.
 */
public final class LogDiskReserve {

  private static final int SHARE = 100;
  private static final long MOST = 1L << 30;

  /** The bytes that copies are about to write, by file system. */
  private final ConcurrentMap<FileStore, Long> claimed = new ConcurrentHashMap<>();

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
   * Claims space for a copy into a log file; refuses one that would use the reserve, with the
   * copies that are under way on the same file system.
   *
   * @param bytes of the copy
   * @param piece the most that it writes before the claim is closed
   */
  public Claim claim(Path logFile, long bytes, long piece) throws IOException {
    FileStore store = Files.getFileStore(logFile);
    long usable = store.getUsableSpace() - claimed.getOrDefault(store, 0L);
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
    return new Claim(store, Math.min(bytes, piece));
  }

  /** Bytes that a copy under way is going to write. Used by one thread. */
  public final class Claim implements AutoCloseable {
    private final FileStore store;
    private final long bytes;

    private Claim(FileStore store, long bytes) {
      this.store = store;
      this.bytes = bytes;
      claimed.merge(store, bytes, Long::sum);
    }

    /** Is called when the copy has ended: its bytes are on the file system, or are not coming. */
    @Override
    public void close() {
      claimed.computeIfPresent(store, (of, sum) -> sum == bytes ? null : (Long) (sum - bytes));
    }
  }
}
