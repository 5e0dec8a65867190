package io.strata.kafka.tier.offline;

import io.strata.kafka.memory.ProgressListener;
import io.strata.kafka.pool.words.SlotFlag;
import io.strata.kafka.segment.CopyResult;
import io.strata.kafka.segment.view.SegmentTag;
import io.strata.kafka.tier.HotTier;
import io.strata.kafka.tier.directory.Directories;
import io.strata.kafka.tier.directory.LogDirectory;
import io.strata.kafka.tier.directory.Marker;
import io.strata.kafka.tier.directory.TierParts;
import io.strata.kafka.tier.durable.FillTime;
import io.strata.kafka.tier.files.TieredSegment;
import io.strata.kafka.tier.space.CopySlots;
import io.strata.kafka.tier.spec.FailureText;
import io.strata.kafka.tier.spec.RecoveryReport;
import io.strata.kafka.tier.spec.TierEvents;
import io.strata.kafka.tier.spec.TierSpec;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * Copies every byte to the log files, so that a broker without Strata can run on the log
 * directories.
 *
 * <p>For each segment: its bytes are written to the log file at their own offsets and forced, read
 * back and compared, the log file's directory entry is made durable, the slot is freed, and the tag
 * is removed. When nothing is left in the pools the log directories lose their marks. A crash at
 * any point leaves a whole copy and a drain that can be run again.
 *
 * <p>Thread safety: used by one thread, with no broker running (the pools' locks see to it).
 */
public final class Drain {
  private static final String MISSING =
      """
      the log file is missing: bring it back with its extended attributes, and drain again; if it \
      was removed on purpose, discard what the pool has of it with 'strata pool forget --directory \
      %s --segment %s --config <server.properties> <pool>'\
      """;

  private Drain() {}

  /**
   * The result of a drain. Immutable.
   *
   * @param bytes how many bytes were copied out of the pools
   * @param kept slots that could not be drained, because their log directory or their log file is
   *     not there, each with the reason
   * @param skipped log directories that could not be looked at, or changed, each with the reason
   */
  public record Report(
      int segments, long bytes, List<String> kept, List<String> skipped, RecoveryReport recovery) {
    /** Copies the lists. */
    public Report {
      kept = List.copyOf(kept);
      skipped = List.copyOf(skipped);
    }

    /** Returns whether the log directories are plain Kafka again. */
    public boolean complete() {
      return kept.isEmpty() && skipped.isEmpty();
    }
  }

  /**
   * Drains all pools of a tier. When it returns, everything is durable in the log file.
   *
   * @throws IOException if a pool is in use or must be refused, or if a segment cannot be brought
   *     the log file; the segments before it are in the log file then, and it is still in the pool
   */
  public static Report run(TierSpec spec, TierEvents events, ProgressListener progress)
      throws IOException {
    return run(spec, events, progress, TierParts.STANDARD);
  }

  /** As {@link #run(TierSpec, TierEvents, ProgressListener)}, with other parts. */
  public static Report run(
      TierSpec spec, TierEvents events, ProgressListener progress, TierParts parts)
      throws IOException {
    try (HotTier tier = HotTier.openToDrain(spec, events, parts)) {
      List<String> kept = new ArrayList<>(tier.recoveryReport().kept());
      List<TieredSegment> segments = new ArrayList<>();
      for (TieredSegment segment : tier.segments()) {
        if (tier.logDirectories().isSkipped(segment.logFile())) {
          kept.add(segment.logFile() + ": its log directory was skipped");
        } else {
          segments.add(segment);
        }
      }
      long total = segments.stream().mapToLong(s -> s.slot().committedLength()).sum();
      long seen = 0;
      long copied = 0;
      progress.progress(0, total);
      for (TieredSegment segment : segments) {
        seen += segment.slot().committedLength();
        copied += drainSegment(tier, segment);
        progress.progress(seen, total);
      }
      for (String file : tier.recoveryReport().orphaned()) {
        kept.add(file + ": " + missing(tier, Path.of(file)));
      }
      List<String> skipped = tier.logDirectories().skippedReasons();
      if (kept.isEmpty() && skipped.isEmpty()) {
        for (LogDirectory directory : tier.logDirectories().all()) {
          tier.release(directory);
        }
        // Last: until here a broker without Strata would miss something, or Strata be in doubt. A
        // marked directory without its identity is taken for a copy without attributes.
        for (LogDirectory directory : tier.logDirectories().all()) {
          Marker.unmark(directory.path());
          directory.forgetIdentity();
        }
      }
      return new Report(segments.size(), copied, kept, skipped, tier.recoveryReport());
    }
  }

  private static String missing(HotTier tier, Path file) {
    return tier.logDirectories().all().stream()
        .filter(directory -> file.startsWith(directory.path()))
        .findFirst()
        .map(of -> MISSING.formatted(of.id(), of.path().relativize(file)))
        .orElse("the log file is missing");
  }

  /** Returns how many bytes were copied. */
  private static long drainSegment(HotTier tier, TieredSegment segment) throws IOException {
    Path logFile = segment.logFile();
    FileTime modified = Files.getLastModifiedTime(logFile);
    long size = Files.size(logFile);
    CopyResult copied;
    try (FileChannel channel =
        FileChannel.open(logFile, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      copied = segment.segment().copyToLogFileAsItIs(channel);
      if (copied.outcome() != CopyResult.Outcome.COPIED) {
        throw changed(logFile);
      }
    }
    boolean fills = copied.bytes() > 0 && copied.end() - copied.bytes() < size;
    Files.setLastModifiedTime(
        logFile,
        fills
            ? FillTime.of(modified, Files.getLastModifiedTime(logFile), Instant.now())
            : modified);
    tier.durableNames().makeDurable(segment);
    // Also from a pool that a power cut empties: the log file is to outlive one from here on.
    Directories.forceNearest(logFile);
    if (!segment.segment().markClean(copied)) {
      throw changed(logFile);
    }
    if (Files.size(logFile) == 0) {
      // Such a log file does not show that a tag was left behind: the tag goes first.
      SegmentTag.remove(logFile);
      Directories.force(logFile);
      free(segment);
    } else {
      if (segment.slot().has(SlotFlag.SPILLED)) {
        noteWhole(segment, logFile);
      }
      free(segment);
      SegmentTag.remove(logFile);
      // Without the pool, a tag that a power failure brings back names bytes that nothing has.
      Directories.force(logFile);
    }
    tier.registry().remove(segment);
    return copied.bytes();
  }

  /**
   * Has the tag say that the file is whole: a spilled segment's last batch may be torn by the end
   * of the broker, and a start would take such a file with a freed slot for an older copy.
   */
  private static void noteWhole(TieredSegment segment, Path logFile) throws IOException {
    segment.residence().orElseThrow().tag().writeWhole(logFile, Files.size(logFile));
    Directories.force(logFile);
  }

  private static FileSystemException changed(Path logFile) {
    return FailureText.at(logFile, "it was changed while it was drained: stop the broker");
  }

  private static void free(TieredSegment segment) throws IOException {
    CopySlots.free(segment.residence().orElseThrow());
  }
}
