package io.strata.kafka.migration.remote.store;

import io.strata.kafka.migration.FileStatus;
import io.strata.kafka.migration.remote.store.KnownSegment.StoredCopy;
import io.strata.kafka.migration.remote.store.SegmentStore.Located;
import io.strata.kafka.migration.remote.store.disk.CopyMarks;
import io.strata.kafka.migration.remote.store.disk.DirectoryAccess.StoreUnavailableException;
import io.strata.kafka.migration.remote.store.disk.StoreDirectory;
import io.strata.kafka.migration.remote.store.layout.ColdMark;
import io.strata.kafka.migration.remote.store.layout.JsonFile.CorruptManifestException;
import io.strata.kafka.migration.remote.store.layout.Manifest;
import io.strata.kafka.migration.remote.store.layout.SegmentKey;
import io.strata.kafka.migration.remote.store.layout.StoreNames;
import io.strata.kafka.migration.remote.store.layout.StoredObject.ObjectType;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Finds the copies of segments on disk, and notes of those that are damaged that they are. */
public record CopyLookup(List<StoreDirectory> directories, KnownSegments known, ColdCopies cold) {

  /**
   * Finds a segment on disk, in the fastest level that has its bytes; empty if no directory has it.
   *
   * @throws StoreUnavailableException if it was not found, and a directory that may have it cannot
   *     be used
   * @throws CorruptManifestException if it is there, its manifest is damaged, and no directory is
   *     away
   */
  public Optional<Located> locate(SegmentKey key) throws IOException {
    // A segment that moves between two looks is in neither: the second round finds it.
    Optional<Located> found = Optional.empty();
    for (int round = 0; found.isEmpty() && round < 2; round++) {
      found = copies(directories, key, true, notThere -> {}).found().stream().findFirst();
    }
    return found;
  }

  /**
   * The places that have a segment.
   *
   * @param found first those with its bytes, the fastest first, those that are not known to be
   *     damaged before the others; then those by which the cold manager can be asked; then those
   *     with its indexes alone
   * @param problem why a directory does not say whether it has the segment, or has a wrong manifest
   *     of it; empty if there is none such
   */
  public record Copies(List<Located> found, Optional<IOException> problem) {}

  /**
   * Looks for a segment in all directories.
   *
   * @throws IOException if no copy is found, and a directory that may have one cannot be used
   */
  public Copies copies(SegmentKey key) throws IOException {
    return copies(directories, key, false, notThere -> {});
  }

  /**
   * Finds the copy to move from; one without the log if only the cold manager has it. The inventory
   * is corrected of copies that are gone.
   *
   * @throws CorruptManifestException if no copy has a right manifest
   */
  Optional<Located> best(KnownSegment entry) throws IOException {
    List<StoreDirectory> confirmed =
        entry.copies().stream().filter(c -> !c.moving()).map(StoredCopy::directory).toList();
    return copies(confirmed, entry.key(), true, gone -> known.remove(entry.key().id(), gone))
        .found()
        .stream()
        .findFirst();
  }

  /**
   * Finds the copies in some directories.
   *
   * @param one whether one with its bytes, which is not known to be damaged, is enough
   * @param notThere gets the directories that do not have the segment
   */
  private Copies copies(
      List<StoreDirectory> in, SegmentKey key, boolean one, Consumer<StoreDirectory> notThere)
      throws IOException {
    List<Located> whole = new ArrayList<>();
    List<Located> damaged = new ArrayList<>();
    List<Located> withCold = new ArrayList<>();
    List<Located> without = new ArrayList<>();
    Optional<IOException> problem = Optional.empty();
    for (StoreDirectory directory : in) {
      try {
        Optional<Located> found = lookIn(directory, key);
        if (found.isEmpty()) {
          notThere.accept(directory);
          continue;
        }
        Located copy = found.get();
        boolean isDamaged = copy.hasLog() && CopyMarks.isDamaged(copy.path());
        if (one && copy.hasLog() && !isDamaged) {
          return new Copies(List.of(copy), problem);
        }
        if (cold.seemsToHave(copy.path())) {
          withCold.add(copy.withoutLog());
        } else if (!copy.hasLog()) {
          without.add(copy);
        }
        if (copy.hasLog()) {
          (isDamaged ? damaged : whole).add(copy);
        }
      } catch (IOException e) {
        noteDamage(directory, key, e);
        // A wrong manifest says less than a directory that may have a right one.
        problem =
            problem
                .filter(before -> !(before instanceof CorruptManifestException))
                .or(() -> Optional.of(e));
      }
    }
    List<Located> copies =
        Stream.of(whole, damaged, withCold, without).flatMap(List::stream).toList();
    if (copies.isEmpty() && problem.isPresent()) {
      throw problem.get();
    }
    return new Copies(copies, problem);
  }

