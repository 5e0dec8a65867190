package io.strata.kafka.migration.remote.store.disk;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.strata.kafka.migration.FileStatus;
import io.strata.kafka.migration.NoSpaceException;
import io.strata.kafka.migration.remote.store.disk.BytePace.CopyCancelledException;
import io.strata.kafka.migration.remote.store.disk.Deadlines.TimeLimitException;
import io.strata.kafka.migration.remote.store.disk.DirectoryAccess.StoreUnavailableException;
import io.strata.kafka.migration.remote.store.layout.SegmentKey;
import io.strata.kafka.migration.remote.store.layout.StoreIdentity;
import io.strata.kafka.migration.remote.store.layout.StoreNames;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileStore;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * One directory of the store: what is made, renamed and removed in it.
 *
 * <p>A segment's directory appears under its name by one rename, whole and durable, and goes by
 * another; nothing partial is ever seen under {@code topics}. Other brokers may use it too.
 */
public final class StoreDirectory extends DirectoryAccess {

  /** Sums of many do not overflow; a file system that grows by itself says more. */
  private static final long MOST_BYTES = 1L << 55;

  /** A publication meets directories that a deletion removes: it makes them again. */
  private static final int ATTEMPTS = 20;

  private final StoreOptions.Directory configured;
  private final Path path;
  private final int level;
  private final StoreIdentity identity;

  /** The capacity that the file system allowed when it was last asked. */
  private volatile long measured;

  /** A directory whose identity was read. */
  public StoreDirectory(
      StoreOptions.Directory configured,
      int level,
      String levelName,
      StoreIdentity identity,
      Threads threads) {
    super(levelName + ":" + configured.path(), threads);
    this.configured = configured;
    this.path = configured.path();
    this.level = level;
    this.identity = identity;
  }

  public Path path() {
    return path;
  }

  public int level() {
    return level;
  }

  public StoreIdentity identity() {
    return identity;
  }

  public Path segment(SegmentKey key) {
    return StoreNames.segment(path, key);
  }

  /** Throws unless the directory is the store's still, and not an empty mount point. */
  public void checkAvailable() throws StoreUnavailableException {
    checkInUse();
    probe();
  }

  /** As {@link #checkAvailable}, though it is suspended. */
  @Override
  public void probe() throws StoreUnavailableException {
    StoreIdentity found;
    try {
      found = StoreIdentity.read(path);
    } catch (NoSuchFileException e) {
      throw new StoreUnavailableException(
          """
          %s: found no %s, expected that of directory %s: is its file system mounted? Nothing is \
          written there until it is back\
          """
              .formatted(path, StoreNames.IDENTITY, identity.directoryId()));
    } catch (IOException e) {
      throw new StoreUnavailableException(path + ": cannot be read: " + reason(e));
    }
    if (!found.directoryId().equals(identity.directoryId())
        || !found.storeId().equals(identity.storeId())) {
      throw new StoreUnavailableException(
          """
          %s: found directory %s of store %s, expected directory %s of store %s: another file \
          system is mounted there\
          """
              .formatted(
                  path,
                  found.directoryId(),
                  found.storeId(),
                  identity.directoryId(),
                  identity.storeId()));
    }
  }

  /**
   * Notes that a copy into the directory has failed, if that was the directory's fault: it was
   * neither cancelled, nor kept from its source, nor ended by a fault of the JVM's.
   *
   * @return whether it was the directory's fault
   */
  @CanIgnoreReturnValue
  public boolean copyFailed(SegmentKey key, IOException failure) {
    Throwable cause = failure.getCause();
    boolean isFaultOfJvm = cause instanceof Error && !(cause instanceof InternalError);
    if (failure instanceof SourceException
        || SourceException.isCancellation(failure)
        || isFaultOfJvm) {
      return false;
    }
    copies.failed("copying %s to %s failed: %s".formatted(key, this, reason(failure)));
    return true;
  }

  /** A file system exception has its reason apart from its files. */
  public static String reason(IOException e) {
    if (e instanceof FileSystemException fs && fs.getReason() != null) {
      return fs.getReason() + " (" + fs.getFile() + ")";
    }
    return e instanceof TimeLimitException
        ? String.valueOf(e.getMessage())
        : e.getClass().getSimpleName() + ": " + e.getMessage();
  }

  /** Returns what the store may take here at most; 0 until it is known. Does no I/O. */
  public long capacityBytes() {
    return configured.capacityBytes().orElse(measured);
  }

  public void measure() throws IOException {
    measured = Math.min(MOST_BYTES, Files.getFileStore(path).getTotalSpace()) / 100 * 95;
  }

  /**
   * The space that can be written: less than the file system has, which must not become quite full.
   */
  public long freeBytes(long usedBytes) throws IOException {
    measure();
    FileStore store = Files.getFileStore(path);
    long usable = store.getUsableSpace() - store.getTotalSpace() / 100;
    return Math.max(0, Math.min(capacityBytes() - usedBytes, usable));
  }

