package io.strata.kafka.tier.start;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.strata.kafka.api.SegmentName;
import io.strata.kafka.layout.SlotLayout;
import io.strata.kafka.memory.FileOwner;
import io.strata.kafka.memory.calls.Printable;
import io.strata.kafka.migration.FileStatus;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.Slot;
import io.strata.kafka.pool.words.SlotFlag;
import io.strata.kafka.pool.words.SlotState;
import io.strata.kafka.segment.LogFileMoment;
import io.strata.kafka.segment.UnknownBytes;
import io.strata.kafka.segment.ValidRecords;
import io.strata.kafka.segment.view.Residence;
import io.strata.kafka.segment.view.SegmentTag;
import io.strata.kafka.tier.directory.Directories;
import io.strata.kafka.tier.directory.LogDirectories;
import io.strata.kafka.tier.directory.LogDirectory;
import io.strata.kafka.tier.directory.LogDirectoryFailure;
import io.strata.kafka.tier.directory.Moments;
import io.strata.kafka.tier.directory.NewestLogFiles;
import io.strata.kafka.tier.directory.PoolSet;
import io.strata.kafka.tier.directory.SegmentFiles;
import io.strata.kafka.tier.directory.SegmentNames;
import io.strata.kafka.tier.directory.TaggedLogFile;
import io.strata.kafka.tier.files.LogFile;
import io.strata.kafka.tier.files.SegmentRegistry;
import io.strata.kafka.tier.files.TieredSegment;
import io.strata.kafka.tier.space.CopySlots;
import io.strata.kafka.tier.spec.FailureText;
import io.strata.kafka.tier.spec.RecoveryReport;
import io.strata.kafka.tier.start.RecoveryRule.FoundFile;
import io.strata.kafka.tier.start.RecoveryRule.Words;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;

/**
 * Brings pools and log directories into agreement when a tier is opened.
 *
 * <p>A segment is what a slot says and what a log file's tag says, together. {@link RecoveryRule}
 * decides about each slot; what must be refused is refused before anything is changed.
 *
 * <p>A log file that is longer than its clean bytes loses what a destage has left there, unless the
 * segment has spilled: without its pool it is a valid beginning of the segment.
 *
 * <p>Where a log directory fails ({@link LogDirectoryFailure}), recovery is done again by another
 * object without it: its slots are kept, and what has been done is not undone.
 *
 * <p>Thread safety: used once, by one thread.
 */
public final class Recovery {

  /** Findings at the place where a segment was made that say nothing if it was moved since. */
  private static final Set<FoundFile> IN_DOUBT =
      Set.of(FoundFile.NONE, FoundFile.EMPTY, FoundFile.OTHER);

  private final PoolSet pools;
  private final LogDirectories directories;
  private final Moments moments;
  private final SegmentRegistry registry;
  private final Opening opening;
  private final boolean keepsMissing;

  private final Map<Path, LogDirectory> owners = new HashMap<>();
  private boolean logFilesForced;

  /**
   * The decision about a slot.
   *
   * @param file the log file, or its place; empty where that cannot be looked at
   * @param size of a log file with the slot's tag
   */
  private record Decision(Residence in, Optional<Path> file, long size, RecoveryRule rule) {
    Path path() {
      return file.orElseThrow();
    }
  }

  /** The slots of log files that are missing for the first time. */
  private final List<Slot> missing = new ArrayList<>();

  /**
   * Makes the recovery of some pools and log directories.
   *
   * @param keepsMissing whether the slots of all missing log files stay, of those too that the next
   *     start of the broker would free
   */
  public Recovery(
      PoolSet pools,
      LogDirectories directories,
      Moments moments,
      SegmentRegistry registry,
      Opening opening,
      boolean keepsMissing) {
    this.pools = pools;
    this.directories = directories;
    this.moments = moments;
    this.registry = registry;
    this.opening = opening;
    this.keepsMissing = keepsMissing;
  }

  /** Makes the segment that a slot holds. */
  @FunctionalInterface
  public interface Opening {
    TieredSegment inPool(Residence in, Path logFile) throws IOException;
  }

