package io.strata.kafka.tier.directory;

import io.strata.kafka.config.StrataConfig;
import io.strata.kafka.config.StrataConfig.AckDurability;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.Slot;
import io.strata.kafka.pool.words.SlotState;
import io.strata.kafka.segment.view.Residence;
import io.strata.kafka.segment.view.SegmentTag;
import io.strata.kafka.tier.spec.FailureText;
import io.strata.kafka.tier.spec.TierEvents;
import io.strata.kafka.tier.spec.TierSpec;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Collectors;

/**
 * The pools of all tiers, open for writing. A copy of a segment is wholly in one of them.
 *
 * <p>Thread safety: all methods may be called by any thread, {@link #close} once.
 */
public final class PoolSet {

  private final List<PoolTier> tiers;
  private final List<Pool> pools;
  private final Map<UUID, Pool> byId = new LinkedHashMap<>();
  private final Map<Pool, Integer> tierOf = new HashMap<>();
  private final List<Path> daxLost;

  private PoolSet(List<PoolTier> tiers, List<Path> daxLost) {
    this.tiers = List.copyOf(tiers);
    this.daxLost = List.copyOf(daxLost);
    List<Pool> all = new ArrayList<>();
    for (int t = 0; t < tiers.size(); t++) {
      for (Pool pool : tiers.get(t).pools()) {
        all.add(pool);
        byId.put(pool.info().id(), pool);
        tierOf.put(pool, t);
      }
    }
    this.pools = List.copyOf(all);
  }

  /** One tier of {@code strata.tiers}, with at least one pool. Immutable. */
  public record PoolTier(String name, List<Pool> pools) {
    public PoolTier {
      pools = List.copyOf(pools);
    }
  }

  /** Opens every pool of every tier, or none. */
  public static PoolSet open(TierSpec spec, TierEvents events, TierParts.PoolOpening opening)
      throws IOException {
    List<Pool> opened = new ArrayList<>();
    List<Path> daxLost = new ArrayList<>();
    try {
      List<PoolTier> tiers = new ArrayList<>();
      Iterator<Path> files = spec.pools().iterator();
      for (StrataConfig.Tier tier : spec.config().tiers()) {
        List<Pool> pools = new ArrayList<>();
        for (int i = 0; i < tier.pools().size(); i++) {
          Pool pool = open(spec, tier, files.next(), opened, events, opening);
          pools.add(pool);
          if (pool.report().daxLost() && !wantsForce(tier)) {
            daxLost.add(pool.info().path());
          }
        }
        tiers.add(new PoolTier(tier.name(), pools));
      }
      return new PoolSet(tiers, daxLost);
    } catch (IOException | RuntimeException | Error e) {
      closeAll(opened, e);
      throw e;
    }
  }

  private static Pool open(
      TierSpec spec,
      StrataConfig.Tier tier,
      Path file,
      List<Pool> opened,
      TierEvents events,
      TierParts.PoolOpening opening)
      throws IOException {
    Pool pool = opening.open(file, tier.type(), spec.owner());
    opened.add(pool);
    refuseCopy(opened, pool);
    if (opened.size() <= spec.config().tiers().get(0).pools().size()) {
      // Lower tiers are below it for a reason: what they promise is their own.
      requireDurability(spec, file, pool);
    }
    requireReboots(spec, file, pool);
    events.poolOpened(pool);
    return pool;
  }

  /** Returns whether the tier's pools are meant to be durable when forced at most. */
  private static boolean wantsForce(StrataConfig.Tier tier) {
    return tier.type().fixed().filter(MemoryType.FILE::equals).isPresent();
  }

  private static void refuseCopy(List<Pool> opened, Pool pool) throws IOException {
    for (Pool other : opened) {
      if (other != pool && other.info().id().equals(pool.info().id())) {
        throw new FileSystemException(
            pool.info().path().toString(),
            other.info().path().toString(),
            """
            both files hold pool %s: one is a copy of the other; take the copy out of the \
            configured pools\
            """
                .formatted(pool.info().id()));
      }
    }
  }

  private static void requireDurability(TierSpec spec, Path file, Pool pool) throws IOException {
    if (spec.config().requireDax() && !pool.memory().durability().durableOnPersist()) {
      throw FailureText.at(
          file,
          """
          strata.require.dax=true, and the pool's durability is %s: its file system is not mounted \
          with DAX (MAP_SYNC was refused), or the pool type %s does not flush; mount a persistent \
          memory device with -o dax, or set strata.require.dax=false to accept a pool that a power \
          failure can damage\
          """
              .formatted(pool.memory().durability(), spec.config().poolType(file).configName()));
    }
  }

  /** Refuses to hold what is promised to survive a power failure where nothing makes it durable. */
  private static void requireReboots(TierSpec spec, Path file, Pool pool) throws IOException {
    if (spec.config().durability() == AckDurability.ACK
        && !pool.memory().durability().survivesReboot()) {
      throw FailureText.at(
          file,
          """
          strata.durability=ack, and the pool is on a memory-backed file system, which a power \
          failure empties; move it to a device, or set strata.durability=pool to accept that\
          """);
    }
  }

  public List<PoolTier> tiers() {
    return tiers;
  }

  /** The number of the tier that a pool belongs to; asked for each read, and cheap. */
  public int tierOf(Pool pool) {
    return tierOf.getOrDefault(pool, 0);
  }

  /** Returns whether records are to survive a power failure unflushed: the first tier's do. */
  public boolean durableOnPersist() {
    return tiers.get(0).pools().stream()
        .allMatch(pool -> pool.memory().durability().durableOnPersist());
  }

  public List<Pool> all() {
    return pools;
  }

  /** The pools whose bytes survived a power failure without a force, and do not any more. */
  public List<Path> daxLost() {
    return daxLost;
  }

  public Optional<Pool> find(UUID id) {
    return Optional.ofNullable(byId.get(id));
  }

  public Map<UUID, Path> paths() {
    Map<UUID, Path> paths = new LinkedHashMap<>();
    byId.forEach((id, pool) -> paths.put(id, pool.info().path()));
    return paths;
  }

  /** For messages: the pools by identity and path. */
  public String describe() {
    return paths().entrySet().stream()
        .map(each -> "%s (%s)".formatted(each.getValue(), each.getKey()))
        .collect(Collectors.joining(", "));
  }

  /** The LIVE slot that a tag names, with exactly its generation. */
  public Optional<Residence> live(SegmentTag tag) {
    Optional<Pool> pool = find(tag.pool());
    Optional<Slot> slot =
        pool.flatMap(p -> p.slot(tag.slot(), tag.generation()))
            .filter(live -> live.state() == SlotState.LIVE);
    return slot.map(live -> new Residence(live, pool.orElseThrow()));
  }

  /** Closes all pools, also after one has failed. */
  public void close() throws IOException {
    IOException failure = new IOException("closing the pools");
    closeAll(pools, failure);
    if (failure.getSuppressed().length > 0) {
      throw failure;
    }
  }

  private static void closeAll(List<Pool> opened, Throwable failure) {
    for (Pool pool : opened) {
      try {
        pool.close();
      } catch (IOException e) {
        failure.addSuppressed(e);
      }
    }
  }
}
