package io.strata.kafka.tier;

import io.strata.kafka.api.PlacementPolicy;
import io.strata.kafka.api.SegmentName;
import io.strata.kafka.api.SegmentView;
import io.strata.kafka.api.TierUsage;
import io.strata.kafka.migration.TieredSegments;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.PoolUsage;
import io.strata.kafka.segment.Reads;
import io.strata.kafka.segment.Residence;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;

/**
 * Counts what is where: each time anew, so that no sum can drift.
 *
 * <p>Thread safety: all methods may be called by any thread.
 */
final class TierState {

  private final PoolSet pools;
  private final SegmentRegistry registry;
  private final PlacementPolicy placement;
  private final boolean anyName;

  /**
   * Over these pools and segments.
   *
   * @param anyName whether files that are no segments of Kafka's by their names may move, too, as
   *     Kafka's own tests have them
   */
  TierState(PoolSet pools, SegmentRegistry registry, PlacementPolicy placement, boolean anyName) {
    this.pools = pools;
    this.registry = registry;
    this.placement = placement;
    this.anyName = anyName;
  }

  /** The sums of one tier. */
  private static final class Sums {
    private long dirty;
    private long clean;
    private final List<Active> active = new ArrayList<>();
    private int segments;
    private long oldestDirtySince = Long.MAX_VALUE;

    void dirty(TieredSegment segment, long bytes, boolean mayAge) {
      dirty += bytes;
      if (mayAge && bytes > 0) {
        oldestDirtySince = Math.min(oldestDirtySince, segment.segment().lastChangeMillis());
      }
    }
  }

  /**
   * A segment that Kafka appends to.
   *
   * @param dirtyBytes what a copy would write
   * @param bytes its space that is not clean
   * @param lastExtent the part of that which stays after a copy
   */
  private record Active(long dirtyBytes, long bytes, long lastExtent) {}

  /** What is counted of one segment. */
  private record Counted(
      boolean active, boolean clean, long bytes, long cleanBytes, Optional<Residence> in) {}

  private Sums[] sums() {
    Sums[] sums = new Sums[pools.tiers().size()];
    for (int t = 0; t < sums.length; t++) {
      sums[t] = new Sums();
    }
    return sums;
  }

  private Counted count(TieredSegment segment, Map<Path, Long> newest, Sums[] sums) {
    boolean active = isNewest(segment, newest);
    segment.active(active);
    Optional<Residence> in = segment.residence();
    // One that Kafka has just begun has nothing that another place could have, too.
    boolean clean =
        in.isPresent() && in.get().isClean() && !(active && segment.segment().size() == 0);
    boolean ages =
        !active && !segment.missing() && segment.name().filter(TierState::mayMove).isPresent();
    long bytes = 0;
    long cleanBytes = 0;
    if (in.isPresent()) {
      Sums tier = sums[pools.tierOf(in.get().pool())];
      bytes = in.get().roomBytes();
      cleanBytes = Math.min(bytes, in.get().evictableBytes(!active));
      tier.segments++;
      tier.clean += cleanBytes;
      tier.dirty(segment, bytes - cleanBytes, ages);
      if (active) {
        long last = Math.min(bytes - cleanBytes, in.get().lastExtentBytes());
        tier.active.add(new Active(segment.segment().dirtyBytes(), bytes - cleanBytes, last));
      }
    }
    return new Counted(active, clean, bytes, cleanBytes, in);
  }

  /**
   * The sums alone. Costs time in proportion to the number of segments, and keeps nothing of each.
   */
  TierFigures figures() {
    long nowMillis = System.currentTimeMillis();
    Sums[] sums = sums();
    Map<Path, Long> newest = newestOffsets(registry.all());
    long hot = 0;
    long spilled = 0;
    long spilling = 0;
    long refused = 0;
    for (TieredSegment segment : registry.all()) {
      Counted counted = count(segment, newest, sums);
      if (counted.in().isPresent()) {
        hot++;
        if (segment.segment().spilled()) {
          spilled++;
          spilling += counted.active() ? 1 : 0;
        }
      } else if (segment.refused() && counted.active() && isWanted(segment)) {
        refused++;
      }
    }
    List<TierFigures.OfTier> tiers = new ArrayList<>(sums.length);
    for (int t = 0; t < sums.length; t++) {
      long since = sums[t].oldestDirtySince;
      tiers.add(
          new TierFigures.OfTier(
              usage(t, sums[t]),
              since == Long.MAX_VALUE
                  ? OptionalLong.empty()
                  : OptionalLong.of(Math.max(0, nowMillis - since))));
    }
    return new TierFigures(tiers, hot, spilled, spilling, refused);
  }

  private boolean isWanted(TieredSegment segment) {
    return segment.isLive()
        && !segment.missing()
        && segment.name().map(placement::mayBeHot).orElse(anyName);
  }

