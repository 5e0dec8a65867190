package io.strata.kafka.migration.remote.store;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Held by the one broker of a cluster that moves segments between levels and scrubs: a lock on a
 * file in each of the store's directories that can be used, in the order of their ids, so that
 * brokers whose configurations name them in another order, or some of them only, meet all the same.
 * The operating system gives the locks up when the process ends.
 *
 * <p>Thread safety: all methods may be called by any number of threads.
 */
final class MoverLock implements AutoCloseable {

  private final List<StoreDirectory> directories;

  @GuardedBy("this")
  private final Map<StoreDirectory, FileChannel> held = new HashMap<>();

  MoverLock(List<StoreDirectory> directories) {
    this.directories =
        directories.stream().sorted(Comparator.comparing(d -> d.identity().directoryId())).toList();
  }

  /**
   * Takes the locks, if nobody has one of them. Those that were held before stay held whatever
   * comes of it, until {@link #close}: the caller may be at work still.
   *
   * @return whether all are held now
   * @throws IOException if a file system cannot tell, or knows no locks, or no directory can be
   *     used
   */
  synchronized boolean tryHold() throws IOException {
    boolean all = false;
    Set<StoreDirectory> before = Set.copyOf(held.keySet());
    List<String> unusable = new ArrayList<>();
    try {
      for (StoreDirectory directory : directories) {
        if (held.containsKey(directory)) {
          continue;
        }
        if (directory.isSuspended()) {
          unusable.add(directory.toString());
          continue;
        }
        Optional<FileChannel> locked = lock(directory);
        if (locked.isEmpty()) {
          return false;
        }
        held.put(directory, locked.get());
      }
      if (held.isEmpty()) {
        throw new StoreUnavailableException("none of " + unusable + " can be used");
      }
      all = true;
      return true;
    } finally {
      if (!all) {
        giveUpAllBut(before);
      }
    }
  }

  private static Optional<FileChannel> lock(StoreDirectory directory) throws IOException {
    directory.checkAvailable();
    Path file = directory.path().resolve(StoreNames.LOCKS).resolve(StoreNames.MOVER_LOCK);
    FileChannel opened =
        FileChannel.open(
            file, StandardOpenOption.CREATE, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
    Optional<FileLock> taken = Optional.empty();
    try {
      taken = Optional.ofNullable(opened.tryLock());
    } catch (OverlappingFileLockException e) {
      return Optional.empty(); // Another store object of this JVM: in tests.
    } finally {
      if (taken.isEmpty()) {
        opened.close();
      }
    }
    return taken.map(lock -> opened);
  }

  /** Gives all locks up. They can be taken again. */
  @Override
  public synchronized void close() throws IOException {
    giveUpAllBut(Set.of());
  }

  @GuardedBy("this")
  private void giveUpAllBut(Set<StoreDirectory> kept) throws IOException {
    for (StoreDirectory directory : Set.copyOf(held.keySet())) {
      FileChannel channel = held.get(directory);
      if (channel != null && !kept.contains(directory)) {
        held.remove(directory);
        channel.close();
      }
    }
  }
}
