package io.strata.kafka.config;

import static java.util.Objects.requireNonNull;

/**
 * One thing that is wrong, or doubtful, in the configuration.
 *
 * <p>Immutable and safe for use by any thread.
 *
 * @param severity whether Strata refuses to run with it
 * @param key the key's name
 * @param found what is there, quoted where it is a value
 * @param expected what should be there
 * @param action what to do about it
 */
public record ConfigProblem(
    Severity severity, String key, String found, String expected, String action) {

  /** How bad a problem is. */
  public enum Severity {
    /** Strata refuses to run. */
    ERROR,
    /** Strata runs; the operator should know. */
    WARNING
  }

  /** Checks that nothing is null. */
  public ConfigProblem {
    requireNonNull(severity);
    requireNonNull(key);
    requireNonNull(found);
    requireNonNull(expected);
    requireNonNull(action);
  }

  /** A problem with which Strata refuses to run. */
  public static ConfigProblem error(String key, String found, String expected, String action) {
    return new ConfigProblem(Severity.ERROR, key, found, expected, action);
  }

  /** A problem with which Strata runs. */
  public static ConfigProblem warning(String key, String found, String expected, String action) {
    return new ConfigProblem(Severity.WARNING, key, found, expected, action);
  }

  /** The same with another prefix of the keys that it speaks of. */
  ConfigProblem with(String prefix, String another) {
    return new ConfigProblem(
        severity,
        key.replace(prefix, another),
        found.replace(prefix, another),
        expected.replace(prefix, another),
        action.replace(prefix, another));
  }

  /** Whether Strata refuses to run with it. */
  public boolean isError() {
    return severity == Severity.ERROR;
  }

  /** One sentence: the key, what was found, what was expected, what to do. */
  public String message() {
    return key + ": found " + found + ", expected " + expected + "; " + action;
  }

  @Override
  public String toString() {
    return severity + " " + message();
  }
}
