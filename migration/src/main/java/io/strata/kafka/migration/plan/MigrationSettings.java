package io.strata.kafka.migration.plan;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/**
 * How the engine works: the checked values of the {@code strata.migration.*} keys.
 *
 * @param mode whether a copy in the pool is kept once it is clean
 * @param thresholds for each tier that has pools, fastest first: the dirty share of its capacity
 *     (the used one where {@link #modeOf} is {@code THRESHOLD}) above which segments are copied
 *     down, from 0 (as soon as sealed) to 1; -1 for never
 * @param hysteresis how far below the threshold that share is brought, from 0 to 1: the low mark is
 *     the threshold less this, and not below 0
 * @param threads how many moves are made at once, from 1
 * @param downBytesPerSecond the rate limit of copies down, all threads together; 0 for none
 * @param upBytesPerSecond the rate limit of copies up, all threads together; 0 for none
 * @param policyParameters values by name, those of policies that are not chosen among them
 * @param pinnedTopics regular expressions of whole topic names whose segments stay in their tier
 */
public record MigrationSettings(
    Mode mode,
    List<Double> thresholds,
    double hysteresis,
    boolean promote,
    int threads,
    long downBytesPerSecond,
    long upBytesPerSecond,
    Duration interval,
    String policy,
    Map<String, String> policyParameters,
    List<String> pinnedTopics) {
  /** So many topics' answers are remembered. */
  private static final int REMEMBERED = 10_000;

  /** How far below its threshold a tier is brought, unless a test wants it otherwise. */
  public static final double HYSTERESIS = 0.05;

  /**
   * The time between two planning rounds. A round also begins when a segment is sealed or an append
   * finds no space.
   */
  public static final Duration INTERVAL = Duration.ofSeconds(1);

  /** The fate of a copy in a pool when a lower tier has it too. */
  public enum Mode {
    /** It stays readable until its space is needed. */
    EAGER,
    /** It is evicted at once, as Pafka does. */
    THRESHOLD;

    /** The value of {@code strata.migration.mode}. */
    public String configName() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * Copies the collections.
   *
   * @throws IllegalArgumentException if a number is out of its range
   */
  public MigrationSettings {
    thresholds = List.copyOf(thresholds);
    policyParameters = Map.copyOf(policyParameters);
    pinnedTopics = List.copyOf(pinnedTopics);
    for (double threshold : thresholds) {
      if (!(threshold == -1 || (threshold >= 0 && threshold <= 1))) {
        throw new IllegalArgumentException("threshold " + threshold + ", expected -1 or 0 to 1");
      }
    }
    if (!(hysteresis >= 0 && hysteresis <= 1)
        || threads < 1
        || downBytesPerSecond < 0
        || upBytesPerSecond < 0
        || interval.isNegative()
        || interval.isZero()) {
      throw new IllegalArgumentException(
          "hysteresis %s, threads %d, down %d, up %d, interval %s: out of range"
              .formatted(hysteresis, threads, downBytesPerSecond, upBytesPerSecond, interval));
    }
  }

  /**
   * How a tier is kept below its marks. A segment that goes from one tier with space of its own
   * into another leaves no clean copy that could stay: there only the used bytes count.
   *
   * @param relocates {@link TieredSegments.State#relocates}
   */
  public Mode modeOf(int tier, boolean relocates) {
    return relocates && tier < thresholds.size() - 1 ? Mode.THRESHOLD : mode;
  }

  /**
   * Which topics are pinned; remembers its answers.
   *
   * @throws IllegalArgumentException if an expression is none
   */
  public Predicate<String> pinned() {
    if (pinnedTopics.isEmpty()) {
      return topic -> false; // It is asked of each segment.
    }
    List<Pattern> patterns = pinnedTopics.stream().map(MigrationSettings::compile).toList();
    Map<String, Boolean> known = new ConcurrentHashMap<>();
    return topic -> {
      if (known.size() > REMEMBERED) {
        known.clear(); // Most may be topics that were deleted.
      }
      return known.computeIfAbsent(
          topic, name -> patterns.stream().anyMatch(each -> each.matcher(name).matches()));
    };
  }

  private static Pattern compile(String expression) {
    try {
      return Pattern.compile(expression);
    } catch (PatternSyntaxException e) {
      throw new IllegalArgumentException(
          "pinned topics: '%s' is no regular expression: %s"
              .formatted(expression, e.getDescription()),
          e);
    }
  }
}
