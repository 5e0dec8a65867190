package io.strata.kafka.migration.plan;

import static io.strata.kafka.migration.FakeTiers.MIB;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.api.Move;
import io.strata.kafka.migration.FakeTiers;
import io.strata.kafka.migration.Settings;
import io.strata.kafka.migration.plan.MigrationSettings.Mode;
import io.strata.kafka.migration.plan.Plan.PlannedMove;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** One round at a time: what moves, where to, in which order. */
class PlannerTest {

  private static final long NOW = 10_000_000;

  private final FakeTiers one = new FakeTiers(100 * MIB);

  private static long[] fill(FakeTiers tiers, int count, long mib) {
    long[] ids = new long[count];
    for (int i = 0; i < count; i++) {
      ids[i] = tiers.add("t", 0, i, 0, mib * MIB, 1000 + i, false);
    }
    return ids;
  }

  private static List<Long> ids(Plan plan, Move.Kind kind) {
    return plan.moves().stream().filter(m -> m.move().kind() == kind).map(PlannedMove::id).toList();
  }

  @Test
  void nothingMovesUpToTheHighMark() {
    fill(one, 5, 10);
    assertThat(Settings.of(0.5).plan(one, NOW).moves()).isEmpty();
  }

  @Test
  void aboveTheHighMarkTheOldestGoUntilTheLowOne() {
    long[] ids = fill(one, 6, 10);
    Plan plan = Settings.of(0.5).plan(one, NOW);
    // 60 dirty, down to 45: 15 to go.
    assertThat(ids(plan, Move.Kind.DESTAGE)).containsExactly(ids[0], ids[1]);
    assertThat(plan.tiers().get(0).draining()).isTrue();
    assertThat(plan.tiers().get(0).backlogBytes()).isEqualTo(15 * MIB);
  }

  @Test
  void onTheWayDownItGoesOnBetweenTheMarks() {
    long[] ids = fill(one, 5, 10);
    Plan plan =
        Settings.of(0.5)
            .hysteresis(0.2)
            .plan(one, NOW, List.of(new Plan.TierPlan(true, 1)), List.of(), Settings.noWaits());
    assertThat(ids(plan, Move.Kind.DESTAGE)).containsExactly(ids[0], ids[1]);
  }

  @Test
  void zeroMeansAllThatIsWorthACopyAndMinusOneNever() {
    long[] ids = fill(one, 2, 1);
    long active = one.add("t", 0, 9, 0, MIB, 2000, true);
    one.add("t", 1, 9, 0, MIB / 2, 2000, true);
    assertThat(ids(Settings.of(0).plan(one, NOW), Move.Kind.DESTAGE))
        .containsExactly(ids[0], ids[1], active);
    fill(one, 90, 1);
    assertThat(Settings.of(-1).plan(one, NOW).moves()).isEmpty();
  }

  @Test
  void activeSegmentsLeaveAfterTheSealedOnesThoseFirstThatHaveMost() {
    long small = one.add("t", 0, 0, 0, 10 * MIB, 1000, true);
    long large = one.add("t", 1, 0, 0, 30 * MIB, 2000, true);
    long sealed = one.add("t", 2, 0, 0, 20 * MIB, 2000, false);
    Plan plan = Settings.of(0.5).plan(one, NOW);
    // 60 dirty, down to 45.
    assertThat(ids(plan, Move.Kind.DESTAGE)).containsExactly(sealed);
    plan = Settings.of(0.3).plan(one, NOW);
    assertThat(ids(plan, Move.Kind.DESTAGE)).containsExactly(sealed, large);
    one.apply(plan.moves());
    assertThat(one.tier(0).dirtyBytes()).isEqualTo(10 * MIB);
    assertThat(one.tier(0).cleanBytes()).isEqualTo(50 * MIB);
    assertThat(Settings.of(0.3).plan(one, NOW).evictionOrder()).containsExactly(large, sealed);
    assertThat(one.view(small).dirtyBytes()).isEqualTo(10 * MIB);
  }

