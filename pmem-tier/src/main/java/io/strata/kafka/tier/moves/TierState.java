package io.strata.kafka.tier.moves;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.strata.kafka.api.SegmentName;
import io.strata.kafka.api.SegmentView;
import io.strata.kafka.api.TierUsage;
import io.strata.kafka.migration.plan.TieredSegments;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.PoolUsage;
import io.strata.kafka.segment.view.Residence;
import io.strata.kafka.tier.directory.Directories;
import io.strata.kafka.tier.directory.PoolSet;
import io.strata.kafka.tier.directory.PoolSet.PoolTier;
import io.strata.kafka.tier.durable.WholeLogFiles;
import io.strata.kafka.tier.files.SegmentRegistry;
import io.strata.kafka.tier.files.TieredSegment;
import io.strata.kafka.tier.space.Evictions;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

/**
 * The last view of each segment, and their sums. Each question first looks again at the segments
 * that have changed since the last one, and at no other.
 *
 * <p>Thread safety: all methods may be called by any thread.
 */
public final class TierState {

  /** How often the planner looks at the recently read bytes of a segment that is no longer read. */
  private static final long COOLING_MILLIS = TimeUnit.MINUTES.toMillis(1);

  /** Less than this part of a segment counts as nothing read: no policy asks for less. */
  private static final int LEAST_READ_PART = 1000;

  private final PoolSet pools;
  private final SegmentRegistry registry;
  private final Predicate<SegmentName> placement;
  private final boolean anyName;
  private final BiConsumer<TieredSegment, BooleanSupplier> wholes;
  private final InstantSource clock;

  @GuardedBy("this")
  private final Map<Long, Known> known = new HashMap<>();

  /** The highest base offset by partition directory, whose segment Kafka appends to. */
  @GuardedBy("this")
  private final Map<Path, Long> newest = new HashMap<>();

  @GuardedBy("this")
  private final List<Sums> sums = new ArrayList<>();

  /** The segments that Kafka appends to and that are in no pool, by number. */
  @GuardedBy("this")
  private final Map<Long, Known> inLogFile = new HashMap<>();

  /** Segments that have been read recently: that part of their view changes with time. */
  @GuardedBy("this")
  private final Set<TieredSegment> warm = new LinkedHashSet<>();

  @GuardedBy("this")
  private long cooledMillis;

  /** Whether all segments are still to be looked at for the first time. */
  @GuardedBy("this")
  private boolean isNew = true;

  /**
   * Over these pools and segments.
   *
   * @param anyName whether files that are no segments of Kafka's by their names may move too, as
   *     Kafka's own tests have them
   * @param wholes gets the segments whose tags do not say whether their log files are whole, and
   *     how to ask that; see {@link WholeLogFiles}
   */
  public TierState(
      PoolSet pools,
      SegmentRegistry registry,
      Predicate<SegmentName> placement,
      boolean anyName,
      BiConsumer<TieredSegment, BooleanSupplier> wholes,
      InstantSource clock) {
    this.pools = pools;
    this.registry = registry;
    this.placement = placement;
    this.anyName = anyName;
    this.wholes = wholes;
    this.clock = clock;
    pools.tiers().forEach(tier -> sums.add(new Sums()));
  }

  /**
   * The sums of one tier, without the pools' own. Asking for them costs the same for any number.
   */
  private static final class Sums {
    private long dirty;
    private long clean;
    private int segments;
    private int spilled;
    private int spilling;

    /** The segments that Kafka appends to, by number. */
    private final Map<Long, Known> active = new HashMap<>();

    /** How many wait for a copy, by when they were last changed. */
    private final NavigableMap<Long, Integer> waiting = new TreeMap<>();

    /** The last question to {@link #staying}, and its answer. */
    private long leastCopyBytes;

    private long staying;

    void add(Known segment) {
      count(segment, 1);
      if (segment.active()) {
        active.put(segment.segment().id(), segment);
      }
    }

