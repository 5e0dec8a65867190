package io.strata.kafka.it.bench;

import io.strata.kafka.api.SegmentId;
import io.strata.kafka.api.SegmentName;
import io.strata.kafka.api.SegmentView;
import io.strata.kafka.api.TierUsage;
import io.strata.kafka.migration.EngineEnvironment;
import io.strata.kafka.migration.EngineEvents;
import io.strata.kafka.migration.MigrationEngine;
import io.strata.kafka.migration.plan.MigrationSettings;
import io.strata.kafka.migration.plan.PolicyRegistry;
import io.strata.kafka.migration.plan.TieredSegments;
import io.strata.kafka.migration.plan.TieredSegments.MoveControl;
import io.strata.kafka.migration.plan.TieredSegments.MoveResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Random;

/**
 * What a planning round of the engine costs, by the number of segments: with nothing to move, and
 * with more to move than it can ever carry out. A benchmark, not a test: see
 * docs/design/performance.md for the command.
 */
final class PlanningCost {

  private static final long SEGMENT = 1L << 20;
  private static final int ROUNDS = 40;
  private static final int WARM_UP = 40;
  private static final int SEGMENTS_OF_A_PARTITION = 50;

  private PlanningCost() {}

  /**
   * Prints a line for each number of segments and each policy, and how the cost grew.
   *
   * @param arguments numbers of segments (1000, 10000, 100000)
   */
  public static void main(String[] arguments) throws InterruptedException {
    List<String> counts =
        arguments.length > 0 ? List.of(arguments) : List.of("1000", "10000", "100000");
    List<String> policies = List.of("newest", "age", "access");
    for (String policy : policies) { // compiled code for all that follow
      for (int i = 0; i < 3; i++) {
        double unused = measure(10_000, policy, i > 0);
      }
    }
    for (String policy : policies) {
      for (boolean busy : new boolean[] {false, true}) {
        double before = 0;
        int countBefore = 0;
        for (String argument : counts) {
          int count = Integer.parseInt(argument);
          double micros = measure(count, policy, busy);
          String growth = "";
          if (countBefore > 0) {
            double nLogN = count * Math.log(count) / (countBefore * Math.log(countBefore));
            growth =
                String.format(
                    Locale.ROOT, ", %.1f times as much (n log n: %.1f)", micros / before, nLogN);
          }
          print(
              "%-9s %-4s %,8d segments: %,10.0f us of a processor per round%s",
              policy, busy ? "busy" : "idle", count, micros, growth);
          before = micros;
          countBefore = count;
        }
      }
    }
  }

  /** The median processor time of a round, in microseconds. */
  private static double measure(int count, String policy, boolean busy)
      throws InterruptedException {
    MigrationSettings settings =
        new MigrationSettings(
            MigrationSettings.Mode.EAGER,
            List.of(busy ? 0.5 : -1.0),
            0.05,
            busy,
            2,
            0,
            0,
            Duration.ofMillis(1),
            policy,
            Map.of(),
            List.of("pinned-.*"));
    try (MigrationEngine engine =
        new MigrationEngine(
            new Fixed(count, busy),
            settings,
            PolicyRegistry.load(PlanningCost.class.getClassLoader()),
            List.of(),
            EngineEvents.NONE,
            EngineEnvironment.system())) {
      engine.start();
      List<Long> nanos = new ArrayList<>();
      for (int round = 0; round < WARM_UP + ROUNDS; round++) {
        long rounds = engine.stats().rounds().count();
        while (engine.stats().rounds().count() == rounds) {
          Thread.sleep(1);
        }
        if (round >= WARM_UP) {
          nanos.add(engine.stats().cost().lastCpuNanos());
        }
      }
      return nanos.stream().sorted().toList().get(ROUNDS / 2) / 1e3;
    }
  }

  /** Segments that never change, whatever is done to them; half of the pool's are clean. */
  private static final class Fixed implements TieredSegments {

    private final State state;

    Fixed(int count, boolean busy) {
      Random random = new Random(count);
      long now = System.currentTimeMillis();
      List<SegmentView> segments = new ArrayList<>();
      long dirty = 0;
      long clean = 0;
      for (int i = 0; i < count; i++) {
        int partition = i / SEGMENTS_OF_A_PARTITION;
        boolean active = i % SEGMENTS_OF_A_PARTITION == SEGMENTS_OF_A_PARTITION - 1;
        int tier = active ? 0 : random.nextInt(2);
        boolean isClean = tier == 0 && !active && random.nextBoolean();
        dirty += tier == 0 && !isClean ? SEGMENT : 0;
        clean += isClean ? SEGMENT : 0;
        // Younger than the default of the policy that goes by age.
        long changed = now - random.nextInt(600_000);
        segments.add(
            new SegmentView(
                i,
                new SegmentName(
                    new SegmentId("topic-" + partition % 20, partition, i),
                    SegmentName.Replica.CURRENT,
                    SegmentName.Stage.LIVE),
                "/logs/" + partition % 4,
                tier,
                isClean ? OptionalInt.of(1) : OptionalInt.empty(),
                active,
                false,
                SEGMENT,
                tier == 0 ? SEGMENT : 0,
                tier == 0 && !isClean ? SEGMENT : 0,
                isClean ? SEGMENT : 0,
                changed,
                changed,
                changed + random.nextInt(100_000),
                busy ? random.nextInt(1 << 20) : 0,
                false));
      }
      long used = dirty + clean;
      long capacity = busy ? used + used / 20 : used * 2;
      state =
          new State(
              List.of(
                  new TierUsage(0, "pmem", capacity, used, dirty, clean, 0, count, count, 0, 0)),
              segments);
    }

    @Override
    public State state() {
      return state;
    }

    @Override
    public MoveResult destage(long id, int toTier, MoveControl control) {
      return MoveResult.done(SEGMENT);
    }

    @Override
    public MoveResult evict(long id) {
      return MoveResult.done(SEGMENT);
    }

    @Override
    public MoveResult promote(long id, int toTier, MoveControl control) {
      return MoveResult.done(SEGMENT);
    }

    @Override
    public void evictionOrder(List<Long> ids) {}
  }

  @SuppressWarnings("SystemOut") // a benchmark's figures are its output
  private static void print(String format, Object... values) {
    System.out.println(String.format(Locale.ROOT, format, values));
  }
}
