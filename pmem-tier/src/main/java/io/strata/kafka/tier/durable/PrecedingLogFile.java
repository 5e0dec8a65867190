package io.strata.kafka.tier.durable;

import io.strata.kafka.tier.directory.Directories;
import io.strata.kafka.tier.directory.NewestLogFiles;
import io.strata.kafka.tier.files.LogFileChannels;
import io.strata.kafka.tier.files.SegmentRegistry;
import io.strata.kafka.tier.files.TieredSegment;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Makes durable what the log has before a segment, when a pool is to have bytes of that segment. In
 * the pool they are durable at once. If a power failure took the end of the log file before it,
 * Kafka would not notice the gap, and no replica would close it; and if the power failure undid a
 * truncation there, records that were truncated would be read.
 *
 * <p>Kafka forces each log file when it has rolled it, in the background, and so a few rolls late
 * where the disk is busy.
 *
 * <p>Thread safety: may be called by any thread.
 *
 * @param needed whether an append to a pool is durable when it is acknowledged
 */
public record PrecedingLogFile(boolean needed, SegmentRegistry registry) {

  /** The most log files that Kafka may not have forced yet. */
  private static final int MOST = 8;

  /**
   * Forces what the log has before a segment, back to a log file that is known to be durable. All
   * that is durable when this returns. Takes as long as a flush: no name may be held.
   *
   * @param segment the log file of the segment, which need not be there
   */
  public void force(Path segment) throws IOException {
    if (!needed) {
      return;
    }
    Path partition = Directories.of(segment);
    List<Path> newestFirst = NewestLogFiles.before(partition, segment);
    List<TieredSegment> inPartition = registry.in(partition);
    for (Path logFile : newestFirst.subList(0, Math.min(MOST, newestFirst.size()))) {
      Optional<TieredSegment> known =
          inPartition.stream().filter(other -> other.logFile().equals(logFile)).findFirst();
      if (known.isEmpty()) {
        NewestLogFiles.forceWithEntry(logFile);
      } else if (known.get().segment().isForced()) {
        return;
      } else {
        force(known.get(), partition);
      }
    }
  }

  private static void force(TieredSegment preceding, Path partition) throws IOException {
    try (FileChannel logFile = LogFileChannels.toRead(preceding.logFile())) {
      DurableNames.force(
          preceding, () -> preceding.segment().force(() -> Directories.force(logFile)));
    } catch (NoSuchFileException e) {
      return; // Deleted just now.
    }
    if (!preceding.inPool()) {
      Directories.forceIfThere(partition);
    }
  }
}
