package io.strata.kafka.cli;

import io.strata.kafka.tier.RecoveryReport;
import io.strata.kafka.tier.TierEvents;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;

/**
 * Says on standard error what opening the tier had to fix.
 *
 * <p>Thread safety: as {@link PrintWriter}; each note is one line.
 */
final class TierNotes implements TierEvents {
  private final PrintWriter err;

  TierNotes(PrintWriter err) {
    this.err = err;
  }

  @Override
  public void logDirectorySkipped(Path directory, String reason) {
    err.println("strata: log directory " + directory + " was skipped: " + reason);
  }

  @Override
  public void recovered(RecoveryReport report) {
    note("restored a log file that a power failure had lost", report.restored());
    note("freed the slot of a log file that was removed", report.freed());
  }

  @Override
  public void backgroundFailure(String what, Exception cause) {
    err.println("strata: could not " + what + ": " + cause.getMessage());
  }

  private void note(String what, List<String> items) {
    items.forEach(item -> err.println("strata: " + what + ": " + item));
  }
}
