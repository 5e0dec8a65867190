package io.strata.kafka.pool;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.strata.kafka.memory.PoolFiles;
import io.strata.kafka.pool.PoolException.Kind;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Lets one process at a time write to a pool: a lock on {@code <pool file>.lock}, which the system
 * drops when the process ends, however it ends. The file stays and holds the last holder's pid.
 *
 * <p>Whatever name the pool is given by, the lock is that of the file itself: symbolic links are
 * followed, and a file with several hard links is refused, since each would have a lock of its own.
 *
 * <p>Thread safety: all methods may be called by any number of threads.
 */
final class PoolLock implements Closeable {
  /**
   * The locks that this process holds: lock files by path, pools by device and inode. The system's
   * locks are the process's, not the channel's: closing any other channel on the lock file drops
   * them. So this process must not open the file twice, and must know that for each of its threads,
   * and by whatever name.
   */
  @GuardedBy("HELD")
  private static final Set<Object> HELD = new HashSet<>();

  /** The most times that the lock file may be removed while it is being locked. */
  private static final int ATTEMPTS = 10;

  private final Path file;
  private final List<Object> keys;
  private @Nullable FileChannel channel;

  private PoolLock(Path file, List<Object> keys) {
    this.file = file;
    this.keys = keys;
  }

  /**
   * Takes the lock of a pool, which need not exist.
   *
   * @throws PoolException with {@link Kind#LOCKED} if another process has it, or could have it by
   *     another name of the file
   */
  static PoolLock acquire(Path pool) throws IOException {
    PoolLock lock = of(pool);
    synchronized (HELD) {
      if (!Collections.disjoint(HELD, lock.keys)) {
        throw lockedHere(pool, null);
      }
      HELD.addAll(lock.keys);
    }
    try {
      lock.lock(pool);
      return lock;
    } catch (IOException | RuntimeException e) {
      if (!(e instanceof PoolException refused && refused.getCause() != null)) {
        lock.forget();
      }
      throw e;
    }
  }

  private static PoolLock of(Path pool) throws IOException {
    List<Object> keys = new ArrayList<>();
    Path real = real(pool);
    if (Files.exists(real)) {
      requireOneName(pool, real);
      Optional.ofNullable(fileKey(real)).ifPresent(keys::add);
    }
    Path file = beside(real);
    keys.add(file);
    return new PoolLock(file, List.copyOf(keys));
  }

  /**
   * Returns a pool's lock file; that of the file itself, if the pool is a link that leads to one.
   */
  static Path fileOf(Path pool) {
    try {
      return beside(real(pool));
    } catch (IOException e) {
      return beside(pool.toAbsolutePath());
    }
  }

  /** Follows the links that lead to a pool, or to the directory of one that is not there. */
  private static Path real(Path pool) throws IOException {
    if (Files.exists(pool)) {
      return pool.toRealPath();
    }
    Path absolute = pool.toAbsolutePath();
    Path parent = absolute.getParent();
    return parent == null ? absolute : parent.toRealPath().resolve(absolute.getFileName());
  }

  private static Path beside(Path real) {
    return real.resolveSibling(real.getFileName() + ".lock");
  }

  private static void requireOneName(Path pool, Path real) throws IOException {
    if (!real.getFileSystem().supportedFileAttributeViews().contains("unix")) {
      return; // the JDK does not know
    }
    int names = (int) Files.getAttribute(real, "unix:nlink");
    if (names > 1) {
      throw new PoolException(
          Kind.LOCKED,
          pool,
          """
          found %s hard links to this file, expected one: each name has its own lock, so two \
          processes could write to it. Find the others with find <mount point> -xdev -samefile %s \
          and remove them; a symbolic link may take their place\
          """
              .formatted(names, real));
    }
  }

  private void lock(Path pool) throws IOException {
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (lockOnce(pool)) {
        return;
      }
    }
    throw new PoolException(
        Kind.LOCKED,
        pool,
        """
        found that %s is being replaced again and again while it is locked, expected one and the \
        same file: stop what removes it\
        """
            .formatted(file));
  }

  /** Returns false if the file that was locked is not the one of that name any more. */
  private boolean lockOnce(Path pool) throws IOException {
    createIfMissing(pool);
    @Nullable Object expected;
    FileChannel opened;
    try {
      // Read before the file is opened: what is the same afterwards is what was opened.
      expected = fileKey(file);
      // Never through a symbolic link: what is written here would go into another's file.
      opened = FileChannel.open(file, READ, WRITE, NOFOLLOW_LINKS);
    } catch (NoSuchFileException e) {
      return false;
    } catch (FileSystemException e) {
      throw PoolAccess.refusedLock(pool, file, e);
    }
    try {
      FileLock lock = opened.tryLock();
      if (lock == null) {
        throw lockedBy(pool, holder(opened));
      }
      if (!isStill(expected)) {
        opened.close();
        return false;
      }
      channel = opened;
      writeHolder(opened);
      return true;
    } catch (OverlappingFileLockException e) {
      // Held by another copy of this class. Closing the channel would drop that one's lock, so it
      // stays open, and this process stays refused.
      channel = opened;
      throw lockedHere(pool, e);
    } catch (IOException e) {
      channel = null;
      opened.close();
      throw e;
    }
  }

  /**
   * Writes this process's pid, for the message that another process then gives: as well as the file
   * system has space for it. What is there is overwritten in place, which needs none.
   */
  private static void writeHolder(FileChannel locked) throws IOException {
    String pid = "%-20d\n".formatted(ProcessHandle.current().pid());
    try {
      int unused = locked.write(ByteBuffer.wrap(pid.getBytes(StandardCharsets.US_ASCII)), 0);
    } catch (IOException e) {
      if (!locked.isOpen()) {
        throw e; // An interrupt has closed it, and the lock is lost.
      }
    }
  }

  private void createIfMissing(Path pool) throws IOException {
    try {
      Path created = Files.createFile(file, PoolFiles.ownerOnly(file));
      PoolAccess.shareOwner(created, Files.exists(pool) ? pool : PoolFile.directoryOf(file));
    } catch (FileAlreadyExistsException e) {
      // Of a process that was here before, or something else that was put there.
      if (!Files.isRegularFile(file, NOFOLLOW_LINKS)) {
        throw new PoolException(
            Kind.LOCKED,
            pool,
            """
            found %s, which is not a regular file (a symbolic link, perhaps), expected the pool's \
            lock file: remove it, and see who may write to that directory\
            """
                .formatted(file));
      }
    } catch (FileSystemException e) {
      throw PoolAccess.refusedLock(pool, file, e);
    }
  }

  private boolean isStill(@Nullable Object expected) throws IOException {
    try {
      return Objects.equals(expected, fileKey(file));
    } catch (NoSuchFileException e) {
      return false;
    }
  }

  /** Device and inode, where the file system has such. */
  private static @Nullable Object fileKey(Path file) throws IOException {
    return Files.readAttributes(file, BasicFileAttributes.class).fileKey();
  }

  private void forget() {
    synchronized (HELD) {
      HELD.removeAll(keys);
    }
  }

  private static PoolException lockedBy(Path pool, String holder) {
    return new PoolException(
        Kind.LOCKED,
        pool,
        """
        found it locked by process %s, a broker or a strata command, expected no other writer: \
        stop that process, or name another pool\
        """
            .formatted(holder));
  }

  private static PoolException lockedHere(Path pool, @Nullable Throwable cause) {
    return new PoolException(
        Kind.LOCKED,
        pool,
        """
        found it locked by this process, expected no other writer: name each pool once, and close \
        it before it is opened again\
        """,
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
        forget();
      }
    }
  }
}
