package io.strata.kafka.bench.run;

/** A benchmark that cannot go on; the message is for the user. */
public final class BenchmarkException extends Exception {
  private static final long serialVersionUID = 1;

  /** An exception with a message for the user. */
  public BenchmarkException(String message) {
    super(message);
  }
}
