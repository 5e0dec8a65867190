package io.strata.kafka.migration.plan;

import java.util.Locale;
import java.util.OptionalDouble;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The effect of a reserve of fast space, in plain arithmetic: the formulas behind {@code strata
 * plan}. All that is given is optional; what follows from it is computed, the rest is left out.
 *
 * <p>A burst finds {@code reserve} bytes of space that need no copy first: what is free, and with
 * eager destaging what is clean too. It fills them at {@code ingest}, while the engine frees space
 * at {@code drain}; in the pause that follows the engine makes good what the burst took.
 *
 * @param ingestBytesPerSecond how fast producers write during a burst
 * @param drainBytesPerSecond how fast the engine copies down
 * @param reserveBytes space that a burst finds
 * @param poolBytes the tier's capacity
 * @param burstSeconds how long a burst lasts
 * @param pauseSeconds how long it is until the next one
 * @param threshold {@code strata.migration.threshold}, from 0 to 1
 */
public record BurstPlan(
    OptionalDouble ingestBytesPerSecond,
    OptionalDouble drainBytesPerSecond,
    OptionalDouble reserveBytes,
    OptionalDouble poolBytes,
    OptionalDouble burstSeconds,
    OptionalDouble pauseSeconds,
    OptionalDouble threshold) {

  /** The unit of a number. */
  public enum Unit {
    BYTES,
    BYTES_PER_SECOND,
    /** Seconds; infinite for "for ever". */
    SECONDS,
    /** A part of the pool, from 0 to 1. */
    SHARE
  }

  /** The quantities that can be computed, each with its formula. */
  public enum Quantity {
    /** As given; or from pool and threshold. */
    RESERVE(Unit.BYTES, "reserve, or pool x (1 - threshold)"),
    /** Time that a burst lasts on the reserve alone. */
    BURST(Unit.SECONDS, "reserve / ingest"),
    /** Time that it lasts while the engine frees space; infinite if that is as fast. */
    BURST_WHILE_DRAINING(Unit.SECONDS, "reserve / (ingest - drain)"),
    /** Time that it takes to make good the whole reserve. */
    PAUSE(Unit.SECONDS, "reserve / drain"),
    /** The reserve that the wanted burst needs, without counting on the drain. */
    RESERVE_FOR_BURST(Unit.BYTES, "ingest x burst"),
    /** The reserve that it needs while the engine makes space. */
    RESERVE_FOR_BURST_WHILE_DRAINING(Unit.BYTES, "(ingest - drain) x burst"),
    /** Least pause after the wanted burst. */
    PAUSE_AFTER_BURST(Unit.SECONDS, "(ingest - drain) x burst / drain"),
    /** The part of the wanted burst that finds no space and goes to the next tier. */
    SPILL(Unit.BYTES, "(ingest - drain) x burst - reserve, if more than 0"),
    /** The bytes that the wanted pause drains; never more than the reserve. */
    REGAINED(Unit.BYTES, "drain x pause, at most the reserve"),
    /** The fastest bursts of the wanted length, again and again after the wanted pause. */
    SUSTAINED_INGEST(Unit.BYTES_PER_SECOND, "drain + (drain x pause, at most the reserve) / burst"),
    /** The highest threshold that keeps the reserve. */
    THRESHOLD(Unit.SHARE, "1 - reserve / pool"),
    /** The bytes that stay readable from the pool when copies are freed at once. */
    READABLE_IN_THRESHOLD_MODE(Unit.BYTES, "pool - reserve"),
    /** The bytes that stay readable from the pool when copies are freed only to make space. */
    READABLE_IN_EAGER_MODE(Unit.BYTES, "pool"),
    /** The reserve of eager mode with threshold 0 once all that is worth it has been copied. */
    HIGHEST_RESERVE(Unit.BYTES, "pool, less the last extents of active segments"),
    /** From a full pool to that one. */
    PAUSE_FOR_HIGHEST_RESERVE(Unit.SECONDS, "pool / drain");

    private final Unit unit;
    private final String formula;

    Quantity(Unit unit, String formula) {
      this.unit = unit;
      this.formula = formula;
    }

    /** A name for tables and JSON: lower-case letters and hyphens. */
    public String label() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    public Unit unit() {
      return unit;
    }

    /** The computation, in words of what is given. */
    public String formula() {
      return formula;
    }
  }

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException if a value is not above 0, the threshold is not a share, or
   *     the reserve is larger than the pool
   */
  public BurstPlan {
    positive("ingest", ingestBytesPerSecond);
    positive("drain", drainBytesPerSecond);
    positive("reserve", reserveBytes);
    positive("pool", poolBytes);
    positive("burst", burstSeconds);
    positive("pause", pauseSeconds);
    if (threshold.isPresent() && !(threshold.getAsDouble() >= 0 && threshold.getAsDouble() <= 1)) {
      throw new IllegalArgumentException(
          "threshold " + threshold.getAsDouble() + ": expected a share from 0 to 1");
    }
    if (reserveBytes.isPresent()
        && poolBytes.isPresent()
        && reserveBytes.getAsDouble() > poolBytes.getAsDouble()) {
      throw new IllegalArgumentException(
          "reserve %s bytes: expected at most the pool's %s"
              .formatted(reserveBytes.getAsDouble(), poolBytes.getAsDouble()));
    }
  }

  private static void positive(String name, OptionalDouble value) {
    if (value.isPresent()
        && !(value.getAsDouble() > 0 && value.getAsDouble() < Double.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException(
          name + " " + value.getAsDouble() + ": expected a number above 0");
    }
  }

  /** The value of a quantity; NaN if too little is known for it. */
  private double value(Quantity quantity) {
    // An unknown figure is NaN, and so is all that depends on it.
    double ingest = ingestBytesPerSecond.orElse(Double.NaN);
    double drain = drainBytesPerSecond.orElse(Double.NaN);
    double pool = poolBytes.orElse(Double.NaN);
    double burst = burstSeconds.orElse(Double.NaN);
    double reserve = reserveBytes.orElse(pool * (1 - threshold.orElse(Double.NaN)));
    double net = Math.max(0, ingest - drain);
    return switch (quantity) {
      case RESERVE -> reserve;
      case BURST -> reserve / ingest;
      case BURST_WHILE_DRAINING -> net == 0 ? reserve + Double.POSITIVE_INFINITY : reserve / net;
      case PAUSE -> reserve / drain;
      case RESERVE_FOR_BURST -> ingest * burst;
      case RESERVE_FOR_BURST_WHILE_DRAINING -> net * burst;
      case PAUSE_AFTER_BURST -> net * burst / drain;
      // Without a figure for the drain nothing is counted on.
      case SPILL ->
          Math.max(0, Math.max(0, ingest - drainBytesPerSecond.orElse(0)) * burst - reserve);
      case REGAINED -> regained(drain, reserve);
      case SUSTAINED_INGEST -> drain + regained(drain, reserve) / burst;
      case THRESHOLD -> 1 - reserve / pool;
      case READABLE_IN_THRESHOLD_MODE -> pool - reserve;
      case READABLE_IN_EAGER_MODE -> Double.isNaN(reserve) ? reserve : pool;
      case HIGHEST_RESERVE -> pool;
      case PAUSE_FOR_HIGHEST_RESERVE -> pool / drain;
    };
  }

  private double regained(double drain, double reserve) {
    double drained = drain * pauseSeconds.orElse(Double.NaN);
    return Double.isNaN(reserve) ? drained : Math.min(drained, reserve);
  }

  /** All that follows from what is given; seconds may be infinite. */
  public SortedMap<Quantity, Double> results() {
    SortedMap<Quantity, Double> results = new TreeMap<>();
    for (Quantity quantity : Quantity.values()) {
      double value = value(quantity);
      if (!Double.isNaN(value)) {
        results.put(quantity, value);
      }
    }
    return results;
  }
}
