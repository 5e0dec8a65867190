package io.strata.kafka.cli.terminal;

import picocli.CommandLine.Option;

/** The confirmation of a command that discards something, or puts it aside. */
public final class Confirmation {
  @Option(names = "--yes", description = "Really do it.")
  private boolean yes;

  @Option(
      names = "--dry-run",
      description = "Show what --yes would do, and end with exit code 0; without either it is 3.")
  private boolean dryRun;

  /** Returns whether the command is to be carried out; both options are a wrong usage. */
  public boolean given() throws CommandException {
    if (yes && dryRun) {
      throw CommandException.usage("--yes: found with --dry-run, expected one of them");
    }
    return yes;
  }

  public boolean lookOnly() {
    return dryRun;
  }

  /** Refuses a command that was not carried out, unless only a look was asked for. */
  public void require(String message) throws CommandException {
    if (!dryRun) {
      throw CommandException.refused(message);
    }
  }
}
