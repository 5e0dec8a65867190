package io.strata.kafka.broker;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.strata.kafka.config.BrokerProperties;
import io.strata.kafka.config.CommandLineArguments;
import io.strata.kafka.metrics.RemoteLog;
import io.strata.kafka.metrics.StrataMetrics;
import io.strata.kafka.migration.remote.RemoteStats;
import io.strata.kafka.tier.ReadOnlyTier;
import io.strata.kafka.tier.SegmentFiles;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.CopyOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileTime;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The process-wide handle. Opens what this JVM needs, once: a broker its tier, a tool a view of
 * what is there. A node that is only a controller needs nothing.
 *
 * <p>Thread safety: all methods may be called by any thread. The opening is done by one thread,
 * under this class's monitor; the others wait for its end.
 */
public final class StrataRuntime {

  /**
   * The role, where the JVM's command line does not tell it: {@code broker} or {@code tool}. One of
   * Kafka's own tools, which shares the broker's {@code KAFKA_OPTS}, stays a tool.
   */
  private static final String ROLE_PROPERTY = "strata.role";

  private static final SegmentFiles PASS_THROUGH = new PassThrough();

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

  /**
   * The tier of a broker with its configuration, opened if it was not; empty in a tool's JVM and in
   * that of a controller alone.
   *
   * @throws IOException as {@link #segmentFiles()}
   */
  public static Optional<BrokerTier> broker() throws IOException {
    var unused = segmentFiles();
    synchronized (StrataRuntime.class) {
      return Optional.ofNullable(broker);
    }
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
      throw refused(e);
    } catch (RuntimeException | LinkageError e) {
      throw refused(new IOException("Strata could not be started: " + e, e));
    } finally {
      opening = false;
    }
  }

  @GuardedBy("StrataRuntime.class")
  private static IOException refused(IOException reason) {
    refusal = reason;
    refuseStart(reason);
    return reason;
  }

  /**
   * Ends the JVM of a broker that must not start, with the reason as the last thing on its log.
   * Returns in any JVM that is no broker, by its command line or by the role that it was given.
   */
  public static void refuseStart(Exception reason) {
    CommandLineArguments commandLine = CommandLineArguments.ofThisJvm();
    if (commandLine.isBroker()
        || ("broker".equals(System.getProperty(ROLE_PROPERTY)) && !commandLine.isKafkaTool())) {
      StartRefusal.end(reason);
    }
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
   * The role of a JVM.
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

  /** Where changes of a live broker's configuration reach the remote tier. */
  public static RemoteChanges remoteChanges() {
    return Remote.CHANGES;
  }

  /** The metrics and the status that this process publishes. */
  static StrataMetrics metrics() {
    return Published.METRICS;
  }

  /** Publishes the remote tier's metrics and status, in the place of what was published before. */
  static void publishRemote(Supplier<RemoteStats> stats) {
    RemoteChanges changes = remoteChanges();
    String node = changes.brokerId().stream().mapToObj(String::valueOf).findAny().orElse("");
    metrics().remote(node, stats, changes::settings);
  }

  /** Made when it is first needed: it logs, which must not begin while the JVM boots. */
  private static final class Remote {
    static final RemoteChanges CHANGES = new RemoteChanges(new RemoteLog());
  }

  /** Made when it is first needed, for the same reason. */
  private static final class Published {
    static final StrataMetrics METRICS = new StrataMetrics();
  }

  /** Declines every file: what a process without a tier uses. */
  private static final class PassThrough implements SegmentFiles {
    @Override
    public Optional<FileChannel> open(
        Path file, Set<? extends OpenOption> options, FileAttribute<?>... attributes) {
      return Optional.empty();
    }

    @Override
    public OptionalLong size(Path file) {
      return OptionalLong.empty();
    }

    @Override
    public Optional<FileTime> lastModified(Path file) {
      return Optional.empty();
    }

    @Override
    public boolean delete(Path file) {
      return false;
    }

    @Override
    public boolean move(Path source, Path target, CopyOption... options) {
      return false;
    }
  }
}
