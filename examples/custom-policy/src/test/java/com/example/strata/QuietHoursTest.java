package com.example.strata;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.api.MigrationPolicy;
import io.strata.kafka.api.MigrationPolicyProvider;
import io.strata.kafka.api.Move;
import io.strata.kafka.api.SegmentId;
import io.strata.kafka.api.SegmentName;
import io.strata.kafka.api.SegmentView;
import io.strata.kafka.api.TierSnapshot;
import io.strata.kafka.api.TierUsage;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;

/** A policy is a function of a snapshot: its tests need neither a broker nor an engine. */
class QuietHoursTest {

  private static final long NOON = Instant.parse("2026-03-02T12:00:00Z").toEpochMilli();
  private static final long NIGHT = Instant.parse("2026-03-02T23:30:00Z").toEpochMilli();
  private static final int LOG_DIRS = 2;

  private final MigrationPolicy policy = new QuietHoursProvider().create(Map.of());

  private final SegmentView young = segment(1, 0, 200, OptionalInt.empty(), false);
  private final SegmentView old = segment(2, 0, 100, OptionalInt.empty(), false);
  private final SegmentView active = segment(3, 0, 300, OptionalInt.empty(), true);
  private final SegmentView clean = segment(4, 0, 50, OptionalInt.of(LOG_DIRS), false);
  private final SegmentView inTwoTiers = segment(5, 0, 10, OptionalInt.of(1), false);
  private final List<SegmentView> all = List.of(young, old, active, clean, inTwoTiers);

  @Test
  void atNightEverythingSealedGoesDownTheOldestFirst() {
    assertThat(policy.plan(snapshot(NIGHT, 0, 0)))
        .containsExactly(Move.destage(old, 1), Move.destage(young, 1));
  }

  @Test
  void byDayOnlyWhatIsAboveTheMark() {
    assertThat(policy.plan(snapshot(NOON, 0, 0))).isEmpty();
    assertThat(policy.plan(snapshot(NOON, 1, 0))).containsExactly(Move.destage(old, 1));
    assertThat(policy.plan(snapshot(NOON, 2000, 0)))
        .containsExactly(Move.destage(old, 1), Move.destage(young, 1));
  }

  @Test
  void aLowerTierIsReadableAgainBeforeItsCopyMovesOn() {
    assertThat(policy.plan(snapshot(NOON, 0, 1))).containsExactly(Move.evict(inTwoTiers));
  }

  @Test
  void hoursMayLieOnBothSidesOfMidnightAndInAnyZone() {
    QuietHours berlin =
        (QuietHours)
            new QuietHoursProvider()
                .create(
                    Map.of(
                        "quiet.from", "13:00", "quiet.to", "14:00", "quiet.zone", "Europe/Berlin"));
    assertThat(berlin.isQuiet(NOON)).isTrue();
    assertThat(berlin.isQuiet(NIGHT)).isFalse();
    QuietHours utc = (QuietHours) policy;
    assertThat(utc.isQuiet(NOON)).isFalse();
    assertThat(utc.isQuiet(Instant.parse("2026-03-02T05:59:59Z").toEpochMilli())).isTrue();
    assertThat(utc.isQuiet(Instant.parse("2026-03-02T06:00:00Z").toEpochMilli())).isFalse();
  }

  @Test
  void badValuesAreRefusedWithTheirKey() {
    assertThatThrownBy(() -> new QuietHoursProvider().create(Map.of("quiet.from", "ten")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("strata.migration.policy.quiet.from: 'ten', expected a time such as 22:00");
    assertThatThrownBy(() -> new QuietHoursProvider().create(Map.of("quiet.zone", "Mars")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("strata.migration.policy.quiet.zone: 'Mars'");
  }

  @Test
  void theServiceLoaderFindsIt() {
    assertThat(ServiceLoader.load(MigrationPolicyProvider.class))
        .extracting(MigrationPolicyProvider::name)
        .contains("quiet-hours");
  }

  private TierSnapshot snapshot(long nowMillis, long excess0, long excess1) {
    return new TierSnapshot(nowMillis, List.of(tier(0, excess0), tier(1, excess1)), all);
  }

  private static TierUsage tier(int number, long excess) {
    return new TierUsage(number, "tier" + number, 10_000, 5000, 4000, 1000, 1000, 5, 5, excess, 0);
  }

  private static SegmentView segment(
      long id, int tier, long changed, OptionalInt cleanTier, boolean active) {
    SegmentName name =
        new SegmentName(
            new SegmentId("orders", 0, id), SegmentName.Replica.CURRENT, SegmentName.Stage.LIVE);
    return new SegmentView(
        id, name, "/data", tier, cleanTier, active, false, 1000, 1000,
        cleanTier.isPresent() ? 0 : 1000, cleanTier.isPresent() ? 1000 : 0, changed, changed,
        changed, 0, false);
  }
}
