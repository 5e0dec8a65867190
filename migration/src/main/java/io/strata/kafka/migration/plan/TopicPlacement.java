package io.strata.kafka.migration.plan;

import io.strata.kafka.api.SegmentName;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/**
 * Places by topic: a segment may be hot when its topic's whole name matches an include expression
 * and no exclude expression.
 *
 * <p>Never hot, whatever the expressions say:
 *
 * <ul>
 *   <li>a replica that is being moved to another log directory ({@code -future}), deleted ({@code
 *       -delete}) or set aside ({@code -stray}): it would push fresh data out of the pool;
 *   <li>what the log cleaner writes ({@code .cleaned}, {@code .swap}): old data by nature;
 *   <li>{@code __cluster_metadata}: Kafka loads it before anything of ours can keep a broker
 *       without the provider from starting, and would take its incomplete log files for an empty
 *       log;
 *   <li>{@code __remote_log_metadata}: without its few records, Kafka finds no segment in the
 *       remote store any more. The loss of a pool would cost the remote tier, and not only tails.
 * </ul>
 *
 * <p>Immutable.
 */
public final class TopicPlacement implements Predicate<SegmentName> {

  /** Kafka's topics that are never hot. */
  public static final Set<String> NEVER_HOT = Set.of("__cluster_metadata", "__remote_log_metadata");

  private final List<Pattern> include;
  private final List<Pattern> exclude;

  /**
   * With regular expressions of {@link Pattern}.
   *
   * @throws java.util.regex.PatternSyntaxException if one is none
   */
  public TopicPlacement(List<String> include, List<String> exclude) {
    this.include = include.stream().map(Pattern::compile).toList();
    this.exclude = exclude.stream().map(Pattern::compile).toList();
  }

  @Override
  public boolean test(SegmentName segment) {
    return segment.replica() == SegmentName.Replica.CURRENT
        && segment.stage() == SegmentName.Stage.LIVE
        && !NEVER_HOT.contains(segment.id().topic())
        && matchesAny(include, segment.id().topic())
        && !matchesAny(exclude, segment.id().topic());
  }

  private static boolean matchesAny(List<Pattern> patterns, String topic) {
    return patterns.stream().anyMatch(pattern -> pattern.matcher(topic).matches());
  }
}
