package io.strata.kafka.migration.remote.store.keep;

import io.strata.kafka.migration.EngineEnvironment;
import io.strata.kafka.migration.FileStatus;
import io.strata.kafka.migration.remote.store.disk.CopyMarks;
import io.strata.kafka.migration.remote.store.disk.Deadlines;
import io.strata.kafka.migration.remote.store.disk.DirectoryAccess;
import io.strata.kafka.migration.remote.store.disk.DirectoryAccess.StoreUnavailableException;
import io.strata.kafka.migration.remote.store.disk.Disk;
import io.strata.kafka.migration.remote.store.disk.StoreDirectory;
import io.strata.kafka.migration.remote.store.disk.StoreListing;
import io.strata.kafka.migration.remote.store.disk.StoreMemory;
import io.strata.kafka.migration.remote.store.disk.StoreOptions;
import io.strata.kafka.migration.remote.store.layout.ColdMark;
import io.strata.kafka.migration.remote.store.layout.Manifest;
import io.strata.kafka.migration.remote.store.layout.SegmentKey;
import io.strata.kafka.migration.remote.store.layout.StoreIdentity;
import io.strata.kafka.migration.remote.store.layout.StoreNames;
import io.strata.kafka.migration.remote.store.layout.StoredObject.ObjectType;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ThreadFactory;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * The operations of tools on a directory of the store, while brokers use it or while none does.
 * Tools need no configuration of a broker, and leave no trace in the store.
 */
public final class StoreInspection {
  /** After so long a directory is asked whether it answers, and has as long to do so. */
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private StoreInspection() {}

  /**
   * One copy of a segment, as it is on disk.
   *
   * @param directory the directory of the store that it is in
   * @param moving whether it was published by a move that is not confirmed yet
   * @param damaged whether a broker has found that it is
   */
  public record Found(
      Path directory,
      Path path,
      Manifest manifest,
      boolean hasLog,
      boolean moving,
      boolean damaged,
      Cold cold) {

    public SegmentKey key() {
      return manifest.segment().key();
    }

    /** Returns what it takes of its directory. */
    public long bytes() {
      return hasLog ? manifest.totalBytes() : manifest.totalBytes() - manifest.segment().bytes();
    }
  }

  /** The cold manager's part of a segment. */
  public enum Cold {
    NONE,
    /** It is getting it, or failed to. */
    BEGUN,
    DONE
  }

  /**
   * Works in a directory on another thread, while the directory answers: a network file system may
   * hang, and no signal but that of a kill ends what waits for it then.
   *
   * @throws StoreUnavailableException if the directory does not answer; the work is asked to stop,
   *     and not waited for
   */
  public static <T> T whileItAnswers(Path directory, String what, Deadlines.Work<T> work)
      throws IOException, InterruptedException {
    Optional<ThreadFactory> threads = Optional.of(EngineEnvironment.system().threads());
    DirectoryAccess access =
        new DirectoryAccess(
            directory.toString(),
            new DirectoryAccess.Threads(threads, PATIENCE, System::nanoTime)) {
          @Override
          protected void probe() {
            try {
              StoreIdentity unused = StoreIdentity.read(directory);
            } catch (IOException e) {
              return; // An answer.
            }
          }
        };
    try {
      return access.write(what, work);
    } finally {
      access.close();
    }
  }

  /**
   * Reads the manifests of a directory. Segments that come or go meanwhile may be reported or not.
   *
   * @param unreadable takes a whole sentence for each segment, partition or topic that cannot be
   *     read, with its path
   * @throws IOException if the directory cannot be listed
   */
  public static void list(
      Path directory,
      Predicate<SegmentKey> chosen,
      Consumer<Found> found,
      Consumer<String> unreadable)
      throws IOException {
    StoreListing.list(
        directory,
        new StoreListing.Visitor<RuntimeException>() {
          @Override
          public void segment(SegmentKey key, Path path, BasicFileAttributes attributes)
              throws IOException {
            if (chosen.test(key)) {
              look(directory, key, path, found, unreadable);
            }
          }

          @Override
          public void unlisted(Path path, IOException failure) {
            unreadable.accept(path + ": cannot be listed: " + StoreDirectory.reason(failure));
          }
        });
  }

  private static void look(
      Path directory, SegmentKey key, Path path, Consumer<Found> found, Consumer<String> unreadable)
      throws IOException {
    try {
      Manifest manifest = Manifest.read(path, key);
      Cold cold = Cold.NONE;
      if (FileStatus.isThere(path.resolve(StoreNames.COLD))) {
        cold = ColdMark.read(path).done() ? Cold.DONE : Cold.BEGUN;
      }
      boolean hasLog = FileStatus.isThere(path.resolve(ObjectType.LOG.fileName(key)));
      boolean moving = CopyMarks.isMoving(path);
      boolean damaged = CopyMarks.isDamaged(path);
      found.accept(new Found(directory, path, manifest, hasLog, moving, damaged, cold));
    } catch (NoSuchFileException e) {
      if (FileStatus.isThere(path)) {
        unreadable.accept(path + ": found no file " + e.getFile());
      }
    } catch (IOException e) {
      unreadable.accept(String.valueOf(e.getMessage()));
    }
  }

  /**
   * Returns whether a broker remembers a directory, in its log directories, as one of its store's.
   * A remembered directory that is not there now is taken for unmounted, and no reason not to
   * start.
   */
  public static boolean isRemembered(List<Path> logDirectories, Path directory) {
    try {
      return StoreMemory.read(logDirectories).of(directory).isPresent();
    } catch (IOException e) {
      return false; // Opening the store reports it.
    }
  }

  /**
   * Removes a copy, as a broker does: it is renamed into the trash before, so that nothing partial
   * is ever seen.
   *
   * @return whether it was there
   * @throws IOException if it cannot be removed, or the cold manager has, or may have, its bytes,
   *     which only that manager can remove
   */
  public static boolean remove(Found copy) throws IOException {
    if (FileStatus.isThere(copy.path().resolve(StoreNames.COLD))) {
      throw new IOException(
          """
          %s: found %s, expected none: the cold manager has its bytes, or may have; remove what \
          that manager has of the segment %s by its own tools, then this directory\
          """
              .formatted(copy.path(), StoreNames.COLD, copy.key().id()));
    }
    StoreDirectory directory =
        new StoreDirectory(
            new StoreOptions.Directory(copy.directory(), OptionalLong.empty()),
            0,
            "",
            StoreIdentity.read(copy.directory()),
            DirectoryAccess.Threads.NONE);
    Optional<Path> trashed = directory.trash(copy.key(), "tool-" + StoreNames.randomId());
    if (trashed.isPresent()) {
      Disk.removeTree(trashed.get());
    }
    directory.removeEmptyParents(copy.key());
    return trashed.isPresent();
  }
}
