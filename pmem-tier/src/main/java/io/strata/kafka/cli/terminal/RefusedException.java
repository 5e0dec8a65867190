package io.strata.kafka.cli.terminal;

/** The command was refused and has changed nothing; the message is for the user. Exit code 3. */
public final class RefusedException extends Exception {
  private static final long serialVersionUID = 1L;

  public RefusedException(String message) {
    super(message);
  }
}
