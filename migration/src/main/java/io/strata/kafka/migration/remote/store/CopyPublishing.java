package io.strata.kafka.migration.remote.store;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Gives whole copies their place, and takes copies away.
 *
 * @param owner names this process in staging and in the trash
 */
record CopyPublishing(String owner, AtomicLong trashed) {

  /** A name in the trash that is given once. */
  String trashName() {
    return owner + "-" + trashed.incrementAndGet();
  }

  /**
   * Publishes a whole copy. A segment that is there already is replaced: Kafka may copy again what
   * it has copied.
   */
  void publish(StoreDirectory directory, Path staged, SegmentKey key) throws IOException {
    try {
      publishNew(directory, staged, key);
    } catch (FileAlreadyExistsException e) {
      Optional<Path> old = directory.trash(key, trashName());
      publishNew(directory, staged, key);
      old.ifPresent(Disk::removeTreeIfPossible);
    }
  }

  /**
   * As {@link #publish}, and then looks at what was published: a file of it may have been taken for
   * a leftover of a dead process meanwhile, by a broker whose clock is wrong.
   *
   * @throws FileAlreadyExistsException if the segment is there already
   */
  void publishNew(StoreDirectory directory, Path staged, SegmentKey key) throws IOException {
    directory.publish(staged, key);
    Path published = directory.segment(key);
    for (StoredObject object : ManifestCodec.read(published, key).objects()) {
      Path file = published.resolve(object.type().fileName(key));
      if (Files.size(file) < object.bytes()) {
        throw new IOException(
            "%s: found %d bytes, expected %d".formatted(file, Files.size(file), object.bytes()));
      }
    }
  }

  /** Removes a copy, as a deletion does; its bytes are not counted. */
  void discard(StoreDirectory directory, SegmentKey key) throws IOException {
    directory.trash(key, trashName()).ifPresent(Disk::removeTreeIfPossible);
    directory.removeEmptyParents(key);
  }

  /**
   * Takes a copy back, as far as that can be done; the thread's interrupt does not hinder it.
   *
   * @param staged where it was made
   * @param published whether it may have got its name already
   */
  void takeBack(StoreDirectory directory, Path staged, SegmentKey key, boolean published) {
    boolean interrupted = Thread.interrupted();
    Disk.removeTreeIfPossible(staged);
    interrupted |= Thread.interrupted();
    try {
      if (published) {
        discard(directory, key);
      }
    } catch (IOException e) {
      // Kafka deletes it with the rest of what it did not finish, at the latest by retention.
      interrupted |= Thread.interrupted();
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