  /**
   * The log files found, and the decisions.
   *
   * @param logFiles all that have a tag
   * @param stale those whose tags are to be removed
   */
  private record Decided(
      Map<SegmentTag, Path> logFiles, Map<SegmentTag, Path> stale, List<Decision> decisions) {}

  /**
   * Refuses what {@link #run} would refuse, finds what it would miss, and changes nothing.
   *
   * @throws IOException as {@code run} does
   */
  public static MissingLogFiles refuse(PoolSet pools, LogDirectories directories, Moments moments)
      throws IOException {
    Opening none =
        (in, file) -> {
          throw new IllegalStateException("nothing is carried out");
        };
    List<Decision> withBytes =
        new Recovery(pools, directories, moments, new SegmentRegistry(), none, false)
            .decideAll().decisions().stream()
                .filter(each -> each.in().slot().committedLength() > 0)
                .toList();
    return new MissingLogFiles(
        paths(withBytes, RecoveryRule.ORPHAN),
        paths(withBytes, RecoveryRule.FREE, RecoveryRule.DISCARD));
  }

  private Decided decideAll() throws IOException {
    Map<SegmentTag, Path> logFiles = taggedLogFiles();
    refuseLostPools(logFiles);
    moments.refuseOthers(directories.all());
    refuseOlderPools(logFiles);
    refuseDiscarded(logFiles);
    Map<SegmentTag, Path> stale = new HashMap<>(logFiles);
    List<Decision> decisions = decide(stale);
    skipIncomplete(stale);
    ForeignRecords.refuse(pools, directories, logFiles);
    return new Decided(logFiles, stale, decisions);
  }

  /**
   * Recovers.
   *
   * @throws IOException if the start is refused, or a pool cannot be changed
   */
  public RecoveryReport run() throws IOException {
    long started = System.nanoTime();
    Decided decided = decideAll();
    List<Decision> decisions = decided.decisions();
    forceTagsOfCopies(decided.logFiles());
    // Not those that had no record yet when the process was killed.
    List<Decision> freed =
        with(decisions, RecoveryRule.FREE, RecoveryRule.DISCARD).stream()
            .filter(each -> each.in().slot().committedLength() > 0)
            .toList();
    // Before a slot is freed: an empty log file with the tag of a free one may lack bytes.
    removeStaleTags(decided.stale());
    for (Decision each : decisions) {
      carryOut(each);
    }
    return new RecoveryReport(
        registry.size(),
        paths(decisions, RecoveryRule.RESTORE),
        paths(decisions, RecoveryRule.ORPHAN),
        freed.stream().map(each -> each.path().toString()).toList(),
        with(decisions, RecoveryRule.UNLINK, RecoveryRule.FREE_DELETED).size(),
        decided.stale().size(),
        with(decisions, RecoveryRule.DROP, RecoveryRule.LEAVE).size(),
        with(decisions, RecoveryRule.KEEP).stream().map(each -> kept(each.in().slot())).toList(),
        (System.nanoTime() - started) / 1_000_000);
  }

  /**
   * The slots of log files that {@link #run} has missed for the first time. Once they are flagged
   * ORPHANED, a start that misses the files again frees them: whoever flags them leaves the time to
   * bring the files back, to a supervisor that restarts a broker every few seconds, too.
   */
  public List<Slot> missing() {
    return List.copyOf(missing);
  }

  private static List<String> paths(List<Decision> decisions, RecoveryRule... rules) {
    return with(decisions, rules).stream().map(each -> each.path().toString()).toList();
  }

  private static List<Decision> with(List<Decision> decisions, RecoveryRule... rules) {
    return decisions.stream().filter(each -> List.of(rules).contains(each.rule())).toList();
  }

