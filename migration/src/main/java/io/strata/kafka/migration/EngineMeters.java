package io.strata.kafka.migration;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.strata.kafka.api.Move;
import io.strata.kafka.migration.plan.BackOffs.FailureCause;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/**
 * Counts what an engine moves, and those before it that it goes on from.
 *
 * <p>Thread safety: safe for use by any number of threads.
 *
 * @param tiers one for each tier with pools, fastest first
 * @param up what is copied up
 * @param destages how long copies down took, waiting for the rate limit included
 * @param promotions how long copies up took, waiting for the rate limit included
 * @param failures failed moves for each cause; a cause that has had none may be missing
 * @param cancelled moves cancelled without a fault
 * @param refused moves of the policy that were not allowed
 */
public record EngineMeters(
    List<TierMeter> tiers,
    RateMeter up,
    LatencyWindow destages,
    LatencyWindow promotions,
    Map<FailureCause, Long> failures,
    LongAdder cancelled,
    LongAdder refused) {

  /** Makes the meters of so many tiers, all at zero. */
  public EngineMeters(int tiers, LongSupplier nanoTime) {
    this(
        Stream.generate(() -> new TierMeter(nanoTime)).limit(tiers).toList(),
        new RateMeter(nanoTime),
        new LatencyWindow(nanoTime),
        new LatencyWindow(nanoTime),
        new ConcurrentHashMap<>(),
        new LongAdder(),
        new LongAdder());
  }

  /** Calls or segments, and their bytes. */
  public record Count(LongAdder number, LongAdder bytes) {

    /** Makes one that has counted nothing. */
    public Count() {
      this(new LongAdder(), new LongAdder());
    }

    /** Counts one of so many bytes. */
    public void add(long count) {
      number.increment();
      bytes.add(count);
    }
  }

  /**
   * Counts segments and bytes of one tier.
   *
   * @param destaged copied down from it
   * @param promoted copied up into it
   * @param evicted freed in it by the engine; what appends evict is counted by the tier
   * @param down what is copied down from it
   */
  public record TierMeter(Count destaged, Count promoted, Count evicted, RateMeter down) {

    /** Makes one that has counted nothing. */
    public TierMeter(LongSupplier nanoTime) {
      this(new Count(), new Count(), new Count(), new RateMeter(nanoTime));
    }

    /**
     * Returns the seconds that copies down of so many bytes take at the recent rate; NaN without a
     * rate.
     */
    public double secondsFor(long bytes) {
      double rate = down.perSecond();
      return bytes == 0 ? 0 : rate > 0 ? bytes / rate : Double.NaN;
    }
  }

  /**
   * Bytes per second over the last ten seconds.
   *
   * <p>Thread safety: safe for use by any number of threads.
   */
  public static final class RateMeter {

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

    /** Counts bytes now. */
    public synchronized void add(long count) {
      bytes.merge((long) advance(), count, Long::sum);
    }

    /** Returns the rate. */
    public synchronized double perSecond() {
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

  void copying(Move move, long bytes) {
    (move.kind() == Move.Kind.PROMOTE ? up : tiers.get(move.segment().tier()).down).add(bytes);
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

  /** Returns the rate of all copies down. */
  public double downPerSecond() {
    return tiers.stream().mapToDouble(tier -> tier.down.perSecond()).sum();
  }
}
