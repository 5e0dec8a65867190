package io.strata.kafka.tier.files;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.strata.kafka.api.SegmentName;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.Slot;
import io.strata.kafka.segment.Segment;
import io.strata.kafka.segment.view.Residence;
import io.strata.kafka.segment.view.SegmentTag;
import io.strata.kafka.tier.directory.SegmentNames;
import io.strata.kafka.tier.durable.FillTime;
import io.strata.kafka.tier.durable.ModificationTimes;
import io.strata.kafka.tier.durable.UnsyncedRenames;
import io.strata.kafka.tier.durable.WholeLogFiles;
import io.strata.kafka.tier.moves.TierState;
import io.strata.kafka.tier.spec.LogDiskPace;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A segment of the tiers, in a pool or in the log file, and where its log file is now.
 *
 * <p>Thread safety: everything may be read by any thread. The log file's path is changed by the
 * thread that renames, under the locks of {@link LogFileNames}.
 */
public final class TieredSegment {

  private final long id;
  private final Segment segment;
  private final Object fileKey;
  private final boolean found;
  private volatile long shownMillis;
  private volatile long filledMillis;
  private volatile Set<SegmentTag> tags = Set.of();

  @GuardedBy("this")
  private int moves;

  private volatile long renamesSettled = -1;
  private volatile boolean active = true;
  private final SegmentRegistry registry;
  private final Function<Path, LogDiskPace> disks;
  private volatile boolean changed;
  private volatile boolean late;
  private volatile boolean notedWhole;
  private final AtomicReference<@Nullable SegmentTag> leftTag = new AtomicReference<>();
  private volatile boolean missing;
  private volatile boolean refused;
  private volatile Optional<IOException> forceFailure = Optional.empty();
  private volatile Place place;

  /** The place that is durable: what leads to the log file there has been forced. */
  private volatile Optional<Place> nameForced = Optional.empty();

  /**
   * Where the log file is, and its disk; another object after each rename.
   *
   * @param directory one object for all segments there
   * @param path ends with the file's name; that of the segment's creation where it does
   * @param current whether it is, by its names, a segment of the replica that the broker serves
   */
  public record Place(Path directory, String path, LogDiskPace disk, boolean current) {

    /** The last name of the log file. */
    String fileName() {
      return lastName(path);
    }

    Path logFile() {
      return directory.resolve(fileName());
    }
  }

  /**
   * A segment of the tiers.
   *
   * @param id given once in this process
   * @param fileKey what the file system knows the log file by, whatever its name
   * @param found whether it was in the log file, all of it, before this object
   * @param registry gets the segment when anything about it has changed
   * @param disks gives the disk that a file is on
   */
  public TieredSegment(
      long id,
      Segment segment,
      Path logFile,
      Object fileKey,
      boolean found,
      SegmentRegistry registry,
      Function<Path, LogDiskPace> disks) {
    this.id = id;
    this.segment = segment;
    this.fileKey = fileKey;
    this.found = found;
    this.registry = registry;
    this.disks = disks;
    this.shownMillis = segment.lastChangeMillis();
    this.place = placeOf(logFile);
  }

  private Place placeOf(Path logFile) {
    String name = String.valueOf(logFile.getFileName());
    String path = segment.createdAs();
    return new Place(
        registry.directoryOf(logFile),
        lastName(path).equals(name) ? path : name,
        disks.apply(logFile),
        isCurrent(SegmentNames.of(logFile)));
  }

  private static String lastName(String path) {
    return path.substring(path.lastIndexOf(File.separatorChar) + 1);
  }

  private static boolean isCurrent(Optional<SegmentName> named) {
    return named
        .map(
            name ->
                name.stage() == SegmentName.Stage.LIVE
                    && name.replica() == SegmentName.Replica.CURRENT)
        .orElse(true);
  }

  /** The segment's number in this process. */
  public long id() {
    return id;
  }

  public Segment segment() {
    return segment;
  }

  /** Up to which rename all is durable, as {@link UnsyncedRenames} counts; -1 at first. */
  public long renamesSettled() {
    return renamesSettled;
  }

  public void renamesSettled(long count) {
    renamesSettled = count;
  }

  /**
   * Returns what the file system knew the log file by when it was admitted; see {@link LogFile}.
   */
  public Object fileKey() {
    return fileKey;
  }

  /** Returns whether it was in the log file, all of it, when this broker opened it first. */
  public boolean found() {
    return found;
  }

  /** Returns where the copy is that is read; empty when all bytes are in the log file. */
  public Optional<Residence> residence() {
    return segment.residence();
  }

  /**
   * Returns whether a move works on it, and must not be passed by a second object for the same
   * file.
   */
  synchronized boolean moving() {
    return moves > 0;
  }

  /** Returns whether a descriptor of ours is open on its log file: no other file has its inode. */
  boolean isHeld() {
    return segment.holdsFile() || moving();
  }

  /**
   * Returns whether its log file was not where it should be when it was looked for last: the
   * segment may be dead, and is not moved.
   */
  public boolean missing() {
    return missing;
  }

  /** Notes whether the log file is missing. */
  public void missing(boolean now) {
    if (missing != now) {
      missing = now;
      registry.relisted(directory());
      changed();
    }
  }

  /** Notes that something about it has changed. Nearly free when that is noted already. */
  public void changed() {
    if (!changed && noteChange()) {
      registry.changed(this);
    }
  }

  private synchronized boolean noteChange() {
    boolean noted = !changed;
    changed = true;
    return noted;
  }

  /** From now on a change is noted again; see {@link SegmentRegistry#takeChanges}. */
  void lookedAt() {
    changed = false;
  }

