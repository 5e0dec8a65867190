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

  /**
   * Returns whether the command is to be carried out.
   *
   * @throws UsageException if both options are given
   */
  public boolean given() throws UsageException {
    if (yes && dryRun) {
      throw new UsageException("--yes: found with --dry-run, expected one of them");
    }
    return yes;
  }

  /** Returns whether the command is not to change anything. */
  public boolean lookOnly() {
    return dryRun;
  }

  /**
   * Ends a command that was not carried out.
   *
   * @throws RefusedException unless only a look was asked for
   */
  public void require(String message) throws RefusedException {
    if (!dryRun) {
      throw new RefusedException(message);
    }
  }
}
