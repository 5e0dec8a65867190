package io.strata.kafka.tier.offline;

import static java.util.Objects.requireNonNull;

import io.strata.kafka.api.SegmentId;
import io.strata.kafka.api.SegmentName;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.PoolReader;
import io.strata.kafka.pool.Slot;
import io.strata.kafka.pool.words.PoolOwner;
import io.strata.kafka.pool.words.SlotFlag;
import io.strata.kafka.pool.words.SlotSnapshot;
import io.strata.kafka.pool.words.SlotState;
import io.strata.kafka.segment.ValidRecords;
import io.strata.kafka.segment.view.Residence;
import io.strata.kafka.segment.view.SegmentTag;
import io.strata.kafka.tier.directory.Directories;
import io.strata.kafka.tier.directory.LogDirectory;
import io.strata.kafka.tier.directory.NewestLogFiles;
import io.strata.kafka.tier.directory.RecoveryPoints;
import io.strata.kafka.tier.directory.SegmentFiles;
import io.strata.kafka.tier.directory.SegmentNames;
import io.strata.kafka.tier.directory.TaggedLogFile;
import io.strata.kafka.tier.durable.WholeLogFiles;
import io.strata.kafka.tier.spec.FailureText;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.BiPredicate;
import java.util.function.Predicate;

/**
 * Goes on without the records that only a lost pool had. Each log file is a valid beginning of its
 * segment, and a tag says whether it is all of it ({@link WholeLogFiles}). In a partition that had
 * segments in the pool, the first segment that may lack records stays and ends the log: later ones
 * are deleted, since Kafka itself does not look for a gap. Its next start recovers the log as after
 * a power failure, and fetches the rest from the other replicas.
 *
 * <p>In this order, each step durable before the next, so that all can be done again after a crash:
 * the log directory loses Kafka's note of a clean stop (which has the broker report to the
 * controller so too: KIP-966); the partitions' recovery points are lowered; the files after the
 * first segment that may lack records are deleted; the others lose their tags.
 *
 * <p>Thread safety: used by one thread, with no broker running.
 */
public final class AcceptedLoss {

  private AcceptedLoss() {}

  /**
   * A partition with log files of a lost pool. Immutable.
   *
   * @param directory its directory, whatever Kafka calls it at the moment
   * @param firstSegment the base offset of the first segment that may lack records: Kafka recovers
   *     the log from there; empty if none does
   * @param fromOffset the first offset that may be missing: all before it are there
   * @param dropped the files that come after it, the last first
   * @param droppedOffsets those of the segments among them
   * @param inPool those of them that a pool has bytes of
   * @param files the log files whose tags are to be removed
   */
  public record Loss(
      String topic,
      int partition,
      Path directory,
      OptionalLong firstSegment,
      long fromOffset,
      List<Path> dropped,
      long droppedBytes,
      Offsets droppedOffsets,
      List<Path> inPool,
      List<Path> files) {
    /** Copies the lists. */
    public Loss {
      dropped = List.copyOf(dropped);
      inPool = List.copyOf(inPool);
      files = List.copyOf(files);
    }
  }

  /**
   * Offsets of deleted segments. Immutable.
   *
   * @param from the first one's base offset
   * @param end the offset behind the last record that their files have
   */
  public record Offsets(long from, long end) {}

  /**
   * A log directory that could not be looked at. Immutable.
   *
   * @param logDirectory as configured
   * @param reason what was found: one phrase, which names the file where it is not the directory
   */
  public record Skipped(Path logDirectory, String reason) {}

  /**
   * The records that are lost. Immutable.
   *
   * @param losses by log directory, then by partition
   * @param skipped the log directories that could not be read to the end: whatever has been lost in
   *     them is not in the other list
   */
  public record Plan(Map<Path, List<Loss>> losses, List<Skipped> skipped) {
    /** Copies the collections. */
    public Plan {
      losses = Map.copyOf(losses);
      skipped = List.copyOf(skipped);
    }

