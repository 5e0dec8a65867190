package io.strata.kafka.cli;

/** The command cannot be run as given; the message is for the user. Exit code 2. */
final class UsageException extends Exception {
  private static final long serialVersionUID = 1L;

  UsageException(String message) {
    super(message);
  }
}
