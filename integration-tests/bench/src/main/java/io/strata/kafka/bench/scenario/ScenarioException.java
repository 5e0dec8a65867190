package io.strata.kafka.bench.scenario;

/**
 * A scenario that cannot be run; the message names the key, what was found and what is expected.
 */
public final class ScenarioException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** An exception with a message for the user. */
  public ScenarioException(String message) {
    super(message);
  }
}