    /** Leaves out the log directories in which {@link AcceptedLoss#run} has failed. */
    public Plan without(List<Skipped> failed) {
      Map<Path, List<Loss>> done = new TreeMap<>(losses);
      failed.forEach(each -> done.remove(each.logDirectory()));
      List<Skipped> all = new ArrayList<>(skipped);
      all.addAll(failed);
      return new Plan(done, all);
    }

    /** The partitions that may lack records, by directory. */
    public List<Loss> lacking() {
      return new TreeMap<>(losses)
          .values().stream()
              .flatMap(List::stream)
              .filter(loss -> loss.firstSegment().isPresent())
              .toList();
    }
  }

  /**
   * Finds what is lost. Changes nothing.
   *
   * @param lost whether no slot has the bytes any more that a log file of a log directory names
   */
  public static Plan plan(Collection<Path> logDirectories, BiPredicate<Path, TaggedLogFile> lost)
      throws IOException {
    Map<Path, List<Loss>> losses = new TreeMap<>();
    List<Skipped> skipped = new ArrayList<>();
    for (Path configured : logDirectories) {
      if (!Files.isDirectory(configured)) {
        skipped.add(new Skipped(configured, "it is not there, or is no directory"));
        continue;
      }
      try {
        List<Loss> inThis = lossesIn(configured.toRealPath(), file -> lost.test(configured, file));
        if (!inThis.isEmpty()) {
          losses.put(configured.toRealPath(), inThis);
        }
      } catch (FileSystemException e) {
        // Its disk fails, or something in it belongs to another user: the others go on.
        skipped.add(new Skipped(configured, FailureText.of(e)));
      }
    }
    return new Plan(losses, skipped);
  }

  private static List<Loss> lossesIn(Path logDirectory, Predicate<TaggedLogFile> lost)
      throws IOException {
    Map<Path, Map<SegmentName, Path>> partitions = new TreeMap<>();
    for (TaggedLogFile logFile : TaggedLogFile.in(logDirectory)) {
      Optional<SegmentName> name = SegmentNames.of(logFile.named());
      if (name.isPresent() && lost.test(logFile)) {
        partitions
            .computeIfAbsent(Directories.of(logFile.named()), directory -> new HashMap<>())
            .put(name.get(), logFile.named());
      }
    }
    List<Loss> losses = new ArrayList<>();
    for (Map.Entry<Path, Map<SegmentName, Path>> each : partitions.entrySet()) {
      losses.add(loss(each.getKey(), each.getValue()));
    }
    return losses;
  }

  private static Loss loss(Path directory, Map<SegmentName, Path> files) throws IOException {
    List<SegmentName> inOrder =
        files.keySet().stream()
            .filter(SegmentNames::isKept)
            .sorted(Comparator.comparingLong(AcceptedLoss::baseOffset))
            .toList();
    OptionalLong firstSegment = OptionalLong.empty();
    long from = 0;
    List<Path> dropped = List.of();
    for (SegmentName name : inOrder) {
      Path file = requireNonNull(files.get(name));
      if (isNotedWhole(file)) {
        continue;
      }
      long base = baseOffset(name);
      // The output of an unfinished compaction takes the place of whole segments when Kafka starts.
      boolean finished = name.stage() == SegmentName.Stage.LIVE;
      if (!finished || !NewestLogFiles.reachesNext(file)) {
        firstSegment = OptionalLong.of(base);
        from = finished ? ValidRecords.nextOffset(file, base) : base;
        dropped = filesFrom(directory, finished ? base + 1 : base);
        break;
      }
    }
    SegmentId id = files.keySet().iterator().next().id();
    List<Path> inPool = new ArrayList<>();
    long bytes = 0;
    for (Path file : dropped) {
      bytes += Files.size(file);
      if (!files.containsValue(file) && SegmentTag.read(file).isPresent()) {
        inPool.add(file);
      }
    }
    List<Path> untagged = new ArrayList<>(files.values());
    untagged.removeAll(dropped);
    return new Loss(
        id.topic(),
        id.partition(),
        directory,
        firstSegment,
        from,
        dropped,
        bytes,
        offsetsOf(dropped, from),
        inPool,
        untagged);
  }

