package io.strata.kafka.tier;

import io.strata.kafka.pool.Extent;
import io.strata.kafka.segment.Residence;
import java.io.IOException;
import java.util.List;

/** Copies of segments that nobody reads: nothing of the segment itself is lost with them. */
final class Copies {

  private Copies() {}

  /** Frees the slot, durably, and gives its extents back. */
  static void free(Residence copy) throws IOException {
    List<Extent> extents = copy.slot().extents().toList();
    copy.slot().free();
    copy.pool().release(extents);
  }
}
