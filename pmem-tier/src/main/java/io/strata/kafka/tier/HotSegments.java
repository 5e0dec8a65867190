package io.strata.kafka.tier;

import io.strata.kafka.pool.SlotFlag;
import io.strata.kafka.segment.Residence;
import io.strata.kafka.segment.SegmentTag;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;

/**
 * Finds the segment that a file's tag names, and opens it.
 *
 * <p>Thread safety: all methods may be called by any thread.
 */
final class HotSegments {

  private final PoolSet pools;
  private final SegmentRegistry registry;
  private final LogFileNames names;
  private final SegmentFactory factory;
  private final boolean admitsUnknown;

  /**
   * The segments of some pools.
   *
   * @param admitsUnknown whether a slot may be admitted that neither recovery nor a placement has:
   *     of a file outside the log directories
   */
  HotSegments(
      PoolSet pools,
      SegmentRegistry registry,
      LogFileNames names,
      SegmentFactory factory,
      boolean admitsUnknown) {
    this.pools = pools;
    this.registry = registry;
    this.names = names;
    this.factory = factory;
    this.admitsUnknown = admitsUnknown;
  }

  /**
   * The segment of a hot file; empty if the file is not there or is not hot.
   *
   * @throws FileSystemException if no pool has the bytes that the tag says are there
   */
  Optional<TieredSegment> find(Path file) throws IOException {
    Optional<SegmentTag> tag = TaggedLogFile.tagOf(file);
    while (tag.isPresent()) {
      Optional<TieredSegment> found = find(tag.get(), file);
      Optional<Object> key = keyOf(file);
      if (found.isPresent() && isFileOf(found.get(), key)) {
        return found;
      }
      // An eviction's new tag, or the removal of the old one, may have come in between; or the file
      // was away, as its directory had another name.
      Optional<SegmentTag> again = TaggedLogFile.tagOf(file);
      if (again.equals(tag) && key.isPresent()) {
        if (found.isPresent()) {
          throw foreign(tag.get(), file, found.get());
        }
        throw lost(tag.get(), file);
      }
      tag = again;
    }
    return Optional.empty();
  }

  /**
   * Whether the file carries a segment's tag and is not its log file: a copy made with its
   * attributes, or a second name of the file. When it is deleted the segment must stay.
   */
  boolean isOther(Path file) throws IOException {
    Optional<TieredSegment> known = TaggedLogFile.tagOf(file).flatMap(registry::find);
    return known.isPresent()
        && (!isFileOf(known.get(), keyOf(file)) || LogFileNames.isOtherName(file, known.get()));
  }

  /**
   * Whether the file is the one that the segment knows. A copy that was made with its attributes
   * carries the same tag: what is done to it must not be done to the segment.
   */
  private static boolean isFileOf(TieredSegment segment, Optional<Object> key) {
    return key.equals(Optional.of(segment.fileKey()));
  }

  /** The file's own identity; empty if it is not there. */
  private static Optional<Object> keyOf(Path file) throws IOException {
    try {
      return Optional.of(LogFileNames.keyOf(file));
    } catch (NoSuchFileException gone) {
      return Optional.empty();
    }
  }

  /** Two files with one tag; at a start they are refused, too. */
  private static FileSystemException foreign(SegmentTag tag, Path file, TieredSegment segment) {
    return new FileSystemException(
        file.toString(),
        segment.logFile().toString(),
        "both files carry the tag of "
            + tag
            + ", and the second one is the segment's, as far as is known: move the first one, a"
            + " copy made with its extended attributes perhaps, out of the log directory");
  }

  /** The segment that a tag names; empty if none does, or none any more. */
  private Optional<TieredSegment> find(SegmentTag tag, Path logFile) throws IOException {
    Optional<TieredSegment> known = registry.find(tag);
    if (known.isPresent()) {
      return known;
    }
    // The log file's tag has gone on from one flagged COPY, or has not come to it yet.
    Optional<Residence> live = pools.live(tag).filter(in -> !in.slot().has(SlotFlag.COPY));
    if (live.isEmpty()) {
      return Optional.empty();
    }
    if (!admitsUnknown) {
      return knownByNow(tag, logFile);
    }
    return Optional.of(admit(live.get(), logFile));
  }

  /**
   * What recovery could not look at may have bytes in its log file that count or do not: nothing is
   * done with it.
   */
  private Optional<TieredSegment> knownByNow(SegmentTag tag, Path logFile) throws IOException {
    Optional<TieredSegment> known = registry.find(tag);
    if (known.isEmpty() && TaggedLogFile.tagOf(logFile).equals(Optional.of(tag))) {
      throw new FileSystemException(
          logFile.toString(),
          null,
          "its bytes are in "
              + tag
              + ", and it could not be looked at when the broker started: the broker's log says why"
              + " its directory was passed over; repair that and restart the broker");
    }
    return known;
  }

  /**
   * Makes the one object that stands for the segment in a slot. One that needs no tag is known when
   * it is open.
   */
  TieredSegment admit(Residence residence, Path logFile) throws IOException {
    TieredSegment segment = factory.inPool(residence, logFile);
    return segment.needsTag() ? registry.add(segment) : segment;
  }

  /** The log file has the tag, and so cannot be read without what that names. */
  private FileSystemException lost(SegmentTag tag, Path logFile) {
    return new FileSystemException(
        logFile.toString(),
        null,
        "its extended attribute says that its bytes are in "
            + tag
            + ", and no open pool has them there: "
            + pools.describe()
            + "; restart the broker, whose recovery says what to do");
  }

  /** A channel on a segment, whose log file is {@code name} now. */
  FileChannel open(TieredSegment hot, Path name, Set<? extends OpenOption> options)
      throws IOException {
    FileChannel channel = hot.segment().open(LogFileChannels.under(name, options), options);
    if (!hot.needsTag() && registry.addUnpooled(hot) != hot) {
      channel.close();
      throw new FileSystemException(name.toString(), null, "it is open by another name");
    }
    hot.missing(false);
    names.openedAs(hot, name);
    return channel;
  }
}