  /**
   * Makes the tags durable that a process may have written just before it was killed. One of the
   * two slots of a segment that was being moved is freed next: no older tag may name it after a
   * power failure.
   */
  private void forceTagsOfCopies(Map<SegmentTag, Path> logFiles) throws IOException {
    for (Map.Entry<SegmentTag, Path> each : logFiles.entrySet()) {
      if (pools.live(each.getKey()).filter(in -> in.slot().has(SlotFlag.COPY)).isPresent()) {
        force(each.getValue());
      }
    }
  }

  /**
   * Decides about every slot, and refuses what must be refused.
   *
   * @param logFiles loses those whose slots keep their tags
   */
  private List<Decision> decide(Map<SegmentTag, Path> logFiles) throws IOException {
    List<Decision> decisions = new ArrayList<>();
    Map<UUID, List<String>> unknown = new TreeMap<>();
    for (Pool pool : pools.all()) {
      for (Slot slot : pool.slots()) {
        Decision decision = decide(new Residence(slot, pool), logFiles);
        decisions.add(decision);
        switch (decision.rule()) {
          case REFUSE_DIRECTORY ->
              unknown
                  .computeIfAbsent(slot.directoryId(), id -> new ArrayList<>())
                  .add(slot.relativePath());
          case REFUSE_OCCUPIED -> throw occupied(decision.path(), decision.in().tag());
          case REFUSE_UNTAGGED -> throw tagLost(decision.path(), decision.in());
          case SKIP_DIRECTORY -> throw skipped(decision, tooShort(decision));
          case USE -> {
            if (at(decision.path(), file -> LogFileMoment.hasUnfilledHole(decision.in(), file))) {
              throw skipped(decision, withHole(decision));
            }
            logFiles.remove(decision.in().tag());
          }
          case LEAVE -> {}
          default -> logFiles.remove(decision.in().tag());
        }
      }
    }
    refuse(unknown);
    return decisions;
  }

  private Decision decide(Residence in, Map<SegmentTag, Path> logFiles) throws IOException {
    Optional<Path> tagged = Optional.ofNullable(logFiles.get(in.tag()));
    Optional<Path> file = tagged.isPresent() ? tagged : placeOf(in);
    long size = tagged.isPresent() ? at(tagged.get(), Files::size) : 0;
    FoundFile found =
        tagged.isPresent()
            ? at(tagged.get(), each -> compareTagged(in, each, size))
            : look(in, file);
    if (found == FoundFile.NONE && matters(in)) {
      Optional<Path> moved = partInAnotherDirectory(in);
      file = moved.isPresent() ? moved : file;
      found = moved.isPresent() ? FoundFile.PART : found;
    }
    if (in.slot().has(SlotFlag.MOVED) && IN_DOUBT.contains(found)) {
      found = FoundFile.AWAY;
    }
    RecoveryRule rule =
        RecoveryRule.of(Words.of(in.slot()), found, size, directories.someAreAway());
    boolean frees =
        rule == RecoveryRule.DISCARD
            || (rule == RecoveryRule.FREE && in.slot().committedLength() > 0);
    return new Decision(in, file, size, frees && keepsMissing ? RecoveryRule.ORPHAN : rule);
  }

  private FoundFile look(Residence in, Optional<Path> place) throws IOException {
    if (place.isEmpty()) {
      boolean known = directories.byId(in.slot().directoryId()).isPresent();
      return known || directories.skipped() > 0 || directories.forcedPlacement()
          ? FoundFile.AWAY
          : FoundFile.UNKNOWN;
    }
    return matters(in) ? at(place.get(), file -> compare(in, file)) : FoundFile.NONE;
  }

  /**
   * Returns whether the file in the segment's place says something: not of a deleted segment, or a
   * copy.
   */
  private static boolean matters(Residence in) {
    return in.slot().state() == SlotState.LIVE && !in.slot().has(SlotFlag.COPY);
  }

  /** Finds the log file where a partition that was moved to another disk by hand has it. */
  private Optional<Path> partInAnotherDirectory(Residence in) throws IOException {
    for (LogDirectory directory : directories.all()) {
      Path place = directory.path().resolve(in.slot().relativePath()).normalize();
      if (!directory.id().equals(in.slot().directoryId())
          && place.startsWith(directory.path())
          && at(place, file -> compare(in, file)) == FoundFile.PART) {
        return Optional.of(place);
      }
    }
    return Optional.empty();
  }