  /** Returns whether Kafka appended to it when that was last looked at: it keeps its slot then. */
  public boolean active() {
    return active;
  }

  public void active(boolean now) {
    active = now;
  }

  /**
   * Notes that Kafka appends to it, or is about to: when newer ones have been truncated away,
   * before {@link TierState} looks again.
   */
  public void appendedTo() {
    if (!active) {
      active = true;
    }
  }

  /**
   * Returns whether its log file's tag may say that the file is whole; see {@link WholeLogFiles}.
   */
  public boolean notedWhole() {
    return notedWhole;
  }

  public void notedWhole(boolean now) {
    notedWhole = now;
  }

  /** The tag of a slot that it has left, if its log file may have that still, on the medium. */
  public Optional<SegmentTag> leftTag() {
    return Optional.ofNullable(leftTag.get());
  }

  /** Notes the tag of the slot that it is leaving. */
  public void leftTag(SegmentTag tag) {
    leftTag.set(tag);
  }

  /**
   * Notes that its log file has a tag no more, durably so.
   *
   * @param removed of {@link #leftTag()}; that of a slot that it has left since stays noted
   */
  public void forgetLeft(SegmentTag removed) {
    boolean unused = leftTag.compareAndSet(removed, null);
  }

  /** Returns whether it was to begin in a pool, and no pool had space for it. */
  public boolean refused() {
    return refused;
  }

  /** Notes that no pool had space for it. */
  public void refuse() {
    refused = true;
    changed();
  }

  /** Returns why its log file could not be forced; what that force was for is in doubt then. */
  public Optional<IOException> forceFailure() {
    return forceFailure;
  }

  /** Notes that its log file could not be forced. */
  public void forceFailed(IOException cause) {
    forceFailure = Optional.of(cause);
  }

  synchronized void moveBegins() {
    moves++;
  }

  public synchronized void moveEnds() {
    moves--;
  }

  /** The tags that its log file may carry: one, or two while it moves. Immutable. */
  Set<SegmentTag> tags() {
    return tags;
  }

  synchronized void addTag(SegmentTag tag) {
    tags = Stream.concat(tags.stream(), Stream.of(tag)).collect(Collectors.toUnmodifiableSet());
  }

  synchronized void removeTag(SegmentTag tag) {
    tags =
        tags.stream().filter(other -> !other.equals(tag)).collect(Collectors.toUnmodifiableSet());
  }

  /**
   * Returns whether a pool has bytes of it: the log file's tag leads to it then, and otherwise the
   * log file's inode.
   */
  public boolean inPool() {
    return segment.inPool();
  }

  /**
   * The pool that the segment is read from.
   *
   * @throws java.util.NoSuchElementException when it is in the log file
   */
  public Pool pool() {
    return segment.residence().orElseThrow().pool();
  }

  /**
   * The slot that the segment is read from.
   *
   * @throws java.util.NoSuchElementException when it is in the log file
   */
  public Slot slot() {
    return segment.residence().orElseThrow().slot();
  }

  /**
   * Returns what the log file's tag is to be.
   *
   * @throws java.util.NoSuchElementException when it is in the log file
   */
  public SegmentTag tag() {
    return segment.residence().orElseThrow().tag();
  }

  /** Returns where the log file was when it was last opened or renamed through the provider. */
  public Path logFile() {
    return place.logFile();
  }

  /** The directory of the log file; see {@link #logFile}. */
  public Path directory() {
    return place.directory();
  }

  /**
   * Returns what the log file's names say; empty for a file that is no segment of Kafka's by its
   * names. Reads them anew.
   */
  public Optional<SegmentName> name() {
    return SegmentNames.of(logFile());
  }

  /** The offset that the log file's name begins with. */
  public OptionalLong offset() {
    return SegmentNames.offsetOf(place.fileName());
  }

  /** Notes that the log file's modification time is late; false if that is known. */
  public boolean timeIsLate() {
    return !late && noteLate();
  }

  private synchronized boolean noteLate() {
    boolean noted = !late;
    late = true;
    return noted;
  }

  /** From now on a change is noted again; see {@link ModificationTimes}. */
  public void timeIsRefreshed() {
    late = false;
  }

  /** The disk that its log file is on. */
  public LogDiskPace disk() {
    return place.disk();
  }

  /** Returns whether it is, by its names, a segment of the replica that the broker serves. */
  public boolean isCurrent() {
    return place.current();
  }

  /** Returns whether the segment is, by its name, one of a log's, and not on its way out or in. */
  public boolean isLive() {
    return SegmentNames.isLive(place.path())
        || name().map(name -> name.stage() == SegmentName.Stage.LIVE).orElse(true);
  }

  /** The change that the log file's modification time shows. */
  public long shownMillis() {
    return shownMillis;
  }

  /** The least modification time that its log file may have from now on; see {@link FillTime}. */
  public long filledMillis() {
    return filledMillis;
  }

  public void filled(long millis) {
    filledMillis = millis;
  }

  /** Notes what change the log file's modification time shows. */
  public void shows(long millis) {
    shownMillis = millis;
  }

  /** Returns where the log file is now. */
  public Place place() {
    return place;
  }

  /** Returns whether what leads to the log file at a place is known to be durable. */
  @SuppressWarnings("ReferenceEquality")
  public // back at a name is not still there
  boolean nameForced(Place at) {
    Optional<Place> forced = nameForced;
    return forced.isPresent() && forced.get() == at;
  }

  /** Notes that what leads to the log file at a place is durable. */
  public void nameIsForced(Place at) {
    nameForced = Optional.of(at);
  }

  void movedTo(Path newLogFile) {
    place = placeOf(newLogFile);
    missing = false;
    changed();
  }

  @Override
  public String toString() {
    return logFile().toString();
  }
}
