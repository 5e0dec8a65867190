package io.strata.kafka.pool;

import io.strata.kafka.pool.words.CheckFinding;
import java.util.List;

/**
 * The result of repairing a pool.
 *
 * @param freedSlots the damaged slots, which are free now
 */
public record RepairReport(List<Integer> freedSlots, List<CheckFinding> findings) {}
