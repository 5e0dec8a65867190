package io.strata.kafka.migration.remote.store.keep;

import io.strata.kafka.migration.FileStatus;
import io.strata.kafka.migration.remote.store.KnownSegment.StoredCopy;
import io.strata.kafka.migration.remote.store.SegmentStore;
import io.strata.kafka.migration.remote.store.SegmentStore.Located;
import io.strata.kafka.migration.remote.store.disk.BytePace;
import io.strata.kafka.migration.remote.store.disk.CopyMarks;
import io.strata.kafka.migration.remote.store.disk.Disk;
import io.strata.kafka.migration.remote.store.disk.StoreDirectory;
import io.strata.kafka.migration.remote.store.layout.JsonFile.CorruptManifestException;
import io.strata.kafka.migration.remote.store.layout.Manifest;
import io.strata.kafka.migration.remote.store.layout.SegmentKey;
import io.strata.kafka.migration.remote.store.layout.StoreNames;
import io.strata.kafka.migration.remote.store.layout.StoredObject;
import io.strata.kafka.migration.remote.store.layout.StoredObject.ObjectType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Makes a damaged copy of a segment whole again: each of its files that is not what the manifest
 * says is replaced by the same file of another copy, which is checked while it is copied.
 *
 * <p>Thread safety: used by one thread; others may read, move and delete the segment meanwhile.
 */
public final class CopyRepair {

  private final SegmentStore store;

  public CopyRepair(SegmentStore store) {
    this.store = store;
  }

  /** The copies that are marked as damaged, as far as that is known. */
  public List<Damaged> known() {
    return store.known.entries().stream()
        .flatMap(
            entry ->
                entry.copies().stream()
                    .filter(StoredCopy::damaged)
                    .map(copy -> new Damaged(copy.directory(), entry.key())))
        .toList();
  }

  /** A copy that was found to be damaged. */
  public record Damaged(StoreDirectory directory, SegmentKey key) {}

  /**
   * Checks a copy, and replaces what is wrong. When all is right, its mark goes.
   *
   * @return the files that were replaced; none if the copy is deleted or evicted meanwhile
   * @throws IOException if a file is wrong and no other copy has it right; the mark stays
   */
  public List<Path> repair(Damaged damaged, BytePace pace)
      throws IOException, InterruptedException {
    damaged.directory().checkAvailable();
    Path segment = damaged.directory().segment(damaged.key());
    try {
      if (FileStatus.isThere(segment)) {
        return repairIn(segment, damaged, pace);
      }
    } catch (IOException e) {
      if (FileStatus.isThere(segment)) {
        throw e;
      }
    }
    // Another broker has deleted or evicted it, perhaps: a listing comes later.
    damaged.directory().checkAvailable();
    store.known.remove(damaged.key().id(), damaged.directory());
    return List.of();
  }

  private List<Path> repairIn(Path segment, Damaged damaged, BytePace pace)
      throws IOException, InterruptedException {
    StoreDirectory directory = damaged.directory();
    SegmentKey key = damaged.key();
    List<Path> replaced = new ArrayList<>();
    Manifest manifest = manifest(segment, directory, key, replaced);
    Located copy = new Located(directory, segment, manifest, true);
    for (StoredObject object : manifest.objects()) {
      Path file = copy.file(object.type());
      if (object.type() == ObjectType.LOG
          && Scrubber.mayLackLog(segment)
          && !FileStatus.isThere(file)) {
        continue;
      }
      if (!isRight(file, object, manifest, pace)) {
        replace(copy, object, pace);
        replaced.add(file);
      }
    }
    CopyMarks.notDamaged(segment);
    store.known.put(manifest, store.known.copyOnDisk(directory, key, segment));
    return replaced;
  }

  private Manifest manifest(
      Path segment, StoreDirectory directory, SegmentKey key, List<Path> replaced)
      throws IOException {
    try {
      return Manifest.read(segment, key);
    } catch (CorruptManifestException | NoSuchFileException e) {
      if (CorruptManifestException.isOfOtherVersion(e)) {
        throw e;
      }
      for (Located other : store.lookup.copies(key).found()) {
        if (!other.directory().equals(directory)) {
          Path file = segment.resolve(StoreNames.MANIFEST);
          ByteBuffer bytes = ByteBuffer.wrap(other.manifest().print());
          Disk.replace(file, (Disk.Making<RuntimeException>) part -> Disk.write(part, bytes));
          replaced.add(file);
          return other.manifest();
        }
      }
      throw e;
    }
  }

  private boolean isRight(Path file, StoredObject object, Manifest manifest, BytePace pace)
      throws IOException, InterruptedException {
    try {
      return store.files.wrong(file, object, manifest, pace).isEmpty();
    } catch (BytePace.CopyCancelledException e) {
      throw e;
    } catch (IOException e) {
      return false; // It is not there, or the disk cannot read it.
    }
  }

  private void replace(Located copy, StoredObject object, BytePace pace)
      throws IOException, InterruptedException {
    Path file = copy.file(object.type());
    IOException failure =
        new IOException(file + ": is damaged, and no other copy of the segment has it right");
    for (Located other : store.lookup.copies(copy.manifest().segment().key()).found()) {
      boolean own = other.directory().equals(copy.directory());
      if (own && (object.type() != ObjectType.LOG || other.hasLog())) {
        continue;
      }
      try {
        Disk.replace(file, part -> store.files.copy(other, object, part, pace));
        return;
      } catch (BytePace.CopyCancelledException e) {
        throw e;
      } catch (IOException e) {
        failure.addSuppressed(e);
      }
    }
    throw failure;
  }
}
