package io.strata.kafka.tier.durable;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.strata.kafka.api.SegmentName;
import io.strata.kafka.tier.directory.Directories;
import io.strata.kafka.tier.directory.SegmentNames;
import io.strata.kafka.tier.files.TieredSegment;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Knows which directories have a rename that a power failure may undo, and who must wait for it. In
 * a file system renames come in one order with what is done to files; a pool is durable at once,
 * and must not get ahead: a log whose end was truncated, and has grown since, must not come back
 * with segments of the old end in it.
 *
 * <p>Kafka appends, rolls and truncates under a log's lock, and a busy disk takes long to force a
 * directory. So each rename has it forced in the background at once ({@link DurableNames}), and
 * what comes next waits for some renames only:
 *
 * <ul>
 *   <li>of a segment behind which its partition has no records: a truncation removes such ones.
 *       Retention and compaction rename segments before others; if one comes back, it is a part of
 *       the log as the log was, and Kafka removes it again;
 *   <li>of the partition itself;
 *   <li>of what compaction puts in the place of others, when these are deleted.
 * </ul>
 *
 * <p>A process that was killed may have left any. So each directory that is there at the start is
 * taken for one with a rename to wait for.
 *
 * <p>All who wait for one directory share a force: for a rename, or for the name of a file that was
 * made in it. A rename that failed fails all that comes next in that directory, until the restart.
 *
 * <p>Thread safety: all methods may be called by any thread. A rename and what follows upon it are
 * Kafka's to order, by the log's lock.
 */
public final class UnsyncedRenames {

  /** Stands for the segments behind which a partition has no records; no file's name. */
  private static final String LAST_SEGMENT = "/";

  /** Stands for the segments that compaction puts in others' place; no file's name. */
  private static final String REPLACEMENTS = "//";

  private final boolean needed;
  private final ConcurrentMap<Path, Renamed> directories = new ConcurrentHashMap<>();

  /** Directories whose subdirectories were noted: others are younger than this process. */
  private final Set<Path> noted = ConcurrentHashMap.newKeySet();

  /** Partitions that Kafka deletes, among the directories. */
  private final Set<Path> deleted = ConcurrentHashMap.newKeySet();

  /** How many there have been; counted after the directories know. */
  private final AtomicLong renames = new AtomicLong();

  /**
   * None yet.
   *
   * @param needed whether there is a pool that a power cut does not empty, and that may get ahead
   */
  public UnsyncedRenames(boolean needed) {
    this.needed = needed;
  }

  /** One directory: how many renames it has seen, and how many of them are durable. */
  private static final class Renamed {
    private final Path path;
    private final AtomicLong renames = new AtomicLong();
    private final ReentrantLock forcing = new ReentrantLock();

    /** A directory that a change may have to wait for, with the number of its last rename. */
    private final ConcurrentMap<String, Long> awaited = new ConcurrentHashMap<>();

    /** Below 0 while what there was before this process is not known; written under the lock. */
    private volatile long durable;

    /** Whether the directory's own name has been made durable since it got it. */
    private volatile boolean linked;

    /**
     * Why a force failed: the kernel says so once, and a second one that succeeds proves nothing.
     * One for all names that the directory has had.
     */
    private final AtomicReference<@Nullable IOException> failure;

    Renamed(Path path, long durable) {
      this(path, durable, new AtomicReference<>());
    }

    private Renamed(Path path, long durable, AtomicReference<@Nullable IOException> failure) {
      this.path = path;
      this.durable = durable;
      this.failure = failure;
    }

    /** The same directory under another name: nothing is known to be durable under that. */
    Renamed as(Path name) {
      return new Renamed(name, -1, failure);
    }

    boolean failed() {
      return failure.get() != null;
    }

    void more(String name) {
      awaited.merge(name, renames.incrementAndGet(), Math::max);
    }

    void more() {
      long unused = renames.incrementAndGet();
    }

    boolean settled() {
      return durable >= renames.get();
    }

    /** Waits for one of the renames, or for what is not known. */
    void await(String name) throws IOException {
      if (durable < 0 || failed() || awaited.containsKey(name)) {
        settleIfThere();
      }
    }

    /** As {@link #settle}; a directory that is gone has taken its renames with it. */
    void settleIfThere() throws IOException {
      try {
        settle();
      } catch (NoSuchFileException goneOrRenamed) {
        return;
      }
    }

    /**
     * Makes its renames durable. A thread that waited for the lock finds that the one before has
     * forced them too.
     */
    void settle() throws IOException {
      long wanted = renames.get();
      if (durable >= wanted) {
        return;
      }
      forcing.lock();
      try {
        if (durable < wanted) {
          force();
        }
      } finally {
        forcing.unlock();
      }
    }

    @GuardedBy("forcing")
    private void force() throws IOException {
      IOException before = failure.get();
      if (before != null) {
        throw new Directories.ForceFailedException(path, before);
      }
      long now = renames.get();
      try {
        Directories.force(path);
      } catch (Directories.ForceFailedException e) {
        failure.set(e);
        throw e;
      }
      durable = now;
      boolean unused = awaited.values().removeIf(number -> number <= now);
    }
  }

  /**
   * Notes what there was before this process, all of which may have renames that are not durable. A
   * force that has failed since the start, or fails yet, stays failed.
   *
   * @param partitions the subdirectories of a log directory
   * @return the directories to be settled in the background
   */
  public List<Path> found(Path logDirectory, List<Path> partitions) {
    if (!needed) {
      return List.of();
    }
    List<Path> all = Stream.concat(partitions.stream(), Stream.of(logDirectory)).toList();
    all.forEach(
        directory -> {
          directories.compute(
              directory, (path, there) -> there == null ? new Renamed(path, -1) : there.as(path));
          noteIfDeleted(directory);
        });
    noted.add(logDirectory);
    return all;
  }

