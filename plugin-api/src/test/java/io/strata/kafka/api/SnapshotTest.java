package io.strata.kafka.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

/** What snapshots and moves accept, and what they work out. */
class SnapshotTest {

  private static SegmentView segment(int tier, OptionalInt clean, boolean spilled) {
    SegmentName name =
        new SegmentName(
            new SegmentId("orders", 3, 4711), SegmentName.Replica.CURRENT, SegmentName.Stage.LIVE);
    return new SegmentView(
        1,
        name,
        "/data",
        tier,
        clean,
        false,
        spilled,
        10,
        10,
        clean.isPresent() ? 0 : 10,
        clean.isPresent() ? 10 : 0,
        0,
        0,
        0,
        0,
        false);
  }

  private static TierUsage tier(int number, long capacity, long used, long dirty, long clean) {
    return new TierUsage(number, "hot", capacity, used, dirty, clean, 0, 1, 1, 0, 0);
  }

  @Test
  void aUsageTellsWhatIsFreeAndWhatABurstFinds() {
    TierUsage usage = tier(0, 100, 80, 50, 30);
    assertThat(usage.freeBytes()).isEqualTo(20);
    assertThat(usage.reserveBytes()).isEqualTo(50);
    assertThat(new TierUsage(0, "hot", 100, 80, 80, 0, 0, 9, 0, 0, 0).reserveBytes()).isZero();
    assertThat(usage.dirtyShare()).isEqualTo(0.5);
    assertThat(tier(0, 0, 0, 0, 0).dirtyShare()).isEqualTo(1);
    TierUsage asked = usage.withDemand(7, 9);
    assertThat(asked.excessBytes()).isEqualTo(7);
    assertThat(asked.spareBytes()).isEqualTo(9);
    assertThat(asked.withDemand(0, 0)).isEqualTo(usage);
  }

  @Test
  void impossibleNumbersAreRefused() {
    assertThatThrownBy(() -> tier(0, 100, 101, 0, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("used 101");
    assertThatThrownBy(() -> segment(1, OptionalInt.of(1), false))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("orders-3@4711: clean in tier 1, expected one below 1");
    assertThatThrownBy(() -> new TierSnapshot(0, List.of(tier(1, 1, 0, 0, 0)), List.of()))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(new TierSnapshot(0, List.of(tier(0, 1, 0, 0, 0)), List.of()).logDirs()).isEqualTo(1);
  }

  @Test
  void aMoveGoesTheWayOfItsKind() {
    SegmentView dirty = segment(1, OptionalInt.empty(), false);
    SegmentView clean = segment(1, OptionalInt.of(2), false);
    SegmentView spilled = segment(1, OptionalInt.empty(), true);
    assertThat(Move.destage(dirty, 2)).hasToString("DESTAGE orders-3@4711 from tier 1 to tier 2");
    assertThat(Move.evict(clean).toTier()).isEqualTo(2);
    assertThat(Move.promote(spilled, 1).toTier()).isEqualTo(1);
    assertThat(Move.promote(dirty, 0).segment()).isSameAs(dirty);
    assertThatThrownBy(() -> Move.evict(dirty)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> Move.destage(dirty, 1)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> Move.promote(dirty, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("PROMOTE of orders-3@4711 from tier 1 (dirty) to tier 1");
    assertThatThrownBy(() -> Move.promote(dirty, -1)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void cleanSegmentsGiveWayByDefaultInTheOrderOfTheirLastChange() {
    MigrationPolicy policy = snapshot -> List.of();
    SegmentView older = segment(0, OptionalInt.of(1), false);
    SegmentView newer =
        new SegmentView(
            0,
            older.name(),
            "/data",
            0,
            OptionalInt.of(1),
            false,
            false,
            1,
            1,
            0,
            1,
            0,
            5,
            9,
            3,
            false);
    assertThat(policy.evictionOrder().compare(older, newer)).isNegative();
  }
}
