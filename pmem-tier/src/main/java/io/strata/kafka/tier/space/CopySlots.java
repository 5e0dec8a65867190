package io.strata.kafka.tier.space;

import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.Slot;
import io.strata.kafka.pool.words.SlotFlag;
import io.strata.kafka.segment.view.Residence;
import io.strata.kafka.tier.directory.LogDirectories;
import io.strata.kafka.tier.directory.LogDirectories.SegmentPlace;
import io.strata.kafka.tier.directory.PoolSet.PoolTier;
import io.strata.kafka.tier.files.TieredSegment;
import io.strata.kafka.tier.spec.FailureText;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Slots for copies of segments: finds a pool of a tier for one, and takes a slot there. Nothing of
 * the segment itself is lost with a copy that is not read yet.
 *
 * <p>Thread safety: all methods may be called by any thread.
 */
public record CopySlots(LogDirectories logDirectories, PoolSpace space) {

  /**
   * A slot for a copy of so many bytes, flagged so that recovery drops it if nothing leads to it.
   *
   * @param evict whether clean segments may be evicted for it
   */
  public Optional<Residence> allocate(
      PoolTier tier, TieredSegment segment, long bytes, boolean evict) throws IOException {
    Optional<SegmentPlace> place = placeOf(segment);
    if (place.isEmpty()) {
      throw FailureText.at(
          segment.logFile(),
          "it is outside the log directories, by a symbolic link: it cannot be placed in a pool");
    }
    for (Pool pool : space.bySpace(tier)) {
      if (evict ? space.reserve(pool, bytes) : PoolSpace.hasFree(pool, bytes)) {
        Optional<Slot> slot =
            pool.allocateSlot(place.get().directoryId(), place.get().relativePath());
        if (slot.isPresent()) {
          Residence copy = new Residence(slot.get(), pool);
          slot.get().set(SlotFlag.COPY);
          slot.get().set(SlotFlag.NAME_DURABLE);
          return Optional.of(copy);
        }
      }
    }
    return Optional.empty();
  }

  /** Frees the slot of a copy, durably, and gives its extents back. */
  public static void free(Residence copy) throws IOException {
    copy.pool().release(copy.free());
  }

  /** As the slot says that it is in; a partition behind a symbolic link is known by that alone. */
  private Optional<SegmentPlace> placeOf(TieredSegment segment) {
    Path logFile = segment.logFile();
    return logDirectories
        .placeOf(logFile)
        .or(
            () ->
                segment
                    .residence()
                    .map(
                        in ->
                            new SegmentPlace(
                                in.slot().directoryId(), in.slot().relativePath(), logFile)));
  }
}
