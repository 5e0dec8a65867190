package io.strata.kafka.migration;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.strata.kafka.api.Move;
import io.strata.kafka.api.SegmentId;
import io.strata.kafka.api.SegmentName;
import io.strata.kafka.api.SegmentView;
import io.strata.kafka.api.TierUsage;
import io.strata.kafka.migration.plan.Plan.PlannedMove;
import io.strata.kafka.migration.plan.TieredSegments;
import io.strata.kafka.migration.plan.TieredSegments.MoveControl;
import io.strata.kafka.migration.plan.TieredSegments.MoveResult;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Tiers without bytes: keeps to the contract of {@link TieredSegments}, and notes what the engine
 * does against it.
 *
 * <p>A segment has one copy in its tier and at most one below that counts. Promoting a clean
 * segment keeps its lower copy and discards the one in between. If it {@link #relocates}, the one
 * below is in the last tier alone.
 *
 * <p>Thread safety: safe for use by any number of threads.
 */
public final class FakeTiers implements TieredSegments {

  public static final long MIB = 1 << 20;

  /** What a move does before it succeeds; throws to make it fail. */
  public interface Hook {
    void before(Move.Kind kind, long id, int toTier) throws IOException, InterruptedException;
  }

  private static final class Seg {
    final long id;
    final SegmentName name;
    final String directory;
    int tier;
    OptionalInt clean = OptionalInt.empty();
    boolean active;
    boolean found;
    boolean moving;

    long bytes;
    long tail;

    /** How many of its first bytes are in the log file too, while it is active or after that. */
    long copied;

    /** How many of those are not in the pool any more: whole extents. */
    long evicted;

    long created;
    long changed;
    long read;
    double recent;

    Seg(long id, SegmentName name, String directory) {
      this.id = id;
      this.name = name;
      this.directory = directory;
    }

    long inPool() {
      return roundUp(bytes - tail - evicted);
    }

    /** What an eviction frees now. */
    long evictable() {
      return clean.isPresent() && !active ? inPool() : Math.max(0, roundDown(copied) - evicted);
    }

    long dirty() {
      return clean.isPresent() ? 0 : bytes - tail - copied;
    }

    /** What stays in the pool of an active one, whatever is copied. */
    long lastExtent() {
      return inPool() - Math.max(0, roundDown(bytes - tail) - evicted);
    }
  }

  private final long[] capacities;
  private final int lowest;

  @GuardedBy("this")
  private final Map<Long, Seg> segments = new LinkedHashMap<>();

  @GuardedBy("this")
  private final long[] used;

  @GuardedBy("this")
  private List<Long> order = List.of();

  @GuardedBy("this")
  private long nextId = 1;

  @GuardedBy("this")
  private long made;

  private volatile boolean mayMove = true;
  private volatile Runnable wake = () -> {};
  private volatile Hook hook = (kind, id, toTier) -> {};
  private volatile int slots = Integer.MAX_VALUE;
  private volatile boolean relocates;
  private volatile String excluded = "";

  /** What is to leave the pools. */
  public final Set<Long> unwanted = new HashSet<>();

  public final List<String> violations = new CopyOnWriteArrayList<>();

  public FakeTiers(long... capacities) {
    this.capacities = capacities.clone();
    lowest = capacities.length;
    used = new long[lowest];
  }

  private static long roundUp(long bytes) {
    return bytes == 0 ? 0 : (bytes + 65535) / 65536 * 65536;
  }

  private static long roundDown(long bytes) {
    return bytes / 65536 * 65536;
  }

  public void hook(Hook newHook) {
    hook = newHook;
  }

  /** Whether a copy into another tier with space takes a segment out of its own. */
  public void relocates(boolean now) {
    relocates = now;
  }

  public void slots(int count) {
    slots = count;
  }

  /** The topic's segments are to leave the pools, those that come too; empty for no topic. */
  public void exclude(String topic) {
    excluded = topic;
  }

  public boolean excludes(String topic) {
    return excluded.equals(topic);
  }

  public int logDirs() {
    return lowest;
  }

  /**
   * A segment in the first tier with space from {@code tier} on, clean ones evicted; else the log
   * file.
   */
  public synchronized long add(
      String topic, int partition, long offset, int tier, long bytes, long millis, boolean active) {
    String directory = "/data" + partition % 3;
    SegmentName name =
        new SegmentName(
            new SegmentId(topic, partition, offset),
            SegmentName.Replica.CURRENT,
            SegmentName.Stage.LIVE);
    Seg seg = new Seg(nextId++, name, directory);
    seg.bytes = bytes;
    seg.created = millis;
    seg.changed = millis;
    seg.read = millis;
    seg.active = active;
    seg.tier = lowest;
    for (int t = tier; t < lowest; t++) {
      if (makeSpace(t, roundUp(bytes), seg)) {
        seg.tier = t;
        used[t] += roundUp(bytes);
        break;
      }
    }
    segments.put(seg.id, seg);
    wake.run();
    return seg.id;
  }

  @GuardedBy("this")
  private boolean makeSpace(int tier, long bytes, Seg except) {
    if (tier >= lowest) {
      return true;
    }
    List<Seg> clean = new ArrayList<>();
    for (long id : order) {
      Seg seg = segments.get(id);
      if (seg != null && seg != except && seg.tier == tier && seg.evictable() > 0 && !seg.moving) {
        clean.add(seg);
      }
    }
    long found = capacities[tier] - used[tier];
    List<Seg> victims = new ArrayList<>();
    for (Seg seg : clean) {
      if (found >= bytes) {
        break;
      }
      found += seg.evictable();
      victims.add(seg);
    }
    if (found < bytes) {
      return false;
    }
    victims.forEach(this::evict);
    return true;
  }

  @GuardedBy("this")
  private long evict(Seg seg) {
    long freed = seg.evictable();
    if (seg.clean.isPresent() && !seg.active) {
      evictUpper(seg);
    } else {
      used[seg.tier] -= freed;
      seg.evicted += freed;
    }
    return freed;
  }

  @GuardedBy("this")
  private void evictUpper(Seg seg) {
    used[seg.tier] -= seg.inPool();
    seg.tier = seg.clean.orElseThrow();
    seg.clean = OptionalInt.empty();
    seg.tail = 0;
    seg.copied = 0;
    seg.evicted = 0;
  }

  @GuardedBy("this")
  private boolean isFree(int tier, long bytes) {
    return capacities[tier] - used[tier] >= bytes;
  }

  public synchronized void seal(long id) {
    Seg seg = segments.get(id);
    if (seg != null) {
      seg.active = false;
      wake.run();
    }
  }

  /** Appends to an active segment, as far as there is space. */
  public synchronized boolean append(long id, long bytes, long millis) {
    Seg seg = segments.get(id);
    if (seg == null || !seg.active || seg.tier == lowest || seg.tail > 0) {
      return false;
    }
    long before = seg.inPool();
    long more = roundUp(seg.bytes - seg.evicted + bytes) - before;
    if (!makeSpace(seg.tier, more, seg)) {
      return false;
    }
    used[seg.tier] += more;
    if (seg.clean.isPresent()) {
      seg.copied = seg.bytes;
      seg.clean = OptionalInt.empty();
    }
    seg.bytes += bytes;
    seg.changed = millis;
    return true;
  }

  /** A tail of a segment in the log file, because the pool has no space. */
  public synchronized void spill(long id, long tail) {
    Seg seg = segments.get(id);
    if (seg != null && seg.tier < lowest) {
      seg.bytes += tail;
      seg.tail = tail;
    }
  }

  /** It was in its log file before Strata. */
  public synchronized void found(long id) {
    Seg seg = segments.get(id);
    if (seg != null) {
      seg.found = true;
    }
  }

  public synchronized void read(long id, long millis, double recent) {
    Seg seg = segments.get(id);
    if (seg != null) {
      seg.read = millis;
      seg.recent = recent;
    }
  }

  public synchronized void delete(long id) {
    Seg seg = segments.remove(id);
    if (seg != null) {
      free(seg);
    }
  }

  @GuardedBy("this")
  private void free(Seg seg) {
    if (seg.tier < lowest) {
      used[seg.tier] -= seg.inPool();
      seg.clean.ifPresent(
          lower -> {
            if (lower < lowest) {
              freeLower(seg, lower);
            }
          });
    }
  }

  private synchronized void freeLower(Seg seg, int lower) {
    used[lower] -= roundUp(seg.bytes);
  }

  @Override
  public synchronized State state() {
    long[] dirty = new long[lowest];
    long[] clean = new long[lowest];
    long[] active = new long[lowest];
    int[] count = new int[lowest];
    List<SegmentView> views = new ArrayList<>();
    for (Seg seg : segments.values()) {
      if (seg.tier < lowest) {
        clean[seg.tier] += seg.evictable();
        dirty[seg.tier] += seg.inPool() - seg.evictable();
        active[seg.tier] += seg.active ? Math.min(seg.lastExtent(), seg.inPool()) : 0;
        count[seg.tier]++;
        if (seg.clean.isPresent() && seg.clean.getAsInt() < lowest) {
          dirty[seg.clean.getAsInt()] += roundUp(seg.bytes);
          count[seg.clean.getAsInt()]++;
        }
      }
      views.add(view(seg));
    }
    List<TierUsage> tiers = new ArrayList<>();
    for (int t = 0; t < lowest; t++) {
      if (dirty[t] + clean[t] != used[t]) {
        violations.add("tier " + t + ": used " + used[t] + ", counted " + (dirty[t] + clean[t]));
      }
      tiers.add(
          new TierUsage(
              t,
              "tier" + t,
              capacities[t],
              used[t],
              dirty[t],
              clean[t],
              active[t],
              count[t],
              Math.max(0, slots - count[t]),
              0,
              0));
    }
    Set<Long> leaving = new HashSet<>(unwanted);
    views.stream()
        .filter(view -> excludes(view.name().id().topic()))
        .forEach(view -> leaving.add(view.id()));
    return new State(tiers, views, leaving, relocates);
  }

  @GuardedBy("this")
  private SegmentView view(Seg seg) {
    return new SegmentView(
        seg.id,
        seg.name,
        seg.directory,
        seg.tier,
        seg.clean,
        seg.active,
        seg.tail > 0,
        seg.bytes,
        seg.tier == lowest ? 0 : seg.inPool(),
        seg.tier == lowest ? 0 : seg.dirty(),
        seg.tier == lowest ? 0 : seg.evictable(),
        seg.created,
        seg.changed,
        seg.read,
        seg.recent,
        seg.found && seg.tier == lowest);
  }

  private synchronized boolean begin(Move.Kind kind, long id, int toTier) {
    Seg seg = segments.get(id);
    if (seg == null) {
      return false;
    }
    boolean refused =
        kind == Move.Kind.PROMOTE
            ? seg.tier < lowest && (seg.tail == 0 || seg.tier != toTier)
            : kind == Move.Kind.DESTAGE && toTier < lowest;
    if (seg.active && refused) {
      violations.add(kind + " of the active segment " + seg.name.id());
    }
    if (seg.moving) {
      violations.add(kind + " of " + seg.name.id() + ", which moves already");
    }
    seg.moving = true;
    return true;
  }

  private synchronized void end(long id) {
    Seg seg = segments.get(id);
    if (seg != null) {
      seg.moving = false;
    }
  }

  private MoveResult move(Move.Kind kind, long id, int toTier, MoveControl control)
      throws IOException, InterruptedException {
    if (!begin(kind, id, toTier)) {
      return MoveResult.cancelled("deleted");
    }
    try {
      hook.before(kind, id, toTier);
      long bytes = bytes(id);
      for (long at = 0; at < bytes && kind != Move.Kind.EVICT; at += MIB) {
        if (control.cancelled()) {
          return MoveResult.cancelled("asked to stop");
        }
        control.beforeCopying(Math.min(MIB, bytes - at));
      }
      return control.cancelled() ? MoveResult.cancelled("asked to stop") : finish(kind, id, toTier);
    } finally {
      end(id);
    }
  }

  private synchronized long bytes(long id) {
    Seg seg = segments.get(id);
    return seg == null ? 0 : seg.bytes;
  }

  private synchronized MoveResult finish(Move.Kind kind, long id, int toTier) {
    Seg seg = segments.get(id);
    if (seg == null) {
      return MoveResult.cancelled("deleted");
    }
    made++;
    long bytes = seg.bytes;
    switch (kind) {
      case DESTAGE -> {
        if (seg.clean.isPresent() || toTier <= seg.tier) {
          return MoveResult.cancelled("clean, or not above");
        }
        if (toTier < lowest) {
          if (!makeSpace(toTier, roundUp(bytes), seg)) {
            return MoveResult.targetFull("tier " + toTier + " is full");
          }
          used[toTier] += roundUp(bytes);
        }
        if (relocates && toTier < lowest) {
          used[seg.tier] -= seg.inPool();
          seg.tail = 0;
          seg.evicted = 0;
          seg.tier = toTier;
        } else {
          seg.clean = OptionalInt.of(toTier);
          seg.copied = toTier == lowest ? seg.bytes - seg.tail : 0;
        }
      }
      case EVICT -> {
        if (seg.evictable() == 0 && (seg.clean.isEmpty() || seg.active)) {
          return MoveResult.cancelled("not clean any more");
        }
        bytes = evict(seg);
      }
      default -> {
        return promoteWithoutLocking(seg, toTier);
      }
    }
    return MoveResult.done(bytes);
  }

  @GuardedBy("this")
  private MoveResult promoteWithoutLocking(Seg seg, int toTier) {
    if (seg.active) {
      // All that it has is in the log file then.
      if (seg.tier < lowest) {
        used[seg.tier] -= seg.inPool();
      }
      seg.tier = toTier;
      seg.tail = 0;
      seg.copied = seg.bytes;
      seg.evicted = seg.bytes;
      seg.clean = OptionalInt.empty();
      return MoveResult.done(seg.bytes);
    }
    if (seg.tail > 0 && toTier == seg.tier) {
      // Into another slot, before the one that it has is free.
      if (!isFree(toTier, roundUp(seg.bytes))) {
        return MoveResult.targetFull("tier " + toTier + " is full");
      }
      used[toTier] += roundUp(seg.bytes) - seg.inPool();
      seg.tail = 0;
      seg.evicted = 0;
      return MoveResult.done(seg.bytes);
    }
    if (toTier >= seg.tier) {
      return MoveResult.cancelled("not below");
    }
    if (!isFree(toTier, roundUp(seg.bytes))) {
      return MoveResult.targetFull("tier " + toTier + " is full");
    }
    used[toTier] += roundUp(seg.bytes);
    boolean part = seg.evicted > 0;
    if (seg.clean.isPresent() || (seg.tier < lowest && (relocates || part))) {
      used[seg.tier] -= seg.inPool();
      seg.tail = 0;
      seg.evicted = 0;
    } else {
      if (seg.tail > 0) {
        violations.add("promotion of " + seg.name.id() + ", whose tail has spilled");
      }
      seg.clean = OptionalInt.of(seg.tier);
    }
    seg.tier = toTier;
    return MoveResult.done(seg.bytes);
  }

  @Override
  public MoveResult destage(long id, int toTier, MoveControl control)
      throws IOException, InterruptedException {
    return move(Move.Kind.DESTAGE, id, toTier, control);
  }

  @Override
  public MoveResult evict(long id) throws IOException {
    try {
      return move(Move.Kind.EVICT, id, 0, MoveControl.UNLIMITED);
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  @Override
  public MoveResult promote(long id, int toTier, MoveControl control)
      throws IOException, InterruptedException {
    return move(Move.Kind.PROMOTE, id, toTier, control);
  }

  @Override
  public MoveResult goOn(long id, int toTier, MoveControl control)
      throws IOException, InterruptedException {
    return move(Move.Kind.PROMOTE, id, toTier, control);
  }

  @Override
  public boolean mayMove() {
    return mayMove;
  }

  public void mayMove(boolean newMayMove) {
    mayMove = newMayMove;
  }

  @Override
  public synchronized void evictionOrder(List<Long> ids) {
    Set<Long> once = new HashSet<>(ids);
    if (once.size() != ids.size()) {
      violations.add("a segment is twice in the eviction order");
    }
    order = List.copyOf(ids);
  }

  public synchronized List<Long> order() {
    return order;
  }

  @Override
  public void onDemand(Runnable newWake) {
    wake = newWake;
  }

  void demand() {
    wake.run();
  }

  /** Moves that took effect. */
  public synchronized long made() {
    return made;
  }

  public SegmentView view(long id) {
    return state().segments().stream().filter(s -> s.id() == id).findFirst().orElseThrow();
  }

  public TierUsage tier(int tier) {
    return state().tiers().get(tier);
  }

  /** Makes the moves of a plan at once, in their order. */
  public void apply(List<PlannedMove> moves) {
    for (PlannedMove planned : moves) {
      Move move = planned.move();
      try {
        MoveResult result =
            switch (move.kind()) {
              case DESTAGE -> destage(planned.id(), move.toTier(), MoveControl.UNLIMITED);
              case PROMOTE -> promote(planned.id(), move.toTier(), MoveControl.UNLIMITED);
              case EVICT -> evict(planned.id());
            };
        if (result.outcome() == MoveResult.Outcome.TARGET_FULL) {
          violations.add(move + ": " + result.reason());
        }
        if (result.outcome() == MoveResult.Outcome.DONE && planned.evictAfter()) {
          MoveResult unused = evict(planned.id());
        }
      } catch (IOException | InterruptedException e) {
        throw new AssertionError(e);
      }
    }
  }
}
