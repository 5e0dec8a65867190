package io.strata.kafka.tier;

import io.strata.kafka.api.SegmentName;
import io.strata.kafka.migration.FileStatus;
import io.strata.kafka.pool.words.SlotFlag;
import io.strata.kafka.segment.view.Residence;
import io.strata.kafka.segment.view.SegmentTag;
import io.strata.kafka.tier.directory.LogDirectories;
import io.strata.kafka.tier.directory.PoolSet;
import io.strata.kafka.tier.directory.SegmentNames;
import io.strata.kafka.tier.directory.TaggedLogFile;
import io.strata.kafka.tier.files.LogFileChannels;
import io.strata.kafka.tier.files.LogFileNames;
import io.strata.kafka.tier.files.SegmentRegistry;
import io.strata.kafka.tier.files.TieredSegment;
import io.strata.kafka.tier.spec.FailureText;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
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
 * Finds the segment of a file, by the file's tag or, where all bytes are in the log file, by its
 * inode; and opens it.
 *
 * <p>Thread safety: all methods may be called by any thread.
 */
record SegmentFinder(
    PoolSet pools,
    LogDirectories logDirectories,
    Predicate<SegmentName> placement,
    SegmentRegistry registry,
    LogFileNames names,
    SegmentFactory factory) {

  /**
   * The operations of a channel of a segment without a slot; the JDK's own channel has the rest.
   */
  private static final Set<OpenOption> OPTIONS =
      Set.of(
          StandardOpenOption.READ,
          StandardOpenOption.WRITE,
          StandardOpenOption.APPEND,
          StandardOpenOption.CREATE,
          StandardOpenOption.TRUNCATE_EXISTING,
          StandardOpenOption.SPARSE,
          StandardOpenOption.SYNC,
          StandardOpenOption.DSYNC);

  /** The segment of a file, hot or not. */
  Optional<TieredSegment> find(Path file) throws IOException {
    Optional<TieredSegment> hot = findHot(file);
    return hot.isPresent() ? hot : findInLogFile(file);
  }

  /** The segment of an untagged file, if a channel is open on it. */
  Optional<TieredSegment> findInLogFile(Path file) throws IOException {
    return LogFileNames.keyIfThere(file).flatMap(registry::findInLogFile);
  }

  /**
   * The segment of a hot file; empty if the file is not there or is not hot.
   *
   * @throws FileSystemException if no pool has the bytes that the tag says are there
   */
  Optional<TieredSegment> findHot(Path file) throws IOException {
    Optional<SegmentTag> tag = TaggedLogFile.tagOf(file);
    while (tag.isPresent()) {
      Optional<TieredSegment> found = find(tag.get(), file);
      Optional<Object> key = LogFileNames.keyIfThere(file);
      if (found.isPresent() && key.equals(Optional.of(found.get().fileKey()))) {
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
   * Returns whether the file carries a segment's tag and is not its log file: a copy made with its
   * attributes, or a second name of the file. When it is deleted the segment must stay.
   */
  boolean isOther(Path file) throws IOException {
    Optional<TieredSegment> known = TaggedLogFile.tagOf(file).flatMap(registry::find);
    return known.isPresent()
        && (!LogFileNames.leadsTo(file, known.get())
            || LogFileNames.isOtherName(file, known.get()));
  }

  /** Two files with one tag; at a start they are refused too. */
  private static FileSystemException foreign(SegmentTag tag, Path file, TieredSegment segment) {
    return new FileSystemException(
        file.toString(),
        segment.logFile().toString(),
        """
        both files carry the tag of %s, and the second one is the segment's, as far as is known: \
        move the first one, a copy made with its extended attributes perhaps, out of the log \
        directory\
        """
            .formatted(tag));
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
    // Neither recovery nor a placement has admitted it: it is outside the log directories, or else
    // it is not used.
    return logDirectories.forcedPlacement()
        ? Optional.of(admit(live.get(), logFile))
        : knownByNow(tag, logFile);
  }

  /**
   * A segment that recovery could not look at may have bytes in its log file that count or do not:
   * nothing is done with it.
   */
  private Optional<TieredSegment> knownByNow(SegmentTag tag, Path logFile) throws IOException {
    Optional<TieredSegment> known = registry.find(tag);
    if (known.isEmpty() && TaggedLogFile.tagOf(logFile).equals(Optional.of(tag))) {
      throw FailureText.at(
          logFile,
          """
          its bytes are in %s, and it could not be looked at when the broker started: the broker's \
          log says why its directory was skipped; repair that and restart the broker\
          """
              .formatted(tag));
    }
    return known;
  }

  /** Makes the one object that stands for the segment in a slot. */
  TieredSegment admit(Residence residence, Path logFile) throws IOException {
    return registry.add(factory.inPool(residence, logFile));
  }

  /** The log file has the tag, and so cannot be read without what that names. */
  private FileSystemException lost(SegmentTag tag, Path logFile) {
    return FailureText.at(
        logFile,
        """
        its extended attribute says that its bytes are in %s, and no open pool has them there: %s; \
        restart the broker, whose recovery says what to do\
        """
            .formatted(tag, pools.describe()));
  }

  /** A channel on a segment, whose log file is {@code name} now. */
  FileChannel openHot(TieredSegment hot, Path name, Set<? extends OpenOption> options)
      throws IOException {
    FileChannel channel = hot.segment().open(LogFileChannels.under(name, options), options);
    if (!hot.inPool() && registry.addUnpooled(hot) != hot) {
      channel.close();
      throw FailureText.at(name, "it is open by another name");
    }
    hot.missing(false);
    names.openedAs(hot, name);
    return channel;
  }

  /**
   * A channel that follows the segment when it moves; empty for a file that will never be hot, for
   * options that are the JDK's business, and for a reader of a file that was not opened here to
   * write to.
   */
  Optional<FileChannel> openInLogFile(
      Path name, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
      throws IOException {
    if (!OPTIONS.containsAll(options) || !mayBecomeHot(name)) {
      return Optional.empty();
    }
    Optional<BasicFileAttributes> found = FileStatus.of(name, LinkOption.NOFOLLOW_LINKS);
    if (found.isEmpty()) {
      if (!LogFileChannels.writes(options) || !options.contains(StandardOpenOption.CREATE)) {
        return Optional.empty();
      }
      boolean unused = LogFileChannels.create(name, attributes);
    } else if (!found.get().isRegularFile()) {
      return Optional.empty();
    }
    while (true) {
      FileChannel logFile = LogFileChannels.under(name, options);
      TieredSegment segment;
      try {
        Optional<TieredSegment> tagged = findHot(name);
        if (tagged.isPresent()) {
          // It was not there when it was asked for its tag: its directory had another name.
          logFile.close();
          return Optional.of(openHot(tagged.get(), name, options));
        }
        Optional<TieredSegment> known = findInLogFile(name);
        if (known.isEmpty() && !LogFileChannels.writes(options)) {
          // Its writer may bypass the provider, as Kafka does with a segment that it
          // has preallocated: such a file is never moved, and read as it is.
          logFile.close();
          return Optional.empty();
        }
        segment = known.isPresent() ? known.get() : factory.inLogFile(name, found.isPresent());
      } catch (IOException | RuntimeException | Error e) {
        logFile.close();
        throw e;
      }
      FileChannel channel = segment.segment().open(logFile, options);
      if (registry.addUnpooled(segment) == segment) {
        names.openedAs(segment, name);
        return Optional.of(channel);
      }
      // Another thread opened the file by another name meanwhile: one object must stand for it.
      channel.close();
    }
  }

  /**
   * A segment that is in the log file, and that a policy may want in a pool some day: its channels
   * must then follow it there. Others are the JDK's business.
   */
  private boolean mayBecomeHot(Path name) throws IOException {
    // Whatever it is called now: a replica that moves between log directories and what compaction
    // writes become segments by a rename, with their channels open.
    Optional<SegmentName> segment = SegmentNames.of(name);
    return segment.isPresent()
        ? logDirectories.placeOf(name).isPresent()
            && placement.test(
                new SegmentName(
                    segment.get().id(), SegmentName.Replica.CURRENT, SegmentName.Stage.LIVE))
        : logDirectories.place(name, placement).isPresent();
  }
}