  /**
   * Makes a new, empty directory for a copy; what an earlier attempt left in its place is removed.
   *
   * @param owner names the process in staging
   */
  public Path stage(String owner, SegmentKey key) throws IOException {
    checkAvailable();
    Path staging = path.resolve(StoreNames.STAGING).resolve(owner);
    Path staged = Files.createDirectories(staging).resolve(StoreNames.segment(key));
    Disk.removeTree(staged);
    return Files.createDirectory(staged);
  }

  /**
   * Gives a whole, durable copy its place; its entry there is durable when this returns.
   *
   * @param staged its directory, with files alone
   * @param wanted asked directly before it gets its place: what comes before may hang for long
   * @throws FileAlreadyExistsException if the segment is there already
   * @throws CopyCancelledException if it is not wanted any more
   */
  void publish(Path staged, SegmentKey key, BooleanSupplier wanted) throws IOException {
    Path target = segment(key);
    for (int attempt = 1; ; attempt++) {
      try {
        checkAvailable();
        Path topics = path.resolve(StoreNames.TOPICS);
        if (!FileStatus.isThere(topics)) {
          // Made when the directory was first used: without it, it is not the one that was.
          throw new StoreUnavailableException(
              topics
                  + ": is not there, expected it since the directory was first used; was it"
                  + " removed?");
        }
        Path unusedParent = Files.createDirectories(Disk.parent(target));
        if (FileStatus.isThere(target)) {
          throw new FileAlreadyExistsException(target.toString());
        }
        check(wanted);
        Path unused = Files.move(staged, target, StandardCopyOption.ATOMIC_MOVE);
        forceParents(target);
        return;
      } catch (NoSuchFileException e) {
        // A deletion has just removed the empty directory of the partition.
        if (attempt == ATTEMPTS || !FileStatus.isThere(staged)) {
          throw e;
        }
      }
    }
  }

  private static void check(BooleanSupplier wanted) throws CopyCancelledException {
    if (!wanted.getAsBoolean()) {
      throw new CopyCancelledException("nobody waits for it any more");
    }
  }

  /** All of them: another copy may have made one, and not have forced it yet. */
  private void forceParents(Path segment) throws IOException {
    for (Path at = Disk.parent(segment); !at.equals(path); at = Disk.parent(at)) {
      Disk.forceDirectory(at);
    }
  }

  /** Makes durable what a segment's directory has, and its own entry. */
  public void force(SegmentKey key) throws IOException {
    Disk.forceDirectory(segment(key));
    forceParents(segment(key));
  }

  /** Returns where {@link #trash} renames a segment to. */
  Path trashed(SegmentKey key, String nonce) {
    return path.resolve(StoreNames.TRASH).resolve(StoreNames.segment(key) + "-" + nonce);
  }

  /**
   * Renames a segment's directory into the trash: it cannot be seen any more, and no broker takes
   * it out again. That is durable when this returns, also if another broker has renamed it.
   *
   * <p>A file system may want space for a rename, and not for a removal: btrfs does, where a quota
   * is used up. There a segment is removed in its place, or nothing would ever give space back.
   *
   * @param nonce makes its name there one of this process
   * @return where it is now, if something of it is left; empty if it was not there
   */
  public Optional<Path> trash(SegmentKey key, String nonce) throws IOException {
    return trash(key, nonce, () -> true);
  }

  /**
   * As {@link #trash(SegmentKey, String)}.
   *
   * @param wanted asked directly before it is renamed: what comes before may hang for long
   * @throws CopyCancelledException if it is to stay
   */
  Optional<Path> trash(SegmentKey key, String nonce, BooleanSupplier wanted) throws IOException {
    checkAvailable();
    Path place = segment(key);
    Path trashed = trashed(key, nonce);
    Path trash = Disk.parent(trashed);
    boolean moved = true;
    check(wanted);
    try {
      Path unused = Files.move(place, trashed, StandardCopyOption.ATOMIC_MOVE);
    } catch (NoSuchFileException e) {
      if (!FileStatus.isDirectory(trash)) {
        throw e;
      }
      moved = false;
    } catch (FileSystemException e) {
      if (!NoSpaceException.isCauseOf(e)) {
        throw e;
      }
      moved = FileStatus.isThere(place);
      Disk.removeTree(place);
    }
    // The broker that renamed it may not have forced that, and a power cut would bring it back.
    forceNoEntry(place);
    if (!moved) {
      return Optional.empty();
    }
    Disk.forceDirectory(trash);
    return Optional.of(trashed);
  }

  /** Makes durable that an entry is not there, or a directory above it, which is empty then. */
  private void forceNoEntry(Path place) throws IOException {
    Path topics = path.resolve(StoreNames.TOPICS);
    for (Path at = Disk.parent(place); ; at = Disk.parent(at)) {
      try {
        Disk.forceDirectory(at);
        return;
      } catch (NoSuchFileException e) {
        if (at.equals(topics)) {
          throw e;
        }
      }
    }
  }

  /** Removes the directories of a partition, a topic id and a topic that have become empty. */
  public void removeEmptyParents(SegmentKey key) throws IOException {
    Path top = path.resolve(StoreNames.TOPICS);
    for (Path at = Disk.parent(segment(key)); !at.equals(top); at = Disk.parent(at)) {
      if (FileStatus.isDirectory(at) && !Disk.removeIfEmpty(at)) {
        return;
      }
    }
  }
}
