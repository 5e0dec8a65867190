package io.strata.kafka.pool;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;

import io.strata.kafka.pool.PoolException.Kind;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Lets one process at a time write to a pool: a lock on {@code <pool file>.lock}, which the system
 * drops when the process ends, however it ends. The file stays and holds the last holder's pid.
 *
 * <p>Thread safety: all methods may be called by any number of threads.
 */
final class PoolLock implements AutoCloseable {
  /**
   * The locks of this process, by file. The system's locks are the process's, not the channel's:
   * closing any other channel on the file drops them. So this process must not open the file twice,
   * and must know that, whoever in it asks.
   */
  private static final Map<Path, PoolLock> HELD = new ConcurrentHashMap<>();

  private final Path file;
  private @Nullable FileChannel channel;

  private PoolLock(Path file) {
    this.file = file;
  }

  /**
   * Takes the lock of a pool.
   *
   * @throws PoolException with {@link Kind#LOCKED} if somebody has it
   */
  static PoolLock acquire(Path pool) throws IOException {
    Path parent = pool.toAbsolutePath().getParent();
    Path directory = parent == null ? pool.toAbsolutePath() : parent.toRealPath();
    PoolLock lock = new PoolLock(directory.resolve(pool.getFileName() + ".lock"));
    if (HELD.putIfAbsent(lock.file, lock) != null) {
      throw lockedHere(pool, null);
    }
    try {
      lock.lock(pool);
      return lock;
    } catch (IOException | RuntimeException e) {
      if (!(e instanceof PoolException refused && refused.getCause() != null)) {
        HELD.remove(lock.file);
      }
      throw e;
    }
  }

  private void lock(Path pool) throws IOException {
    FileChannel opened = FileChannel.open(file, CREATE, READ, WRITE);
    try {
      FileLock lock = opened.tryLock();
      if (lock == null) {
        String holder = holder(opened);
        opened.close();
        throw new PoolException(
            Kind.LOCKED,
            pool,
            "found it locked by process "
                + holder
                + ", expected no other writer: stop that process, or give this broker a pool of its"
                + " own");
      }
      channel = opened;
      opened.truncate(0);
      opened.write(
          ByteBuffer.wrap(
              (ProcessHandle.current().pid() + "\n").getBytes(StandardCharsets.US_ASCII)),
          0);
    } catch (OverlappingFileLockException e) {
      // Held by another copy of this class. Closing the channel would drop that one's lock, so it
      // stays open, and this process stays refused.
      channel = opened;
      throw lockedHere(pool, e);
    } catch (IOException e) {
      opened.close();
      throw e;
    }
  }

  private static PoolException lockedHere(Path pool, @Nullable Throwable cause) {
    return new PoolException(
        Kind.LOCKED,
        pool,
        "found it locked by this process, expected no other writer: name each pool once, and close"
            + " it before it is opened again",
        cause);
  }

  private static String holder(FileChannel channel) throws IOException {
    ByteBuffer pid = ByteBuffer.allocate(32);
    channel.read(pid, 0);
    String text = new String(pid.array(), 0, pid.position(), StandardCharsets.US_ASCII).trim();
    return text.isEmpty() ? "(unknown)" : text;
  }

  /** Throws if the lock has been dropped. */
  synchronized void requireHeld() {
    if (channel == null) {
      throw new IllegalStateException("lock " + file + " has been dropped");
    }
  }

  /** Drops the lock; without effect when dropped. */
  @Override
  public synchronized void close() throws IOException {
    FileChannel held = channel;
    if (held != null) {
      channel = null;
      try {
        held.close();
      } finally {
        HELD.remove(file);
      }
    }
  }
}
