package io.strata.kafka.tier.directory;

import io.strata.kafka.tier.spec.FailureText;
import java.io.IOException;
import java.nio.file.Path;

/**
 * Says that a log directory cannot be used: something in it that recovery had to read or to change
 * failed. The others can.
 */
public final class LogDirectoryFailure extends IOException {

  private static final long serialVersionUID = 1;

  private final transient LogDirectory directory;

  public LogDirectoryFailure(LogDirectory directory, Path file, IOException cause) {
    super(text(file, FailureText.of(cause)), cause);
    this.directory = directory;
  }

  /** Names the file once. */
  private static String text(Path file, String cause) {
    return cause.startsWith(file.toString())
        ? "recovery failed at " + cause
        : "recovery failed at " + file + ": " + cause;
  }

  public LogDirectory directory() {
    return directory;
  }
}
