package io.strata.kafka.pool;

import io.strata.kafka.layout.SuperblockLayout;
import io.strata.kafka.memory.PersistentMemory;
import java.io.IOException;
import java.util.OptionalLong;
import java.util.UUID;

/** What a simulation of the tier does with pools, on memories of its own. */
public final class SimPools {

  private SimPools() {}

  /** Formats a pool whose identity is given, so that a simulation can be repeated. */
  public static void format(PersistentMemory memory, PoolSpec spec, UUID id) throws IOException {
    PoolFormatter.format(memory, spec, Session.CLOSED, id);
  }

  /** As {@link #format}, with less room for data than a pool has that is made by a command. */
  public static void format(PersistentMemory memory, PoolSpec spec, UUID id, long dataBytes)
      throws IOException {
    format(memory, spec, id);
    long size = SuperblockLayout.dataPosition(spec.slotCount()) + dataBytes;
    Superblock smaller =
        Superblock.create(id, size, spec.slotCount(), System.currentTimeMillis(), spec.owner());
    Superblocks.writeBoth(memory, smaller);
  }

  /** Opens a pool under a boot of the machine, without a lock. */
  public static Pool open(PersistentMemory memory, PoolOwner owner, long boot) throws IOException {
    return PoolOpener.open(memory, owner, OptionalLong.of(boot), () -> {});
  }

  /** Checks a pool. */
  public static CheckReport check(PersistentMemory memory) throws IOException {
    return PoolChecker.check(memory);
  }
}