  private static FoundFile compare(Residence in, Path file) throws IOException {
    if (!FileStatus.isThere(file)) {
      return FoundFile.NONE;
    }
    if (isNew(file)) {
      return FoundFile.EMPTY;
    }
    return hasLostItsTag(in, file) ? FoundFile.PART : FoundFile.OTHER;
  }

  private FoundFile compareTagged(Residence in, Path file, long size) throws IOException {
    boolean longer = in.slot().state() == SlotState.LIVE && size > in.slot().committedLength();
    return longer && wasStoppedInOrder(file) && LogFileMoment.isAhead(in, file, size)
        ? FoundFile.AHEAD
        : FoundFile.TAGGED;
  }

  /** After a crash a file may have what a truncation was about to take; Kafka reads it all. */
  private boolean wasStoppedInOrder(Path file) throws IOException {
    Optional<LogDirectory> owner = ownerOf(file);
    return owner.isPresent()
        && FileStatus.of(owner.get().path().resolve(NewestLogFiles.CLEAN_SHUTDOWN)).isPresent();
  }

  /**
   * Returns how much of a file that was cut counts as clean: a copy of what follows begins with a
   * batch. The pool has all bytes from its extents' start on.
   */
  private static long endOfBatches(Residence in, Path file) throws IOException {
    long size = Files.size(file);
    try {
      long end = ValidRecords.end(file);
      return end >= in.slot().extents().start() ? end : size;
    } catch (IOException e) {
      // A bad sector is for those who read it; nothing of it is needed now.
      return size;
    }
  }

  private void carryOut(Decision decision) throws IOException {
    Residence in = decision.in();
    Slot slot = in.slot();
    switch (decision.rule()) {
      case USE -> use(in, decision.path());
      case LOWER_CLEAN -> {
        slot.setCleanLength(at(decision.path(), file -> endOfBatches(in, file)));
        if (!slot.has(SlotFlag.SPILLED)) {
          at(decision.path(), file -> truncateTo(slot.cleanLength(), file));
        }
        use(in, decision.path());
      }
      case TRUNCATE -> {
        at(decision.path(), file -> truncateTo(slot.cleanLength(), file));
        use(in, decision.path());
      }
      case UNLINK -> {
        unlink(decision.path());
        free(in);
      }
      case FREE_DELETED -> {
        // A process that was killed has unlinked it, perhaps just now.
        forceLogFiles();
        free(in);
      }
      case DROP, LEAVE -> CopySlots.free(in);
      case RESTORE -> restore(in, decision.path());
      case FREE -> {
        forceLogFiles();
        free(in);
      }
      case DISCARD -> {
        forceLogFiles();
        discard(in);
      }
      case ORPHAN -> missing.add(slot);
      case KEEP -> {}
      // Skipped or refused before anything is changed.
      default -> throw new IllegalStateException(decision.toString());
    }
  }

  /**
   * Returns whether the slot's partition is a symbolic link to a place that is not there, or not
   * now.
   */
  private static boolean isCutOff(LogDirectory directory, Slot slot) {
    Path partition = directory.path().resolve(slot.relativePath()).normalize().getParent();
    return partition != null && Files.isSymbolicLink(partition) && !Files.isDirectory(partition);
  }

  private Map<SegmentTag, Path> taggedLogFiles() throws IOException {
    Map<SegmentTag, Path> logFiles = new HashMap<>();
    for (LogDirectory directory : List.copyOf(directories.all())) {
      for (TaggedLogFile tagged : logFilesIn(directory)) {
        owners.put(tagged.file(), directory);
        Path other = logFiles.putIfAbsent(tagged.tag(), tagged.file());
        if (other != null) {
          throw new FileSystemException(
              tagged.file().toString(),
              other.toString(),
              """
              both files carry the tag of %s, as a copy made with its extended attributes does: \
              move the copy out of the log directory\
              """
                  .formatted(tagged.tag()));
        }
      }
    }
    return logFiles;
  }

