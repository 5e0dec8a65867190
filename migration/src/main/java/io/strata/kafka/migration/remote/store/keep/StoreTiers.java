package io.strata.kafka.migration.remote.store.keep;

import io.strata.kafka.api.SegmentId;
import io.strata.kafka.api.SegmentName;
import io.strata.kafka.api.SegmentView;
import io.strata.kafka.api.TierUsage;
import io.strata.kafka.migration.Reads;
import io.strata.kafka.migration.plan.TieredSegments;
import io.strata.kafka.migration.plan.TieredSegments.MoveControl;
import io.strata.kafka.migration.plan.TieredSegments.MoveResult;
import io.strata.kafka.migration.remote.store.KnownSegment;
import io.strata.kafka.migration.remote.store.KnownSegment.StoredCopy;
import io.strata.kafka.migration.remote.store.KnownSegments;
import io.strata.kafka.migration.remote.store.Level;
import io.strata.kafka.migration.remote.store.SegmentStore;
import io.strata.kafka.migration.remote.store.disk.Deadlines;
import io.strata.kafka.migration.remote.store.disk.Deadlines.TimeLimitException;
import io.strata.kafka.migration.remote.store.disk.StoreDirectory;
import io.strata.kafka.migration.remote.store.disk.WorkProgress;
import io.strata.kafka.migration.remote.store.layout.SegmentKey;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The store's levels as the migration engine sees tiers. The last one, which is the cold manager's
 * where there is one, stands for the log directories: segments always find a place there.
 *
 * <p>Thread safety: as {@link TieredSegments} asks. One broker of a cluster moves segments; others
 * may read and delete them meanwhile.
 */
public final class StoreTiers implements TieredSegments {

  /** The longest that reading, writing or forcing a piece may take. */
  private static final Duration LONGEST_STEP = Duration.ofMinutes(10);

  private final SegmentStore store;
  private final List<Level> levels;
  private final Eviction eviction;
  private final List<String> names;

  /** The moves of this process as the mover that have not ended, and that may have begun. */
  private final Set<WorkProgress> moves = ConcurrentHashMap.newKeySet();

  /** The evictions that have not ended, each with the directories that have its segment. */
  private final Map<WorkProgress, Set<StoreDirectory>> evictions = new ConcurrentHashMap<>();

  /** The engine's, or nothing; empty: the oldest first. */
  private volatile Optional<List<Long>> evictionOrder = Optional.of(List.of());

  private volatile Summed summed = new Summed(-1, List.of());
  private volatile Deadlines.Plain<Boolean> permission = () -> true;

  /**
   * The usages of the levels.
   *
   * @param version {@link KnownSegments#version} before the segments were asked
   */
  private record Summed(long version, List<TierUsage> usages) {}

  /** Over a store, with the levels' names, the cold manager's included. */
  public StoreTiers(SegmentStore store, List<String> names) {
    this.store = store;
    this.levels = store.allLevels();
    this.eviction = new Eviction(store);
    this.names = List.copyOf(names);
    store.placement.spaceMaker(this::makeSpace);
  }

  /** Has this asked before each of the engine's moves: whether this broker may move segments. */
  public void askBeforeEachMove(Deadlines.Plain<Boolean> asked) {
    permission = asked;
  }

  /**
   * Returns whether a move between levels is under way, even if nobody waits for it. An eviction
   * for a copy's own space is none: each broker makes those.
   */
  public boolean areMoving() {
    return !moves.isEmpty();
  }

  private int lowest() {
    return names.size() - 1;
  }

  @Override
  public List<TierUsage> usages() {
    Summed last = summed;
    return last.version() == store.known.version()
        ? last.usages().stream()
            .map(u -> usage(u.tier(), u.dirtyBytes(), u.cleanBytes(), u.segments()))
            .toList()
        : state().tiers();
  }

