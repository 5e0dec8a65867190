package io.strata.kafka.migration.plan;

import static io.strata.kafka.migration.FakeTiers.MIB;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.api.MigrationPolicy;
import io.strata.kafka.api.Move;
import io.strata.kafka.api.SegmentView;
import io.strata.kafka.api.TierUsage;
import io.strata.kafka.migration.FakeTiers;
import io.strata.kafka.migration.Settings;
import io.strata.kafka.migration.plan.MigrationSettings.Mode;
import io.strata.kafka.migration.plan.Plan.PlannedMove;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What holds for every state, settings and built-in policy, on generated ones. */
class PlannerPropertyTest {

  private static final int SEEDS = 3000;
  private static final long NOW = 100_000_000;

  /** More rounds than this without an end are a circle. */
  private static final int ROUNDS = 60;

  @Test
  void everyWorldComesToRest() {
    long made = 0;
    for (int seed = 1; seed <= SEEDS; seed++) {
      World world = new World(seed);
      world.settle("filled");
      world.disturb();
      world.settle("disturbed");
      made += world.tiers.made();
    }
    assertThat(made).as("moves, all in all").isGreaterThan(30L * SEEDS);
  }

  /** Whatever a policy asks for: nothing that is not allowed is planned. */
  @Test
  void noPolicyGetsPastTheRules() {
    List<Move.Kind> kinds = List.of(Move.Kind.values());
    int refused = 0;
    for (int seed = 1; seed <= SEEDS / 3; seed++) {
      World world = new World(seed);
      Random random = new Random(seed);
      MigrationPolicy chaos =
          snapshot -> {
            List<Move> moves = new ArrayList<>();
            for (int i = 0; i < 2 * snapshot.segments().size(); i++) {
              SegmentView any = snapshot.segments().get(random.nextInt(snapshot.segments().size()));
              int tier = random.nextInt(snapshot.logDirs() + 2);
              try {
                moves.add(new Move(kinds.get(random.nextInt(3)), any, tier));
              } catch (IllegalArgumentException expected) {
                // Not even a move.
              }
            }
            return moves;
          };
      for (int round = 0; round < 5; round++) {
        Plan plan =
            Planner.plan(
                new Planner.Input(
                    world.tiers.state(),
                    NOW,
                    world.settings.value(),
                    world.settings.value().pinned(),
                    chaos,
                    world.before,
                    List.of(),
                    Settings.noWaits()));
        refused += plan.refused().size();
        world.check(plan);
        world.tiers.evictionOrder(plan.evictionOrder());
        world.tiers.apply(plan.moves());
        world.before = plan.tiers();
        assertThat(world.tiers.violations).as(world.name).isEmpty();
      }
    }
    assertThat(refused).isGreaterThan(SEEDS);
  }

  /** Under a steady load each byte goes down once, and what has gone does not come back. */
  @Test
  void steadyLoadIsCopiedOnce() {
    for (Mode mode : Mode.values()) {
      for (double hysteresis : List.of(0.0, 0.05, 0.2)) {
        steadyLoadIsCopiedOnce(mode, hysteresis, false);
        steadyLoadIsCopiedOnce(mode, hysteresis, true);
      }
    }
  }

