package io.strata.kafka.tier;

import io.strata.kafka.segment.Residence;
import java.io.IOException;

/** Copies of segments that nobody reads: nothing of the segment itself is lost with them. */
final class Copies {

  private Copies() {}

  /** Frees the slot, durably, and gives its extents back. */
  static void free(Residence copy) throws IOException {
    copy.pool().release(copy.free());
  }
}
