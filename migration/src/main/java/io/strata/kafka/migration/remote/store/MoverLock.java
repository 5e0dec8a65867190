package io.strata.kafka.migration.remote.store;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.strata.kafka.migration.remote.calls.CallControl;
import io.strata.kafka.migration.remote.calls.TimeLimitException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.channels.FileChannel;
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
  synchronized boolean tryHold() throws IOException, InterruptedException {
    boolean all = false;
    Set<StoreDirectory> before = Set.copyOf(held.keySet());
    List<String> unusable = new ArrayList<>();
    try {
      for (StoreDirectory directory : directories) {
        if (held.containsKey(directory)) {
          continue;
        }
        Attempt attempt = lock(directory);
        if (attempt.locked().isPresent()) {
          held.put(directory, attempt.locked().get());
        } else if (attempt.unusable().isPresent()) {
          unusable.add(attempt.unusable().get());
        } else {
          return false;
        }
      }
      if (held.isEmpty()) {
        throw new StoreUnavailableException(
            "no directory can be locked: " + String.join("; ", unusable));
      }
      all = true;
      return true;
    } finally {
      if (!all) {
        giveUpAllBut(before);
      }
    }
  }

  /**
   * What came of one directory.
   *
   * @param locked empty: another broker has the lock, or the directory cannot be used
   * @param unusable why it cannot be
   */
  private record Attempt(Optional<FileChannel> locked, Optional<String> unusable) {}

  /**
   * Takes the lock of one directory. One that is read only, or does not answer, does not keep
   * segments from moving between the others.
   *
   * @throws IOException if the file system knows no locks
   */
  private static Attempt lock(StoreDirectory directory) throws IOException, InterruptedException {
    try {
      return directory
          .access()
          .brief("taking the mover's lock in " + directory, control -> lock(directory, control));
    } catch (OverlappingFileLockException e) {
      return new Attempt(Optional.empty(), Optional.empty()); // Another store of this JVM.
    } catch (StoreUnavailableException | TimeLimitException e) {
      return unusable(directory, e);
    }
  }

  private static Attempt unusable(StoreDirectory directory, IOException e) {
    return new Attempt(Optional.empty(), Optional.of(directory + ": " + StoreDirectory.reason(e)));
  }

  private static Attempt lock(StoreDirectory directory, CallControl control) throws IOException {
    directory.checkAvailable();
    Path file = directory.path().resolve(StoreNames.LOCKS).resolve(StoreNames.MOVER_LOCK);
    FileChannel opened;
    try {
      opened =
          FileChannel.open(
              file, StandardOpenOption.CREATE, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
    } catch (IOException e) {
      return unusable(directory, e);
    }
    boolean taken = false;
    try {
      taken = Optional.ofNullable(opened.tryLock()).isPresent() && !control.givenUp();
      return new Attempt(taken ? Optional.of(opened) : Optional.empty(), Optional.empty());
    } finally {
      if (!taken) {
        opened.close();
      }
    }
  }

  private static void close(StoreDirectory directory, FileChannel channel)
      throws IOException, InterruptedException {
    boolean unused =
        directory
            .access()
            .brief(
                "giving up the mover's lock in " + directory,
                control -> {
                  channel.close();
                  return true;
                });
  }

  /** Gives all locks up. They can be taken again. */
  @Override
  public synchronized void close() throws IOException {
    try {
      giveUpAllBut(Set.of());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while the mover's lock was given up");
    }
  }

  /** One in a directory that does not answer stays held, until it does. */
  @GuardedBy("this")
  private void giveUpAllBut(Set<StoreDirectory> kept) throws IOException, InterruptedException {
    Optional<IOException> problem = Optional.empty();
    for (StoreDirectory directory : Set.copyOf(held.keySet())) {
      FileChannel channel = held.get(directory);
      if (channel != null && !kept.contains(directory)) {
        try {
          close(directory, channel);
          held.remove(directory);
        } catch (IOException e) {
          problem = Optional.of(e);
        }
      }
    }
    if (problem.isPresent()) {
      throw problem.get();
    }
  }
}
