package io.strata.kafka.migration;

import io.strata.kafka.api.MigrationPolicy;
import io.strata.kafka.api.Move;
import io.strata.kafka.api.TierSnapshot;
import java.util.List;

/**
 * The newest data stays: above a tier's mark the oldest segments go down, and spare space is filled
 * with the newest from below, save with what was there before Strata.
 *
 * <p>Immutable and safe for use by any thread.
 */
final class NewestPolicy implements MigrationPolicy {

  static final String NAME = "newest";

  @Override
  public List<Move> plan(TierSnapshot snapshot) {
    OldestFirst order = new OldestFirst(snapshot, OldestFirst.ORDER);
    order.meetDemand();
    order.fillSpare((segment, tier) -> !segment.found());
    return order.moves();
  }
}
