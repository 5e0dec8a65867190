package io.strata.kafka.pool;

import io.strata.kafka.lincheck.Lincheck;
import io.strata.kafka.pool.space.BuddyAllocatorOperations;
import org.junit.jupiter.api.Test;

/**
 * The free map and the slot table, used by many threads, are as if they were used by one.
 *
 * <p>The slot table is under stress only: the model checker takes the loop that stores a slot's
 * bytes for one that never ends.
 */
final class PoolLinearizabilityTest {

  @Test
  void theFreeMap() throws Exception {
    Lincheck.of(BuddyAllocatorOperations.class).model(5, 200, 3, 3);
  }

  @Test
  void theSlotTable() throws Exception {
    new Lincheck(SlotTableOperations.class, SlotTableOperations.Specification.class)
        .stress(15, 300, 3, 4);
  }
}