  /** The log files of a directory; none of one that cannot be read, whose slots are then kept. */
  private List<TaggedLogFile> logFilesIn(LogDirectory directory) {
    try {
      return TaggedLogFile.in(directory.path());
    } catch (IOException e) {
      directories.skip(directory, "it cannot be read: " + FailureText.of(e));
      return List.of();
    }
  }

  private void refuseLostPools(Map<SegmentTag, Path> logFiles) throws IOException {
    LostPools lost = new LostPools();
    logFiles.forEach(
        (tag, logFile) -> {
          if (pools.find(tag.pool()).isEmpty()) {
            lost.add(tag, logFile);
          }
        });
    lost.refuse(pools.describe());
  }

  /**
   * A slot's generation is durable before the log file is tagged with it. A tag from the slot's
   * future is therefore no leftover: the pool is an older copy, and the log file lacks records.
   */
  private void refuseOlderPools(Map<SegmentTag, Path> logFiles) throws IOException {
    for (Map.Entry<SegmentTag, Path> each : logFiles.entrySet()) {
      SegmentTag tag = each.getKey();
      Pool pool = pools.find(tag.pool()).orElseThrow();
      boolean known = tag.slot() >= 0 && tag.slot() < pool.info().slotCount();
      if (!known || tag.generation() > pool.generation(tag.slot())) {
        throw olderPool(
            each.getValue(),
            pool,
            known
                ? "the file's bytes are in %s, and the pool has that slot at generation %s only"
                    .formatted(tag, pool.generation(tag.slot()))
                : "the file's bytes are in %s, and the pool has %s slots only"
                    .formatted(tag, pool.info().slotCount()));
      }
    }
  }

  private static FileSystemException olderPool(Path file, Pool pool, String found) {
    return new FileSystemException(
        file.toString(),
        pool.info().path().toString(),
        "%s: the pool file is older than the log directory; %s"
            .formatted(found, Moments.bringBack(pool.info().id())));
  }

  /**
   * A slot of a log directory that is not there waits for it, as Kafka runs without a failed one.
   * But when every configured directory is there, the missing one has lost its attributes, or has
   * been taken out of the configuration: its records must not be skipped. A slot that a log file
   * names is not skipped, wherever the file was moved.
   */
  private void refuse(Map<UUID, List<String>> unknown) throws FileSystemException {
    for (Map.Entry<UUID, List<String>> each : unknown.entrySet()) {
      throw new FileSystemException(
          pools.describe(),
          null,
          """
          found %d segments (%s, ...) of log directory %s, and none of log.dirs is that one (%s): \
          mount its file system, or put the directory back into log.dirs; if it was copied, copy \
          it again with its extended attributes (cp -a, rsync -X, tar --xattrs); if it is lost \
          for good, run 'strata pool forget --directory %3$s --config <server.properties> <pool>', \
          which discards these segments\
          """
              .formatted(
                  each.getValue().size(),
                  Printable.of(each.getValue().get(0)),
                  each.getKey(),
                  directories.describe()));
    }
  }

  /** A log file whose slot was discarded has lost bytes, perhaps. */
  private void refuseDiscarded(Map<SegmentTag, Path> logFiles) throws IOException {
    for (Map.Entry<SegmentTag, Path> each : logFiles.entrySet()) {
      SegmentTag tag = each.getKey();
      long generation = pools.find(tag.pool()).orElseThrow().generation(tag.slot());
      if (SlotLayout.isDiscarded(tag.generation(), generation)) {
        throw FailureText.at(
            each.getValue(),
            """
            its newest records were in %s, which has been discarded: by 'strata pool repair' or \
            'strata pool forget', or since two starts did not find this file, ten minutes of a \
            broker apart; run 'strata \
            accept-loss --config <server.properties>', and Kafka replicates what is missing\
            """
                .formatted(tag));
      }
    }
  }

