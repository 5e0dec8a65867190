package io.strata.kafka.pool;

import io.strata.kafka.memory.PersistentMemory;
import io.strata.kafka.pool.words.PoolOwner;
import java.io.IOException;
import java.util.OptionalLong;

/** Opens what a power cut has left, as the machine does that has booted again. */
public final class OtherBoot {

  private OtherBoot() {}

  /** As {@link Pool#open(PersistentMemory, PoolOwner)}, under another boot id than any before. */
  public static Pool open(PersistentMemory memory, long bootId) throws IOException {
    return PoolOpener.open(memory, PoolOwner.ANY, OptionalLong.of(bootId), () -> {});
  }
}