    void remove(Known segment) {
      count(segment, -1);
      active.remove(segment.segment().id());
    }

    private void count(Known segment, int sign) {
      dirty += sign * (segment.poolBytes() - segment.cleanBytes());
      clean += sign * segment.cleanBytes();
      segments += sign;
      spilled += segment.spilled() ? sign : 0;
      if (segment.active()) {
        spilling += segment.spilled() ? sign : 0;
        staying += sign * stays(segment);
      }
      if (segment.waitsForCopy()) {
        waiting.merge(
            segment.view().orElseThrow().changedMillis(),
            sign,
            (before, more) -> before + more == 0 ? null : before + more);
      }
    }

    private long stays(Known segment) {
      return segment.dirtyBytes() < leastCopyBytes
          ? segment.poolBytes() - segment.cleanBytes()
          : segment.lastExtentBytes();
    }

    /** The bytes of active segments that no copy would free. */
    long staying(long least) {
      if (least != leastCopyBytes) {
        leastCopyBytes = least;
        staying = active.values().stream().mapToLong(this::stays).sum();
      }
      return staying;
    }

    OptionalLong oldestDirtyMillis(long nowMillis) {
      return waiting.isEmpty()
          ? OptionalLong.empty()
          : OptionalLong.of(Math.max(0, nowMillis - waiting.firstKey()));
    }
  }

  /**
   * One segment as it was when it was last looked at.
   *
   * @param tier empty when all bytes are in the log file
   * @param dirtyBytes what a copy would write
   * @param lastExtentBytes the part of its space that stays after a copy, and is not clean
   * @param view what the engine is shown; empty if it may not be moved
   */
  private record Known(
      TieredSegment segment,
      OptionalInt tier,
      boolean active,
      boolean wanted,
      boolean spilled,
      long poolBytes,
      long cleanBytes,
      long dirtyBytes,
      long lastExtentBytes,
      Optional<SegmentView> view) {

    /** Returns whether only the pool has a part of it, though Kafka does not append to it. */
    boolean waitsForCopy() {
      return !active && poolBytes > cleanBytes && view.isPresent();
    }
  }

  /** Looks at all segments the next time: what they are judged by has changed. */
  synchronized void lookAgain() {
    known.clear();
    inLogFile.clear();
    newest.clear();
    warm.clear();
    sums.replaceAll(unused -> new Sums());
    isNew = true;
  }

  @GuardedBy("this")
  private void update() {
    Set<TieredSegment> changed = registry.takeChanges();
    Set<Path> relisted = registry.takeRelisted();
    if (isNew) {
      changed.addAll(registry.all());
      changed.forEach(segment -> relisted.add(segment.directory()));
      isNew = false;
    }
    long nowMillis = clock.millis();
    // The clock may have been set back.
    if (Math.abs(nowMillis - cooledMillis) >= COOLING_MILLIS) {
      changed.addAll(warm);
      cooledMillis = nowMillis;
    }
    boolean done = false;
    try {
      changed.addAll(findNewest(relisted));
      for (TieredSegment segment : changed) {
        look(segment, nowMillis);
      }
      done = true;
    } finally {
      if (!done) {
        // Nothing reports these once more.
        lookAgain();
      }
    }
  }

  /** Finds the newest segments of these directories; returns what depends on it. */
  @GuardedBy("this")
  private List<TieredSegment> findNewest(Set<Path> directories) {
    List<TieredSegment> others = new ArrayList<>();
    for (Path directory : directories) {
      List<TieredSegment> in = registry.in(directory);
      OptionalLong highest = newestOffset(in);
      if (highest.isPresent()) {
        newest.put(directory, highest.getAsLong());
      } else {
        newest.remove(directory);
      }
      for (TieredSegment segment : in) {
        Known before = known.get(segment.id());
        if (before != null && before.active() != isNewest(segment, highest)) {
          others.add(segment);
        }
      }
    }
    return others;
  }

