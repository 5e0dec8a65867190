package io.strata.kafka.cli.terminal;

import java.util.LinkedHashMap;
import java.util.Map;

/** The exit codes of the command line; each means the same for every command. */
public enum ExitCode {
  OK(0, "Done; nothing to report."),
  FINDINGS(
      1,
      """
      Done, and not all is well: a check found errors, something could not be looked at, or what \
      was asked for is not there. Each has its line.\
      """),
  USAGE(
      2, "Wrong usage: an unknown option, a malformed value, a --config file that does not exist."),
  REFUSED(
      3,
      """
      Refused, and what was refused has changed nothing: the configuration, the pool's owner, \
      version or state, a lock that another process holds, a permission that is missing, on \
      whatever file, or a confirmation that was not given.\
      """),
  FAILED(
      4,
      "Failed on its way: a broker that does not answer, an error of a disk, a fault of Strata.");

  private final int code;
  private final String meaning;

  ExitCode(int code, String meaning) {
    this.code = code;
    this.meaning = meaning;
  }

  public int code() {
    return code;
  }

  public String meaning() {
    return meaning;
  }

  /** Returns the codes and their meanings, as a help text shows them. */
  public static Map<String, String> list() {
    Map<String, String> list = new LinkedHashMap<>();
    for (ExitCode each : values()) {
      list.put(" " + each.code, each.meaning);
    }
    return list;
  }
}