  /** The inventory is wrong about a copy that is gone. */
  void forgetIfGone(Located copy) throws IOException {
    if (!FileStatus.isThere(copy.path())) {
      known.remove(copy.key().id(), copy.directory());
    }
  }

  /**
   * Reads bytes of a segment that the cold manager has.
   *
   * @param target gets as many bytes as it has space for; they must be within the segment
   * @throws StoreUnavailableException if a directory that cannot be used may have the bytes, and
   *     the cold manager does not
   * @throws NoSuchFileException if it does not, and they are not where they were
   */
  public void readCold(Located place, long position, ByteBuffer target)
      throws IOException, InterruptedException {
    Optional<ColdMark> mark;
    try {
      mark =
          place
              .directory()
              .read(
                  "reading " + place.path().resolve(StoreNames.COLD),
                  control -> ColdMark.find(place.path()));
    } catch (CorruptManifestException e) {
      noteDamage(place.directory(), place.key(), e);
      throw e;
    }
    if (mark.isEmpty() || !mark.get().done()) {
      throw notCold(place);
    }
    cold.read(place.path(), mark.get(), place.manifest(), position, target);
  }

  /** Returns why a copy without the bytes was asked for them. */
  private IOException notCold(Located place) {
    String log = place.file(ObjectType.LOG).toString();
    for (StoreDirectory directory : directories) {
      try {
        if (lookIn(directory, place.key()).filter(Located::hasLog).isPresent()) {
          return new NoSuchFileException(log);
        }
      } catch (IOException e) {
        return new StoreUnavailableException(
            "%s has the indexes of %s alone, and %s, which may have its bytes, cannot be used: %s"
                .formatted(place.path(), place.key(), directory, e.getMessage()));
      }
    }
    return new NoSuchFileException(
        log,
        null,
        "is not there, and no other copy of the segment has it: check the store with"
            + " 'strata remote scrub'");
  }

  /**
   * Looks for a segment in one directory.
   *
   * @return empty if it is not there
   * @throws StoreUnavailableException if the directory cannot be used
   */
  public Optional<Located> lookIn(StoreDirectory directory, SegmentKey key) throws IOException {
    try {
      return directory.read(
          "looking for %s in %s".formatted(key, directory), control -> lookThere(directory, key));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while %s was looked for".formatted(key));
    }
  }

  private static Optional<Located> lookThere(StoreDirectory directory, SegmentKey key)
      throws IOException {
    Path path = directory.segment(key);
    try {
      Manifest manifest = Manifest.read(path, key);
      boolean hasLog = FileStatus.isThere(path.resolve(ObjectType.LOG.fileName(key)));
      return Optional.of(new Located(directory, path, manifest, hasLog));
    } catch (NoSuchFileException e) {
      directory.checkAvailable();
      return Optional.empty();
    }
  }

  /** As {@link #damaged}, if the problem is a wrong manifest of this version. */
  public void noteDamage(StoreDirectory directory, SegmentKey key, IOException problem) {
    if (problem instanceof CorruptManifestException
        && !CorruptManifestException.isOfOtherVersion(problem)) {
      damaged(directory, key, String.valueOf(problem.getMessage()));
    }
  }

  /**
   * Notes beside a copy, if it can be noted, that it is not what its manifest says, until it is
   * repaired; {@code finding} is the whole sentence.
   */
  public void damaged(StoreDirectory directory, SegmentKey key, String finding) {
    try {
      directory.brief(
          "noting damage of %s in %s".formatted(key, directory),
          control -> CopyMarks.damaged(directory.segment(key), finding));
      known.change(key.id(), directory, copy -> copy.withDamage(true));
    } catch (IOException e) {
      // It was deleted just now, or cannot be written to: a copy is read before another goes.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
