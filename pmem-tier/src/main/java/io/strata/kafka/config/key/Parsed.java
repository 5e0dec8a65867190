package io.strata.kafka.config.key;

import java.util.List;
import java.util.Optional;

/**
 * The result of reading keys.
 *
 * @param config the values; present exactly when no problem is an error
 * @param problems errors and warnings, in the order of the catalogue
 */
public record Parsed<T>(Optional<T> config, List<ConfigProblem> problems) {

  public Parsed {
    problems = List.copyOf(problems);
  }

  /** Drops the values if a problem is an error. */
  public static <T> Parsed<T> of(Optional<T> config, List<ConfigProblem> problems) {
    boolean refused = problems.stream().anyMatch(ConfigProblem::isError);
    return new Parsed<>(refused ? Optional.empty() : config, problems);
  }

  /** The values; throws every error if there are none. */
  public T orElseThrow() throws ConfigRefusedException {
    if (config.isEmpty()) {
      throw new ConfigRefusedException(problems);
    }
    return config.get();
  }

  /** The first problem that is an error, of an outcome without values. */
  public ConfigProblem firstError() {
    return problems.stream().filter(ConfigProblem::isError).findFirst().orElseThrow();
  }
}
