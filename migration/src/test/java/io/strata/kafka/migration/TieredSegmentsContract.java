package io.strata.kafka.migration;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.api.SegmentView;
import io.strata.kafka.migration.plan.TieredSegments;
import io.strata.kafka.migration.plan.TieredSegments.MoveControl;
import io.strata.kafka.migration.plan.TieredSegments.MoveResult;
import io.strata.kafka.migration.plan.TieredSegments.MoveResult.Outcome;
import java.io.IOException;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

/** What {@link TieredSegments} promises the engine, held against every implementation. */
public abstract class TieredSegmentsContract {

  /** A sealed segment in the first tier, which has the only copy. */
  public interface Sealed extends AutoCloseable {
    TieredSegments tiers();

    long id();

    /** The tier that it is to be copied to. */
    int lower();

    /** Requires that a reader finds what was written. */
    void requireContent() throws Exception;

    /** Deletes it, as Kafka does. */
    void delete() throws Exception;

    @Override
    default void close() throws IOException {}
  }

  /** Makes the segment. */
  protected abstract Sealed sealed() throws Exception;

  @Test
  void aSegmentGoesDownAndUpAgain() throws Exception {
    try (Sealed segment = sealed()) {
      long id = segment.id();
      int lower = segment.lower();
      TieredSegments tiers = segment.tiers();
      assertIsIn(segment, 0, OptionalInt.empty());
      assertCancelled(tiers.evict(id), "the only copy");
      assertCancelled(tiers.destage(id, 0, MoveControl.UNLIMITED), "down to its own tier");
      assertCancelled(tiers.promote(id, 0, MoveControl.UNLIMITED), "up to its own tier");
      assertIsIn(segment, 0, OptionalInt.empty());

      assertDone(tiers.destage(id, lower, MoveControl.UNLIMITED));
      assertIsIn(segment, 0, OptionalInt.of(lower));
      assertCancelled(tiers.destage(id, lower, MoveControl.UNLIMITED), "down once more");

      assertDone(tiers.evict(id));
      assertIsIn(segment, lower, OptionalInt.empty());
      assertCancelled(tiers.evict(id), "out of the last tier that has it");

      assertDone(tiers.promote(id, 0, MoveControl.UNLIMITED));
      assertIsIn(segment, 0, OptionalInt.of(lower));
    }
  }

  @Test
  void whatIsGoneIsNotMoved() throws Exception {
    try (Sealed segment = sealed()) {
      TieredSegments tiers = segment.tiers();
      segment.delete();
      for (long id : List.of(segment.id(), segment.id() + 4711)) {
        assertCancelled(tiers.destage(id, segment.lower(), MoveControl.UNLIMITED), "destage");
        assertCancelled(tiers.promote(id, 0, MoveControl.UNLIMITED), "promote");
        assertCancelled(tiers.evict(id), "evict");
      }
      assertThat(tiers.state().segments()).noneMatch(view -> view.id() == segment.id());
    }
  }

  private static void assertIsIn(Sealed segment, int tier, OptionalInt cleanTier) throws Exception {
    TieredSegments.State state = segment.tiers().state();
    SegmentView view =
        state.segments().stream().filter(each -> each.id() == segment.id()).findAny().orElseThrow();
    assertThat(view.tier()).isEqualTo(tier);
    assertThat(view.cleanTier()).isEqualTo(cleanTier);
    assertThat(segment.tiers().usages()).as("what is kept of the sums").isEqualTo(state.tiers());
    assertThat(state.tiers())
        .allSatisfy(
            usage ->
                assertThat(usage.usedBytes()).isEqualTo(usage.dirtyBytes() + usage.cleanBytes()));
    segment.requireContent();
  }

  private static void assertDone(MoveResult result) {
    assertThat(result.outcome()).as(result.reason()).isEqualTo(Outcome.DONE);
    assertThat(result.bytes()).isPositive();
  }

  private static void assertCancelled(MoveResult result, String what) {
    assertThat(result.outcome()).as(what).isEqualTo(Outcome.CANCELLED);
  }
}
