package io.strata.kafka.migration;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/**
 * Which topics are pinned to their tier, and which are kept out of the pools. Exclusion wins.
 *
 * <p>Thread safety: safe for use by any number of threads; remembers its answers.
 */
final class TopicRules {

  /** What holds for a topic. */
  enum Rule {
    /** The policy decides. */
    FREE,
    /** Stays where it is, and is promoted before all others. */
    PINNED,
    /** Leaves the pools as soon as it is sealed. */
    EXCLUDED
  }

  private final List<Pattern> pinned;
  private final List<Pattern> excluded;
  private final Map<String, Rule> known = new ConcurrentHashMap<>();

  /**
   * With regular expressions of whole names.
   *
   * @throws IllegalArgumentException if one is none
   */
  TopicRules(List<String> pinned, List<String> excluded) {
    this.pinned = compile("strata.migration.pin.topics", pinned);
    this.excluded = compile("strata.migration.exclude.topics", excluded);
  }

  private static List<Pattern> compile(String key, List<String> expressions) {
    List<Pattern> patterns = new ArrayList<>();
    for (String expression : expressions) {
      try {
        patterns.add(Pattern.compile(expression));
      } catch (PatternSyntaxException e) {
        throw new IllegalArgumentException(
            key + ": '" + expression + "' is no regular expression: " + e.getDescription(), e);
      }
    }
    return List.copyOf(patterns);
  }

  Rule of(String topic) {
    Rule rule = known.get(topic);
    if (rule == null) {
      rule =
          matchesAny(excluded, topic)
              ? Rule.EXCLUDED
              : matchesAny(pinned, topic) ? Rule.PINNED : Rule.FREE;
      known.put(topic, rule);
    }
    return rule;
  }

  private static boolean matchesAny(List<Pattern> patterns, String topic) {
    for (Pattern pattern : patterns) {
      if (pattern.matcher(topic).matches()) {
        return true;
      }
    }
    return false;
  }
}
