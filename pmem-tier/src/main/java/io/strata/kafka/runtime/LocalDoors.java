package io.strata.kafka.runtime;

import io.strata.kafka.migration.remote.LocalSegments;
import io.strata.kafka.migration.remote.read.ChunkArena;
import io.strata.kafka.tier.HotTier;
import java.util.Optional;

/** What the local tiers do for the remote one. Thread safety: stateless. */
final class LocalDoors {
  private LocalDoors() {}

  /** How the remote tier shares the bytes of local segments. */
  static LocalSegments segments(HotTier tier) {
    return new TierLocalSegments(tier);
  }

  /** Room for the remote tier's cache in a pool. */
  static Optional<ChunkArena> spareRoom(HotTier tier, long bytes, int frameBytes) {
    return Optional.empty();
  }
}
