package io.strata.kafka.migration.remote.store.disk;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.strata.kafka.migration.remote.store.disk.Deadlines.TimeLimitException;
import io.strata.kafka.migration.remote.store.disk.DirectoryAccess.StoreUnavailableException;
import io.strata.kafka.migration.remote.store.layout.StoreNames;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Held by the one broker of a cluster that moves segments between levels and scrubs: a lock on a
 * file in each of the store's directories that can be used, in the order of their ids, so that
 * brokers whose configurations name them in another order, or some of them only, still meet. The
 * operating system gives the locks up when the process ends.
 *
 * <p>A server of NFS gives a client's locks to another one when it has not heard of the client for
 * long enough, and the client's process is not notified. So the broker that takes the lock writes a
 * mark beside it, and the holder checks that the mark is still its own.
 */
public final class MoverLock implements AutoCloseable {

  /**
   * The files, by device and inode, that this process has open to lock, and through which channel.
   * The system's locks are the process's: closing a file drops them, whichever store of this
   * process has locked it, and through whichever channel. So this process must not open one twice.
   *
   * <p>The channel is kept here, so that it is never closed for being garbage: the lock would go,
   * and a later file that gets the inode would count as open.
   */
  private static final Map<Object, Optional<FileChannel>> OPEN = new ConcurrentHashMap<>();

  private final List<Place> places;

  /** Makes the lock of a store, which is not taken yet. */
  public MoverLock(List<StoreDirectory> directories) {
    places =
        directories.stream()
            .sorted(Comparator.comparing(d -> d.identity().directoryId()))
            .map(Place::new)
            .toList();
  }

  /**
   * Takes the locks, if no other process has one of them, and makes sure of those that were held
   * before. They stay held whatever comes of it, until {@link #close}: the caller may be at work
   * still.
   *
   * @return whether all are held now; not if one was held before and has gone to another broker
   * @throws IOException if a file system cannot say, or knows no locks, or no directory can be used
   */
  public synchronized boolean tryHold() throws IOException, InterruptedException {
    boolean all = false;
    List<Place> taken = new ArrayList<>();
    List<String> unusable = new ArrayList<>();
    try {
      for (Place place : places) {
        boolean before = place.isHeld();
        try {
          if (!(before ? place.isMarked() : place.take())) {
            return false;
          }
          if (!before) {
            taken.add(place);
          }
        } catch (StoreUnavailableException | TimeLimitException e) {
          // A directory that is read only, or does not answer, keeps no segments from moving
          // between the others.
          unusable.add(place.directory + ": " + StoreDirectory.reason(e));
        }
      }
      if (unusable.size() == places.size()) {
        throw new StoreUnavailableException(
            "no directory can be locked: " + String.join("; ", unusable));
      }
      all = true;
      return true;
    } finally {
      if (!all) {
        release(taken);
      }
    }
  }

  /**
   * Looks in each directory whether the lock that is held there has gone to another broker. Takes
   * none.
   *
   * @return whether none has; false too, if no directory answers
   */
  public boolean isStillHeld() throws IOException, InterruptedException {
    boolean known = false;
    for (Place place : places) {
      try {
        if (place.isHeld()) {
          if (!place.isMarked()) {
            return false;
          }
          known = true;
        }
      } catch (StoreUnavailableException | TimeLimitException e) {
        // The others are asked.
      }
    }
    return known;
  }

  /** Gives all locks up. They can be taken again. */
  @Override
  public synchronized void close() throws IOException {
    try {
      release(places);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while the mover's lock was released");
    }
  }

  /** One in a directory that does not answer is held until it does. */
  private static void release(List<Place> given) throws IOException, InterruptedException {
    Optional<IOException> problem = Optional.empty();
    for (Place place : given) {
      try {
        place.release();
      } catch (IOException e) {
        problem = Optional.of(e);
      }
    }
    if (problem.isPresent()) {
      throw problem.get();
    }
  }

  /**
   * A file that is locked, the only channel of this process on it, and the mark that this process
   * has set when it took the lock.
   */
  private record Locked(FileChannel channel, Object key, String mark) implements AutoCloseable {
    @Override
    public void close() throws IOException {
      try {
        channel.close();
      } finally {
        Optional<FileChannel> unused = OPEN.remove(key);
      }
    }
  }

  /** Does what fails only where a directory cannot be used. */
  @FunctionalInterface
  private interface Access<T> {
    T of(Path file) throws IOException;
  }

  /**
   * The lock in one directory. The operating system drops all locks that a process has on a file
   * when the process closes the file, be it that it has opened it twice: so one call at a time is
   * at work on it. A call that comes back late keeps the lock that it got while it is wanted, and
   * releases it otherwise.
   */
  private static final class Place {
    private final StoreDirectory directory;