  @GuardedBy("this")
  private void look(TieredSegment segment, long nowMillis) {
    Known before = known.remove(segment.id());
    if (before != null && before.tier().isPresent()) {
      sums.get(before.tier().getAsInt()).remove(before);
    }
    inLogFile.remove(segment.id());
    warm.remove(segment);
    if (registry.has(segment)) {
      Known now = count(segment, nowMillis);
      known.put(segment.id(), now);
      if (now.tier().isPresent()) {
        sums.get(now.tier().getAsInt()).add(now);
      } else if (now.active()) {
        inLogFile.put(segment.id(), now);
      }
      if (now.view().filter(view -> view.recentReadBytes() > 0).isPresent()) {
        warm.add(segment);
      }
    }
  }

  @GuardedBy("this")
  private Known count(TieredSegment segment, long nowMillis) {
    boolean active = isNewest(segment, offsetIn(segment.directory()));
    segment.active(active);
    Optional<SegmentName> name = segment.name();
    boolean wanted = name.map(placement::test).orElse(anyName);
    Optional<Residence> in = segment.residence();
    long poolBytes = in.map(Residence::spaceBytes).orElse(0L);
    long cleanBytes = in.map(at -> Math.min(poolBytes, at.evictableBytes(!active))).orElse(0L);
    // A segment that Kafka has just begun has nothing that another place could have too.
    boolean clean =
        in.isPresent() && in.get().isClean() && !(active && segment.segment().size() == 0);
    if (segment.inPool() && segment.notedWhole() != isWhole(segment, active)) {
      wholes.accept(segment, () -> isWhole(segment, isActive(segment)));
    }
    OptionalInt tier =
        in.isPresent() ? OptionalInt.of(pools.tierOf(in.get().pool())) : OptionalInt.empty();
    Optional<SegmentView> view =
        name.filter(named -> !segment.missing() && mayMove(named) && (wanted || tier.isPresent()))
            .map(
                named -> view(segment, named, in, active, clean, poolBytes, cleanBytes, nowMillis));
    return new Known(
        segment,
        tier,
        active,
        wanted,
        segment.segment().spilled(),
        poolBytes,
        cleanBytes,
        segment.segment().dirtyBytes(),
        in.map(at -> Math.min(poolBytes - cleanBytes, at.lastExtentBytes())).orElse(0L),
        view);
  }

  /** Returns whether the tag is to say that the log file is whole. */
  private static boolean isWhole(TieredSegment segment, boolean active) {
    return !active && segment.isLive() && segment.inPool() && Evictions.isClean(segment);
  }

  @GuardedBy("this")
  private OptionalLong offsetIn(Path directory) {
    Long offset = newest.get(directory);
    return offset == null ? OptionalLong.empty() : OptionalLong.of(offset);
  }

  /** The sums alone. */
  synchronized TierFigures figures() {
    update();
    long nowMillis = clock.millis();
    List<TierFigures.OfTier> tiers = new ArrayList<>(sums.size());
    for (TierUsage usage : usages()) {
      tiers.add(new TierFigures.OfTier(usage, sums.get(usage.tier()).oldestDirtyMillis(nowMillis)));
    }
    return new TierFigures(
        tiers,
        sums.stream().mapToLong(tier -> tier.segments).sum(),
        sums.stream().mapToLong(tier -> tier.spilled).sum(),
        sums.stream().mapToLong(tier -> tier.spilling).sum(),
        inLogFile.values().stream()
            .filter(each -> each.segment().refused() && isWanted(each))
            .filter(each -> each.segment().segment().size() > 0)
            .count());
  }

  private static boolean isWanted(Known each) {
    return each.segment().isLive() && !each.segment().missing() && each.wanted();
  }

  /** See {@link TieredSegments#usages}. */
  public synchronized List<TierUsage> usagesNow() {
    update();
    return usages();
  }

