package io.strata.kafka.tier;

import io.strata.kafka.pool.SlotFlag;
import io.strata.kafka.pool.SlotState;
import io.strata.kafka.segment.Residence;
import io.strata.kafka.segment.SegmentTag;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Decides, when a tier is opened, what the second attribute of a home means.
 *
 * <table>
 *   <caption>What becomes of the copy below</caption>
 *   <tr><th>slot of the tag</th><th>slot below</th><th>what is done</th></tr>
 *   <tr><td>LIVE, CLEAN</td><td>LIVE</td><td>the segment is clean; the copy is kept</td></tr>
 *   <tr><td>LIVE, CLEAN</td><td>not there, or of another length</td><td>CLEAN is withdrawn</td></tr>
 *   <tr><td>LIVE, not CLEAN</td><td>any</td><td>the copy is out of date: dropped</td></tr>
 *   <tr><td>freed</td><td>LIVE</td><td>evicted: the tag becomes that of the copy</td></tr>
 *   <tr><td>freed by a repair</td><td>LIVE</td><td>the copy may be out of date: as if it had
 *   none</td></tr>
 *   <tr><td>freed</td><td>freed</td><td>evicted twice: home has it</td></tr>
 *   <tr><td>freed</td><td>DELETING</td><td>evicted, and then deleted: finished</td></tr>
 *   <tr><td>DELETING</td><td>any</td><td>the deletion is finished, the copy dropped</td></tr>
 * </table>
 *
 * <p>Thread safety: used by one thread.
 */
final class LowerCopies {

  private final PoolSet pools;
  private final Map<SegmentTag, Residence> byUpper = new HashMap<>();
  private final Set<SegmentTag> kept = new HashSet<>();
  private final Set<SegmentTag> dropped = new HashSet<>();

  LowerCopies(PoolSet pools) {
    this.pools = pools;
  }

  /** Does something to a log file; if that fails, it is its log directory's failure. */
  interface At {
    SegmentTag run(Path file, LogFile.Action<SegmentTag> action) throws IOException;
  }

  /**
   * Goes through all homes.
   *
   * @return each home by the tag that it has now
   */
  Map<SegmentTag, Path> resolve(Collection<TaggedHome> homes, At at) throws IOException {
    Map<SegmentTag, Path> byTag = new HashMap<>();
    for (TaggedHome home : homes) {
      SegmentTag tag = at.run(home.file(), file -> resolve(home));
      Path other = byTag.put(tag, home.file());
      if (other != null) {
        throw new FileSystemException(
            home.file().toString(),
            other.toString(),
            "both files lead to "
                + tag
                + ", as a copy made with its extended attributes does: move the copy out of the log"
                + " directory");
      }
    }
    return byTag;
  }

  private SegmentTag resolve(TaggedHome home) throws IOException {
    if (home.below().isEmpty()) {
      return home.tag();
    }
    SegmentTag below = home.below().get();
    Optional<Residence> upper = pools.live(home.tag());
    Optional<Residence> lower = pools.live(below);
    if (below.equals(home.tag())) {
      SegmentTag.removeBelow(home.file());
      return home.tag();
    }
    if (upper.isPresent()) {
      return resolve(home, below, upper.get(), lower);
    }
    if (isDeleting(home.tag())) {
      dropped.add(below);
      return home.tag();
    }
    if (lower.isEmpty()) {
      return isDeleting(below) ? below : home.tag();
    }
    if (pools.gaveUp(home.tag())) {
      // Whether the segment was changed since it was copied, the damaged slot could have told.
      return home.tag();
    }
    below.write(home.file());
    Directories.force(home.file());
    SegmentTag.removeBelow(home.file());
    return below;
  }

  private SegmentTag resolve(
      TaggedHome home, SegmentTag below, Residence upper, Optional<Residence> lower)
      throws IOException {
    if (upper.isClean()) {
      if (lower.isPresent() && isAsLong(upper, lower.get())) {
        byUpper.put(home.tag(), lower.get());
        kept.add(below);
        return home.tag();
      }
      // Nobody frees the lower copy of a clean segment, or changes it: what has become of it is not
      // known.
      upper.slot().clear(SlotFlag.CLEAN);
    }
    dropped.add(below);
    SegmentTag.removeBelow(home.file());
    return home.tag();
  }

  /** A copy has all its bytes in its pool, as long as the one above it has. */
  private static boolean isAsLong(Residence upper, Residence lower) {
    return upper.slot().has(SlotFlag.SPILLED)
        || lower.slot().has(SlotFlag.SPILLED)
        || upper.slot().committedLength() == lower.slot().committedLength();
  }

  private boolean isDeleting(SegmentTag tag) {
    return pools
        .find(tag.pool())
        .flatMap(pool -> pool.slot(tag.slot(), tag.generation()))
        .map(slot -> slot.state() == SlotState.DELETING)
        .orElse(false);
  }

  /** The copy below of the segment that a tag names; empty if it has none in a pool. */
  Optional<Residence> of(SegmentTag upper) {
    return Optional.ofNullable(byUpper.get(upper));
  }

  /** Whether a slot holds a copy below that is of no use any more. */
  boolean drops(SegmentTag tag) {
    return dropped.contains(tag);
  }

  /** Whether a slot holds a copy below that is to stay. */
  boolean keeps(SegmentTag tag) {
    return kept.contains(tag);
  }
}
