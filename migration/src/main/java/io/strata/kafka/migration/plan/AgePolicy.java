package io.strata.kafka.migration.plan;

import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

import io.strata.kafka.api.MigrationPolicy;
import io.strata.kafka.api.Move;
import io.strata.kafka.api.SegmentView;
import io.strata.kafka.api.TierSnapshot;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A sealed segment leaves a tier when it has not changed for a time. Younger segments move as with
 * {@link OldestFirst#newestStay newest}, since space must never run out.
 */
final class AgePolicy implements MigrationPolicy {

  /** The time, or one for each tier; the last is that of all further ones. */
  static final String AFTER = "after";

  private static final Pattern DURATION = Pattern.compile("(\\d{1,12})\\s*(ms|s|m|h|d)?");

  private static final Map<String, ChronoUnit> UNITS =
      Map.of(
          "ms", ChronoUnit.MILLIS,
          "s", ChronoUnit.SECONDS,
          "m", ChronoUnit.MINUTES,
          "h", ChronoUnit.HOURS,
          "d", ChronoUnit.DAYS);

  /** A segment comes back up only if it can stay for a tenth of the time. */
  private static final double YOUNG = 0.9;

  private final List<Duration> after;

  /** With the values of the parameters; throws IllegalArgumentException if one is no duration. */
  AgePolicy(Map<String, String> parameters) {
    String text = parameters.getOrDefault(AFTER, "1h");
    after = Stream.of(text.split(",", -1)).map(part -> duration(part.strip(), text)).toList();
  }

  /** A duration above zero, such as {@code 90s}; milliseconds if bare. */
  private static Duration duration(String part, String text) {
    Matcher matcher = DURATION.matcher(part);
    if (!matcher.matches() || Long.parseLong(matcher.group(1)) == 0) {
      throw new IllegalArgumentException(
          """
          strata.migration.policy.%s: '%s', expected durations above 0 such as 30m, or 10m,6h \
          for one in each tier (ms, s, m, h, d; without a unit milliseconds)\
          """
              .formatted(AFTER, text));
    }
    String unit = requireNonNullElse(matcher.group(2), "ms");
    return Duration.of(Long.parseLong(matcher.group(1)), requireNonNull(UNITS.get(unit)));
  }

  @Override
  public List<Move> plan(TierSnapshot snapshot) {
    OldestFirst order = new OldestFirst(snapshot, OldestFirst.ORDER);
    for (SegmentView segment : order.sealed) {
      int allowed = segment.tier();
      long age = snapshot.nowMillis() - segment.changedMillis();
      while (allowed < snapshot.logDirs() && age >= afterMillis(allowed)) {
        allowed++;
      }
      if (allowed > segment.tier()) {
        order.leave(segment, allowed);
      }
    }
    order.meetDemand();
    order.fillSpare(
        (segment, tier) ->
            !segment.found()
                && snapshot.nowMillis() - segment.changedMillis() < YOUNG * afterMillis(tier));
    return order.moves;
  }

  private long afterMillis(int tier) {
    return after.get(Math.min(tier, after.size() - 1)).toMillis();
  }
}
