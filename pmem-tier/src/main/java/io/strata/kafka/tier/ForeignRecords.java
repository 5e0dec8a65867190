package io.strata.kafka.tier;

import static java.util.Objects.requireNonNull;

import io.strata.kafka.api.SegmentName;
import io.strata.kafka.config.MetaProperties;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.Slot;
import io.strata.kafka.pool.SlotFlag;
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
 * of a segment in a pool, or behind it, or would hide that such a broker has dropped some. Such a
 * broker can only have run where the marker was taken away; elsewhere a log file that differs is
 * what a crash has left.
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
    Optional<String> found;
    Optional<Path> newer;
    try {
      found = otherBytes(in, file);
      newer = newerWithin(in, file);
    } catch (IOException e) {
      return; // A failing disk: the recovery of this segment meets it too, and says so.
    }
    String pool = in.pool().info().path().toString();
    Path partition = file.getName(file.getNameCount() - 2);
    if (found.isPresent()) {
      long end = in.slot().committedLength();
      boolean spilled = in.slot().has(SlotFlag.SPILLED);
      throw new FileSystemException(
          file.toString(),
          pool,
          """
          the file has records that are not the segment's in the pool, or lacks some, as it has when \
          a broker ran here without Strata: found %s, expected %s. %s, copy the file elsewhere, then \
          run 'truncate -s 0 %s'%s; to keep the file's, run 'setfattr -x %s %4$s'\
          """
              .formatted(
                  found.get(),
                  (spilled
                          ? "the %s bytes that are in %s, and behind them what has spilled"
                          : "no records but those of the %s bytes in %s")
                      .formatted(end, in.tag()),
                  choice(partition),
                  file,
                  spilled ? " and 'truncate -s %s %s'".formatted(end, file) : "",
                  SegmentTag.ATTRIBUTE));
    }
    if (newer.isPresent()) {
      throw new FileSystemException(
          newer.get().toString(),
          pool,
          """
          the file begins within the records that the pool has of the segment before it, as it does \
          when a broker ran here without Strata: expected it to begin at offset %s or later, where \
          %s ends. %s, move this file and all later ones of the partition elsewhere; to keep the \
          files', run 'setfattr -x %s %s'\
          """
              .formatted(
                  UnknownBytes.dirtyEndOffset(in).orElse(0),
                  in.tag(),
                  choice(partition),
                  SegmentTag.ATTRIBUTE,
                  file));
    }
  }

  private static String choice(Path partition) {
    return """
    Which ones stay is for you to say, with the broker stopped. If other replicas of partition %s \
    are in sync, move its directory out of the log directory, and Kafka replicates it. To keep the \
    pool's records\
    """
        .formatted(partition);
  }

  /**
   * A broker without Strata has appended to the file, or has truncated it below what had spilled.
   */
  private static Optional<String> otherBytes(Residence in, Path file) throws IOException {
    long size = Files.size(file);
    long end = in.slot().committedLength();
    if (in.slot().has(SlotFlag.SPILLED) && size < end) {
      return Optional.of("%s bytes, and nothing of what had spilled".formatted(size));
    }
    OptionalLong first = UnknownBytes.first(in, file);
    return first.isEmpty()
        ? Optional.empty()
        : Optional.of(
            "%s bytes, of which those from %s on are others".formatted(size, first.getAsLong()));
  }

  /** The next log file of the partition, if it begins at a record that the pool has. */
  private static Optional<Path> newerWithin(Residence in, Path file) throws IOException {
    OptionalLong end = UnknownBytes.dirtyEndOffset(in);
    Optional<SegmentName> own = SegmentNames.of(file);
    if (end.isEmpty() || own.isEmpty()) {
      return Optional.empty();
    }
    for (Path other : Directories.list(requireNonNull(file.getParent()))) {
      Optional<SegmentName> name = SegmentNames.of(other);
      if (name.isPresent()
          && name.get().stage() == SegmentName.Stage.LIVE
          && name.get().id().baseOffset() > own.get().id().baseOffset()
          && name.get().id().baseOffset() < end.getAsLong()) {
        return Optional.of(other);
      }
    }
    return Optional.empty();
  }
}