  private static void steadyLoadIsCopiedOnce(Mode mode, double hysteresis, boolean relocates) {
    FakeTiers tiers = new FakeTiers(200 * MIB, 400 * MIB);
    tiers.relocates(relocates);
    Settings settings = Settings.of(0.5, 0.7).mode(mode).hysteresis(hysteresis);
    String name = mode + ", hysteresis " + hysteresis + (relocates ? ", relocates" : "");
    Random random = new Random(42);
    List<Plan.TierPlan> before = List.of();
    long appended = 0;
    long[] copied = new long[2];
    for (int i = 0; i < 1000; i++) {
      long bytes = MIB + random.nextLong(9 * MIB);
      tiers.add("t", i % 5, i, 0, bytes, i, false);
      appended += bytes;
      for (int round = 0; round < 3; round++) {
        Plan plan = settings.plan(tiers, i, before, List.of(), Settings.noWaits());
        for (PlannedMove move : plan.moves()) {
          if (move.move().kind() == Move.Kind.DESTAGE) {
            copied[0] += move.move().segment().bytes();
          } else if (move.move().kind() == Move.Kind.PROMOTE) {
            copied[1] += move.move().segment().bytes();
          }
        }
        tiers.evictionOrder(plan.evictionOrder());
        tiers.apply(plan.moves());
        before = plan.tiers();
      }
    }
    assertThat(tiers.violations).as(name).isEmpty();
    assertThat(copied[0]).as(name + ": down").isLessThan(2 * appended + appended / 20);
    assertThat(copied[1]).as(name + ": up").isLessThan(appended / 20);
    assertThat(tiers.tier(0).reserveBytes()).as(name).isGreaterThanOrEqualTo(100 * MIB);
  }

  private static final class World {
    final Random random;
    final String name;
    final FakeTiers tiers;
    final Settings settings;
    List<Plan.TierPlan> before = List.of();
    long offset;

    World(int seed) {
      random = new Random(seed);
      int levels = 1 + random.nextInt(3);
      long[] capacities = new long[levels];
      double[] thresholds = new double[levels];
      for (int tier = 0; tier < levels; tier++) {
        capacities[tier] = (20 + random.nextInt(200)) * MIB;
        thresholds[tier] = random.nextInt(5) == 0 ? -1 : random.nextInt(11) / 10.0;
      }
      tiers = new FakeTiers(capacities);
      tiers.relocates(random.nextBoolean());
      if (random.nextInt(4) == 0) {
        tiers.slots(5 + random.nextInt(30));
      }
      Settings made =
          Settings.of(thresholds)
              .mode(random.nextInt(3) == 0 ? Mode.THRESHOLD : Mode.EAGER)
              .hysteresis(random.nextInt(4) * 0.05)
              .promote(random.nextInt(4) != 0);
      if (random.nextInt(3) == 0) {
        made = made.pin("pin.*");
      }
      if (random.nextInt(3) == 0) {
        tiers.exclude("tmp");
      }
      settings =
          switch (random.nextInt(3)) {
            case 0 -> made;
            case 1 -> made.policy("age", Map.of("after", 1 + random.nextInt(20_000) + "s"));
            default -> made.policy("access", Map.of());
          };
      name = "seed " + seed + ", " + settings;
      fill(10 + random.nextInt(80));
    }

    void fill(int count) {
      String[] topics = {"a", "b", "pinned", "tmp"};
      for (int i = 0; i < count; i++) {
        long millis = 1 + random.nextLong(NOW - 1);
        long id =
            tiers.add(
                topics[random.nextInt(topics.length)],
                random.nextInt(4),
                offset++,
                random.nextInt(tiers.logDirs() + 1),
                1 + random.nextLong(12 * MIB),
                millis,
                random.nextInt(5) == 0);
        if (random.nextInt(10) == 0) {
          tiers.spill(id, 1 + random.nextLong(2 * MIB));
        }
        if (random.nextInt(3) == 0) {
          tiers.read(id, NOW - random.nextInt(5_000_000), random.nextDouble() * 10 * MIB);
        }
      }
    }

    void disturb() {
      fill(5 + random.nextInt(20));
      for (SegmentView segment : tiers.state().segments()) {
        if (random.nextInt(6) == 0) {
          tiers.delete(segment.id());
        } else if (segment.active() && random.nextBoolean()) {
          tiers.seal(segment.id());
        }
      }
    }

