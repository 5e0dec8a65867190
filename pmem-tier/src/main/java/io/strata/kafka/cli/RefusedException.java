package io.strata.kafka.cli;

/** The command was refused and has changed nothing; the message is for the user. Exit code 3. */
final class RefusedException extends Exception {
  private static final long serialVersionUID = 1L;

  RefusedException(String message) {
    super(message);
  }
}
