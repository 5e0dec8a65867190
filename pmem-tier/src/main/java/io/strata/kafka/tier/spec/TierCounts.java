package io.strata.kafka.tier.spec;

import java.nio.file.Path;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts what a tier does beside reading and appending, on the way to its listener.
 *
 * <p>Thread safety: all methods may be called by any thread.
 */
public final class TierCounts {

  private final TierEvents events;
  private final LongAdder placements = new LongAdder();
  private final LongAdder placementsRefused = new LongAdder();
  private final LongAdder logFileFailures = new LongAdder();
  private final LongAdder mtimeRefreshes = new LongAdder();

  public TierCounts(TierEvents events) {
    this.events = events;
  }

  /** Segments placed in a pool since the tier was opened. */
  public long placements() {
    return placements.sum();
  }

  /** Segments that went to the log file at once, because the pools had too little space. */
  public long placementsRefused() {
    return placementsRefused.sum();
  }

  /** Operations on log files that failed in the background. */
  public long logFileFailures() {
    return logFileFailures.sum();
  }

  /** Returns how often a log file's modification time was brought up to date. */
  public long mtimeRefreshes() {
    return mtimeRefreshes.sum();
  }

  public void placed() {
    placements.increment();
  }

  public void refused(Path file) {
    placementsRefused.increment();
    events.placementRefused(file);
  }

  public void failed(String what, Exception cause) {
    logFileFailures.increment();
    events.backgroundFailure(what, cause);
  }

  public void refreshed() {
    mtimeRefreshes.increment();
  }
}
