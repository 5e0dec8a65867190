package io.strata.kafka.migration.remote.store.disk;

import io.strata.kafka.migration.remote.store.disk.BytePace.CopyCancelledException;
import io.strata.kafka.migration.remote.store.disk.DirectoryAccess.StoreUnavailableException;
import io.strata.kafka.migration.remote.store.layout.Manifest;
import io.strata.kafka.migration.remote.store.layout.SegmentKey;
import io.strata.kafka.migration.remote.store.layout.StoredObject;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;

/**
 * Gives whole copies their place, and takes copies away.
 *
 * @param owner names this process in staging and in the trash
 * @param remains what could not be removed whole, and is tried again
 */
public record CopyPublishing(String owner, AtomicLong trashed, Set<Path> remains) {

  public CopyPublishing(String owner) {
    this(owner, new AtomicLong(), ConcurrentHashMap.newKeySet());
  }

  private static final int ATTEMPTS = 2;

  /** A name in the trash that is given once. */
  public String trashName() {
    return owner + "-" + trashed.incrementAndGet();
  }

  /**
   * Renames a copy into the trash ({@link StoreDirectory#trash}). If that fails it may be there all
   * the same, where no later look for the copy finds it: the upkeep removes it.
   */
  public Optional<Path> trash(StoreDirectory directory, SegmentKey key) throws IOException {
    return trash(directory, key, () -> true);
  }

  private Optional<Path> trash(StoreDirectory directory, SegmentKey key, BooleanSupplier wanted)
      throws IOException {
    String name = trashName();
    try {
      return directory.trash(key, name, wanted);
    } catch (CopyCancelledException e) {
      throw e;
    } catch (IOException e) {
      boolean unused = remains.add(directory.trashed(key, name));
      throw e;
    }
  }

  /**
   * Removes a tree that is no longer in the store; the upkeep tries again what cannot be removed
   * now.
   */
  public void remove(Path top) {
    try {
      Disk.removeTree(top);
    } catch (IOException e) {
      boolean unused = remains.add(top);
    }
  }

  /**
   * Publishes a whole, durable copy. A segment that is there already is replaced: Kafka may copy
   * again what it has copied. A copy that nobody waits for any more replaces nothing: the other
   * copy may be the only one by now. Neither is it published: the segment may be deleted by now.
   *
   * @param wanted whether somebody waits for it; asked directly before each rename
   * @throws CopyCancelledException if nobody does
   */
  public void publish(StoreDirectory directory, Path staged, SegmentKey key, BooleanSupplier wanted)
      throws IOException {
    try {
      publishNew(directory, staged, key, wanted);
    } catch (FileAlreadyExistsException e) {
      Optional<Path> old = trash(directory, key, wanted);
      try {
        publishNew(directory, staged, key, wanted);
      } finally {
        old.ifPresent(this::remove);
      }
    }
  }

  /**
   * Publishes a copy of a segment that is not there, as {@link #publish} does, and then looks at
   * what was published: a file of it may have been taken for a leftover of a dead process
   * meanwhile, by a broker whose clock is wrong.
   *
   * @throws FileAlreadyExistsException if the segment is there already
   */
  public void publishNew(StoreDirectory directory, Path staged, SegmentKey key) throws IOException {
    publishNew(directory, staged, key, () -> true);
  }

  private static void publishNew(
      StoreDirectory directory, Path staged, SegmentKey key, BooleanSupplier wanted)
      throws IOException {
    directory.publish(staged, key, wanted);
    Path published = directory.segment(key);
    for (StoredObject object : Manifest.read(published, key).objects()) {
      Path file = published.resolve(object.type().fileName(key));
      if (Files.size(file) < object.bytes()) {
        throw new IOException(
            "%s: found %d bytes, expected %d".formatted(file, Files.size(file), object.bytes()));
      }
    }
  }

  /** Removes a copy, as a deletion does; its bytes are not counted. */
  public void discard(StoreDirectory directory, SegmentKey key) throws IOException {
    discard(directory, key, () -> true);
  }

  private void discard(StoreDirectory directory, SegmentKey key, BooleanSupplier wanted)
      throws IOException {
    trash(directory, key, wanted).ifPresent(this::remove);
    directory.removeEmptyParents(key);
  }

  /** Returns what tells a copy from another one of the segment, under whatever name it is. */
  public static Object identity(Path copy) throws IOException {
    Object file = Files.readAttributes(copy, BasicFileAttributes.class).fileKey();
    return file == null ? "" : file;
  }

  /**
   * Takes a copy back that may have its name already, as far as that can be done; the thread's
   * interrupt does not hinder it. It is marked before it goes, as in an eviction: that may hang for
   * long, and no other copy goes for it meanwhile.
   *
   * @param copy its {@link #identity}: another copy of the segment stays
   * @param wanted whether it may go; asked before it is marked, when it is, and before it goes
   * @return whether it cannot be seen any more
   */
  public boolean takeBack(
      StoreDirectory directory, SegmentKey key, Object copy, BooleanSupplier wanted) {
    boolean interrupted = false;
    boolean done = false;
    for (int attempt = 0; !done && attempt < ATTEMPTS && wanted.getAsBoolean(); attempt++) {
      interrupted |= Thread.interrupted();
      try {
        Path place = directory.segment(key);
        if (!identity(place).equals(copy)) {
          done = true;
        } else if (isMarkedWhile(wanted, place)) {
          done = isDiscarded(directory, key, wanted);
        }
      } catch (NoSuchFileException e) {
        done = !isAway(directory);
      } catch (IOException e) {
        // An interrupt may have come in the midst.
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return done;
  }

  /** Marks a copy that is to go; takes the mark off again, and returns false, if it is not. */
  private static boolean isMarkedWhile(BooleanSupplier wanted, Path copy)
      throws NoSuchFileException {
    try {
      CopyMarks.going(copy);
    } catch (NoSuchFileException e) {
      throw e;
    } catch (IOException e) {
      // The disk is full or fails: as in a deletion, it goes without.
    }
    if (wanted.getAsBoolean()) {
      return true;
    }
    CopyMarks.notGoing(copy);
    return false;
  }

  /** Removes a marked copy; takes its mark off, and returns false, if it is to stay by now. */
  private boolean isDiscarded(StoreDirectory directory, SegmentKey key, BooleanSupplier wanted)
      throws IOException {
    try {
      discard(directory, key, wanted);
      return true;
    } catch (CopyCancelledException e) {
      CopyMarks.notGoing(directory.segment(key));
      return false;
    }
  }

  private static boolean isAway(StoreDirectory directory) {
    try {
      directory.checkAvailable();
      return false;
    } catch (StoreUnavailableException e) {
      return true;
    }
  }
}
