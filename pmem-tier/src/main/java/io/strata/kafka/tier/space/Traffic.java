package io.strata.kafka.tier.space;

import io.strata.kafka.segment.view.Residence;
import io.strata.kafka.tier.directory.PoolSet;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts what goes through each tier since the tiers were opened.
 *
 * <p>Thread safety: all methods may be called by any thread.
 */
public final class Traffic {

  /**
   * One tier's counts at a moment; the log directories' are those of reads alone. Immutable.
   *
   * @param reads how many reads and transfers were served from it
   * @param readBytes how many bytes they had
   * @param spilledSegments segments of the tier whose tail went to the log file because the pools
   *     were full
   * @param spilledBytes bytes that did
   * @param evictedSegments segments whose copy here was discarded for a lower one
   * @param evictedBytes their space
   * @param pressureSegments of these segments, those evicted for an append or another copy that
   *     needed the space at once
   * @param pressureBytes their space
   */
  public record Counts(
      long reads,
      long readBytes,
      long spilledSegments,
      long spilledBytes,
      long evictedSegments,
      long evictedBytes,
      long pressureSegments,
      long pressureBytes) {}

  private static final class Adders {
    private final LongAdder reads = new LongAdder();
    private final LongAdder readBytes = new LongAdder();
    private final LongAdder spilledSegments = new LongAdder();
    private final LongAdder spilledBytes = new LongAdder();
    private final LongAdder evictedSegments = new LongAdder();
    private final LongAdder evictedBytes = new LongAdder();
    private final LongAdder pressureSegments = new LongAdder();
    private final LongAdder pressureBytes = new LongAdder();
  }

  private final PoolSet pools;
  private final Adders[] tiers;

  /** Makes the counters of some pools, all 0. */
  public Traffic(PoolSet pools) {
    this.pools = pools;
    this.tiers = new Adders[pools.tiers().size() + 1];
    for (int i = 0; i < tiers.length; i++) {
      tiers[i] = new Adders();
    }
  }

  /**
   * The counts of a tier.
   *
   * @param tier from 0, the fastest; the number of tiers with pools stands for the log directories
   */
  public Counts of(int tier) {
    Adders adders = tiers[tier];
    return new Counts(
        adders.reads.sum(),
        adders.readBytes.sum(),
        adders.spilledSegments.sum(),
        adders.spilledBytes.sum(),
        adders.evictedSegments.sum(),
        adders.evictedBytes.sum(),
        adders.pressureSegments.sum(),
        adders.pressureBytes.sum());
  }

  private Adders of(Optional<Residence> residence) {
    return tiers[residence.map(in -> pools.tierOf(in.pool())).orElse(tiers.length - 1)];
  }

  public void read(Optional<Residence> from, long bytes) {
    Adders adders = of(from);
    adders.reads.increment();
    adders.readBytes.add(bytes);
  }

  /** The log file had this part of the bytes that a following {@link #read} counts. */
  public void readTailInLogFile(Optional<Residence> from, long bytes) {
    of(from).readBytes.add(-bytes);
    tiers[tiers.length - 1].readBytes.add(bytes);
  }

  /**
   * Counts bytes that went to the log file.
   *
   * @param first whether they are the first of their segment
   */
  public void spilled(Optional<Residence> in, long bytes, boolean first) {
    Adders adders = of(in);
    adders.spilledBytes.add(bytes);
    if (first) {
      adders.spilledSegments.increment();
    }
  }

  /**
   * Counts an eviction.
   *
   * @param underPressure whether an append made it
   */
  public void evicted(Residence from, long bytes, boolean underPressure) {
    Adders adders = of(Optional.of(from));
    adders.evictedSegments.increment();
    adders.evictedBytes.add(bytes);
    if (underPressure) {
      adders.pressureSegments.increment();
      adders.pressureBytes.add(bytes);
    }
  }
}
