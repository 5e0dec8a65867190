package io.strata.kafka.pool;

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

  /** Opens a pool under a boot of the machine, without a lock. */
  public static Pool open(PersistentMemory memory, PoolOwner owner, long boot) throws IOException {
    return PoolOpener.open(memory, owner, OptionalLong.of(boot), () -> {});
  }

  /** Checks a pool. */
  public static CheckReport check(PersistentMemory memory) throws IOException {
    return PoolChecker.check(memory);
  }
}