  /** What an append makes space with: the part that the log file has of an active segment too. */
  @Test
  void aPartOfAnActiveSegmentIsEvicted() {
    long active = one.add("t", 0, 0, 0, 80 * MIB, 2000, true);
    one.apply(Settings.of(0).plan(one, NOW).moves());
    assertThat(one.append(active, 10 * MIB, 2001)).isTrue();
    assertThat(one.tier(0).cleanBytes()).isEqualTo(80 * MIB);
    Plan plan = Settings.of(0.5).mode(Mode.THRESHOLD).plan(one, NOW);
    assertThat(ids(plan, Move.Kind.EVICT)).containsExactly(active);
    one.apply(plan.moves());
    assertThat(one.tier(0).usedBytes()).isEqualTo(10 * MIB);
    assertThat(one.view(active).tier()).isZero();
    assertThat(one.view(active).dirtyBytes()).isEqualTo(10 * MIB);
  }

  /** The extent that appends go on in stays, whatever has been copied. */
  @Test
  void theLastExtentOfAnActiveSegmentIsNoDemand() {
    one.add("t", 0, 0, 0, 80 * MIB + 1, 2000, true);
    one.apply(Settings.of(0).plan(one, NOW).moves());
    Plan plan = Settings.of(0).plan(one, NOW);
    assertThat(plan.moves()).isEmpty();
    assertThat(plan.tiers().get(0)).isEqualTo(Plan.TierPlan.IDLE);
    assertThat(one.tier(0).activeBytes()).isEqualTo(65536);
  }

  @Test
  void whatIsUnderWayIsNotPlannedAgainAndCounts() {
    long[] ids = fill(one, 6, 10);
    List<PlannedMove> first = Settings.of(0.5).plan(one, NOW).moves();
    Plan second =
        Settings.of(0.5)
            .plan(
                one,
                NOW,
                List.of(new Plan.TierPlan(true, 1)),
                first.subList(0, 1),
                Settings.noWaits());
    assertThat(ids(second, Move.Kind.DESTAGE)).containsExactly(ids[1]);
    assertThat(second.tiers().get(0).backlogBytes()).isEqualTo(15 * MIB);
  }

  @Test
  void inThresholdModeUsedCountsCleanOnesGoFirstAndCopiesAreFreedAtOnce() {
    long[] ids = fill(one, 6, 10);
    Settings eager = Settings.of(0.5);
    one.apply(eager.plan(one, NOW).moves());
    assertThat(one.tier(0).cleanBytes()).isEqualTo(20 * MIB);

    Plan plan = eager.mode(Mode.THRESHOLD).plan(one, NOW);
    assertThat(ids(plan, Move.Kind.EVICT)).containsExactly(ids[0], ids[1]);
    assertThat(ids(plan, Move.Kind.DESTAGE)).isEmpty();
    fill(one, 2, 10);
    one.apply(plan.moves());
    Plan more = eager.mode(Mode.THRESHOLD).plan(one, NOW);
    assertThat(more.moves()).isNotEmpty().allMatch(PlannedMove::evictAfter);
  }

  @Test
  void aFullTierIsSkippedForTheNextBelow() {
    FakeTiers two = new FakeTiers(100 * MIB, 20 * MIB);
    fill(two, 9, 10);
    Plan plan = Settings.of(0.5, -1).plan(two, NOW);
    assertThat(plan.moves().stream().map(m -> m.move().toTier()).toList())
        .containsExactly(1, 1, 2, 2, 2);
  }

  @Test
  void aSegmentInTwoTiersGivesUpItsUpperCopyBeforeTheLowerOneMovesOn() {
    FakeTiers two = new FakeTiers(100 * MIB, 100 * MIB);
    long[] ids = fill(two, 6, 10);
    two.apply(Settings.of(0, -1).promote(false).plan(two, NOW).moves());
    assertThat(two.tier(1).dirtyBytes()).isEqualTo(60 * MIB);

    Settings lower = Settings.of(-1, 0.5).promote(false);
    Plan plan = lower.plan(two, NOW);
    assertThat(ids(plan, Move.Kind.EVICT)).containsExactly(ids[0], ids[1]);
    two.apply(plan.moves());
    Plan next = lower.plan(two, NOW, plan.tiers(), List.of(), Settings.noWaits());
    assertThat(ids(next, Move.Kind.DESTAGE)).containsExactly(ids[0], ids[1]);
    two.apply(next.moves());
    assertThat(two.view(ids[0]).tier()).isEqualTo(1);
    assertThat(two.view(ids[0]).cleanTier()).hasValue(2);
  }