  TieredSegments.State now() {
    long nowMillis = System.currentTimeMillis();
    int home = pools.tiers().size();
    Sums[] sums = sums();
    List<TieredSegment> segments = List.copyOf(registry.all());
    Map<Path, Long> newest = newestOffsets(segments);
    List<SegmentView> views = new ArrayList<>(segments.size());
    Set<Long> unwanted = new HashSet<>();
    for (TieredSegment segment : segments) {
      Optional<SegmentName> name = segment.name();
      Counted counted = count(segment, newest, sums);
      Optional<Residence> in = counted.in();
      if (name.isPresent() && !segment.missing() && mayMove(name.get())) {
        boolean wanted = placement.mayBeHot(name.get());
        if (wanted || in.isPresent()) {
          views.add(view(segment, name.get(), counted, nowMillis));
        }
        if (!wanted) {
          unwanted.add(segment.id());
        }
      }
    }
    List<TierUsage> usages = new ArrayList<>(home);
    for (int t = 0; t < home; t++) {
      usages.add(usage(t, sums[t]));
    }
    return new TieredSegments.State(usages, views, unwanted, true);
  }

  /** What is deleted soon is not worth a move; a stray replica stays until somebody removes it. */
  private static boolean mayMove(SegmentName name) {
    return name.stage() == SegmentName.Stage.LIVE
        && (name.replica() == SegmentName.Replica.CURRENT
            || name.replica() == SegmentName.Replica.STRAY);
  }

  private SegmentView view(
      TieredSegment segment, SegmentName name, Counted counted, long nowMillis) {
    int home = pools.tiers().size();
    Optional<Residence> in = counted.in();
    int tier = in.map(at -> pools.tierOf(at.pool())).orElse(home);
    Reads reads = segment.segment().reads();
    long changed = segment.segment().lastChangeMillis();
    long created = in.map(at -> at.slot().createdAtMillis()).orElse(changed);
    return new SegmentView(
        segment.id(),
        name,
        logDirectoryOf(segment.home()),
        tier,
        counted.clean() ? OptionalInt.of(home) : OptionalInt.empty(),
        counted.active(),
        in.isPresent() && segment.segment().spilled(),
        segment.segment().size(),
        counted.bytes(),
        segment.segment().dirtyBytes(),
        counted.cleanBytes(),
        Math.min(created, changed),
        changed,
        reads.lastMillis(),
        segment.heat().recentBytes(nowMillis),
        in.isEmpty() && segment.found());
  }

  private static String logDirectoryOf(Path home) {
    Path partition = home.getParent();
    Path directory = partition == null ? null : partition.getParent();
    return String.valueOf(directory);
  }

  private TierUsage usage(int tier, Sums sums) {
    PoolTier of = pools.tiers().get(tier);
    long capacity = 0;
    long used = 0;
    int freeSlots = 0;
    for (Pool pool : of.pools()) {
      PoolUsage usage = pool.usage();
      capacity += usage.capacityBytes();
      used += usage.usedBytes();
      freeSlots += usage.freeSlots();
    }
    long least = TierUsage.leastCopyBytes(capacity, sums.segments);
    long active =
        sums.active.stream()
            .mapToLong(each -> each.dirtyBytes() < least ? each.bytes() : each.lastExtent())
            .sum();
    return new TierUsage(
        tier,
        of.name(),
        capacity,
        used,
        sums.dirty,
        sums.clean,
        active,
        sums.segments,
        freeSlots,
        0,
        0);
  }

  /**
   * Whether Kafka may append to the segment: it has the highest offset of its directory. One that
   * Kafka appends to and that is not known here only makes an older one seem active.
   */
  boolean isActive(TieredSegment segment) {
    Path directory = segment.home().getParent();
    if (directory == null) {
      return true;
    }
    return isNewest(segment, newestOffsets(registry.in(directory)));
  }

  private boolean isNewest(TieredSegment segment, Map<Path, Long> newest) {
    Optional<SegmentName> name = segment.name();
    if (name.isEmpty()) {
      return !anyName;
    }
    if (name.get().replica() == SegmentName.Replica.STRAY) {
      return false;
    }
    Long offset = newest.get(segment.home().getParent());
    return offset == null || name.get().id().baseOffset() >= offset;
  }

  private static Map<Path, Long> newestOffsets(Iterable<TieredSegment> segments) {
    Map<Path, Long> newest = new HashMap<>();
    for (TieredSegment segment : segments) {
      Optional<SegmentName> name = segment.name();
      Path directory = segment.home().getParent();
      if (name.isPresent()
          && directory != null
          && name.get().stage() == SegmentName.Stage.LIVE
          && !segment.missing()) {
        newest.merge(directory, name.get().id().baseOffset(), Math::max);
      }
    }
    return newest;
  }
}
