package io.strata.kafka.broker;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.strata.kafka.config.BrokerProperties;
import io.strata.kafka.config.CommandLineArguments;
import io.strata.kafka.metrics.StrataMetrics;
import io.strata.kafka.metrics.TierLog;
import io.strata.kafka.tier.directory.SegmentFiles;
import io.strata.kafka.tier.offline.ReadOnlyTier;
import java.io.IOException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The process-wide handle on the hot tier. Opens what this JVM needs, once: a broker its tier, a
 * tool a view of what is there. A node that is only a controller needs nothing.
 *
 * <p>Thread safety: all methods may be called by any thread. One thread opens, under the class's
 * monitor; the others wait for its end.
 */
public final class StrataRuntime {

  /**
   * The role, where the JVM's command line does not say it: {@code broker} or {@code tool}. One of
   * Kafka's own tools, which shares the broker's {@code KAFKA_OPTS}, stays a tool.
   */
  static final String ROLE_PROPERTY = "strata.role";

  private static final SegmentFiles PASS_THROUGH = new SegmentFiles() {};

  private static volatile @Nullable SegmentFiles opened;

  @GuardedBy("StrataRuntime.class")
  private static @Nullable BrokerTier broker;

  @GuardedBy("StrataRuntime.class")
  private static @Nullable IOException refusal;

  @GuardedBy("StrataRuntime.class")
  private static boolean opening;

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
    SegmentFiles files = opened;
    return files == null ? open() : files;
  }

  /** The tier of a broker, opened if it was not; empty in a tool and in a controller alone. */
  public static synchronized Optional<BrokerTier> broker() throws IOException {
    open();
    return Optional.ofNullable(broker);
  }

  private static synchronized SegmentFiles open() throws IOException {
    SegmentFiles files = opened;
    if (files != null) {
      return files;
    }
    if (opening) {
      // This thread is in the opening below: monitors are re-entrant, so it is no other.
      return PASS_THROUGH;
    }
    if (refusal != null) {
      throw new IOException(refusal.getMessage(), refusal);
    }
    opening = true;
    try {
      files = openForRole();
      opened = files;
      return files;
    } catch (IOException e) {
      throw refused(e, e);
    } catch (Throwable e) { // An Error too: Kafka's shutdown would write empty checkpoints.
      throw refused(e, new IOException("Strata could not be started: " + e, e));
    } finally {
      opening = false;
    }
  }

  @GuardedBy("StrataRuntime.class")
  @SuppressWarnings("StaticAssignmentOfThrowable") // the cause of each later one
  private static IOException refused(Throwable reason, IOException forOthers) {
    refusal = forOthers;
    refuseStart(reason);
    return forOthers;
  }

  /** Returns whether this JVM is a broker, by its command line or by the role that it was given. */
  private static boolean endsWithARefusal() {
    CommandLineArguments commandLine = CommandLineArguments.ofThisJvm();
    return commandLine.isBroker()
        || ("broker".equals(System.getProperty(ROLE_PROPERTY)) && !commandLine.isKafkaTool());
  }

  @GuardedBy("StrataRuntime.class")
  private static SegmentFiles openForRole() throws IOException {
    CommandLineArguments commandLine = CommandLineArguments.ofThisJvm();
    if (!isBroker(commandLine, Optional.ofNullable(System.getProperty(ROLE_PROPERTY)))) {
      return new ReadOnlyTier();
    }
    BrokerProperties properties = BrokerTier.propertiesOf(commandLine);
    if (properties.isControllerAlone()) {
      return PASS_THROUGH;
    }
    BrokerTier tier = BrokerTier.open(properties);
    broker = tier;
    return tier.tier();
  }

  /**
   * The role of this JVM.
   *
   * @param given the value of the system property
   * @throws IOException if that is neither of the two
   */
  static boolean isBroker(CommandLineArguments commandLine, Optional<String> given)
      throws IOException {
    String role = given.orElse(commandLine.isBroker() ? "broker" : "tool");
    return switch (role) {
      case "broker" -> !commandLine.isKafkaTool();
      case "tool" -> false;
      default ->
          throw new IOException(
              """
              system property %s: found '%s', expected broker or tool; leave it unset, unless a \
              broker is started by a program of your own\
              """
                  .formatted(ROLE_PROPERTY, role));
    };
  }

  /** Ends the JVM of a broker that must not start, and logs why last; returns in another JVM. */
  public static void refuseStart(Throwable reason) {
    if (endsWithARefusal()) {
      StartRefusal.end(reason);
    }
  }

  /** Returns where changes of a live broker's configuration reach the remote tier. */
  public static RemoteChanges remoteChanges() {
    return Changes.REMOTE;
  }

  static StrataMetrics metrics() {
    return Published.METRICS;
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
