package io.strata.kafka.cli.terminal;

/** The command cannot be run as given, or was refused; the message is for the user. */
public final class CommandException extends Exception {
  private static final long serialVersionUID = 1L;

  private final ExitCode code;

  private CommandException(ExitCode code, String message) {
    super(message);
    this.code = code;
  }

  /** It cannot be run as given. */
  public static CommandException usage(String message) {
    return new CommandException(ExitCode.USAGE, message);
  }

  /** It was refused and has changed nothing. */
  public static CommandException refused(String message) {
    return new CommandException(ExitCode.REFUSED, message);
  }

  public ExitCode code() {
    return code;
  }
}
