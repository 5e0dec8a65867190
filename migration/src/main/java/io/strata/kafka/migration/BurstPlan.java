package io.strata.kafka.migration;

import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import java.util.OptionalDouble;

/**
 * The effect of a reserve of fast space, in plain arithmetic: the formulas behind {@code strata
 * plan}. What follows from the values that are known is computed, the rest is left out.
 *
 * <p>A burst finds {@code reserve} bytes of space that need no copy first: what is free, and with
 * eager destaging what is clean, too. It fills them at {@code ingest}, while the engine frees space
 * at {@code drain}; in the pause that follows the engine makes good what the burst took.
 *
 * <p>Immutable and safe for use by any thread.
 *
 * @param given the values that this was made from
 * @param results what follows, in the order of {@link Quantity}; seconds may be infinite
 */
public record BurstPlan(Given given, Map<Quantity, Double> results) {

  /** The unit of a number. */
  public enum Unit {
    /** Bytes. */
    BYTES,
    /** Bytes per second. */
    BYTES_PER_SECOND,
    /** Seconds; infinite for "for ever". */
    SECONDS,
    /** A part of the pool, from 0 to 1. */
    SHARE
  }

  /** The quantities that can be computed, each with its formula. */
  public enum Quantity {
    /** As given; or from pool and threshold. */
    RESERVE("reserve", Unit.BYTES, "reserve, or pool x (1 - threshold)"),
    /** How long a burst lasts on the reserve alone. */
    BURST("burst", Unit.SECONDS, "reserve / ingest"),
    /** How long it lasts while the engine frees space; infinite if that is as fast. */
    BURST_WHILE_DRAINING("burst-while-draining", Unit.SECONDS, "reserve / (ingest - drain)"),
    /** How long it takes to make good the whole reserve. */
    PAUSE("pause", Unit.SECONDS, "reserve / drain"),
    /** The reserve that the wanted burst needs, without counting on the drain. */
    RESERVE_FOR_BURST("reserve-for-burst", Unit.BYTES, "ingest x burst"),
    /** The reserve that it needs while the engine makes space. */
    RESERVE_FOR_BURST_WHILE_DRAINING(
        "reserve-for-burst-while-draining", Unit.BYTES, "(ingest - drain) x burst"),
    /** How long the pause after the wanted burst must be at least. */
    PAUSE_AFTER_BURST("pause-after-burst", Unit.SECONDS, "(ingest - drain) x burst / drain"),
    /** The part of the wanted burst that finds no space and goes to the next tier. */
    SPILL("spill", Unit.BYTES, "(ingest - drain) x burst - reserve, if more than 0"),
    /** The bytes that the wanted pause drains; never more than the reserve. */
    REGAINED("regained", Unit.BYTES, "drain x pause, at most the reserve"),
    /** The fastest bursts of the wanted length, again and again after the wanted pause. */
    SUSTAINED_INGEST(
        "sustained-ingest",
        Unit.BYTES_PER_SECOND,
        "drain + (drain x pause, at most the reserve) / burst"),
    /** The highest threshold that keeps the reserve. */
    THRESHOLD("threshold", Unit.SHARE, "1 - reserve / pool"),
    /** The bytes that stay readable from the pool when copies are freed at once. */
    READABLE_IN_THRESHOLD_MODE("readable-in-threshold-mode", Unit.BYTES, "pool - reserve"),
    /** The bytes that stay readable from the pool when copies are freed only for want of space. */
    READABLE_IN_EAGER_MODE("readable-in-eager-mode", Unit.BYTES, "pool"),
    /** The reserve of eager mode with threshold 0 once all that is worth it has been copied. */
    HIGHEST_RESERVE(
        "highest-reserve", Unit.BYTES, "pool, less the last extents of active segments"),
    /** From a full pool to that one. */
    PAUSE_FOR_HIGHEST_RESERVE("pause-for-highest-reserve", Unit.SECONDS, "pool / drain");

    private final String label;
    private final Unit unit;
    private final String formula;

    Quantity(String label, Unit unit, String formula) {
      this.label = label;
      this.unit = unit;
      this.formula = formula;
    }

    /** A name for tables and JSON: lower-case letters and hyphens. */
    public String label() {
      return label;
    }

    /** Returns the unit of its number. */
    public Unit unit() {
      return unit;
    }

    /** How it is computed, in words of {@link Given}. */
    public String formula() {
      return formula;
    }
  }

