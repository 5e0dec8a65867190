package io.strata.kafka.migration;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.strata.kafka.api.Move;
import io.strata.kafka.migration.MigrationStats.TierStats;
import io.strata.kafka.migration.plan.FailureCause;
import io.strata.kafka.migration.plan.Plan.TierPlan;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.OptionalDouble;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

/**
 * Counts what is moved.
 *
 * <p>Thread safety: safe for use by any number of threads.
 */
final class EngineMeters {

  private static final class Count {
    final LongAdder bytes = new LongAdder();
    final LongAdder segments = new LongAdder();

    void add(long count) {
      bytes.add(count);
      segments.increment();
    }
  }

  /**
   * Bytes per second over the last ten seconds.
   *
   * <p>Thread safety: safe for use by any number of threads.
   */
  static final class RateMeter {

    private static final int SECONDS = 10;

    private final LongSupplier nanoTime;
    private final long began;

    /** Counts by the second, the current one included. */
    @GuardedBy("this")
    private final NavigableMap<Long, Long> bytes = new TreeMap<>();

    RateMeter(LongSupplier nanoTime) {
      this.nanoTime = nanoTime;
      this.began = nanoTime.getAsLong();
    }

    synchronized void add(long count) {
      bytes.merge((long) advance(), count, Long::sum);
    }

    synchronized double perSecond() {
      double elapsed = advance();
      double sum = bytes.values().stream().mapToLong(Long::longValue).sum();
      // The map reaches back ten full seconds and what has passed of the current one.
      return sum / Math.max(1, Math.min(elapsed, SECONDS + elapsed % 1));
    }

    /** Forgets what is older; returns the seconds since the beginning. */
    @GuardedBy("this")
    private double advance() {
      double elapsed = (double) (nanoTime.getAsLong() - began) / TimeUnit.SECONDS.toNanos(1);
      bytes.headMap((long) elapsed - SECONDS).clear();
      return elapsed;
    }
  }

  /** Counts what came up into a tier, or left it otherwise. */
  private static final class TierMeter {
    final Count destaged = new Count();
    final Count promoted = new Count();
    final Count evicted = new Count();
    final RateMeter down;

    TierMeter(LongSupplier nanoTime) {
      down = new RateMeter(nanoTime);
    }
  }

  private final List<TierMeter> tiers = new ArrayList<>();
  final RateMeter up;
  final LatencyWindow destages;
  final LatencyWindow promotions;
  final Map<FailureCause, Long> failures = new ConcurrentHashMap<>();
  final LongAdder cancelled = new LongAdder();
  final LongAdder refused = new LongAdder();

  EngineMeters(int tiers, LongSupplier nanoTime) {
    for (int tier = 0; tier < tiers; tier++) {
      this.tiers.add(new TierMeter(nanoTime));
    }
    up = new RateMeter(nanoTime);
    destages = new LatencyWindow(nanoTime);
    promotions = new LatencyWindow(nanoTime);
    for (FailureCause cause : FailureCause.values()) {
      failures.put(cause, 0L);
    }
  }

  void copying(Move move, long bytes) {
    RateMeter rate = move.kind() == Move.Kind.PROMOTE ? up : tiers.get(move.segment().tier()).down;
    rate.add(bytes);
  }

  void done(Move move, long bytes, long nanos) {
    int from = move.segment().tier();
    switch (move.kind()) {
      case DESTAGE -> {
        tiers.get(from).destaged.add(bytes);
        destages.record(nanos);
      }
      case PROMOTE -> {
        tiers.get(move.toTier()).promoted.add(bytes);
        promotions.record(nanos);
      }
      default -> tiers.get(from).evicted.add(bytes);
    }
  }

  double downPerSecond() {
    return tiers.stream().mapToDouble(tier -> tier.down.perSecond()).sum();
  }

  List<TierStats> tiers(List<TierPlan> plans) {
    List<TierStats> stats = new ArrayList<>();
    for (int number = 0; number < tiers.size(); number++) {
      TierMeter tier = tiers.get(number);
      TierPlan plan = number < plans.size() ? plans.get(number) : TierPlan.IDLE;
      stats.add(
          new TierStats(
              number,
              tier.destaged.bytes.sum(),
              tier.destaged.segments.sum(),
              tier.promoted.bytes.sum(),
              tier.promoted.segments.sum(),
              tier.evicted.bytes.sum(),
              tier.evicted.segments.sum(),
              plan.draining(),
              plan.backlogBytes(),
              seconds(plan.backlogBytes(), tier.down.perSecond())));
    }
    return stats;
  }

  private static OptionalDouble seconds(long bytes, double rate) {
    if (bytes == 0) {
      return OptionalDouble.of(0);
    }
    return rate > 0 ? OptionalDouble.of(bytes / rate) : OptionalDouble.empty();
  }
}