  /**
   * A tag of a slot that was freed is left over from an eviction, whose log file has all bytes; or
   * it came with an older copy of the partition's directory, whose log file may lack some.
   */
  private void skipIncomplete(Map<SegmentTag, Path> stale) throws IOException {
    for (Map.Entry<SegmentTag, Path> each : stale.entrySet()) {
      Pool pool = pools.find(each.getKey().pool()).orElseThrow();
      Path file = each.getValue();
      boolean inUse = pool.slot(each.getKey().slot(), each.getKey().generation()).isPresent();
      if (!inUse && !at(file, logFile -> LeftTag.isOfWholeFile(pool, each.getKey(), logFile))) {
        throw new LogDirectoryFailure(
            ownerOf(file).orElseThrow(), file, LeftTag.incomplete(each.getKey(), file));
      }
    }
  }

  /**
   * Returns where a segment's log file was made.
   *
   * @return empty where that cannot be looked at now
   * @throws FileSystemException if the slot does not name a place in its log directory
   */
  private Optional<Path> placeOf(Residence in) throws FileSystemException {
    Optional<LogDirectory> directory = directories.byId(in.slot().directoryId());
    if (directory.isEmpty() || isCutOff(directory.get(), in.slot())) {
      return Optional.empty();
    }
    Path logFile = directory.get().path().resolve(in.slot().relativePath()).normalize();
    if (!logFile.startsWith(directory.get().path())) {
      throw FailureText.at(
          logFile,
          "slot " + in.tag() + " names a path outside its log directory: run strata pool check");
    }
    return Optional.of(logFile);
  }

  private void removeStaleTags(Map<SegmentTag, Path> stale) throws IOException {
    for (Path logFile : stale.values()) {
      at(logFile, SegmentTag::remove);
      // It must not come back onto a file that has changed since: see LeftTag.
      force(logFile);
    }
  }

  private void use(Residence in, Path logFile) throws IOException {
    // As after Kafka's own rename: see Renames.
    boolean deleted = SegmentNames.isReplica(Directories.of(logFile), SegmentName.Replica.DELETED);
    if (deleted && !in.slot().has(SlotFlag.ORPHANED)) {
      in.slot().set(SlotFlag.ORPHANED);
    } else if (!deleted && in.slot().has(SlotFlag.ORPHANED)) {
      in.slot().clear(SlotFlag.ORPHANED);
    }
    if (in.slot().has(SlotFlag.COPY)) {
      in.slot().clear(SlotFlag.COPY);
    }
    noteWhere(in.slot(), logFile);
    register(in, logFile);
  }

  /** A slot names the log directory that its log file was made in, for good. */
  private void noteWhere(Slot slot, Path logFile) throws IOException {
    boolean moved =
        ownerOf(logFile).filter(each -> !each.id().equals(slot.directoryId())).isPresent();
    if (moved && !slot.has(SlotFlag.MOVED)) {
      slot.set(SlotFlag.MOVED);
    } else if (!moved && slot.has(SlotFlag.MOVED)) {
      slot.clear(SlotFlag.MOVED);
    }
  }

  private LogDirectoryFailure skipped(Decision decision, FileSystemException cause) {
    return new LogDirectoryFailure(ownerOf(decision.path()).orElseThrow(), decision.path(), cause);
  }

  private static FileSystemException withHole(Decision decision) {
    return FailureText.at(
        decision.path(),
        """
        found zeros at the end of the first %d of %d bytes, where the pool says that the file has \
        records: an older copy of the partition's directory is in its place. Bring back the current \
        one; if it is lost, move this one out of the log directory, and Kafka replicates it%s\
        """
            .formatted(
                decision.in().slot().cleanLength(),
                decision.size(),
                decision.in().slot().extents().start() > 0
                    ? ""
                    : "; to go on with what the pool has, run 'truncate -s 0 %s'"
                        .formatted(decision.path())));
  }