  @Test
  void spareSpaceIsFilledWithTheNewestAndSpilledOnesBecomeWholeFirst() {
    long[] lowest = new long[20];
    for (int i = 0; i < 20; i++) {
      lowest[i] = one.add("t", 0, i, 1, 10 * MIB, 1000 + i, false);
    }
    long spilled = one.add("t", 0, 50, 0, 5 * MIB, 900, false);
    one.spill(spilled, 5 * MIB);
    Plan plan = Settings.of(0.5).plan(one, NOW);
    // 90 may be used, 5 are, the spilled one takes 10: 7 more.
    List<Long> expected = new ArrayList<>(List.of(spilled));
    for (int i = 19; i > 12; i--) {
      expected.add(lowest[i]);
    }
    assertThat(ids(plan, Move.Kind.PROMOTE)).containsExactlyInAnyOrderElementsOf(expected);
    assertThat(Settings.of(0.5).promote(false).plan(one, NOW).moves()).isEmpty();
  }

  /** Whether policies may move segments up or not. */
  @Test
  void activeSegmentsGoOnInAPoolThatHasSpaceAgain() {
    long[] ids = fill(one, 9, 10);
    long spilled = one.add("t", 1, 0, 0, 5 * MIB, 2000, true);
    one.spill(spilled, 5 * MIB);
    long without = one.add("t", 2, 0, 1, 5 * MIB, 2000, true);
    long found = one.add("t", 3, 0, 1, 5 * MIB, 2000, true);
    one.found(found);
    Settings settings = Settings.of(0.5).promote(false);
    Plan plan = settings.plan(one, NOW);
    assertThat(ids(plan, Move.Kind.PROMOTE)).as("while it drains").isEmpty();
    one.apply(plan.moves());
    for (int i = 0; i < 4; i++) {
      one.delete(ids[i]);
    }
    Plan next = settings.plan(one, NOW);
    assertThat(ids(next, Move.Kind.PROMOTE)).containsExactlyInAnyOrder(spilled, without);
    one.apply(next.moves());
    assertThat(one.view(without).tier()).isZero();
    assertThat(one.view(spilled).spilled()).isFalse();
    assertThat(ids(settings.plan(one, NOW), Move.Kind.PROMOTE)).isEmpty();
  }

  /** It needs no slot yet, and had none left for it, perhaps. */
  @Test
  void noActiveSegmentWithoutBytesGoesOnInAPool() {
    one.add("t", 0, 0, 1, 0, 2000, true);
    assertThat(Settings.of(0.5).plan(one, NOW).moves()).isEmpty();
  }

  @Test
  void noActiveSegmentGoesOnInAPoolThatIsNearlyFull() {
    fill(one, 8, 10);
    long spilled = one.add("t", 1, 0, 0, 5 * MIB, 2000, true);
    one.spill(spilled, 5 * MIB);
    assertThat(Settings.of(1).plan(one, NOW).moves()).isEmpty();
  }

  @Test
  void pinnedSegmentsStayAndComeFirst() {
    long[] ids = fill(one, 6, 10);
    long pinned = one.add("gold", 0, 0, 0, 10 * MIB, 1, false);
    long below = one.add("gold", 0, 1, 1, 10 * MIB, 2, false);
    Plan plan = Settings.of(0.5).pin("gold").plan(one, NOW);
    assertThat(ids(plan, Move.Kind.DESTAGE)).containsExactly(ids[0], ids[1], ids[2]);
    assertThat(ids(plan, Move.Kind.PROMOTE)).startsWith(below);
    one.apply(plan.moves());
    assertThat(one.view(pinned).tier()).isZero();
    Plan next = Settings.of(0.5).pin("gold").plan(one, NOW);
    assertThat(next.evictionOrder()).isNotEmpty().doesNotContain(pinned, below);
  }

  @Test
  void pinnedSegmentsTakeThePlaceOfCleanOnesButATenthIsForOthers() {
    fill(one, 10, 10);
    one.apply(Settings.of(0).plan(one, NOW).moves());
    assertThat(one.tier(0).cleanBytes()).isEqualTo(100 * MIB);
    for (int i = 0; i < 12; i++) {
      one.add("gold", 0, i, 1, 10 * MIB, 5000 + i, false);
    }
    Settings settings = Settings.of(0).pin("gold");
    Plan plan = settings.plan(one, NOW);
    assertThat(ids(plan, Move.Kind.PROMOTE)).hasSize(9);
    assertThat(ids(plan, Move.Kind.EVICT)).hasSize(9).startsWith(1L, 2L);
    one.evictionOrder(plan.evictionOrder());
    one.apply(plan.moves());
    assertThat(one.violations).isEmpty();
    assertThat(settings.plan(one, NOW).moves()).isEmpty();
  }

