package io.strata.kafka.tier;

import io.strata.kafka.api.SegmentName;
import io.strata.kafka.migration.FileStatus;
import io.strata.kafka.segment.view.Residence;
import io.strata.kafka.segment.view.SegmentTag;
import io.strata.kafka.tier.directory.Directories;
import io.strata.kafka.tier.directory.LogDirectories;
import io.strata.kafka.tier.directory.LogDirectories.SegmentPlace;
import io.strata.kafka.tier.directory.PoolSet;
import io.strata.kafka.tier.directory.TaggedLogFile;
import io.strata.kafka.tier.durable.DurableNames;
import io.strata.kafka.tier.durable.PrecedingLogFile;
import io.strata.kafka.tier.durable.UnsyncedRenames;
import io.strata.kafka.tier.files.LogFileChannels;
import io.strata.kafka.tier.files.LogFileNames;
import io.strata.kafka.tier.files.SegmentRegistry;
import io.strata.kafka.tier.files.TieredSegment;
import io.strata.kafka.tier.space.CopySlots;
import io.strata.kafka.tier.space.PoolSpace;
import io.strata.kafka.tier.spec.TierCounts;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Gives a file that Kafka makes for a new segment a slot in the first tier that has space and does
 * not pass it on. Without one the segment begins in its log file.
 *
 * <p>Thread safety: all methods may be called by any thread that holds the file's name ({@link
 * LogFileNames}).
 */
record Placement(
    PoolSet pools,
    LogDirectories logDirectories,
    Predicate<SegmentName> mayBeHot,
    SegmentRegistry registry,
    SegmentFinder segments,
    DurableNames durable,
    UnsyncedRenames unsynced,
    PrecedingLogFile preceding,
    PoolSpace space,
    TierCounts counts) {

  /**
   * The result of {@link #open}.
   *
   * @param channel empty if the file is to be opened as a log file
   * @param refused whether it was to be placed and got no place in a pool
   */
  record Placed(Optional<FileChannel> channel, boolean refused) {
    /** For a file that is not to be placed. */
    static final Placed NO = new Placed(Optional.empty(), false);
  }

  /**
   * Makes durable what a pool must not get ahead of, if a file that is opened is one to be placed
   * and the pools have space. Is called before the name is held.
   *
   * @return whether the file may be placed
   */
  boolean forcePreceding(Path name, Set<? extends OpenOption> options) throws IOException {
    if (!preceding.needed()
        || TaggedLogFile.tagOf(name).isPresent()
        || placeFor(name, options).isEmpty()) {
      return true;
    }
    if (!space.mayPlace(pools)) {
      return false;
    }
    try {
      preceding.force(name);
      return true;
    } catch (IOException e) {
      counts.failed("force what is before " + name + "; it goes to the log file", e);
      return false;
    }
  }

  /**
   * Places a file that is opened, if it is one to be placed.
   *
   * @param mayBePlaced whether {@link #forcePreceding} says so
   */
  Placed open(
      Path name,
      boolean mayBePlaced,
      Set<? extends OpenOption> options,
      FileAttribute<?>... attributes)
      throws IOException {
    Optional<SegmentPlace> place = placeFor(name, options);
    if (place.isEmpty()) {
      return Placed.NO;
    }
    Placed placed = mayBePlaced ? place(place.get(), options, attributes) : refused(name);
    if (placed.channel().isEmpty()) {
      // There was no space: there may be something to plan.
      space.wake();
    }
    return placed;
  }

  /**
   * Placed is what is opened as Kafka opens a segment that it will append to, for reading and for
   * writing. A file that is only made or written (as a copy or a restored backup is) stays in the
   * log file, and may become hot when Kafka opens it, if it is still empty then.
   */
  private Optional<SegmentPlace> placeFor(Path name, Set<? extends OpenOption> options)
      throws IOException {
    if (!options.contains(StandardOpenOption.READ) || !options.contains(StandardOpenOption.WRITE)) {
      return Optional.empty();
    }
    boolean create =
        options.contains(StandardOpenOption.CREATE)
            || options.contains(StandardOpenOption.CREATE_NEW);
    Optional<BasicFileAttributes> found = FileStatus.of(name, LinkOption.NOFOLLOW_LINKS);
    if (found.isPresent()) {
      if (options.contains(StandardOpenOption.CREATE_NEW)
          || !found.get().isRegularFile()
          || found.get().size() > 0) {
        return Optional.empty();
      }
    } else if (!create) {
      return Optional.empty();
    }
    return logDirectories.place(name, mayBeHot);
  }

  /** Commit rule 3: the slot first, then the log file, then the log file's tag. */
  private Placed place(
      SegmentPlace place, Set<? extends OpenOption> options, FileAttribute<?>... attributes) {
    Optional<Residence> allocated;
    try {
      unsynced.settle(place.file());
      allocated = space.place(pools, place);
    } catch (IOException e) {
      counts.failed("place " + place.file() + " in a pool; it goes to the log file", e);
      return Placed.NO;
    }
    if (allocated.isEmpty()) {
      return refused(place.file());
    }
    Residence residence = allocated.get();
    boolean created = false;
    Optional<TieredSegment> registered = Optional.empty();
    try {
      created = LogFileChannels.create(place.file(), attributes);
      if (!created) {
        // It was there, and is empty: a process may have been killed while it truncated it to
        // nothing.
        Directories.force(place.file());
      }
      // Known before it can be found by its tag: one object must stand for it.
      TieredSegment segment = segments.admit(residence, place.file());
      registered = Optional.of(segment);
      residence.tag().write(place.file());
      FileChannel channel = segments.openHot(segment, place.file(), options);
      counts.placements().increment();
      durable.makeDurableLater(segment);
      // The one before it is sealed now.
      space.wake();
      return new Placed(Optional.of(channel), false);
    } catch (IOException | RuntimeException e) {
      registered.ifPresent(registry::remove);
      withdraw(residence, place.file(), created, e);
      if (e instanceof RuntimeException unexpected) {
        throw unexpected;
      }
      // The log file will do without the pool; and if it is the log file that fails, the JDK says
      // so best.
      counts.failed("place " + place.file() + " in a pool; it goes to the log file", e);
      return Placed.NO;
    }
  }

  private Placed refused(Path file) {
    counts.refused(file);
    return new Placed(Optional.empty(), true);
  }

  /** Undoes a placement before it can be seen. */
  private void withdraw(Residence residence, Path logFile, boolean created, Exception cause) {
    try {
      residence.slot().markDeleting();
      if (created) {
        Files.deleteIfExists(logFile);
        Directories.forceNearest(Directories.of(logFile));
      } else if (FileStatus.of(logFile).isPresent()) {
        SegmentTag.remove(logFile);
        Directories.force(logFile);
      }
      CopySlots.free(residence);
    } catch (IOException | RuntimeException e) {
      cause.addSuppressed(e);
    }
  }
}
