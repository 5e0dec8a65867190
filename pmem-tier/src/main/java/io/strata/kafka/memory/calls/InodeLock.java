package io.strata.kafka.memory.calls;

import com.sun.jna.LastErrorException;
import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * An exclusive lock on a file itself: on its inode, whatever name, link or mount it is reached by,
 * by a server of NFS as well. The system drops it when the process ends, however it ends.
 *
 * <p>On Linux it belongs to one open file description ({@code F_OFD_SETLK}). The JDK's own locks
 * belong to the process: closing any descriptor of the file drops them, and a pool's file is opened
 * and closed again by its mapping and its probes. Where libc cannot be called there is nothing but
 * the JDK's: {@link #renew} takes such a lock again, and is called after each closing of the file.
 * The two kinds exclude each other.
 *
 * <p>Thread safety: all methods may be called by any number of threads.
 */
public final class InodeLock implements Closeable {

  /** A lock as the system has it. */
  private interface Held extends Closeable {
    /** Returns false if another process has the lock. */
    boolean renew() throws IOException;
  }

  /** The most times that the file may be replaced while it is being locked. */
  private static final int ATTEMPTS = 10;

  private static final int ENOENT = 2;
  private static final int EAGAIN = 11;
  private static final int EACCES = 13;
  private static final int EINVAL = 22;
  private static final int EROFS = 30;

  /** Channels whose closing would drop a lock that another class loader's copy of this has. */
  private static final Queue<FileChannel> KEPT = new ConcurrentLinkedQueue<>();

  private final Path file;

  /** Device and inode, where the file system has such. */
  private final @Nullable Object identity;

  private final Held held;

  private InodeLock(Path file, @Nullable Object identity, Held held) {
    this.file = file;
    this.identity = identity;
    this.held = held;
  }

  /**
   * Locks a file that exists.
   *
   * @return empty if it is locked, by this process or another one
   * @throws IOException if the file cannot be opened for writing, or its file system has no locks
   */
  public static Optional<InodeLock> tryLock(Path file) throws IOException {
    return tryLock(file, LibC.available());
  }

  /** As {@link #tryLock(Path)}, with the JDK alone if libc is not to be called. */
  static Optional<InodeLock> tryLock(Path file, boolean libc) throws IOException {
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      // Read before the file is opened: what has the name afterwards, too, is what was opened.
      @Nullable Object identity = identity(file);
      Optional<Held> held = libc ? description(file) : process(file);
      if (held.isEmpty()) {
        return Optional.empty();
      }
      InodeLock lock = new InodeLock(file, identity, held.get());
      if (lock.hasItsName()) {
        return Optional.of(lock);
      }
      lock.close();
    }
    throw replaced(file);
  }

  /**
   * Makes sure that the lock is held, after a descriptor of the file was closed, and that the file
   * still has its name.
   *
   * @throws IOException if that is not so
   */
  public void renew() throws IOException {
    if (!held.renew()) {
      throw new FileSystemException(
          file.toString(), null, "found that another process has locked it meanwhile");
    }
    if (!hasItsName()) {
      throw replaced(file);
    }
  }

  private static FileSystemException replaced(Path file) {
    return new FileSystemException(
        file.toString(), null, "found that another file has its name now: restore it");
  }

  private boolean hasItsName() throws IOException {
    try {
      return Objects.equals(identity, identity(file));
    } catch (NoSuchFileException e) {
      return false;
    }
  }

  private static @Nullable Object identity(Path file) throws IOException {
    return Files.readAttributes(file, BasicFileAttributes.class).fileKey();
  }

  /** Drops the lock; without effect when dropped. */
  @Override
  public void close() throws IOException {
    held.close();
  }

  private static Optional<Held> description(Path file) throws IOException {
    int descriptor;
    try {
      descriptor = LibC.open(file);
    } catch (LastErrorException e) {
      throw cannotOpen(file, e);
    }
    try {
      LibC.lock(descriptor);
      return Optional.of(new DescriptionLock(descriptor));
    } catch (LastErrorException e) {
      LibC.close(descriptor);
      return switch (e.getErrorCode()) {
        case EAGAIN, EACCES -> Optional.empty();
        case EINVAL -> process(file); // a kernel without this kind of lock
        default -> throw new IOException("Cannot lock " + file + ": " + e.getMessage(), e);
      };
    }
  }

  /** Returns what the JDK would have thrown. */
  private static IOException cannotOpen(Path file, LastErrorException e) {
    IOException failure =
        switch (e.getErrorCode()) {
          case ENOENT -> new NoSuchFileException(file.toString());
          case EACCES -> new AccessDeniedException(file.toString());
          case EROFS -> new FileSystemException(file.toString(), null, "Read-only file system");
          default -> new IOException("Cannot open " + file + ": " + e.getMessage());
        };
    failure.initCause(e);
    return failure;
  }

  private static final class DescriptionLock implements Held {
    private int descriptor;

    DescriptionLock(int descriptor) {
      this.descriptor = descriptor;
    }

    @Override
    public synchronized boolean renew() {
      return descriptor >= 0;
    }

    @Override
    public synchronized void close() {
      if (descriptor >= 0) {
        LibC.close(descriptor);
        descriptor = -1;
      }
    }
  }

  private static Optional<Held> process(Path file) throws IOException {
    return Interrupts.defer(
        () -> {
          FileChannel channel =
              FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
          try {
            FileLock lock = channel.tryLock();
            if (lock == null) {
              channel.close();
              return Optional.empty();
            }
            return Optional.of(new ProcessLock(channel, lock));
          } catch (OverlappingFileLockException e) {
            boolean unused = KEPT.add(channel);
            return Optional.empty();
          } catch (IOException e) {
            channel.close();
            throw e;
          }
        });
  }

  /** A lock of the process, by the JDK. */
  private static final class ProcessLock implements Held {
    private final FileChannel channel;
    private FileLock lock;

    ProcessLock(FileChannel channel, FileLock lock) {
      this.channel = channel;
      this.lock = lock;
    }

    /** The JDK takes a lock that the system has dropped for held, until it is released. */
    @Override
    public synchronized boolean renew() throws IOException {
      return Interrupts.defer(
          () -> {
            lock.release();
            FileLock again = channel.tryLock();
            if (again == null) {
              return false;
            }
            lock = again;
            return true;
          });
    }

    @Override
    public synchronized void close() throws IOException {
      channel.close();
    }
  }
}
