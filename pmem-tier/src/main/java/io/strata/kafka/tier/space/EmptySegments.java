package io.strata.kafka.tier.space;

import io.strata.kafka.pool.Pool;
import io.strata.kafka.segment.Segment;
import io.strata.kafka.segment.view.Residence;
import io.strata.kafka.segment.view.SegmentTag;
import io.strata.kafka.tier.directory.Directories;
import io.strata.kafka.tier.directory.PoolSet;
import io.strata.kafka.tier.durable.BackgroundWork;
import io.strata.kafka.tier.durable.DurableNames;
import io.strata.kafka.tier.durable.SlotRelease;
import io.strata.kafka.tier.files.LogFileNames;
import io.strata.kafka.tier.files.SegmentRegistry;
import io.strata.kafka.tier.files.TieredSegment;
import io.strata.kafka.tier.spec.FailureText;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Keeps some slots of each pool free for new segments: takes those of segments that have no bytes,
 * which idle partitions would keep for ever. When records come to such a segment they begin in the
 * log file, and go on in a pool as those of any segment that found no space.
 *
 * <p>No eviction does this: there a slot is used again while a log file still has its tag, which
 * says of a file without bytes that it lacks some.
 *
 * <p>Thread safety: {@link #look} is called by one thread, {@link #letGo} by any.
 */
public final class EmptySegments {

  /** How often is looked; what is empty twice in a row is not about to get its first records. */
  public static final long INTERVAL_MILLIS = 2000;

  /** The share of a pool's slots, and at least one, that is kept free. */
  private static final int FREE_SHARE = 8;

  private final PoolSet pools;
  private final SegmentRegistry registry;
  private final LogFileNames names;
  private final SlotRelease release;
  private final BackgroundWork work;

  /** The numbers of the segments that were empty at the last look. */
  private Set<Long> before = Set.of();

  /** The segments that a log directory's thread has not come to. */
  private final Set<TieredSegment> leaving = ConcurrentHashMap.newKeySet();

  /** Makes the upkeep of a tier's empty segments. */
  public EmptySegments(
      PoolSet pools,
      SegmentRegistry registry,
      LogFileNames names,
      SlotRelease release,
      BackgroundWork work) {
    this.pools = pools;
    this.registry = registry;
    this.names = names;
    this.release = release;
    this.work = work;
  }

  /** Lets as many segments go as there are too few free slots; the oldest first. */
  public void look() {
    Set<Long> now = new HashSet<>();
    for (Pool pool : pools.all()) {
      int wanted = Math.max(1, pool.info().slotCount() / FREE_SHARE);
      int missing = wanted - pool.usage().freeSlots();
      if (missing > 0) {
        List<TieredSegment> empty = emptyIn(pool);
        empty.forEach(segment -> now.add(segment.id()));
        empty.stream()
            .filter(segment -> before.contains(segment.id()))
            .limit(missing)
            .forEach(this::letGoSoon);
      }
    }
    before = now;
  }

  private List<TieredSegment> emptyIn(Pool pool) {
    return registry.inPools().stream()
        .filter(segment -> segment.isLive() && segment.segment().size() == 0)
        .filter(segment -> !segment.missing() && segment.forceFailure().isEmpty())
        .filter(segment -> segment.residence().filter(in -> in.pool() == pool).isPresent())
        .sorted(Comparator.comparingLong(TieredSegment::id))
        .toList();
  }

  private void letGoSoon(TieredSegment segment) {
    if (leaving.add(segment)) {
      work.soon(
          segment.logFile(),
          "take the slot of " + segment.logFile(),
          () -> {
            leaving.remove(segment);
            letGo(segment);
          });
    }
  }

  /** Frees the slot of a segment that has no bytes, after the log file's tag has gone, durably. */
  public void letGo(TieredSegment segment) throws IOException {
    try {
      Optional<Residence> left = names.with(segment, file -> leave(segment, file));
      if (left.isPresent()) {
        registry.removeTag(left.get().tag(), segment);
        release.freeLeft(segment, left.get());
        release.forgetIfIdle(segment);
      }
    } catch (NoSuchFileException gone) {
      return; // Its slot goes with it, or is found by the next start.
    } finally {
      segment.changed();
    }
  }

  private static Optional<Residence> leave(TieredSegment segment, Path file) throws IOException {
    // Bytes that a copy has left in it would become part of the segment.
    return Files.size(file) == 0
        ? segment.segment().leave(new Untie(segment, file))
        : Optional.empty();
  }

  /** Removes a log file's tag. */
  private record Untie(TieredSegment segment, Path file) implements Segment.Link {
    @Override
    public void link() throws IOException {
      boolean unused = SegmentTag.remove(file);
      DurableNames.force(segment, () -> Directories.force(file));
    }

    @Override
    public void unlink() throws IOException {
      if (SegmentTag.read(file).isEmpty()) {
        // A power failure may bring it back, with what is appended behind it.
        throw FailureText.at(segment.logFile(), "the removal of its tag could not be forced");
      }
    }
  }
}
