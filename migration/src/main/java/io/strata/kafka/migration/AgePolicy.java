package io.strata.kafka.migration;

import io.strata.kafka.api.MigrationPolicy;
import io.strata.kafka.api.Move;
import io.strata.kafka.api.SegmentView;
import io.strata.kafka.api.TierSnapshot;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * A sealed segment leaves a tier when it has not changed for a time. What is younger moves as with
 * {@link NewestPolicy}, since space must never run out.
 *
 * <p>Immutable and safe for use by any thread.
 */
final class AgePolicy implements MigrationPolicy {

  static final String NAME = "age";

  /** The time, or one for each tier; the last is that of all further ones. */
  static final String AFTER = "after";

  static final String DEFAULT_AFTER = "1h";

  /** A segment comes back up only if it can stay for a tenth of the time. */
  private static final double YOUNG = 0.9;

  private final List<Duration> after;

  /**
   * With the values of the parameters.
   *
   * @throws IllegalArgumentException if a value is no duration
   */
  AgePolicy(Map<String, String> parameters) {
    after = PolicyValues.durations(AFTER, parameters.getOrDefault(AFTER, DEFAULT_AFTER));
  }

  @Override
  public List<Move> plan(TierSnapshot snapshot) {
    OldestFirst order = new OldestFirst(snapshot, OldestFirst.ORDER);
    for (SegmentView segment : order.sealed()) {
      int allowed = segment.tier();
      long age = snapshot.nowMillis() - segment.changedMillis();
      while (allowed < snapshot.logDirs() && age >= afterMillis(allowed)) {
        allowed++;
      }
      if (allowed > segment.tier()) {
        order.leave(segment, allowed);
      }
    }
    order.meetDemand();
    order.fillSpare(
        (segment, tier) ->
            !segment.found()
                && snapshot.nowMillis() - segment.changedMillis() < YOUNG * afterMillis(tier));
    return order.moves();
  }

  private long afterMillis(int tier) {
    return after.get(Math.min(tier, after.size() - 1)).toMillis();
  }
}