  /**
   * A directory is about to be renamed, or has been.
   *
   * @param source its name before
   */
  public void directoryRenamed(Path source, Path target) {
    if (needed) {
      known(Directories.of(source)).more(nameOf(source));
      known(Directories.of(target)).more(nameOf(target));
    }
    // A file that is not durable in it is not so under its new name, either.
    Renamed before = directories.remove(source);
    if (before != null && !before.settled()) {
      directories.compute(
          target, (name, there) -> there != null && there.failed() ? there : before.as(name));
      noteIfDeleted(target);
    }
    if (needed) {
      long unused = renames.incrementAndGet();
    }
  }

  /**
   * A file is about to be renamed, or has been.
   *
   * @param last whether its partition has no records behind it
   */
  public void fileRenamed(Path source, Path target, boolean last) {
    if (needed) {
      for (Path directory : directoriesOf(source, target)) {
        if (last) {
          known(directory).more(LAST_SEGMENT);
        }
        if (replaces(target)) {
          known(directory).more(REPLACEMENTS);
        }
        known(directory).more();
      }
      long unused = renames.incrementAndGet();
    }
  }

  /** From this rename on Kafka completes a replacement that a crash has interrupted. */
  private static boolean replaces(Path target) {
    return SegmentNames.of(target)
        .filter(name -> name.stage() == SegmentName.Stage.SWAP)
        .isPresent();
  }

  private static String nameOf(Path directory) {
    return String.valueOf(directory.getFileName());
  }

  /** The directories that a rename changes, which are to be made durable ahead of need. */
  public List<Path> directoriesOf(Path source, Path target) {
    if (!needed) {
      return List.of();
    }
    Path from = Directories.of(source);
    Path to = Directories.of(target);
    return from.equals(to) ? List.of(to) : List.of(from, to);
  }

  /**
   * Makes the renames durable that an append to a segment, or its truncation, waits for. Costs next
   * to nothing when nothing has been renamed since the last call.
   */
  public void settle(TieredSegment segment) throws IOException {
    long before = renames.get();
    if (needed && segment.renamesSettled() != before) {
      settle(segment.logFile());
      segment.renamesSettled(before);
    }
  }

  /** As {@link #settle(TieredSegment)}, of one that is not there yet. */
  public void settle(Path segment) throws IOException {
    if (needed) {
      Path partition = Directories.of(segment);
      known(partition).await(LAST_SEGMENT);
      known(Directories.of(partition)).await(nameOf(partition));
    }
  }

  /**
   * Makes the renames durable that a segment's deletion waits for: a replacement that a power
   * failure undid would leave neither. Retention's renames are not waited for: what comes back by
   * its old name is deleted by its slot.
   */
  public void settleReplacements(Path segment) throws IOException {
    if (needed) {
      Path partition = Directories.of(segment);
      known(partition).await(REPLACEMENTS);
      known(Directories.of(partition)).await(nameOf(partition));
    }
  }

  /** Makes the renames in one directory durable, and forgets partitions that were deleted in it. */
  public void settleDirectory(Path directory) throws IOException {
    known(directory).settleIfThere();
    // Kafka removes them past the tier, and gives no other partition such a name again.
    boolean unused =
        deleted.removeIf(
            partition -> Directories.of(partition).equals(directory) && forgetIfGone(partition));
  }

  private boolean forgetIfGone(Path partition) {
    boolean gone = Files.notExists(partition, LinkOption.NOFOLLOW_LINKS);
    if (gone) {
      directories.remove(partition);
    }
    return gone;
  }

  private void noteIfDeleted(Path directory) {
    if (SegmentNames.isReplica(directory, SegmentName.Replica.DELETED)) {
      deleted.add(directory);
    }
  }

  /** Returns how many directories it knows. */
  int size() {
    return directories.size();
  }

  /**
   * Forces a directory with all that is in it. Callers that come at the same time share the force.
   *
   * @throws NoSuchFileException if it is not there by that name
   * @throws Directories.ForceFailedException if that fails, or has failed before: what comes next
   *     in the directory fails too
   */
  void force(Path directory) throws IOException {
    force(known(directory));
  }

  private void force(Renamed directory) throws IOException {
    directory.more();
    try {
      directory.settle();
    } finally {
      if (directory.failed()) {
        // Segments whose renames were settled look again.
        long unused = renames.incrementAndGet();
      }
    }
  }

  /** Notes that a directory could not be forced: what comes next in it fails. */
  void failed(Path directory, IOException cause) {
    Renamed failed = known(directory);
    failed.more();
    failed.failure.set(cause);
    long unused = renames.incrementAndGet();
  }

  /**
   * Makes the names durable of the files that are in a directory, and once its own; see {@link
   * #force}.
   */
  public void forceNamesIn(Path directory) throws IOException {
    Renamed in = known(directory);
    force(in);
    if (!in.linked) {
      force(Directories.of(directory));
      in.linked = true;
    }
  }

  private Renamed known(Path directory) {
    Renamed known = directories.get(directory);
    if (known != null) {
      return known;
    }
    boolean young = noted.contains(Directories.of(directory));
    Renamed made =
        directories.computeIfAbsent(directory, path -> new Renamed(path, young ? 0 : -1));
    noteIfDeleted(directory);
    return made;
  }
}