    /** Whether the lock is to be held. */
    @GuardedBy("this")
    private boolean wanted;

    /** Whether a call is at work, even one whose caller no longer waits. */
    @GuardedBy("this")
    private boolean busy;

    /** The open file while its lock is held. */
    @GuardedBy("this")
    private Optional<Locked> held = Optional.empty();

    Place(StoreDirectory directory) {
      this.directory = directory;
    }

    synchronized boolean isHeld() {
      return held.isPresent() && !busy;
    }

    private synchronized Optional<Locked> begin() throws StoreUnavailableException {
      if (busy) {
        throw new StoreUnavailableException("an earlier attempt to lock it has not come back");
      }
      busy = true;
      return held;
    }

    /** Ends a call: keeps what it has if that is still wanted. */
    private void end(Optional<Locked> now) throws IOException {
      if (!keeps(now)) {
        try {
          now.orElseThrow().close();
        } finally {
          boolean unused = keeps(Optional.empty());
        }
      }
    }

    private synchronized boolean keeps(Optional<Locked> now) {
      if (now.isPresent() && !wanted) {
        return false;
      }
      busy = false;
      held = now;
      return true;
    }

    /**
     * Takes the lock.
     *
     * @return whether it is held now; if not, another broker has it
     * @throws StoreUnavailableException if the directory cannot be used
     * @throws IOException if the file system knows no locks
     */
    boolean take() throws IOException, InterruptedException {
      synchronized (this) {
        wanted = true;
      }
      return directory.brief(
          "taking the mover's lock in " + directory,
          control -> {
            Optional<Locked> locked = begin();
            try {
              if (locked.isEmpty()) {
                locked = locked();
              }
              return locked.isPresent();
            } finally {
              end(locked);
            }
          });
    }

    /**
     * Returns whether no other process has taken the lock since this one has.
     *
     * @throws StoreUnavailableException if the directory cannot be used
     */
    boolean isMarked() throws IOException, InterruptedException {
      String mark;
      synchronized (this) {
        mark = held.map(Locked::mark).orElse("");
      }
      return directory.read(
          "looking who holds the mover's lock in " + directory,
          control -> {
            directory.checkAvailable();
            try {
              return Files.readString(inLocks(StoreNames.MOVER_MARK)).equals(mark);
            } catch (NoSuchFileException e) {
              return false;
            }
          });
    }

    private Path inLocks(String name) {
      return directory.path().resolve(StoreNames.LOCKS).resolve(name);
    }

    private <T> T there(String name, Access<T> access) throws StoreUnavailableException {
      try {
        return access.of(inLocks(name));
      } catch (IOException e) {
        throw new StoreUnavailableException(StoreDirectory.reason(e));
      }
    }

    private Optional<Locked> locked() throws IOException {
      directory.checkAvailable();
      Object key = there(StoreNames.MOVER_LOCK, Place::key);
      if (OPEN.putIfAbsent(key, Optional.empty()) != null) {
        return Optional.empty(); // Another store of this process has it, or tries to.
      }
      boolean keeps = false;
      try {
        FileChannel channel = there(StoreNames.MOVER_LOCK, Place::open);
        Optional<FileChannel> unused = OPEN.put(key, Optional.of(channel));
        try {
          if (channel.tryLock() == null) {
            return Optional.empty();
          }
          Locked locked = new Locked(channel, key, there(StoreNames.MOVER_MARK, Place::mark));
          keeps = true;
          return Optional.of(locked);
        } catch (OverlappingFileLockException e) {
          // Another copy of this class holds the lock, and closing the channel would drop it: this
          // copy stays without.
          keeps = true;
          return Optional.empty();
        } finally {
          if (!keeps) {
            channel.close();
          }
        }
      } finally {
        if (!keeps) {
          Optional<FileChannel> unused = OPEN.remove(key);
        }
      }
    }

    private static String mark(Path file) throws IOException {
      String mark = UUID.randomUUID().toString();
      Disk.replace(file, mark.getBytes(UTF_8));
      return mark;
    }

    private static Object key(Path file) throws IOException {
      if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
        try {
          Path unused = Files.createFile(file);
        } catch (FileAlreadyExistsException e) {
          // Another broker was faster.
        }
      }
      Object key =
          Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
              .fileKey();
      return key == null ? file.toRealPath() : key;
    }

    private static FileChannel open(Path file) throws IOException {
      return FileChannel.open(file, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
    }

    /**
     * Releases the lock, or has the call that is at work release what it gets. Nothing is moved any
     * more: a directory that does not answer has its lock released when it does.
     */
    void release() throws IOException, InterruptedException {
      synchronized (this) {
        wanted = false;
        if (held.isEmpty() || busy) {
          return;
        }
      }
      directory.release(
          "releasing the mover's lock in " + directory,
          control -> {
            end(begin());
            return true;
          });
    }
  }
}