  @Test
  void aPromotionTakesThePlaceOfWhatThePolicyWouldGiveUpFirstAlone() {
    fill(one, 10, 10); // changed at 1000 to 1009
    one.apply(Settings.of(0).plan(one, NOW).moves());
    long younger = one.add("t", 1, 0, 1, 20 * MIB, 5000, false);
    long older = one.add("t", 1, 1, 1, 20 * MIB, 500, false);
    List<Move> wanted = new ArrayList<>();
    wanted.add(Move.promote(one.view(older), 0));
    wanted.add(Move.promote(one.view(younger), 0));
    Plan plan =
        Planner.plan(
            new Planner.Input(
                one.state(),
                NOW,
                Settings.of(0).value(),
                topic -> false,
                snapshot -> wanted,
                List.of(),
                List.of(),
                Settings.noWaits()));
    assertThat(ids(plan, Move.Kind.EVICT)).containsExactly(1L, 2L);
    assertThat(ids(plan, Move.Kind.PROMOTE)).containsExactly(younger);
  }

  @Test
  void whatIsOnItsWayDownIsInTheEvictionOrderAlready() {
    long[] ids = fill(one, 2, 10);
    List<PlannedMove> inFlight = Settings.of(0).plan(one, NOW).moves();
    Plan plan = Settings.of(0).plan(one, NOW, List.of(), inFlight, Settings.noWaits());
    assertThat(plan.moves()).isEmpty();
    assertThat(plan.evictionOrder()).containsExactly(ids[0], ids[1]);
  }

  @Test
  void excludedSegmentsLeaveAndDoNotComeBack() {
    long hot = one.add("tmp", 0, 0, 0, MIB, 1, false);
    long lowest = one.add("tmp", 0, 1, 1, MIB, 2, false);
    long active = one.add("tmp", 0, 2, 0, MIB, 3, true);
    one.exclude("tmp");
    Settings settings = Settings.of(0.5).pin("t.*");
    Plan plan = settings.plan(one, NOW);
    assertThat(plan.moves()).hasSize(2).allMatch(PlannedMove::evictAfter);
    one.apply(plan.moves());
    assertThat(one.view(hot).tier()).isEqualTo(1);
    assertThat(one.view(lowest).tier()).isEqualTo(1);
    assertThat(one.view(active).tier()).isZero();
    assertThat(one.view(active).poolBytes()).isZero();
    assertThat(settings.plan(one, NOW).moves()).isEmpty();
  }

  /** A topic that is not placed any more, or a stray replica: whatever the mode, pinned or not. */
  @Test
  void unwantedSegmentsLeaveAsSoonAsSealed() {
    long dirty = one.add("t", 0, 0, 0, MIB, 1, false);
    long clean = one.add("t", 1, 0, 0, MIB, 2, false);
    long wanted = one.add("t", 2, 0, 0, MIB, 3, false);
    one.apply(Settings.of(0).plan(one, NOW).moves());
    long late = one.add("t", 1, 1, 0, MIB, 4, false);
    one.unwanted.addAll(List.of(dirty, clean, late));
    Settings settings = Settings.of(-1).pin("t");
    one.apply(settings.plan(one, NOW).moves());
    for (long each : new long[] {dirty, clean, late}) {
      assertThat(one.view(each).tier()).isEqualTo(1);
    }
    assertThat(one.view(wanted).tier()).isZero();
    assertThat(settings.plan(one, NOW).moves()).isEmpty();
  }

  @Test
  void logDirectoriesAndPartitionsTakeTurnsOldestFirstInEach() {
    for (int i = 0; i < 30; i++) {
      one.add("a", 0, i, 0, MIB, 1000 + i, false);
    }
    for (int i = 0; i < 3; i++) {
      one.add("b", 1, i, 0, MIB, 2000 + i, false);
      one.add("c", 3, i, 0, MIB, 3000 + i, false);
    }
    List<String> order =
        Settings.of(0).plan(one, NOW).moves().stream()
            .map(m -> m.move().segment().name().id().toString())
            .limit(9)
            .toList();
    // a and c share a directory, b has its own.
    assertThat(order)
        .containsExactly(
            "a-0@0", "b-1@0", "c-3@0", "b-1@1", "a-0@1", "b-1@2", "c-3@1", "a-0@2", "c-3@2");
  }

