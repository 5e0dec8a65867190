package io.strata.kafka.tier;

import io.strata.kafka.segment.Residence;
import java.io.IOException;
import java.util.Optional;

/**
 * Forces the bytes in pools that keep only what was forced when the power goes. Kafka forces a
 * segment when it is rolled, and relies upon the kernel to write the rest back within seconds; that
 * a pool's bytes have been written back is not known until they are forced.
 *
 * <p>Thread safety: as the parts.
 */
final class PoolForcer {

  /** How long Linux, too, lets written bytes wait (vm.dirty_expire_centisecs). */
  static final long INTERVAL_MILLIS = 30_000;

  private final SegmentRegistry registry;
  private final TierCounts counts;

  PoolForcer(SegmentRegistry registry, TierCounts counts) {
    this.registry = registry;
    this.counts = counts;
  }

  /** Forces each segment from where it was forced last. */
  void run() {
    for (TieredSegment segment : registry.all()) {
      Optional<Residence> in = segment.residence();
      if (in.isPresent() && !in.get().slot().isForced()) {
        try {
          // From where it was forced last.
          in.get().slot().force(Long.MAX_VALUE, Long.MAX_VALUE);
        } catch (IOException | RuntimeException e) {
          // Its slot may just have been freed, too: the others' turn comes all the same.
          counts.failed("force the bytes in the pool of " + segment.home(), e);
        }
      }
    }
  }
}
