package io.strata.kafka.tier.start;

import static java.util.Objects.requireNonNull;

import io.strata.kafka.api.SegmentName;
import io.strata.kafka.config.key.MetaProperties;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.Slot;
import io.strata.kafka.pool.words.SlotFlag;
import io.strata.kafka.pool.words.SlotState;
import io.strata.kafka.segment.UnknownBytes;
import io.strata.kafka.segment.view.Residence;
import io.strata.kafka.segment.view.SegmentTag;
import io.strata.kafka.tier.directory.Directories;
import io.strata.kafka.tier.directory.LogDirectories;
import io.strata.kafka.tier.directory.LogDirectory;
import io.strata.kafka.tier.directory.LogDirectoryFailure;
import io.strata.kafka.tier.directory.Marker;
import io.strata.kafka.tier.directory.PoolSet;
import io.strata.kafka.tier.directory.SegmentNames;
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
    Optional<FileSystemException> refusal;
    try {
      refusal = refusal(in, file);
    } catch (IOException e) {
      return; // A failing disk: the recovery of this segment meets it too, and says so.
    }
    if (refusal.isPresent()) {
      throw refusal.get();
    }
  }

  private static Optional<FileSystemException> refusal(Residence in, Path file) throws IOException {
    long size = Files.size(file);
    long end = in.slot().committedLength();
    boolean spilled = in.slot().has(SlotFlag.SPILLED);
    OptionalLong first = UnknownBytes.first(in, file);
    if (first.isPresent()) {
      return Optional.of(
          refusal(
              in,
              file,
              """
              the file has records that are not the segment's in the pool: found %s bytes, of which \
              those from %s on are others, expected %s the %s bytes in %s\
              """
                  .formatted(
                      size,
                      first.getAsLong(),
                      spilled ? "what has spilled behind" : "no records but those of",
                      end,
                      in.tag()),
              toKeepThePools(in, file, UnknownBytes.firstFromStart(in, file)),
              "; to keep the file's, run 'setfattr -x %s %s'"
                  .formatted(SegmentTag.ATTRIBUTE, file)));
    }
    if (spilled && size < end) {
      return Optional.of(
          refusal(
              in,
              file,
              """
              the file has none of the spilled bytes: found %s bytes, expected at least the %s that \
              are in %s\
              """
                  .formatted(size, end, in.tag()),
              toKeepThePools(in, file, OptionalLong.of(size)),
              ""));
    }
    Optional<Path> newer = newerWithin(in, file);
    return newer.map(
        other ->
            refusal(
                in,
                other,
                """
                the file begins within the records that the pool has of the segment before it, %s\
                """
                    .formatted(in.tag()),
                Optional.of("move this file and all later ones of the partition elsewhere"),
                ""));
  }

  private static FileSystemException refusal(
      Residence in, Path file, String what, Optional<String> toKeepThePools, String orElse) {
    return new FileSystemException(
        file.toString(),
        in.pool().info().path().toString(),
        """
        %s. That is so when a broker ran here without Strata. Which records stay is for you to say, \
        with the broker stopped. If other replicas of partition %s are in sync, move its directory \
        out of the log directory, and Kafka replicates it%s%s\
        """
            .formatted(
                what,
                file.getName(file.getNameCount() - 2),
                toKeepThePools.map(how -> ". To keep the pool's records, " + how).orElse(""),
                orElse));
  }

  /**
   * The command after which the segment is what the pool has of it, and what is before that in the
   * file.
   *
   * @param first the first byte of the file that is another's, if one is
   * @return empty if the file's bytes before the pool's may be others too, or if the slot would
   *     count bytes of the file that are
   */
  private static Optional<String> toKeepThePools(Residence in, Path file, OptionalLong first) {
    long start = in.slot().extents().start();
    long clean = in.slot().cleanLength();
    long right = Math.min(clean, first.orElse(clean));
    boolean spilled = in.slot().has(SlotFlag.SPILLED);
    boolean mayBeOthers = start > 0 && first.orElse(Long.MAX_VALUE) <= start;
    if (mayBeOthers || (spilled && right < clean)) {
      return Optional.empty();
    }
    String truncate = "truncate -s %s %s".formatted(right, file);
    return Optional.of(
        "copy the file elsewhere, then run '%s'"
            .formatted(
                spilled
                    ? "%s && truncate -s %s %s"
                        .formatted(truncate, in.slot().committedLength(), file)
                    : truncate));
  }

  /** The next log file of the partition, if it begins at a record that the pool has. */
  private static Optional<Path> newerWithin(Residence in, Path file) throws IOException {
    OptionalLong end = UnknownBytes.dirtyEndOffset(in);
    Optional<SegmentName> own = SegmentNames.of(file).filter(ForeignRecords::isLive);
    if (end.isEmpty() || own.isEmpty()) {
      return Optional.empty();
    }
    for (Path other : Directories.list(requireNonNull(file.getParent()))) {
      Optional<SegmentName> name = SegmentNames.of(other).filter(ForeignRecords::isLive);
      if (name.isPresent()
          && name.get().id().baseOffset() > own.get().id().baseOffset()
          && name.get().id().baseOffset() < end.getAsLong()) {
        return Optional.of(other);
      }
    }
    return Optional.empty();
  }

  private static boolean isLive(SegmentName name) {
    return name.stage() == SegmentName.Stage.LIVE;
  }
}
