package io.strata.kafka.config.key;

import java.util.List;
import java.util.stream.Collectors;

/**
 * The configuration has at least one {@linkplain ConfigProblem#isError() error}. The message has
 * one line for each.
 */
public final class ConfigRefusedException extends Exception {
  private final transient List<ConfigProblem> problems;

  /** With all that was found, warnings too. */
  public ConfigRefusedException(List<ConfigProblem> problems) {
    super(message(problems));
    this.problems = List.copyOf(problems);
  }

  /** The problems, in the order of the keys; at least one is an error. */
  public List<ConfigProblem> problems() {
    return problems;
  }

  private static String message(List<ConfigProblem> problems) {
    return problems.stream()
        .filter(ConfigProblem::isError)
        .map(ConfigProblem::message)
        .collect(Collectors.joining(System.lineSeparator()));
  }
}
