package io.strata.kafka.migration.remote.store;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Held by the one broker of a cluster that moves segments between levels and scrubs: a lock on a
 * file of the store's first directory. The operating system gives it up when the process ends.
 *
 * <p>Thread safety: all methods may be called by any number of threads.
 */
final class MoverLock implements AutoCloseable {

  private final Path file;

  @GuardedBy("this")
  private @Nullable FileChannel channel;

  @GuardedBy("this")
  private @Nullable FileLock lock;

  MoverLock(StoreDirectory first) {
    file = first.path().resolve(StoreNames.LOCKS).resolve(StoreNames.MOVER_LOCK);
  }

  /**
   * Takes the lock, if nobody has it.
   *
   * @return whether it is held now
   * @throws IOException if the file system cannot tell, or knows no locks
   */
  synchronized boolean tryHold() throws IOException {
    if (lock != null && lock.isValid()) {
      return true;
    }
    close();
    FileChannel opened =
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    Optional<FileLock> taken = Optional.empty();
    try {
      taken = Optional.ofNullable(opened.tryLock());
    } catch (OverlappingFileLockException e) {
      return false; // Another store object of this JVM: in tests.
    } finally {
      if (taken.isEmpty()) {
        opened.close();
      }
    }
    channel = opened;
    lock = taken.orElse(null);
    return taken.isPresent();
  }

  @Override
  public synchronized void close() throws IOException {
    FileChannel open = channel;
    channel = null;
    lock = null;
    if (open != null) {
      open.close();
    }
  }
}
