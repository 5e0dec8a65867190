package io.strata.kafka.migration;

import io.strata.kafka.migration.plan.BackOffs;
import io.strata.kafka.migration.plan.MigrationSettings;
import io.strata.kafka.migration.plan.MigrationSettings.Mode;
import io.strata.kafka.migration.plan.Plan;
import io.strata.kafka.migration.plan.Plan.PlannedMove;
import io.strata.kafka.migration.plan.Planner;
import io.strata.kafka.migration.plan.PolicyRegistry;
import io.strata.kafka.migration.plan.TieredSegments;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Settings for tests, changed one at a time. */
public record Settings(MigrationSettings value) {

  public static Settings of(double... thresholds) {
    return new Settings(
        new MigrationSettings(
            Mode.EAGER,
            java.util.Arrays.stream(thresholds).boxed().toList(),
            0.05,
            true,
            2,
            0,
            0,
            Duration.ofMillis(20),
            "newest",
            Map.of(),
            List.of()));
  }

  public Settings mode(Mode mode) {
    return with(mode, value.hysteresis(), value.promote(), value.threads(), 0, 0);
  }

  public Settings hysteresis(double hysteresis) {
    return with(value.mode(), hysteresis, value.promote(), value.threads(), 0, 0);
  }

  public Settings promote(boolean promote) {
    return with(value.mode(), value.hysteresis(), promote, value.threads(), 0, 0);
  }

  Settings threads(int threads) {
    return with(
        value.mode(),
        value.hysteresis(),
        value.promote(),
        threads,
        value.downBytesPerSecond(),
        value.upBytesPerSecond());
  }

  Settings rates(long down, long up) {
    return with(value.mode(), value.hysteresis(), value.promote(), value.threads(), down, up);
  }

  private Settings with(
      Mode mode, double hysteresis, boolean promote, int threads, long down, long up) {
    return new Settings(
        new MigrationSettings(
            mode,
            value.thresholds(),
            hysteresis,
            promote,
            threads,
            down,
            up,
            value.interval(),
            value.policy(),
            value.policyParameters(),
            value.pinnedTopics()));
  }

  public Settings interval(Duration interval) {
    return new Settings(
        new MigrationSettings(
            value.mode(),
            value.thresholds(),
            value.hysteresis(),
            value.promote(),
            value.threads(),
            value.downBytesPerSecond(),
            value.upBytesPerSecond(),
            interval,
            value.policy(),
            value.policyParameters(),
            value.pinnedTopics()));
  }

  public Settings policy(String name, Map<String, String> parameters) {
    return rest(name, parameters, value.pinnedTopics());
  }

  public Settings pin(String... topics) {
    return rest(value.policy(), value.policyParameters(), List.of(topics));
  }

  private Settings rest(String policy, Map<String, String> parameters, List<String> pin) {
    return new Settings(
        new MigrationSettings(
            value.mode(),
            value.thresholds(),
            value.hysteresis(),
            value.promote(),
            value.threads(),
            value.downBytesPerSecond(),
            value.upBytesPerSecond(),
            value.interval(),
            policy,
            parameters,
            pin));
  }

  /** How a tier is kept below its marks. */
  Mode mode(TieredSegments.State state, int tier) {
    return value.modeOf(tier, state.relocates());
  }

  /** Nothing waits. */
  public static BackOffs noWaits() {
    return new BackOffs(() -> 0, new Random(1));
  }

  /** A plan of a state, as the first of an engine. */
  public Plan plan(FakeTiers tiers, long nowMillis) {
    return plan(tiers, nowMillis, List.of(), List.of(), noWaits());
  }

  public Plan plan(
      FakeTiers tiers,
      long nowMillis,
      List<Plan.TierPlan> before,
      List<PlannedMove> inFlight,
      BackOffs backOffs) {
    return Planner.plan(
        new Planner.Input(
            tiers.state(),
            nowMillis,
            value,
            value.pinned(),
            PolicyRegistry.builtIn().create(value.policy(), value.policyParameters()),
            before,
            inFlight,
            backOffs));
  }
}
