package io.strata.kafka.tier.start;

import io.strata.kafka.api.SegmentName;
import io.strata.kafka.pool.FreedSlot;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.segment.ValidRecords;
import io.strata.kafka.segment.view.SegmentTag;
import io.strata.kafka.tier.directory.SegmentNames;
import io.strata.kafka.tier.spec.FailureText;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A tag whose slot is free, or has gone on to another segment. A crash leaves it between an
 * eviction or a drain and the tag's removal; the log file has all bytes then. A partition's
 * directory that was put back from an older copy has such tags too, and its log files lack what
 * only the pool had when the copy was made.
 */
public final class LeftTag {

  private LeftTag() {}

  /**
   * Returns whether a log file may have all of its segment, or is one that Kafka deletes. Asks the
   * tag, then the freed slot's words, then the file's records, which must end with the file. They
   * need not reach the next segment, since compaction leaves gaps behind them.
   */
  static boolean isOfWholeFile(Pool pool, SegmentTag tag, Path file) throws IOException {
    Optional<SegmentName> name = SegmentNames.of(file);
    if (name.isEmpty() || !SegmentNames.isKept(name.get())) {
      return true;
    }
    long size = Files.size(file);
    if (SegmentTag.wholeLength(file).equals(OptionalLong.of(size))) {
      return true;
    }
    Optional<FreedSlot> freed = pool.freed(tag.slot(), tag.generation());
    if (freed.isPresent() && (size < freed.get().length() || !freed.get().spilled())) {
      return size >= freed.get().length();
    }
    // Spilled bytes lie behind a hole, unless that was filled.
    return size > 0 && ValidRecords.problem(file).isEmpty();
  }

  static FileSystemException incomplete(SegmentTag tag, Path file) throws IOException {
    return FailureText.at(
        file,
        """
        found %s bytes, of a segment whose others were in %s, which has been freed since: an older \
        copy of the partition's directory is in its place. Bring back the current one; if it is \
        lost, move this one out of the log directory, and Kafka replicates it; to go on with what \
        the file has, run 'setfattr -x %s %s'\
        """
            .formatted(Files.size(file), tag, SegmentTag.ATTRIBUTE, file));
  }
}
