package io.strata.kafka.migration.remote.store.keep;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.strata.kafka.migration.FileStatus;
import io.strata.kafka.migration.remote.store.ColdCopies;
import io.strata.kafka.migration.remote.store.ObjectFiles;
import io.strata.kafka.migration.remote.store.disk.Disk;
import io.strata.kafka.migration.remote.store.disk.Leftovers;
import io.strata.kafka.migration.remote.store.disk.StoreDirectory;
import io.strata.kafka.migration.remote.store.disk.StoreListing;
import io.strata.kafka.migration.remote.store.layout.ColdMark;
import io.strata.kafka.migration.remote.store.layout.JsonFile.CorruptManifestException;
import io.strata.kafka.migration.remote.store.layout.Manifest;
import io.strata.kafka.migration.remote.store.layout.SegmentKey;
import io.strata.kafka.migration.remote.store.layout.StoreIdentity;
import io.strata.kafka.migration.remote.store.layout.StoreNames;
import io.strata.kafka.migration.remote.store.layout.StoredObject;
import io.strata.kafka.migration.remote.store.layout.StoredObject.ObjectType;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Checks a directory of the store against its manifests, and finds what is left over. It may run
 * while brokers use the directory: what comes and goes meanwhile is not reported.
 *
 * <p>Thread safety: used by one thread; others, and other processes, may do the same.
 */
public final class Scrubber {

  /** The names that a segment's directory may have beside the segment's files. */
  private static final Set<String> OURS =
      Set.of(
          StoreNames.MANIFEST,
          StoreNames.COLD,
          StoreNames.WITHOUT_LOG,
          StoreNames.MOVING,
          StoreNames.DAMAGED);

  /** Depth of a look at a copy. */
  public enum Depth {
    /** At manifests, names and lengths. */
    LOOK,
    /** At every byte. */
    READ
  }

  /**
   * The scope of a check.
   *
   * @param chosen which segments; leftovers are looked for only if {@code everything}
   * @param removeOrphans whether leftovers are removed that are old enough
   */
  public record Options(
      Depth depth,
      Predicate<SegmentKey> chosen,
      boolean everything,
      boolean removeOrphans,
      Duration orphanAge) {

    /** Everything. */
    public static Options all(Depth depth, boolean removeOrphans, Duration orphanAge) {
      return new Options(depth, key -> true, true, removeOrphans, orphanAge);
    }
  }

  /** Is notified of what goes on. */
  public interface Listener {
    /** Before so many bytes are read; may wait, or throw {@link InterruptedException} to stop. */
    void before(int bytes) throws InterruptedException;

    /**
     * A segment was checked.
     *
     * @param objects how many of its files
     * @param bytes how many bytes of them were read
     */
    void checked(SegmentKey key, Path directory, int objects, long bytes);

    void found(Finding finding);

    /** Something is wrong with a segment's data: {@link #found} gets it too. */
    default void damaged(SegmentKey key, Finding finding) {}

    void removed(Path orphan);
  }

  private final Path directory;
  private final Options options;
  private final InstantSource clock;
  private final String owner;
  private final Listener listener;
  private final ObjectFiles files = new ObjectFiles(new ColdCopies(Optional.empty()));
  private Optional<String> storeId = Optional.empty();
  private boolean all = true;

  private Scrubber(
      Path directory, Options options, InstantSource clock, String owner, Listener listener) {
    this.directory = directory;
    this.options = options;
    this.clock = clock;
    this.owner = owner;
    this.listener = listener;
  }

  /**
   * Checks a directory.
   *
   * @param owner a process at work, whose staging is left alone; empty for none
   * @return whether all topics and partitions could be listed
   * @throws IOException if the directory cannot be listed
   */
  @CanIgnoreReturnValue
  public static boolean scrub(
      Path directory, Options options, InstantSource clock, String owner, Listener listener)
      throws IOException, InterruptedException {
    Scrubber scrubber = new Scrubber(directory, options, clock, owner, listener);
    scrubber.run();
    return scrubber.all;
  }

  private void run() throws IOException, InterruptedException {
    readIdentity();
    StoreListing.list(
        directory,
        new StoreListing.Visitor<InterruptedException>() {
          @Override
          public void segment(SegmentKey key, Path path, BasicFileAttributes attributes)
              throws IOException, InterruptedException {
            if (options.chosen().test(key)) {
              check(key, path);
            }
          }

          @Override
          public void unlisted(Path path, IOException failure) {
            if (!hasGone(path)) {
              all = false;
              found(
                  Finding.Kind.UNREADABLE,
                  path,
                  "cannot be listed: " + StoreDirectory.reason(failure));
            }
          }

          @Override
          public void stranger(Path path) {
            found(Finding.Kind.STRANGER, path, "is nothing that Strata makes; it is left alone");
          }
        });
    if (options.everything()) {
      for (Leftovers.Piece piece : Leftovers.find(directory, Optional.empty(), owner)) {
        orphan(piece);
      }
    }
  }

  /** On NFS, the list of a directory that has just been removed may fail with "stale". */
  private static boolean hasGone(Path path) {
    try {
      return !FileStatus.isThere(path);
    } catch (IOException e) {
      return false; // That cannot be told either.
    }
  }

  private void readIdentity() throws IOException {
    Path file = directory.resolve(StoreNames.IDENTITY);
    try {
      storeId = Optional.of(StoreIdentity.read(directory).storeId());
    } catch (NoSuchFileException e) {
      String message =
          """
          %s: found no %s, expected one: it is no directory of a remote store, or its file system \
          is not mounted\
          """
              .formatted(directory, StoreNames.IDENTITY);
      listener.found(new Finding(Finding.Kind.MISSING, file, message));
    } catch (CorruptManifestException e) {
      listener.found(new Finding(Finding.Kind.UNREADABLE, file, String.valueOf(e.getMessage())));
    }
  }