  /**
   * The known quantities; all of them are optional.
   *
   * @param ingestBytesPerSecond how fast producers write during a burst
   * @param drainBytesPerSecond how fast the engine copies down
   * @param reserveBytes space that a burst finds
   * @param poolBytes the tier's capacity
   * @param burstSeconds how long a burst lasts
   * @param pauseSeconds how long it is until the next one
   * @param threshold {@code strata.migration.threshold}, from 0 to 1
   */
  public record Given(
      OptionalDouble ingestBytesPerSecond,
      OptionalDouble drainBytesPerSecond,
      OptionalDouble reserveBytes,
      OptionalDouble poolBytes,
      OptionalDouble burstSeconds,
      OptionalDouble pauseSeconds,
      OptionalDouble threshold) {

    /** Nothing is known yet. */
    public static final Given NOTHING =
        new Given(
            OptionalDouble.empty(),
            OptionalDouble.empty(),
            OptionalDouble.empty(),
            OptionalDouble.empty(),
            OptionalDouble.empty(),
            OptionalDouble.empty(),
            OptionalDouble.empty());

    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException if a value is not above 0, the threshold is not a share, or
     *     the reserve is larger than the pool
     */
    public Given {
      positive("ingest", ingestBytesPerSecond);
      positive("drain", drainBytesPerSecond);
      positive("reserve", reserveBytes);
      positive("pool", poolBytes);
      positive("burst", burstSeconds);
      positive("pause", pauseSeconds);
      if (threshold.isPresent()
          && !(threshold.getAsDouble() >= 0 && threshold.getAsDouble() <= 1)) {
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

    private OptionalDouble reserve() {
      if (reserveBytes.isPresent() || poolBytes.isEmpty() || threshold.isEmpty()) {
        return reserveBytes;
      }
      return OptionalDouble.of(poolBytes.getAsDouble() * (1 - threshold.getAsDouble()));
    }
  }

  /** Copies the results. */
  public BurstPlan {
    EnumMap<Quantity, Double> copy = new EnumMap<>(Quantity.class);
    copy.putAll(results);
    results = Collections.unmodifiableMap(copy);
  }

  /** Computes all that follows from what is given. */
  public static BurstPlan of(Given given) {
    Map<Quantity, Double> results = new EnumMap<>(Quantity.class);
    OptionalDouble reserve = given.reserve();
    OptionalDouble ingest = given.ingestBytesPerSecond();
    OptionalDouble drain = given.drainBytesPerSecond();
    // Without a figure for the drain nothing is counted on.
    double net = Math.max(0, ingest.orElse(0) - drain.orElse(0));
    reserve.ifPresent(bytes -> results.put(Quantity.RESERVE, bytes));
    if (reserve.isPresent() && ingest.isPresent()) {
      results.put(Quantity.BURST, reserve.getAsDouble() / ingest.getAsDouble());
      if (drain.isPresent()) {
        results.put(
            Quantity.BURST_WHILE_DRAINING,
            net == 0 ? Double.POSITIVE_INFINITY : reserve.getAsDouble() / net);
      }
    }
    if (reserve.isPresent() && drain.isPresent()) {
      results.put(Quantity.PAUSE, reserve.getAsDouble() / drain.getAsDouble());
    }
    if (given.burstSeconds().isPresent() && ingest.isPresent()) {
      double burst = given.burstSeconds().getAsDouble();
      results.put(Quantity.RESERVE_FOR_BURST, ingest.getAsDouble() * burst);
      if (drain.isPresent()) {
        results.put(Quantity.RESERVE_FOR_BURST_WHILE_DRAINING, net * burst);
        results.put(Quantity.PAUSE_AFTER_BURST, net * burst / drain.getAsDouble());
      }
      if (reserve.isPresent()) {
        results.put(Quantity.SPILL, Math.max(0, net * burst - reserve.getAsDouble()));
      }
    }
    addPause(given, reserve, results);
    addPool(given, reserve, results);
    return new BurstPlan(given, results);
  }

  private static void addPause(Given given, OptionalDouble reserve, Map<Quantity, Double> results) {
    if (given.pauseSeconds().isEmpty() || given.drainBytesPerSecond().isEmpty()) {
      return;
    }
    double drain = given.drainBytesPerSecond().getAsDouble();
    double regained =
        Math.min(
            drain * given.pauseSeconds().getAsDouble(), reserve.orElse(Double.POSITIVE_INFINITY));
    results.put(Quantity.REGAINED, regained);
    if (given.burstSeconds().isPresent()) {
      results.put(Quantity.SUSTAINED_INGEST, drain + regained / given.burstSeconds().getAsDouble());
    }
  }

  private static void addPool(Given given, OptionalDouble reserve, Map<Quantity, Double> results) {
    if (given.poolBytes().isEmpty()) {
      return;
    }
    double pool = given.poolBytes().getAsDouble();
    if (reserve.isPresent()) {
      results.put(Quantity.THRESHOLD, 1 - reserve.getAsDouble() / pool);
      results.put(Quantity.READABLE_IN_THRESHOLD_MODE, pool - reserve.getAsDouble());
      results.put(Quantity.READABLE_IN_EAGER_MODE, pool);
    }
    results.put(Quantity.HIGHEST_RESERVE, pool);
    if (given.drainBytesPerSecond().isPresent()) {
      results.put(
          Quantity.PAUSE_FOR_HIGHEST_RESERVE, pool / given.drainBytesPerSecond().getAsDouble());
    }
  }

  /** One result; empty if too little was given for it. */
  public OptionalDouble value(Quantity quantity) {
    Double value = results.get(quantity);
    return value == null ? OptionalDouble.empty() : OptionalDouble.of(value);
  }
}
