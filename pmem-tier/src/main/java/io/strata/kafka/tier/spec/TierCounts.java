package io.strata.kafka.tier.spec;

import io.strata.kafka.migration.EngineMeters.Count;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.segment.view.Residence;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;

/**
 * Counts what tiers do since they were opened; refusals and failures on the way to their listener.
 *
 * <p>Thread safety: all methods may be called by any thread.
 *
 * @param tierOf the number of the tier that a pool belongs to
 * @param tiers one for each tier, fastest first; the last one is the log directories'
 * @param placements segments placed in a pool
 * @param placementsRefused segments that went to the log file at once, because the pools had too
 *     little space
 * @param logFileFailures operations on log files that failed in the background
 * @param mtimeRefreshes how often a log file's modification time was brought up to date
 */
public record TierCounts(
    TierEvents events,
    ToIntFunction<Pool> tierOf,
    List<OfTier> tiers,
    LongAdder placements,
    LongAdder placementsRefused,
    LongAdder logFileFailures,
    LongAdder mtimeRefreshes) {

  /**
   * Counts of one tier; those of the log directories are of reads alone.
   *
   * @param reads reads and transfers that were served from it, and their bytes
   * @param spilled segments of the tier whose tail went to the log file because the pools were
   *     full, and the bytes that did
   * @param evicted segments whose copy here was discarded for a lower one, and their space
   * @param pressure of these segments, those evicted for an append or another copy that needed the
   *     space at once
   */
  public record OfTier(Count reads, Count spilled, Count evicted, Count pressure) {

    private OfTier() {
      this(new Count(), new Count(), new Count(), new Count());
    }
  }

  /** Makes the counters of so many tiers with pools, all 0. */
  public TierCounts(TierEvents events, int tiers, ToIntFunction<Pool> tierOf) {
    this(
        events,
        tierOf,
        Stream.generate(OfTier::new).limit(tiers + 1).toList(),
        new LongAdder(),
        new LongAdder(),
        new LongAdder(),
        new LongAdder());
  }

  private OfTier of(Optional<Residence> residence) {
    return residence.map(in -> tiers.get(tierOf.applyAsInt(in.pool()))).orElseGet(this::logFiles);
  }

  private OfTier logFiles() {
    return tiers.get(tiers.size() - 1);
  }

  public void read(Optional<Residence> from, long bytes) {
    of(from).reads.add(bytes);
  }

  /** The log file had this part of the bytes that a following {@link #read} counts. */
  public void readTailInLogFile(Optional<Residence> from, long bytes) {
    of(from).reads.bytes().add(-bytes);
    logFiles().reads.bytes().add(bytes);
  }

  /**
   * Counts bytes that went to the log file.
   *
   * @param first whether they are the first of their segment
   */
  public void spilled(Optional<Residence> in, long bytes, boolean first) {
    Count spilled = of(in).spilled;
    spilled.bytes().add(bytes);
    if (first) {
      spilled.number().increment();
    }
  }

  /**
   * Counts an eviction.
   *
   * @param underPressure whether an append made it
   */
  public void evicted(Residence from, long bytes, boolean underPressure) {
    OfTier tier = of(Optional.of(from));
    tier.evicted.add(bytes);
    if (underPressure) {
      tier.pressure.add(bytes);
    }
  }

  public void refused(Path file) {
    placementsRefused.increment();
    events.placementRefused(file);
  }

  public void failed(String what, Exception cause) {
    logFileFailures.increment();
    events.backgroundFailure(what, cause);
  }
}