  private void check(SegmentKey key, Path path) throws IOException, InterruptedException {
    try {
      Manifest manifest = Manifest.read(path, key);
      if (storeId.isPresent() && !storeId.get().equals(manifest.storeId())) {
        found(
            Finding.Kind.FOREIGN,
            path,
            "found a segment of store %s, expected one of store %s"
                .formatted(SegmentKey.printable(manifest.storeId()), storeId.get()));
      }
      int objects = 0;
      long read = 0;
      for (StoredObject object : manifest.objects()) {
        if (object.type() == ObjectType.LOG
            && !FileStatus.isThere(path.resolve(ObjectType.LOG.fileName(key)))
            && mayLackLog(path)) {
          continue;
        }
        read += check(path.resolve(object.type().fileName(key)), object, manifest);
        objects++;
      }
      names(path, manifest);
      listener.checked(key, path, objects, read);
    } catch (NoSuchFileException e) {
      if (FileStatus.isThere(path)) {
        Path file = path.resolve(StoreNames.MANIFEST);
        damaged(
            key, Finding.Kind.MISSING, file, file + ": is not there; the segment cannot be read");
      }
    } catch (ClosedByInterruptException e) {
      throw new InterruptedException("the scrub was stopped"); // No fault of the segment's.
    } catch (IOException e) {
      if (FileStatus.isThere(path)) {
        damaged(key, Finding.Kind.UNREADABLE, path, String.valueOf(e.getMessage()));
      }
    }
  }

  /** Asked when the log is not there: what says that it need not be comes before it goes. */
  static boolean mayLackLog(Path segment) throws IOException {
    return FileStatus.isThere(segment.resolve(StoreNames.WITHOUT_LOG))
        || (FileStatus.isThere(segment.resolve(StoreNames.COLD)) && ColdMark.read(segment).done());
  }

  private void found(Finding.Kind kind, Path path, String text) {
    listener.found(new Finding(kind, path, path + ": " + text));
  }

  private void damaged(SegmentKey key, Finding.Kind kind, Path path, String message) {
    Finding finding = new Finding(kind, path, message);
    listener.found(finding);
    listener.damaged(key, finding);
  }

  /** Checks one file; returns how many bytes were read. */
  private long check(Path file, StoredObject object, Manifest manifest)
      throws IOException, InterruptedException {
    SegmentKey key = manifest.segment().key();
    boolean read = options.depth() == Depth.READ;
    try {
      String wrong =
          read
              ? files.wrong(file, object, manifest, listener::before)
              : ObjectFiles.wrongLength(file, object);
      if (!wrong.isEmpty()) {
        damaged(key, Finding.Kind.CORRUPT, file, file + ": " + wrong);
      }
      return read ? object.bytes() : 0;
    } catch (NoSuchFileException e) {
      if (FileStatus.isThere(Disk.parent(file))) {
        damaged(
            key,
            Finding.Kind.MISSING,
            file,
            file + ": is not there, expected it: its manifest names it");
      }
      return 0;
    }
  }

  /** Looks for what does not belong in a segment's directory. */
  private void names(Path path, Manifest manifest) throws IOException {
    Set<String> known = new HashSet<>(OURS);
    for (StoredObject object : manifest.objects()) {
      known.add(object.type().fileName(manifest.segment().key()));
    }
    for (Path entry : StoreListing.entries(path)) {
      String name = StoreListing.name(entry);
      if (Leftovers.isPart(name)) {
        orphan(Leftovers.Piece.of(entry, false));
      } else if (!known.contains(name)) {
        found(Finding.Kind.STRANGER, entry, "is nothing that Strata makes; it is left alone");
      } else if (name.equals(StoreNames.MOVING) && isOld(Leftovers.Piece.of(entry, false))) {
        found(
            Finding.Kind.UNCONFIRMED,
            path,
            "was copied between levels and not confirmed; the broker that moves segments settles"
                + " it");
      }
    }
  }

  /** Otherwise another broker may be at work on it. */
  private boolean isOld(Leftovers.Piece piece) {
    return piece.olderThan(options.orphanAge(), clock.millis());
  }

  private void orphan(Leftovers.Piece piece) throws IOException {
    if (!isOld(piece)) {
      return;
    }
    String remedy = "can be removed";
    if (options.removeOrphans()) {
      try {
        Leftovers.remove(directory, piece, StoreNames.randomId());
        listener.removed(piece.path());
        return;
      } catch (IOException e) {
        remedy = "cannot be removed now: " + StoreDirectory.reason(e);
      }
    }
    found(
        Finding.Kind.ORPHAN,
        piece.path(),
        "was left by a copy or a deletion that did not end; it " + remedy);
  }

  /**
   * Something in the store that is not as it should be.
   *
   * @param message the whole sentence: what was found, what is expected
   */
  public record Finding(Kind kind, Path path, String message) {

    /** The kinds of fault. */
    public enum Kind {
      /** A file's bytes are not what its manifest says. */
      CORRUPT,
      /** A file is missing that the manifest names. */
      MISSING,
      /** A manifest, another file that describes, or a directory cannot be read. */
      UNREADABLE,
      /** It belongs to another store. */
      FOREIGN,
      /** A file or directory that Strata does not make. */
      STRANGER,
      /** Left by a process that died: nothing refers to it. */
      ORPHAN,
      /** A move's copy that was never confirmed; the broker that moves segments will settle it. */
      UNCONFIRMED;

      /** Returns whether data is at risk. */
      public boolean damage() {
        return this == CORRUPT || this == MISSING || this == UNREADABLE;
      }
    }
  }
}