  @Override
  public State state() {
    long version = store.known.version();
    long now = store.clock().millis();
    long[] dirty = new long[lowest()];
    long[] clean = new long[lowest()];
    int[] segments = new int[lowest()];
    List<SegmentView> views = new ArrayList<>();
    for (KnownSegment entry : store.known.entries()) {
      List<Integer> levels = levelsOf(entry);
      if (levels.isEmpty()) {
        continue; // A move's copy that is not confirmed yet.
      }
      for (int i = 0; i < levels.size(); i++) {
        int level = levels.get(i);
        if (level < lowest()) {
          segments[level]++;
          (i == levels.size() - 1 ? dirty : clean)[level] += entry.diskBytes();
        }
      }
      views.add(view(entry, levels, now));
    }
    List<TierUsage> usages = new ArrayList<>();
    for (int level = 0; level < lowest(); level++) {
      usages.add(usage(level, dirty[level], clean[level], segments[level]));
    }
    summed = new Summed(version, List.copyOf(usages));
    return new State(usages, views);
  }

  /** The levels that have the segment's bytes, the fastest first. */
  private List<Integer> levelsOf(KnownSegment entry) {
    return IntStream.range(0, levels.size())
        .filter(level -> levels.get(level).has(entry))
        .boxed()
        .toList();
  }

  private SegmentView view(KnownSegment entry, List<Integer> levels, long now) {
    SegmentKey key = entry.key();
    int tier = levels.get(0);
    long time = entry.segment().eventTimestampMillis();
    Optional<Reads> reads = Optional.ofNullable(store.reads().get(key.id()));
    String directory =
        entry.readable().map(c -> c.directory().path().toString()).orElse(names.get(lowest()));
    return new SegmentView(
        entry.number(),
        new SegmentName(
            new SegmentId(key.topic(), key.partition(), key.startOffset()),
            SegmentName.Replica.CURRENT,
            SegmentName.Stage.LIVE),
        directory,
        tier,
        levels.size() > 1 ? OptionalInt.of(levels.get(1)) : OptionalInt.empty(),
        false,
        false,
        entry.diskBytes(),
        tier < lowest() ? entry.diskBytes() : 0,
        levels.size() > 1 || tier == lowest() ? 0 : entry.diskBytes(),
        levels.size() > 1 && tier < lowest() ? entry.diskBytes() : 0,
        time,
        time,
        reads.map(Reads::lastMillis).orElse(time),
        reads.map(of -> of.recentBytes(now)).orElse(0.0),
        false);
  }

  private TierUsage usage(int level, long dirty, long clean, int segments) {
    // Moves cannot fill the space of indexes whose logs the cold manager alone has.
    long withoutLogs = Math.max(0, levels.get(level).usedBytes() - dirty - clean);
    long capacity = levels.get(level).capacityBytes() - withoutLogs;
    return new TierUsage(
        level,
        names.get(level),
        Math.max(capacity, dirty + clean),
        dirty + clean,
        dirty,
        clean,
        0,
        segments,
        Integer.MAX_VALUE,
        0,
        0);
  }

  @Override
  public MoveResult destage(long id, int toTier, MoveControl control)
      throws IOException, InterruptedException {
    Level to = levels.get(toTier);
    return move(
        store.known.numbered(id),
        true,
        "copying",
        (entry, progress) -> to.receive(entry, progress, progress.pace(control)));
  }

  @Override
  public MoveResult promote(long id, int toTier, MoveControl control)
      throws IOException, InterruptedException {
    return destage(id, toTier, control);
  }

  private static StoreDirectory lowestOf(List<StoredCopy> copies) {
    return copies.get(copies.size() - 1).directory();
  }

  @FunctionalInterface
  private interface Move {
    MoveResult of(KnownSegment entry, WorkProgress progress)
        throws IOException, InterruptedException;
  }

  /**
   * Moves a segment.
   *
   * @param asMover whether it takes the permission to move
   */
  private MoveResult move(Optional<KnownSegment> entry, boolean asMover, String what, Move move)
      throws IOException, InterruptedException {
    if (entry.isEmpty()) {
      return MoveResult.cancelled("it is not in the store any more");
    }
    if (asMover && !permission.run()) {
      return MoveResult.cancelled("another broker moves the store's segments now");
    }
    List<StoredCopy> copies = entry.get().copies();
    StoreDirectory directory = lowestOf(copies);
    String id = entry.get().key().id();
    WorkProgress progress =
        directory.progress(
            LONGEST_STEP,
            ended -> {
              boolean unused = store.inMotion.remove(id, ended);
              boolean unusedToo = moves.remove(ended);
              evictions.remove(ended);
            });
    return progress.run(
        what + " " + entry.get().key() + " in " + directory,
        control -> {
          if (asMover) {
            boolean unused = moves.add(progress);
          }
          return within(entry.get(), copies.size() - 1, what, progress, move);
        });
  }

