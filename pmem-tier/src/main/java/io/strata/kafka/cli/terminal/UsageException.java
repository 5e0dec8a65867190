package io.strata.kafka.cli.terminal;

/** The command cannot be run as given; the message is for the user. Exit code 2. */
public final class UsageException extends Exception {
  private static final long serialVersionUID = 1L;

  public UsageException(String message) {
    super(message);
  }
}
