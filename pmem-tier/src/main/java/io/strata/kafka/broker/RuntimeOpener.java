package io.strata.kafka.broker;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.strata.kafka.config.BrokerProperties;
import io.strata.kafka.config.CommandLineArguments;
import io.strata.kafka.tier.directory.SegmentFiles;
import io.strata.kafka.tier.offline.ReadOnlyTier;
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
import org.jspecify.annotations.Nullable;

/**
 * Opens what this JVM needs, once: a broker its tier, a tool a view of what is there. A node that
 * is only a controller needs nothing.
 *
 * <p>Thread safety: the opening is done by one thread, under this object's monitor; the others wait
 * for its end.
 */
final class RuntimeOpener {

  /**
   * The role, where the JVM's command line does not say it: {@code broker} or {@code tool}. One of
   * Kafka's own tools, which shares the broker's {@code KAFKA_OPTS}, stays a tool.
   */
  static final String ROLE_PROPERTY = "strata.role";

  private static final SegmentFiles PASS_THROUGH = new PassThrough();

  private volatile @Nullable SegmentFiles opened;

  @GuardedBy("this")
  private @Nullable BrokerTier broker;

  @GuardedBy("this")
  private @Nullable IOException refusal;

  @GuardedBy("this")
  private boolean opening;

  SegmentFiles segmentFiles() throws IOException {
    SegmentFiles files = opened;
    return files == null ? open() : files;
  }

  synchronized Optional<BrokerTier> broker() {
    return Optional.ofNullable(broker);
  }

  private synchronized SegmentFiles open() throws IOException {
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

  @GuardedBy("this")
  private IOException refused(Throwable reason, IOException forOthers) {
    refusal = forOthers;
    if (endsWithARefusal()) {
      StartRefusal.end(reason);
    }
    return forOthers;
  }

  /** Returns whether this JVM is a broker, by its command line or by the role that it was given. */
  static boolean endsWithARefusal() {
    CommandLineArguments commandLine = CommandLineArguments.ofThisJvm();
    return commandLine.isBroker()
        || ("broker".equals(System.getProperty(ROLE_PROPERTY)) && !commandLine.isKafkaTool());
  }

  @GuardedBy("this")
  private SegmentFiles openForRole() throws IOException {
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
