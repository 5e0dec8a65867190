package io.strata.kafka.tier.space;

import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.Slot;
import io.strata.kafka.segment.view.Residence;
import io.strata.kafka.tier.files.SegmentRegistry;
import io.strata.kafka.tier.files.TieredSegment;
import io.strata.kafka.tier.spec.TierCounts;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Forces the bytes in pools that keep only what was forced when the power goes. Kafka forces a
 * segment when it is rolled, and relies upon the kernel to write the rest back within seconds; that
 * a pool's bytes have been written back is not known until they are forced.
 *
 * <p>Thread safety: as the parts.
 */
public record PoolForcer(SegmentRegistry registry, TierCounts counts) {

  /** How long Linux, too, lets written bytes wait (vm.dirty_expire_centisecs). */
  public static final long INTERVAL_MILLIS = 30_000;

  /** Forces what is due: each segment from where it was forced last. */
  public void run() {
    Map<Pool, List<Slot>> due = new LinkedHashMap<>();
    for (TieredSegment segment : registry.all()) {
      Optional<Residence> in = segment.residence();
      if (in.isPresent() && !in.get().slot().isForced()) {
        due.computeIfAbsent(in.get().pool(), pool -> new ArrayList<>()).add(in.get().slot());
      }
    }
    for (Map.Entry<Pool, List<Slot>> each : due.entrySet()) {
      try {
        each.getKey().force(each.getValue());
      } catch (IOException | RuntimeException e) {
        // The other pools are still forced.
        counts.failed("force the pool " + each.getKey().info().path(), e);
      }
    }
  }
}
