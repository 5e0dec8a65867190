package io.strata.kafka.tier;

import io.strata.kafka.api.PlacementPolicy;
import io.strata.kafka.api.SegmentName;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.util.Optional;
import java.util.Set;

/**
 * Finds and opens segments all of whose bytes are in the log file.
 *
 * <p>Thread safety: all methods may be called by any thread.
 */
final class UnpooledSegments {

  /** What the channel of a segment without a slot knows how to do; the JDK's own has the rest. */
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

  private final LogDirectories logDirectories;
  private final PlacementPolicy placement;
  private final SegmentRegistry registry;
  private final LogFileNames names;
  private final SegmentFactory factory;
  private final HotSegments hot;

  UnpooledSegments(
      LogDirectories logDirectories,
      PlacementPolicy placement,
      SegmentRegistry registry,
      LogFileNames names,
      SegmentFactory factory,
      HotSegments hot) {
    this.logDirectories = logDirectories;
    this.placement = placement;
    this.registry = registry;
    this.names = names;
    this.factory = factory;
    this.hot = hot;
  }

  /** The segment of an untagged file, if a channel is open on it. */
  Optional<TieredSegment> find(Path name) throws IOException {
    try {
      return registry.findInLogFile(LogFileNames.keyOf(name));
    } catch (NoSuchFileException absent) {
      return Optional.empty();
    }
  }

  /**
   * A channel that follows the segment when it moves; empty for a file that will never be hot, for
   * options that are the JDK's business, and for a reader of a file that nobody has opened here to
   * write to.
   */
  Optional<FileChannel> open(
      Path name, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
      throws IOException {
    if (!OPTIONS.containsAll(options) || !mayBecomeHot(name)) {
      return Optional.empty();
    }
    boolean found = Files.exists(name, LinkOption.NOFOLLOW_LINKS);
    if (!found) {
      if (!LogFileChannels.writes(options) || !options.contains(StandardOpenOption.CREATE)) {
        return Optional.empty();
      }
      boolean unused = LogFileChannels.create(name, attributes);
    } else if (!Files.isRegularFile(name, LinkOption.NOFOLLOW_LINKS)) {
      return Optional.empty();
    }
    while (true) {
      FileChannel logFile = LogFileChannels.under(name, options);
      TieredSegment segment;
      try {
        Optional<TieredSegment> tagged = hot.find(name);
        if (tagged.isPresent()) {
          // It was not there when it was asked for its tag: its directory had another name.
          logFile.close();
          return Optional.of(hot.open(tagged.get(), name, options));
        }
        Optional<TieredSegment> known = find(name);
        if (known.isEmpty() && !LogFileChannels.writes(options)) {
          // Whoever writes to it may do so past the provider, as Kafka does with a segment that it
          // has preallocated: such a file is never moved, and read as it is.
          logFile.close();
          return Optional.empty();
        }
        segment = known.isPresent() ? known.get() : factory.inLogFile(name, found);
      } catch (IOException | RuntimeException e) {
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
            && placement.mayBeHot(
                new SegmentName(
                    segment.get().id(), SegmentName.Replica.CURRENT, SegmentName.Stage.LIVE))
        : logDirectories.place(name, placement).isPresent();
  }
}