  @Test
  void aTargetThatFailsHoldsUpOnlyItsOwnSegments() {
    for (int i = 0; i < 10; i++) {
      one.add("a", 0, i, 0, 5 * MIB, 1000 + i, false);
      one.add("b", 1, i, 0, 5 * MIB, 2000 + i, false);
    }
    AtomicLong nanos = new AtomicLong();
    BackOffs backOffs = full(nanos, "/data0");
    Plan plan = Settings.of(0.5).plan(one, NOW, List.of(), List.of(), backOffs);
    assertThat(plan.moves()).hasSize(10);
    assertThat(plan.moves()).allMatch(m -> m.target().logDirectory().equals("/data1"));

    nanos.set(BackOffs.FIRST_NANOS);
    Plan probing = Settings.of(0.5).plan(one, NOW, List.of(), List.of(), backOffs);
    assertThat(probing.moves())
        .filteredOn(m -> m.target().logDirectory().equals("/data0"))
        .hasSize(1);
    assertThat(probing.moves().size()).isGreaterThan(9);
  }

  /** It is older than all others, and nothing of it is worth a copy. */
  @Test
  void anIdleActiveSegmentIsNotWhatATargetIsTriedAgainWith() {
    one.add("idle", 0, 0, 0, 1000, 500, true);
    for (int i = 0; i < 15; i++) {
      one.add("a", 0, i, 0, 5 * MIB, 1000 + i, false);
    }
    AtomicLong nanos = new AtomicLong();
    BackOffs backOffs = full(nanos, "/data0");
    nanos.set(BackOffs.FIRST_NANOS);
    Plan probing = Settings.of(0.5).plan(one, NOW, List.of(), List.of(), backOffs);
    assertThat(ids(probing, Move.Kind.DESTAGE)).hasSize(1);
  }

  /** What spilled there cannot be read or forced just now. */
  @Test
  void aFailingDirectoryHoldsUpNoOthersSegmentsThatGoOnInAPool() {
    long failing = one.add("t", 0, 0, 0, 5 * MIB, 1000, true);
    long healthy = one.add("t", 1, 0, 0, 5 * MIB, 2000, true);
    one.spill(failing, 5 * MIB);
    one.spill(healthy, 5 * MIB);
    BackOffs backOffs = Settings.noWaits();
    Plan plan = Settings.of(0.5).plan(one, NOW, List.of(), List.of(), backOffs);
    PlannedMove failed =
        plan.moves().stream().filter(move -> move.id() == failing).findAny().orElseThrow();
    backOffs.failed(failed.target(), true);
    Plan next = Settings.of(0.5).plan(one, NOW, List.of(), List.of(), backOffs);
    assertThat(ids(next, Move.Kind.PROMOTE)).containsExactly(healthy);
  }

  @Test
  void waitingSegmentsDoNotCountAsGone() {
    long[] ids = fill(one, 6, 10);
    BackOffs waits = Settings.noWaits();
    waits.cancelled(ids[0]);
    Plan plan = Settings.of(0.5).plan(one, NOW, List.of(), List.of(), waits);
    assertThat(ids(plan, Move.Kind.DESTAGE)).containsExactly(ids[1], ids[2]);
  }

  /** Their bytes grow; of those that could leave the policy sees all. */
  @Test
  void activeSegmentsOfAFullDirectoryDoNotHoldUpOthers() {
    one.add("t", 0, 0, 0, 60 * MIB, 1000, true);
    long other = one.add("t", 1, 0, 0, 10 * MIB, 2000, true);
    BackOffs full = full(new AtomicLong(), "/data0");
    Plan plan = Settings.of(0.5).plan(one, NOW, List.of(), List.of(), full);
    assertThat(ids(plan, Move.Kind.DESTAGE)).containsExactly(other);
  }

  private static BackOffs full(AtomicLong nanos, String logDirectory) {
    BackOffs backOffs = new BackOffs(nanos::get, new Random(1));
    backOffs.failed(new PlannedMove.Target(false, 1, logDirectory), true);
    return backOffs;
  }
}