  /**
   * The offsets that segments may have.
   *
   * @param files the last one first
   */
  private static Offsets offsetsOf(List<Path> files, long orElse) throws IOException {
    List<Path> segments = files.stream().filter(SegmentFiles::maybeSegment).toList();
    if (segments.isEmpty()) {
      return new Offsets(orElse, orElse);
    }
    Path last = segments.get(0);
    long first = SegmentNames.offsetOf(segments.get(segments.size() - 1)).orElseThrow();
    return new Offsets(
        first, ValidRecords.nextOffset(last, SegmentNames.offsetOf(last).orElseThrow()));
  }

  /** Returns whether a log file's tag says that the file has all of its segment; it still must. */
  private static boolean isNotedWhole(Path file) throws IOException {
    OptionalLong length = SegmentTag.wholeLength(file);
    return length.isPresent() && length.getAsLong() == Files.size(file);
  }

  private static long baseOffset(SegmentName name) {
    return name.id().baseOffset();
  }

  /** Segments, indexes and snapshots, the last first. */
  private static List<Path> filesFrom(Path directory, long offset) throws IOException {
    return Directories.list(directory).stream()
        .filter(file -> SegmentNames.offsetOf(file).orElse(-1) >= offset)
        .sorted(Comparator.<Path>naturalOrder().reversed())
        .toList();
  }

  /**
   * Carries out the plan, in one log directory after the other.
   *
   * @return the log directories in which a step could not be done: the steps before it have been,
   *     and a new plan has the rest
   */
  public static List<Skipped> run(Plan plan) {
    List<Skipped> failed = new ArrayList<>();
    for (Map.Entry<Path, List<Loss>> each : new TreeMap<>(plan.losses()).entrySet()) {
      try {
        run(each.getKey(), each.getValue());
      } catch (IOException e) {
        failed.add(new Skipped(each.getKey(), FailureText.of(e)));
      }
    }
    return failed;
  }

  private static void run(Path logDirectory, List<Loss> losses) throws IOException {
    Files.deleteIfExists(logDirectory.resolve(NewestLogFiles.CLEAN_SHUTDOWN));
    Directories.force(logDirectory);
    RecoveryPoints points = RecoveryPoints.read(logDirectory);
    for (Loss loss : losses) {
      if (loss.firstSegment().isPresent()) {
        points.lower(loss.topic(), loss.partition(), loss.firstSegment().getAsLong());
      }
    }
    points.write();
    for (Loss loss : losses) {
      for (Path file : loss.dropped()) {
        drop(file, loss.inPool().contains(file));
      }
      Directories.force(loss.directory());
      for (Path file : loss.files()) {
        boolean unused = SegmentTag.remove(file);
        Directories.force(file);
      }
    }
  }

  /**
   * Deletes a file. A log file with bytes in a pool gets the name by which Kafka deletes it when it
   * starts, and the tier frees its slot then: without the file it would report the segment as
   * missing.
   */
  private static void drop(Path file, boolean inPool) throws IOException {
    if (inPool) {
      Files.move(file, SegmentNames.deleted(file), StandardCopyOption.REPLACE_EXISTING);
    } else {
      Files.deleteIfExists(file);
    }
  }

