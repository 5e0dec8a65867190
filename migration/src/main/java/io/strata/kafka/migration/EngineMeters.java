package io.strata.kafka.migration;

import io.strata.kafka.api.Move;
import io.strata.kafka.api.SegmentView;
import io.strata.kafka.migration.MigrationStats.TierStats;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
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

  private final List<Count> destaged = new ArrayList<>();
  private final List<Count> promoted = new ArrayList<>();
  private final List<Count> evicted = new ArrayList<>();
  private final List<RateMeter> downFrom = new ArrayList<>();
  private final RateMeter up;
  private final LatencyWindow destages;
  private final LatencyWindow promotions;
  private final Map<FailureCause, LongAdder> failures = new EnumMap<>(FailureCause.class);
  final LongAdder cancelled = new LongAdder();
  final LongAdder refused = new LongAdder();

  EngineMeters(int tiers, LongSupplier nanoTime) {
    for (int tier = 0; tier < tiers; tier++) {
      destaged.add(new Count());
      promoted.add(new Count());
      evicted.add(new Count());
      downFrom.add(new RateMeter(nanoTime));
    }
    up = new RateMeter(nanoTime);
    destages = new LatencyWindow(nanoTime);
    promotions = new LatencyWindow(nanoTime);
    for (FailureCause cause : FailureCause.values()) {
      failures.put(cause, new LongAdder());
    }
  }

  void copying(Move move, long bytes) {
    if (move.kind() == Move.Kind.PROMOTE) {
      up.add(bytes);
    } else {
      downFrom.get(move.segment().tier()).add(bytes);
    }
  }

  void done(Move move, long bytes, long nanos) {
    SegmentView segment = move.segment();
    switch (move.kind()) {
      case DESTAGE -> {
        destaged.get(segment.tier()).add(bytes);
        destages.record(nanos);
      }
      case PROMOTE -> {
        promoted.get(move.toTier()).add(bytes);
        promotions.record(nanos);
      }
      default -> evicted.get(segment.tier()).add(bytes);
    }
  }

  void failed(FailureCause cause) {
    LongAdder count = failures.get(cause);
    if (count != null) {
      count.increment();
    }
  }

  Map<FailureCause, Long> failures() {
    Map<FailureCause, Long> counts = new EnumMap<>(FailureCause.class);
    failures.forEach((cause, count) -> counts.put(cause, count.sum()));
    return counts;
  }

  MigrationStats.Latency destageLatency() {
    return destages.latency();
  }

  MigrationStats.Latency promoteLatency() {
    return promotions.latency();
  }

  double downPerSecond() {
    return downFrom.stream().mapToDouble(RateMeter::perSecond).sum();
  }

  double upPerSecond() {
    return up.perSecond();
  }

  List<TierStats> tiers(List<Plan.TierPlan> plans) {
    List<TierStats> stats = new ArrayList<>();
    for (int tier = 0; tier < destaged.size(); tier++) {
      Plan.TierPlan plan = tier < plans.size() ? plans.get(tier) : Plan.TierPlan.IDLE;
      stats.add(
          new TierStats(
              tier,
              destaged.get(tier).bytes.sum(),
              destaged.get(tier).segments.sum(),
              promoted.get(tier).bytes.sum(),
              promoted.get(tier).segments.sum(),
              evicted.get(tier).bytes.sum(),
              evicted.get(tier).segments.sum(),
              plan.draining(),
              plan.backlogBytes(),
              seconds(plan.backlogBytes(), downFrom.get(tier).perSecond())));
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
