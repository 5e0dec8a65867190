package io.strata.kafka.tier.directory;

import io.strata.kafka.tier.spec.FailureText;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Looks at the locks that Kafka takes on its log directories while it starts: a broker that finds
 * one taken ends, and must not have changed a pool before. Kafka takes them later than the pools
 * are opened.
 *
 * <p>Thread safety: all methods may be called by any number of threads.
 */
public final class KafkaLocks {
  /** Kafka's name for it (LogManager). */
  public static final String FILE_NAME = ".lock";

  /**
   * Never closed: closing a descriptor of a file drops every lock that the process has on it, and
   * Kafka's own is one of these before long.
   */
  private static final Queue<FileChannel> KEPT_OPEN = new ConcurrentLinkedQueue<>();

  private KafkaLocks() {}

  /**
   * Throws if another process has the lock of a log directory. A directory that this process has
   * locked, or that is not there yet, is free; so is one that cannot be asked: Kafka takes that
   * directory offline.
   */
  public static void requireFree(List<Path> logDirectories) throws IOException {
    for (Path directory : logDirectories) {
      Path file = directory.resolve(FILE_NAME);
      if (Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS) && isTaken(file)) {
        throw FailureText.at(
            directory,
            """
            found that another process has Kafka's lock of it (%s), expected none: a broker \
            runs on this log directory, or a strata command is at work on it; stop it, wait until \
            it ends, or use directories and pools of its own\
            """
                .formatted(file));
      }
    }
  }

  private static boolean isTaken(Path file) {
    try {
      FileChannel channel =
          FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
      boolean unused = KEPT_OPEN.add(channel);
      FileLock lock = channel.tryLock();
      if (lock == null) {
        return true;
      }
      lock.release();
      return false;
    } catch (OverlappingFileLockException | IOException e) {
      return false;
    }
  }
}