  /** The log file has the only copy of evicted bytes: without them it is no segment. */
  private static FileSystemException tooShort(Decision decision) {
    return FailureText.at(
        decision.path(),
        """
        found %d bytes, expected at least %d, since the pool has the segment from there on only: \
        the file was truncated by something else than this broker; restore it, or remove the \
        partition's directory, and Kafka replicates it\
        """
            .formatted(decision.size(), decision.in().slot().extents().start()));
  }

  private void register(Residence in, Path logFile) throws IOException {
    TieredSegment unused = registry.add(at(logFile, file -> opening.inPool(in, file)));
  }

  /**
   * Drops what a copy has left behind the clean bytes: it may have holes, and a later spill must
   * not uncover it.
   */
  private static boolean truncateTo(long length, Path logFile) throws IOException {
    try (FileChannel channel = FileChannel.open(logFile, StandardOpenOption.WRITE)) {
      channel.truncate(length);
      channel.force(true);
    }
    return true;
  }

  /** Does something to a file of a log directory: if that fails, it is the directory's failure. */
  @CanIgnoreReturnValue
  private <T> T at(Path file, LogFile.Action<T> action) throws IOException {
    try {
      return action.run(file);
    } catch (IOException e) {
      Optional<LogDirectory> owner = ownerOf(file);
      throw owner.isPresent() ? new LogDirectoryFailure(owner.get(), file, e) : e;
    }
  }

  private Optional<LogDirectory> ownerOf(Path file) {
    LogDirectory tagged = owners.get(file);
    return tagged != null
        ? Optional.of(tagged)
        : directories.all().stream().filter(each -> file.startsWith(each.path())).findFirst();
  }

  private void force(Path file) throws IOException {
    at(
        file,
        each -> {
          Directories.force(each);
          return each;
        });
  }

  private void unlink(Path logFile) throws IOException {
    at(
        logFile,
        file -> {
          Files.deleteIfExists(file);
          Directories.forceNearest(file);
          return file;
        });
  }

  /**
   * Makes durable that there is no tag where none is seen: what has been unlinked in the log
   * directories, and the attributes of files that are empty. A process that was killed may have
   * removed either just now, from wherever the file was. Once is enough: nothing has been removed
   * since.
   */
  private void forceLogFiles() throws IOException {
    if (logFilesForced) {
      return;
    }
    for (LogDirectory directory : directories.all()) {
      at(directory.path(), Recovery::forcePartitions);
    }
    logFilesForced = true;
  }

  private static boolean forcePartitions(Path logDirectory) throws IOException {
    for (Path partition : NewestLogFiles.partitions(logDirectory)) {
      forceFiles(partition, true);
      Directories.force(partition);
    }
    Directories.force(logDirectory);
    return true;
  }

  private static boolean forceAllFiles(Path logDirectory) throws IOException {
    for (Path partition : NewestLogFiles.partitions(logDirectory)) {
      forceFiles(partition, false);
    }
    return true;
  }

  private static void forceFiles(Path partition, boolean onlyEmpty) throws IOException {
    for (Path file : Directories.list(partition)) {
      if (SegmentFiles.maybeSegment(file) && (!onlyEmpty || Files.size(file) == 0)) {
        Directories.force(file);
      }
    }
  }

  private void restore(Residence in, Path logFile) throws IOException {
    if (!at(logFile, Recovery::create)) {
      throw occupied(logFile, in.tag());
    }
    in.slot().setCleanLength(0);
    at(
        logFile,
        file -> {
          in.tag().write(file);
          return file;
        });
    register(in, logFile);
  }

  /**
   * Returns whether a file without a tag has some of the segment's bytes and no others, and those
   * that the pool lacks: it has lost its tag, or, if it is empty, it may be a new one in the place
   * of a file that was removed. One with another slot's tag is a new one.
   */
  private static boolean hasLostItsTag(Residence in, Path logFile) throws IOException {
    return in.slot().committedLength() > 0
        && FileStatus.isRegularFile(logFile)
        && SegmentTag.read(logFile).isEmpty()
        && Files.size(logFile) >= Math.min(in.slot().cleanLength(), in.slot().extents().start() + 1)
        && UnknownBytes.first(in, logFile).isEmpty()
        && !UnknownBytes.hasAll(in, logFile)
        // Another replica's segment ends elsewhere; one that has its tag lost has a gap behind it.
        && !NewestLogFiles.reachesNext(logFile);
  }

