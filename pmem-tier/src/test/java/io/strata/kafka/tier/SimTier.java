package io.strata.kafka.tier;

import io.strata.kafka.config.StrataConfig;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.migration.plan.TieredSegments;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.words.PoolOwner;
import io.strata.kafka.segment.SegmentEvents;
import io.strata.kafka.segment.view.Residence;
import io.strata.kafka.segment.view.SegmentTag;
import io.strata.kafka.tier.directory.TaggedLogFile;
import io.strata.kafka.tier.directory.TierParts;
import io.strata.kafka.tier.files.LogFileNames;
import io.strata.kafka.tier.files.TieredSegment;
import io.strata.kafka.tier.offline.Drain;
import io.strata.kafka.tier.spec.LogDiskPace;
import io.strata.kafka.tier.spec.MoveStage;
import io.strata.kafka.tier.spec.RecoveryReport;
import io.strata.kafka.tier.spec.TierEvents;
import io.strata.kafka.tier.spec.TierSpec;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Supplier;

/**
 * The tier as the crash simulation uses it: with pools of its own, background work that it does
 * itself, and the file system provider's part, which is to do in the log file what the tier
 * declines.
 *
 * <p>Thread safety: none.
 */
public final class SimTier {

  private static final Set<StandardOpenOption> KAFKA =
      Set.of(StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);

  private final HotTier tier;

  private SimTier(HotTier tier) {
    this.tier = tier;
  }

  /** Opens a pool. */
  @FunctionalInterface
  public interface PoolSource {
    /** Opens a pool for a tier. */
    Pool open(Path file, MemoryType type, PoolOwner owner) throws IOException;
  }

  /** Goes on by a millisecond each time that it is asked: a play is the same each time. */
  private static final class CountedTime implements LogDiskPace.Time {
    private long nanos;

    @Override
    public synchronized long nanos() {
      nanos += 1_000_000;
      return nanos;
    }

    @Override
    public synchronized void sleep(long length) {
      nanos += length;
    }
  }

  /** What a tier is opened with. */
  public static TierSpec spec(
      StrataConfig config, List<Path> pools, PoolOwner owner, List<Path> logDirectories) {
    return new TierSpec(
        config,
        pools,
        owner,
        logDirectories,
        config.placement(),
        Optional.empty(),
        MoveStage.Hook.NONE);
  }

  /** Opens the tier: its recovery runs. Nothing moves before {@link #logsLoaded}. */
  public static SimTier open(
      TierSpec spec,
      TierEvents events,
      PoolSource pools,
      Supplier<ScheduledExecutorService> background)
      throws IOException {
    HotTier tier =
        HotTier.open(
            spec,
            events,
            SegmentEvents.NONE,
            new TierParts(opening(pools), background, new CountedTime()));
    return new SimTier(tier);
  }

  /** Kafka has loaded its logs. */
  public void logsLoaded() {
    tier.logsLoaded();
  }

  /** Drains the tier. */
  public static Drain.Report drain(
      TierSpec spec,
      TierEvents events,
      PoolSource pools,
      Supplier<ScheduledExecutorService> background)
      throws IOException {
    return Drain.run(
        spec,
        events,
        (done, total) -> {},
        new TierParts(opening(pools), background, new CountedTime()));
  }

  /** Opens a segment as Kafka does to append to it. */
  public FileChannel open(Path file) throws IOException {
    Optional<FileChannel> channel = tier.open(file, KAFKA);
    return channel.isPresent() ? channel.get() : FileChannel.open(file, KAFKA);
  }

  /** Opens a segment for reading. */
  public FileChannel openToRead(Path file) throws IOException {
    Set<StandardOpenOption> options = Set.of(StandardOpenOption.READ);
    Optional<FileChannel> channel = tier.open(file, options);
    return channel.isPresent() ? channel.get() : FileChannel.open(file, options);
  }

  /** Renames a file or a directory. */
  public void move(Path source, Path target) throws IOException {
    if (!tier.move(source, target, StandardCopyOption.ATOMIC_MOVE)) {
      Files.move(source, target, StandardCopyOption.ATOMIC_MOVE);
    }
  }

  /**
   * Deletes a file.
   *
   * @return whether that is durable though no directory has been forced
   */
  public boolean delete(Path file) throws IOException {
    boolean hot = isHot(file);
    if (!tier.delete(file)) {
      Files.delete(file);
    }
    return hot;
  }

  /** Whether some of a file's bytes are in a pool. */
  public boolean isHot(Path file) throws IOException {
    return tier.size(file).isPresent() && tagsLive(file);
  }

  private boolean tagsLive(Path file) throws IOException {
    return TaggedLogFile.tagOf(file)
        .flatMap(tag -> tier.registry().find(tag))
        .map(segment -> segment.inPool())
        .orElse(false);
  }

  /** The slot of a file that is open, or has a tag. */
  public Optional<SegmentTag> slotOf(Path file) throws IOException {
    Optional<SegmentTag> tag = TaggedLogFile.tagOf(file);
    return tag.isPresent()
        ? tag
        : tier.registry()
            .findInLogFile(LogFileNames.keyOf(file))
            .flatMap(TieredSegment::residence)
            .map(Residence::tag);
  }

  /** Whether a file says that bytes of it are in a pool. */
  public static boolean hasTag(Path file) throws IOException {
    return TaggedLogFile.tagOf(file).isPresent();
  }

  /** What the engine sees and moves. */
  public TieredSegments segments() {
    return tier.tieredSegments();
  }

  /** Takes the slot of a segment that has no bytes. */
  public void letGo(long id) throws IOException {
    tier.emptySegments().letGo(tier.registry().find(id).orElseThrow());
  }

  /** Evicts a clean segment as another partition's append does, which has seen it closed. */
  public boolean evict(long id) throws IOException {
    return tier.registry().find(id).orElseThrow().segment().evict(true).isPresent();
  }

  /** What recovery has found. */
  public RecoveryReport report() {
    return tier.recoveryReport();
  }

  /** The log directories that recovery has skipped, each with the reason. */
  public List<String> skipped() {
    return tier.skippedLogDirectories();
  }

  /** The pools. */
  public List<Pool> pools() {
    return tier.pools();
  }

  /** All that is wrong with the sums and with who has which slot; each line is one thing. */
  public List<String> problems() {
    List<String> problems = new ArrayList<>();
    Map<Pool, Set<Integer>> expected = new java.util.HashMap<>();
    tier.pools().forEach(pool -> expected.put(pool, new HashSet<>()));
    for (TieredSegment segment : tier.segments()) {
      Residence in = segment.residence().orElseThrow();
      if (!Objects.requireNonNull(expected.get(in.pool())).add(in.slot().index())) {
        problems.add(in + " stands for two segments");
      }
    }
    for (Pool pool : tier.pools()) {
      Set<Integer> found = new HashSet<>();
      long inSlots = 0;
      for (var slot : pool.slots()) {
        found.add(slot.index());
        inSlots += slot.extents().length();
      }
      if (!found.equals(expected.get(pool))) {
        problems.add(
            pool.info().path()
                + ": found slots "
                + found
                + " in use, expected "
                + expected.get(pool));
      }
      if (pool.usage().usedBytes() != inSlots) {
        problems.add(
            pool.info().path()
                + ": found "
                + pool.usage().usedBytes()
                + " bytes in use, expected "
                + inSlots);
      }
    }
    return problems;
  }

  /** Closes the tier. */
  public void close() throws IOException {
    tier.close();
  }

  private static TierParts.PoolOpening opening(PoolSource pools) {
    return (file, type, owner) -> pools.open(file, type.fixed().orElseThrow(), owner);
  }
}
