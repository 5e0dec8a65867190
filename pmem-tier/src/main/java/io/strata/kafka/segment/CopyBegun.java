package io.strata.kafka.segment;

import java.util.Optional;

/**
 * A segment as it was when a copy of it began.
 *
 * <p>Immutable and safe for use by any thread.
 *
 * @param changes how often it had changed
 * @param view what readers saw
 * @param size how many bytes it had
 * @param residence where they were; empty for the log file
 */
record CopyBegun(long changes, HotView view, long size, Optional<Residence> residence) {

  /** How many of the bytes were in the pool. */
  long inPool() {
    return view.poolEnd(size);
  }
}