  /** Returns the state as it is now. */
  public synchronized TieredSegments.State now() {
    update();
    List<SegmentView> views = new ArrayList<>(known.size());
    Set<Long> unwanted = new HashSet<>();
    for (Known each : known.values()) {
      each.view().ifPresent(views::add);
      if (each.view().isPresent() && !each.wanted()) {
        unwanted.add(each.segment().id());
      }
    }
    return new TieredSegments.State(usages(), views, unwanted, true);
  }

  /**
   * A segment that is deleted soon is not worth a move; a stray replica stays until the operator
   * removes it.
   */
  private static boolean mayMove(SegmentName name) {
    return name.stage() == SegmentName.Stage.LIVE
        && (name.replica() == SegmentName.Replica.CURRENT
            || name.replica() == SegmentName.Replica.STRAY);
  }

  private SegmentView view(
      TieredSegment segment,
      SegmentName name,
      Optional<Residence> in,
      boolean active,
      boolean clean,
      long poolBytes,
      long cleanBytes,
      long nowMillis) {
    int logDirs = pools.tiers().size();
    long bytes = segment.segment().size();
    long changed = segment.segment().lastChangeMillis();
    long created = in.map(at -> at.slot().createdAtMillis()).orElse(changed);
    double read = segment.segment().reads().recentBytes(nowMillis);
    return new SegmentView(
        segment.id(),
        name,
        String.valueOf(Directories.of(segment.logFile()).getParent()),
        in.map(at -> pools.tierOf(at.pool())).orElse(logDirs),
        clean ? OptionalInt.of(logDirs) : OptionalInt.empty(),
        active,
        in.isPresent() && segment.segment().spilled(),
        bytes,
        poolBytes,
        segment.segment().dirtyBytes(),
        cleanBytes,
        Math.min(created, changed),
        changed,
        segment.segment().reads().lastMillis(),
        read * LEAST_READ_PART < bytes ? 0 : read,
        in.isEmpty() && segment.found());
  }

  @GuardedBy("this")
  private List<TierUsage> usages() {
    List<TierUsage> usages = new ArrayList<>(sums.size());
    for (int t = 0; t < sums.size(); t++) {
      usages.add(usage(t, pools.tiers().get(t), sums.get(t)));
    }
    return usages;
  }

  private static TierUsage usage(int tier, PoolTier of, Sums sums) {
    long capacity = 0;
    long used = 0;
    int freeSlots = 0;
    for (Pool pool : of.pools()) {
      PoolUsage usage = pool.usage();
      capacity += usage.capacityBytes();
      used += usage.usedBytes();
      freeSlots += usage.freeSlots();
    }
    return new TierUsage(
        tier,
        of.name(),
        capacity,
        used,
        sums.dirty,
        sums.clean,
        sums.staying(TierUsage.leastCopyBytes(capacity, sums.segments)),
        sums.segments,
        freeSlots,
        0,
        0);
  }

  /**
   * Returns whether Kafka may append to the segment: it has the highest offset of its directory. A
   * segment that Kafka appends to and that is not known here only makes an older one seem active.
   */
  boolean isActive(TieredSegment segment) {
    return isNewest(segment, newestOffset(registry.in(segment.directory())));
  }

  private boolean isNewest(TieredSegment segment, OptionalLong newestOffset) {
    if (newestOffset.isPresent()
        && segment.offset().orElse(Long.MAX_VALUE) < newestOffset.getAsLong()) {
      return false;
    }
    return segment.name().map(name -> name.replica() != SegmentName.Replica.STRAY).orElse(!anyName);
  }

  /** The newest in a directory that Kafka may know of; empty if that is no partition's. */
  private static OptionalLong newestOffset(List<TieredSegment> inDirectory) {
    OptionalLong highest =
        inDirectory.stream()
            .filter(segment -> !segment.missing() && segment.isLive())
            .flatMapToLong(segment -> segment.offset().stream())
            .max();
    return inDirectory.stream().anyMatch(segment -> segment.name().isPresent())
        ? highest
        : OptionalLong.empty();
  }
}
