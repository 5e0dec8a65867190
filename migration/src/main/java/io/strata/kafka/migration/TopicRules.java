package io.strata.kafka.migration;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/**
 * Which topics are pinned to their tier. Which may not be in a pool at all is known to the tiers:
 * see {@link TieredSegments.State#unwanted}.
 *
 * <p>Thread safety: safe for use by any number of threads; remembers its answers.
 */
final class TopicRules {

  /** The rule of a segment. */
  enum Rule {
    /** The policy decides. */
    FREE,
    /** Stays where it is, and is promoted before all others. */
    PINNED,
    /** Leaves the pools as soon as it is sealed. */
    EXCLUDED
  }

  private final List<Pattern> pinned;
  private final Map<String, Rule> known = new ConcurrentHashMap<>();

  /**
   * With regular expressions of whole names.
   *
   * @throws IllegalArgumentException if one is none
   */
  TopicRules(List<String> pinned) {
    this.pinned = pinned.stream().map(TopicRules::compile).toList();
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

  /** Returns the rule of the segments of a topic that may be in a pool. */
  Rule of(String topic) {
    return known.computeIfAbsent(
        topic,
        name ->
            pinned.stream().anyMatch(pattern -> pattern.matcher(name).matches())
                ? Rule.PINNED
                : Rule.FREE);
  }
}
