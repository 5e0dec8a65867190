package io.strata.kafka.config;

import java.util.List;
import java.util.Optional;

/**
 * The result of reading keys.
 *
 * @param config the values; present exactly when no problem is an error
 * @param problems errors and warnings, in the order of the catalogue
 * @param ignored keys that were set on a live broker and left out
 */
public record Parsed<T>(
    Optional<T> config, List<ConfigProblem> problems, List<IgnoredKey> ignored) {

  /** Copies the lists. */
  public Parsed {
    problems = List.copyOf(problems);
    ignored = List.copyOf(ignored);
  }

  static <T> Parsed<T> of(Optional<T> config, List<ConfigProblem> problems) {
    return of(config, problems, List.of());
  }

  /** Drops the values if a problem is an error. */
  static <T> Parsed<T> of(
      Optional<T> config, List<ConfigProblem> problems, List<IgnoredKey> ignored) {
    boolean refused = problems.stream().anyMatch(ConfigProblem::isError);
    return new Parsed<>(refused ? Optional.empty() : config, problems, ignored);
  }

  /**
   * The values.
   *
   * @throws ConfigRefusedException if there are none, with every error
   */
  public T orElseThrow() throws ConfigRefusedException {
    if (config.isEmpty()) {
      throw new ConfigRefusedException(problems);
    }
    return config.get();
  }

  /** All problems, in one line. */
  public String refusal() {
    return ConfigProblem.inOneLine(problems);
  }
}