  /**
   * The slots of a log directory that is given up: those that its log files name, wherever they
   * were made, and those that were made for it and that no other log directory's file names.
   * Immutable. Made before {@link #run}, which removes tags.
   *
   * @param directory its identity
   * @param here the tags of its log files
   * @param elsewhere the tags of the other log directories' files
   * @param complete whether all of the others are in use by the tier: an empty mount point is not,
   *     and a slot whose log file was last seen in another log directory stays then
   * @param only the segments, by their slots' paths; empty for all
   */
  public record GivenUp(
      UUID directory,
      Set<SegmentTag> here,
      Set<SegmentTag> elsewhere,
      boolean complete,
      Set<String> only) {

    /**
     * Looks at the log directories.
     *
     * @param logDirectory the one that is given up, if it is there; its identity is {@code
     *     directory}
     * @param others the broker's other ones
     * @throws IOException if one cannot be looked at: it may have files of these slots
     */
    public static GivenUp of(UUID directory, Optional<Path> logDirectory, Collection<Path> others)
        throws IOException {
      Set<SegmentTag> here = new HashSet<>();
      if (logDirectory.isPresent()) {
        addTags(logDirectory.get(), here);
      }
      Set<SegmentTag> elsewhere = new HashSet<>();
      boolean complete = true;
      for (Path other : others) {
        complete &= LogDirectory.find(other.toRealPath()).isPresent();
        addTags(other, elsewhere);
      }
      return new GivenUp(directory, here, elsewhere, complete, Set.of());
    }

    /** These of the segments alone; all of them if there are none. */
    public GivenUp only(Collection<String> paths) {
      return new GivenUp(directory, here, elsewhere, complete, Set.copyOf(paths));
    }

    private static void addTags(Path logDirectory, Set<SegmentTag> tags) throws IOException {
      TaggedLogFile.in(logDirectory.toRealPath()).forEach(logFile -> tags.add(logFile.tag()));
    }

    private boolean has(SegmentTag tag, String path, UUID madeFor, boolean moved) {
      return (only.isEmpty() || only.contains(path))
          && !elsewhere.contains(tag)
          && (here.contains(tag) || (madeFor.equals(directory) && (complete || !moved)));
    }

    private boolean has(Pool pool, Slot slot) {
      return has(
          new Residence(slot, pool).tag(),
          slot.relativePath(),
          slot.directoryId(),
          slot.has(SlotFlag.MOVED));
    }

    private boolean has(UUID pool, SlotSnapshot slot) {
      SegmentTag tag = new SegmentTag(pool, slot.index(), slot.generation());
      return slot.state() != SlotState.FREE
          && has(tag, slot.relativePath(), slot.directoryId(), slot.has(SlotFlag.MOVED));
    }
  }

  /**
   * Frees the segments that a pool holds for a log directory that is given up.
   *
   * @param really whether to free them; without it nothing is changed
   * @return their paths, relative to the log directory
   */
  public static List<String> forget(Path pool, GivenUp givenUp, boolean really) throws IOException {
    List<String> forgotten = new ArrayList<>();
    if (!really) {
      try (PoolReader opened = Pool.openReadOnly(pool)) {
        for (SlotSnapshot slot : opened.readAll()) {
          if (givenUp.has(opened.info().id(), slot)) {
            forgotten.add(slot.relativePath());
          }
        }
      }
      return forgotten;
    }
    try (Pool opened = Pool.open(pool, MemoryType.MAPPED, PoolOwner.ANY)) {
      for (Slot slot : opened.slots()) {
        if (givenUp.has(opened, slot)) {
          forgotten.add(slot.relativePath());
          var extents = slot.extents().toList();
          slot.discard();
          opened.release(extents);
        }
      }
    }
    return forgotten;
  }

  /**
   * Frees all that the pools have of a log directory, and gives it another identity: it is a new
   * one from then on. No log file of it names a slot any more.
   *
   * @param really whether to do so; without it nothing is changed
   * @return how many segments these are
   */
  public static int forgetAll(
      Collection<Path> pools, Path logDirectory, GivenUp givenUp, boolean really)
      throws IOException {
    int segments = 0;
    for (Path file : pools) {
      segments += forget(file, givenUp, really).size();
    }
    Optional<LogDirectory> known = LogDirectory.find(logDirectory.toRealPath());
    if (really && known.isPresent()) {
      known.get().release();
      known.get().renew();
    }
    return segments;
  }
}
