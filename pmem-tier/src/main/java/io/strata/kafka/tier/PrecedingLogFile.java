package io.strata.kafka.tier;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Makes durable what the log has before a segment, when a pool is to have bytes of that segment. In
 * the pool they are durable at once. If a power failure took the end of the log file before it,
 * Kafka would not notice the gap, and no replica would close it; and if the power failure undid a
 * truncation there, records that were truncated would be read.
 *
 * <p>Kafka forces the log files before that one when it rolls them.
 *
 * <p>Thread safety: may be called by any thread.
 *
 * @param needed whether an append to a pool is durable when it is acknowledged
 */
record PrecedingLogFile(boolean needed, SegmentRegistry registry) {

  /**
   * Forces what the log has before a segment, unless that is known to be durable. It is durable
   * when this returns.
   *
   * @param segment the log file of the segment, which need not be there
   */
  void force(Path segment) throws IOException {
    if (!needed) {
      return;
    }
    Path partition = Directories.of(segment);
    Optional<Path> preceding = NewestLogFiles.newest(partition, segment);
    if (preceding.isEmpty()) {
      return;
    }
    Optional<TieredSegment> known =
        registry.in(partition).stream()
            .filter(other -> other.logFile().equals(preceding.get()))
            .findFirst();
    if (known.isEmpty()) {
      NewestLogFiles.forceWithEntry(preceding.get());
    } else if (!known.get().segment().isForced()) {
      force(known.get(), partition);
    }
  }

  private static void force(TieredSegment preceding, Path partition) throws IOException {
    try (FileChannel logFile = LogFileChannels.toRead(preceding.logFile())) {
      preceding.segment().force(logFile);
    } catch (NoSuchFileException e) {
      return; // Deleted just now.
    }
    if (preceding.inLogFile()) {
      Directories.forceIfThere(partition);
    }
  }
}
