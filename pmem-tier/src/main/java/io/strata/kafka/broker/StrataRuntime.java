package io.strata.kafka.broker;

import io.strata.kafka.metrics.StrataMetrics;
import io.strata.kafka.metrics.TierLog;
import io.strata.kafka.migration.remote.RemoteStats;
import io.strata.kafka.tier.directory.SegmentFiles;
import java.io.IOException;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The process-wide handle on the hot tier.
 *
 * <p>Thread safety: all methods may be called by any thread.
 */
public final class StrataRuntime {

  private static final RuntimeOpener OPENER = new RuntimeOpener();

  private StrataRuntime() {}

  /**
   * The segments of this process. The first call finds the configuration and opens the tier; it is
   * made by the file system provider on the first file that may be a segment, from any thread, or
   * by the metrics reporter.
   *
   * <p>Files that are opened through {@link java.nio.file.Files} while the tier is being opened
   * come back to this method when their names may be segments': a call from within the opening is
   * answered with segment files that decline everything.
   *
   * <p>A broker whose tier cannot be opened ends here, with the reason as the last thing on its
   * log.
   *
   * @throws IOException in any other JVM, if the tier cannot be opened; the message says why and
   *     what to do. Every later call throws the same.
   */
  public static SegmentFiles segmentFiles() throws IOException {
    return OPENER.segmentFiles();
  }

  /** The tier of a broker, opened if it was not; empty in a tool and in a controller alone. */
  public static Optional<BrokerTier> broker() throws IOException {
    OPENER.segmentFiles();
    return OPENER.broker();
  }

  /** Ends the JVM of a broker that must not start, and logs why last; returns in another JVM. */
  public static void refuseStart(Throwable reason) {
    if (RuntimeOpener.endsWithARefusal()) {
      StartRefusal.end(reason);
    }
  }

  /** Writes into the broker's log what keeps a part of Strata from its work, and ends nothing. */
  public static void warn(String what, Throwable reason) {
    new TierLog().failed(what, reason);
  }

  /** Returns where changes of a live broker's configuration reach the remote tier. */
  public static RemoteChanges remoteChanges() {
    return Changes.REMOTE;
  }

  static StrataMetrics metrics() {
    return Published.METRICS;
  }

  /** Publishes the remote tier's metrics and status, in the place of what was published before. */
  static void publishRemote(Supplier<RemoteStats> stats) {
    RemoteChanges changes = remoteChanges();
    String broker = changes.brokerId().stream().mapToObj(String::valueOf).findAny().orElse("");
    metrics().remote(broker, stats, changes::settings);
  }

  static StoredValues storedValues() {
    return Changes.STORED;
  }

  /** Made when they are first needed: they log, which must not begin while the JVM boots. */
  private static final class Changes {
    static final StoredValues STORED = new StoredValues(new TierLog()::warning);
    static final RemoteChanges REMOTE =
        new RemoteChanges(wrong -> STORED.wrong(StoredValues.Part.REMOTE, wrong));
  }

  /** Made when it is first needed, for the same reason. */
  private static final class Published {
    static final StrataMetrics METRICS = new StrataMetrics(() -> storedValues().reasons());
  }
}
