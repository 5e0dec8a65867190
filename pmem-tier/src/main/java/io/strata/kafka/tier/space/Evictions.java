package io.strata.kafka.tier.space;

import io.strata.kafka.segment.view.Residence;
import io.strata.kafka.tier.files.TieredSegment;
import java.io.IOException;
import java.util.Optional;

/**
 * Frees the slot of a clean segment, in one step that no crash can divide. The log file's tag
 * follows later.
 */
public final class Evictions {

  private Evictions() {}

  /** Returns whether the log file has the whole segment, durably. */
  public static boolean isClean(TieredSegment segment) {
    return segment.residence().map(Residence::isClean).orElse(false);
  }

  /** The space that an eviction frees now, in bytes. */
  static long evictableBytes(TieredSegment segment) {
    return segment.residence().map(in -> in.evictableBytes(!segment.active())).orElse(0L);
  }

  /**
   * Frees the slot of a clean segment; readers see the log file.
   *
   * @param wait whether to wait for a change under way
   * @return where it was; the log file's tag still names that. Empty when nothing was done
   */
  static Optional<Residence> run(TieredSegment segment, boolean wait) throws IOException {
    try {
      return segment.segment().evict(wait);
    } finally {
      segment.changed();
    }
  }
}
