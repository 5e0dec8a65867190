package io.strata.kafka.config.key;

import java.util.List;

/**
 * One thing that is wrong, or doubtful, in the configuration.
 *
 * @param isError whether Strata refuses to run with it; else it runs, and the operator should know
 * @param found what is there, quoted where it is a value
 */
public record ConfigProblem(
    boolean isError, String key, String found, String expected, String action) {

  /** A problem with which Strata refuses to run. */
  public static ConfigProblem error(String key, String found, String expected, String action) {
    return new ConfigProblem(true, key, found, expected, action);
  }

  /** A problem with which Strata runs. */
  public static ConfigProblem warning(String key, String found, String expected, String action) {
    return new ConfigProblem(false, key, found, expected, action);
  }

  /** The same with another prefix of the keys that it speaks of. */
  public ConfigProblem with(String prefix, String another) {
    return new ConfigProblem(
        isError,
        key.replace(prefix, another),
        found.replace(prefix, another),
        expected.replace(prefix, another),
        action.replace(prefix, another));
  }

  /** One sentence: the key, what was found, what was expected, what to do. */
  public String message() {
    return key + ": found " + found + ", expected " + expected + "; " + action;
  }

  public static String inOneLine(List<ConfigProblem> problems) {
    return String.join("; also: ", problems.stream().map(ConfigProblem::message).toList());
  }

  @Override
  public String toString() {
    return (isError ? "ERROR " : "WARNING ") + message();
  }
}