  private static FileSystemException tagLost(Path logFile, Residence in) throws IOException {
    return FailureText.at(
        logFile,
        """
        the pool holds a segment of this path in %s, and the file, of %s bytes, lacks some of its \
        records, and no attribute of it says where they are. If the file is a copy made without \
        extended attributes, or of a compacted topic, give it back what says so with setfattr -n \
        %s -v '%s'; on a new file that would bring the old records back. If it is a new one, of a \
        partition that was removed and replicated again, say, run 'strata pool forget --directory \
        %s --segment %s --config <server.properties> %s', which discards what the pool has of it, \
        and keeps the file\
        """
            .formatted(
                in.tag(),
                Files.size(logFile),
                SegmentTag.ATTRIBUTE,
                in.tag().encode(),
                in.slot().directoryId(),
                Printable.of(in.slot().relativePath()),
                in.pool().info().path()));
  }

  /**
   * Creates a log file that the power has taken, if there is none.
   *
   * @return false if there is one of another segment
   */
  private static boolean create(Path logFile) throws IOException {
    Path partition = Directories.of(logFile);
    if (Files.notExists(partition)) {
      Files.createDirectories(partition);
      FileOwner.share(partition, Directories.of(partition));
    }
    try {
      Files.createFile(logFile);
      FileOwner.share(logFile, partition);
      return true;
    } catch (FileAlreadyExistsException e) {
      return isNew(logFile);
    }
  }

  /** As the power leaves it that goes between a new log file and its tag. */
  private static boolean isNew(Path logFile) throws IOException {
    return FileStatus.isRegularFile(logFile, LinkOption.NOFOLLOW_LINKS)
        && Files.size(logFile) == 0
        && SegmentTag.read(logFile).isEmpty();
  }

  private static FileSystemException occupied(Path logFile, SegmentTag tag) throws IOException {
    return FailureText.at(
        logFile,
        """
        the pool holds this segment's bytes in %s, and another file, of %s bytes, is in its place: \
        move that file out of the log directory to keep the pool's bytes\
        """
            .formatted(tag, Files.size(logFile)));
  }

  private static void free(Residence in) throws IOException {
    Slot slot = in.slot();
    var extents = slot.extents().toList();
    slot.markDeleting();
    slot.free();
    in.pool().release(extents);
  }

  /** Should the log file turn up after all, it is refused. */
  private void discard(Residence in) throws IOException {
    for (LogDirectory directory : directories.all()) {
      // A tag that an eviction has removed must not come back, and be taken for one of these.
      at(directory.path(), Recovery::forceAllFiles);
    }
    var extents = in.slot().extents().toList();
    in.slot().discard();
    in.pool().release(extents);
  }

  /** Says which slot is kept, and why. */
  private String kept(Slot slot) {
    Optional<LogDirectory> directory = directories.byId(slot.directoryId());
    String why =
        slot.state() == SlotState.DELETING
            ? "its deletion waits for its log directory or partition, which is not there"
            : directory.isEmpty()
                ? unknown(slot)
                : slot.has(SlotFlag.MOVED)
                    ? "its partition was moved to another log directory, which is not there"
                    : isCutOff(directory.get(), slot)
                        ? "its partition is a symbolic link that leads nowhere: is its disk"
                            + " mounted?"
                        : "its file may be in a log directory that cannot be looked at";
    return Printable.of(slot.relativePath()) + ": " + why;
  }

  private String unknown(Slot slot) {
    return directories.skipped() > 0
        ? "its log directory " + slot.directoryId() + " was skipped, or is not in log.dirs"
        : """
        its log directory %s is offline, or is not in log.dirs; when it was taken out after its \
        replicas had been moved away, or is lost for good, run 'strata pool forget --directory %1$s \
        --config <server.properties> <pool>'\
        """
            .formatted(slot.directoryId());
  }
}
