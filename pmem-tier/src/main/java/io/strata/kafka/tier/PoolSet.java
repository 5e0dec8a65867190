package io.strata.kafka.tier;

import io.strata.kafka.memory.Durability;
import io.strata.kafka.memory.Prefault;
import io.strata.kafka.memory.ProgressListener;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.PoolException;
import io.strata.kafka.pool.Slot;
import io.strata.kafka.pool.SlotState;
import io.strata.kafka.segment.Segment;
import io.strata.kafka.segment.SegmentEvents;
import io.strata.kafka.segment.SegmentSettings;
import io.strata.kafka.segment.SegmentTag;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * The pools of one tier, open for writing. A segment is wholly in one of them.
 *
 * <p>Thread safety: all methods may be called by any thread, {@link #close} once.
 */
final class PoolSet {

  private final List<Pool> pools;
  private final Map<UUID, Pool> byId = new LinkedHashMap<>();
  private final TierSpec spec;
  private final TierEvents events;
  private final SegmentEvents segmentEvents;

  private PoolSet(List<Pool> pools, TierSpec spec, TierEvents events, SegmentEvents segmentEvents) {
    this.events = events;
    this.pools = List.copyOf(pools);
    this.spec = spec;
    this.segmentEvents = segmentEvents;
    pools.forEach(pool -> byId.put(pool.info().id(), pool));
  }

  /**
   * Opens every pool of the tier, or none.
   *
   * @throws PoolException if one must be refused
   */
  static PoolSet open(TierSpec spec, TierEvents events, SegmentEvents segmentEvents)
      throws IOException {
    List<Pool> opened = new ArrayList<>();
    try {
      for (Path file : spec.pools()) {
        Pool pool = Pool.open(file, spec.config().poolType(file), spec.owner());
        opened.add(pool);
        refuseCopy(opened, pool);
        requireDurability(spec, file, pool);
        if (spec.config().poolPrefault()) {
          Prefault.run(pool.memory(), ProgressListener.NONE);
        }
        events.poolOpened(pool);
      }
      return new PoolSet(opened, spec, events, segmentEvents);
    } catch (IOException | RuntimeException e) {
      closeAll(opened, e);
      throw e;
    }
  }

  private static void refuseCopy(List<Pool> opened, Pool pool) throws IOException {
    for (Pool other : opened) {
      if (other != pool && other.info().id().equals(pool.info().id())) {
        throw new FileSystemException(
            pool.info().path().toString(),
            other.info().path().toString(),
            "both files hold pool "
                + pool.info().id()
                + ": one is a copy of the other; take the copy out of strata.pools");
      }
    }
  }

  private static void requireDurability(TierSpec spec, Path file, Pool pool) throws IOException {
    if (spec.config().requireDax() && pool.memory().durability() != Durability.POWER) {
      throw new FileSystemException(
          file.toString(),
          null,
          "strata.require.dax=true, and the pool's durability is "
              + pool.memory().durability()
              + ": its file system is not mounted with DAX (MAP_SYNC was refused), or the pool type"
              + " "
              + spec.config().poolType(file).configName()
              + " does not flush; mount a persistent memory device with -o dax, or set"
              + " strata.require.dax=false to accept a pool that a power cut can damage");
    }
  }

  List<Pool> all() {
    return pools;
  }

  Optional<Pool> find(UUID id) {
    return Optional.ofNullable(byId.get(id));
  }

  /** The pools' files by identity. */
  Map<UUID, Path> paths() {
    Map<UUID, Path> paths = new LinkedHashMap<>();
    byId.forEach((id, pool) -> paths.put(id, pool.info().path()));
    return paths;
  }

  /** For messages: the pools by identity and path. */
  String describe() {
    return paths().toString();
  }

  /** A LIVE slot for a new segment, in the pool with the most room; empty when none has a slot. */
  Optional<HotSegment> allocate(SegmentPlace place) throws IOException {
    List<Pool> byRoom = new ArrayList<>(pools);
    byRoom.sort(Comparator.comparingLong((Pool pool) -> pool.usage().freeBytes()).reversed());
    for (Pool pool : byRoom) {
      Optional<Slot> slot = pool.allocateSlot(place.directoryId(), place.relativePath());
      if (slot.isPresent()) {
        return Optional.of(segment(pool, slot.get(), place.file()));
      }
    }
    return Optional.empty();
  }

  /**
   * The segment of the slot that a tag names; empty unless the slot is LIVE with its generation.
   */
  Optional<HotSegment> segment(SegmentTag tag, Path home) throws IOException {
    Optional<Pool> pool = find(tag.pool());
    Optional<Slot> slot =
        pool.flatMap(p -> p.slot(tag.slot(), tag.generation()))
            .filter(live -> live.state() == SlotState.LIVE);
    if (pool.isEmpty() || slot.isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(segment(pool.get(), slot.get(), home));
  }

  /** A segment over a slot whose home is at {@code home}. */
  HotSegment segment(Pool pool, Slot slot, Path home) throws IOException {
    boolean force = spec.config().forcesSpills(pool.memory().durability() == Durability.POWER);
    SpillNotice notice = new SpillNotice(segmentEvents, events);
    SegmentSettings settings = new SegmentSettings(force, InstantSource.system());
    Segment segment = new Segment(slot, pool, homeSize(home), settings, notice);
    HotSegment hot = new HotSegment(pool, slot, segment, home);
    notice.of(hot);
    return hot;
  }

  private static long homeSize(Path home) throws IOException {
    try {
      return Files.size(home);
    } catch (NoSuchFileException notYet) {
      return 0;
    }
  }

  void close() throws IOException {
    IOException failure = new IOException("closing the pools");
    closeAll(pools, failure);
    if (failure.getSuppressed().length > 0) {
      throw failure;
    }
  }

  private static void closeAll(List<Pool> opened, Exception failure) {
    for (Pool pool : opened) {
      try {
        pool.close();
      } catch (IOException e) {
        failure.addSuppressed(e);
      }
    }
  }
}
