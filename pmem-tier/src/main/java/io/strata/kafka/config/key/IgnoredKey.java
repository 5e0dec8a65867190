package io.strata.kafka.config.key;

import java.util.Optional;

/**
 * A key that is set on a live broker and has no effect there.
 *
 * @param name the key
 * @param value its value, as it is set
 * @param reason why it has none
 * @param problem what is wrong with the value; empty if this broker only has no use for it
 */
public record IgnoredKey(
    String name, String value, String reason, Optional<ConfigProblem> problem) {

  public static IgnoredKey useless(String name, String value, String reason) {
    return new IgnoredKey(name, value, reason, Optional.empty());
  }

  public static IgnoredKey wrong(String name, String value, ConfigProblem problem) {
    return new IgnoredKey(name, value, problem.message(), Optional.of(problem));
  }

  @Override
  public String toString() {
    return "%s (%s)".formatted(name, reason);
  }
}
