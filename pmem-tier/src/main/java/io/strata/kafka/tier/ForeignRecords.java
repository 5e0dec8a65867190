package io.strata.kafka.tier;

import io.strata.kafka.config.MetaProperties;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.Slot;
import io.strata.kafka.pool.SlotState;
import io.strata.kafka.segment.Residence;
import io.strata.kafka.segment.SegmentTag;
import io.strata.kafka.segment.UnknownBytes;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Refuses a start that would drop records which a broker without Strata has written to the log file
 * of a segment in a pool. Such a broker can only have run where the marker was taken away;
 * elsewhere a log file that differs is what a crash has left.
 *
 * <p>Thread safety: stateless.
 */
final class ForeignRecords {

  private ForeignRecords() {}

  /**
   * Looks at every tagged log file in the log directories without a marker.
   *
   * @param logFiles the log files by their tags
   * @throws FileSystemException if one has bytes that are not its segment's; nothing has been
   *     changed
   */
  static void refuse(PoolSet pools, LogDirectories directories, Map<SegmentTag, Path> logFiles)
      throws IOException {
    List<Path> unmarked = unmarked(directories);
    for (Map.Entry<SegmentTag, Path> each : logFiles.entrySet()) {
      if (unmarked.stream().anyMatch(each.getValue()::startsWith)) {
        Pool pool = pools.find(each.getKey().pool()).orElseThrow();
        Optional<Slot> slot = pool.slot(each.getKey().slot(), each.getKey().generation());
        if (slot.isPresent() && slot.get().state() == SlotState.LIVE) {
          refuse(new Residence(slot.get(), pool), each.getValue());
        }
      }
    }
  }

  private static List<Path> unmarked(LogDirectories directories) throws IOException {
    List<Path> unmarked = new ArrayList<>();
    for (LogDirectory directory : directories.all()) {
      try {
        if (Marker.isMissing(directory.path())) {
          unmarked.add(directory.path());
        }
      } catch (IOException e) {
        Path file = directory.path().resolve(MetaProperties.FILE_NAME);
        throw new LogDirectoryFailure(directory, file, e);
      }
    }
    return unmarked;
  }

  private static void refuse(Residence in, Path file) throws IOException {
    OptionalLong first;
    try {
      first = UnknownBytes.first(in, file);
    } catch (IOException e) {
      return; // A failing disk: the recovery of this segment meets it, too, and says so.
    }
    if (first.isPresent()) {
      throw new FileSystemException(
          file.toString(),
          in.pool().info().path().toString(),
          """
          the file has records that are not the segment's in the pool, as it has when a broker ran \
          here without Strata: found %s bytes, of which those from %s on are others, expected no \
          records but those of the %s bytes in %s. Which ones stay is for you to say, with the \
          broker stopped. If other replicas of partition %s are in sync, move its directory out of \
          the log directory, and Kafka replicates it. To keep the pool's records, copy the file \
          elsewhere, then run 'truncate -s 0 %s'; to keep the file's, run 'setfattr -x %s %6$s'\
          """
              .formatted(
                  Files.size(file),
                  first.getAsLong(),
                  in.slot().committedLength(),
                  in.tag(),
                  file.getName(file.getNameCount() - 2),
                  file,
                  SegmentTag.ATTRIBUTE));
    }
  }
}