    void settle(String when) {
      Map<Long, Integer> moves = new HashMap<>();
      for (int round = 0; round < ROUNDS; round++) {
        Plan plan = settings.plan(tiers, NOW, before, List.of(), Settings.noWaits());
        assertThat(plan.refused()).as(name).isEmpty();
        check(plan);
        if (plan.moves().isEmpty()) {
          // Down and up once through all tiers, and each step an eviction: more would be a chase.
          assertThat(moves.values())
              .as(name + ", " + when)
              .allMatch(count -> count <= 4 * tiers.logDirs());
          assertStable(when);
          return;
        }
        plan.moves().forEach(move -> moves.merge(move.id(), 1, Integer::sum));
        tiers.evictionOrder(plan.evictionOrder());
        tiers.apply(plan.moves());
        before = plan.tiers();
        assertThat(tiers.violations).as(name).isEmpty();
      }
      assertThat(moves).as(name + ", " + when + ": does not come to rest").isEmpty();
    }

    /** Nothing has moved in the last round; nothing moves in the next, and all goals are met. */
    private void assertStable(String when) {
      TieredSegments.State state = tiers.state();
      for (TierUsage tier : state.tiers()) {
        boolean left =
            state.segments().stream()
                .anyMatch(
                    s ->
                        (!s.active()
                                || (s.tier() == tier.tier() && PlannedTier.worthACopy(s, tier)))
                            && !s.name().id().topic().startsWith("pin")
                            && s.cleanTier().orElse(s.tier()) == tier.tier());
        PlannedTier marks = new PlannedTier(settings.value(), state.relocates(), tier);
        if (left && !marks.never) {
          assertThat(marks.measured)
              .as(name + ", " + when + ": " + tier)
              .isLessThanOrEqualTo(Math.max(marks.high, tier.activeBytes()));
        }
      }
    }

    void check(Plan plan) {
      TieredSegments.State state = tiers.state();
      Map<Long, SegmentView> known = new HashMap<>();
      long[] space = new long[tiers.logDirs()];
      boolean pins = !settings.value().pinnedTopics().isEmpty();
      boolean exclusions = tiers.excludes("tmp");
      for (TierUsage tier : state.tiers()) {
        space[tier.tier()] = tier.freeBytes() + tier.cleanBytes();
      }
      for (SegmentView segment : state.segments()) {
        known.put(segment.id(), segment);
        boolean pinned = pins && segment.name().id().topic().equals("pinned");
        if (pinned && segment.clean()) {
          space[segment.tier()] -= segment.cleanBytes();
        }
      }
      Set<Long> once = new HashSet<>();
      for (PlannedMove planned : plan.moves()) {
        SegmentView segment = known.get(planned.id());
        assertThat(segment).as(name).isNotNull();
        Move move = planned.move();
        String topic = segment.name().id().topic();
        boolean goesOn =
            move.kind() == Move.Kind.PROMOTE
                && (segment.spilled() ? move.toTier() == segment.tier() : !segment.found());
        if (segment.active() && move.kind() != Move.Kind.EVICT && !goesOn) {
          assertThat(move.kind()).as(name + ": " + move).isEqualTo(Move.Kind.DESTAGE);
          assertThat(move.toTier()).as(name + ": " + move).isEqualTo(tiers.logDirs());
        }
        assertThat(once.add(segment.id())).as(name + ": twice: " + move).isTrue();
        if (pins && topic.equals("pinned")) {
          assertThat(move.kind()).as(name + ": " + move).isEqualTo(Move.Kind.PROMOTE);
        }
        if (exclusions && topic.equals("tmp")) {
          assertThat(move.kind()).as(name + ": " + move).isNotEqualTo(Move.Kind.PROMOTE);
        }
        if (move.kind() != Move.Kind.EVICT && move.toTier() < tiers.logDirs()) {
          space[move.toTier()] -= planned.spaceBytes();
          assertThat(space[move.toTier()]).as(name + ": no space for " + move).isNotNegative();
        }
      }
      Set<Long> order = new HashSet<>(plan.evictionOrder());
      assertThat(order).as(name).hasSameSizeAs(plan.evictionOrder());
      List<SegmentView> listed = new ArrayList<>();
      order.forEach(id -> listed.add(known.get(id)));
      assertThat(listed)
          .as(name)
          .allMatch(s -> s.evictable() && !(pins && s.name().id().topic().equals("pinned")));
    }
  }
}
