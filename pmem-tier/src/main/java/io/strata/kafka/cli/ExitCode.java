package io.strata.kafka.cli;

/**
 * What the command line's exit codes mean.
 *
 * <p>Immutable and safe for use by any thread.
 */
enum ExitCode {
  /** Done. */
  OK(0, "Done; nothing to report."),
  /** Findings of a check, or a failure. */
  FINDINGS(1, "The check has found errors, or the command has failed on its way."),
  /** Wrong usage. */
  USAGE(2, "Wrong usage: an unknown option, a malformed value, a file that does not exist."),
  /** Refused. */
  REFUSED(
      3,
      "Refused, and nothing was changed: the configuration, the pool's owner, version, state or"
          + " lock, or a confirmation that was not given.");

  private final int code;
  private final String meaning;

  ExitCode(int code, String meaning) {
    this.code = code;
    this.meaning = meaning;
  }

  int code() {
    return code;
  }

  String meaning() {
    return meaning;
  }
}