  /**
   * Moves a segment while the directories that have it answer and nothing else moves it.
   *
   * @param copies so many of its copies' directories are not held yet
   */
  private MoveResult within(
      KnownSegment entry, int copies, String what, WorkProgress progress, Move move)
      throws IOException, InterruptedException {
    if (copies > 0) {
      StoreDirectory directory = entry.copies().get(copies - 1).directory();
      return progress.onward(
          directory,
          what + " " + entry.key() + " in " + directory,
          unused -> within(entry, copies - 1, what, progress, move));
    }
    if (store.inMotion.putIfAbsent(entry.key().id(), progress) != null) {
      return MoveResult.cancelled("another move of it is under way");
    }
    // It may have come here late: nobody waits for it any more, and another broker may move now.
    return progress.isCancelled()
        ? MoveResult.cancelled("it was stopped")
        : move.of(entry, progress);
  }

  @Override
  public MoveResult evict(long id) throws IOException {
    return evict(store.known.numbered(id), true);
  }

  private MoveResult evict(Optional<KnownSegment> entry, boolean asMover) throws IOException {
    if (entry.filter(this::isBesideOneThatHangs).isPresent()) {
      return MoveResult.cancelled("an earlier eviction from its directory has not come back");
    }
    try {
      return move(
          entry,
          asMover,
          "evicting",
          (evicted, progress) -> {
            evictions.put(progress, directoriesOf(evicted));
            return eviction.evict(evicted, progress.pace(MoveControl.UNLIMITED));
          });
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException(
          "interrupted while %s was evicted"
              .formatted(entry.map(of -> of.key().toString()).orElse("a segment")));
    }
  }

  @Override
  public void evictionOrder(List<Long> ids) {
    evictionOrder = Optional.of(List.copyOf(ids));
  }

  /**
   * No engine runs here, and all brokers find what one of them leaves in a lower level: what is
   * evicted for a copy's space from now on is the oldest.
   */
  public void evictOldest() {
    evictionOrder = Optional.empty();
  }

  private List<Long> oldestFirst() {
    return store.known.entries().stream()
        .sorted(Comparator.comparingLong(entry -> entry.segment().eventTimestampMillis()))
        .map(KnownSegment::number)
        .toList();
  }

  /**
   * Evicts upper copies to free space for a new one in some directories of a level. The first
   * eviction that hangs is the last: the copy waits for one alone.
   */
  private boolean makeSpace(Set<StoreDirectory> full, long bytes) {
    long freed = 0;
    for (long id : evictionOrder.orElseGet(this::oldestFirst)) {
      if (freed >= bytes) {
        break;
      }
      Optional<KnownSegment> entry = store.known.numbered(id);
      List<Integer> has = entry.map(this::levelsOf).orElse(List.of());
      if (has.size() > 1 && isIn(entry.orElseThrow(), has.get(0), full)) {
        try {
          // Each broker makes space for its own copies, the mover or not.
          freed += evict(entry, false).bytes();
        } catch (TimeLimitException e) {
          break;
        } catch (IOException e) {
          // Another one may go; if none does, the copy goes to the next level.
        }
      }
    }
    return freed > 0;
  }

  /**
   * Returns whether an eviction that nobody waits for has left a thread in a directory that has
   * this segment: it would hang too, and leave one more.
   */
  private boolean isBesideOneThatHangs(KnownSegment entry) {
    Set<StoreDirectory> directories = directoriesOf(entry);
    return evictions.entrySet().stream()
        .filter(e -> e.getKey().isCancelled())
        .flatMap(e -> e.getValue().stream())
        .anyMatch(directory -> directories.contains(directory) && directory.stuck() > 0);
  }

  private static Set<StoreDirectory> directoriesOf(KnownSegment entry) {
    return entry.copies().stream().map(StoredCopy::directory).collect(Collectors.toSet());
  }

  private static boolean isIn(KnownSegment entry, int level, Set<StoreDirectory> directories) {
    return entry.copies().stream()
        .map(StoredCopy::directory)
        .anyMatch(directory -> directory.level() == level && directories.contains(directory));
  }
}
