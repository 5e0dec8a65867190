package io.strata.kafka.migration.remote;

import io.strata.kafka.migration.remote.RemoteMeters.FetchStream;
import io.strata.kafka.migration.remote.RemoteStats.Operation;
import io.strata.kafka.migration.remote.StoreReads.SegmentMissingException;
import io.strata.kafka.migration.remote.store.SegmentStore;
import io.strata.kafka.migration.remote.store.disk.Deadlines;
import io.strata.kafka.migration.remote.store.disk.Deadlines.TimeLimitException;
import io.strata.kafka.migration.remote.store.disk.DirectoryAccess;
import io.strata.kafka.migration.remote.store.disk.StoreOptions;
import io.strata.kafka.migration.remote.store.layout.SegmentInfo;
import io.strata.kafka.migration.remote.store.layout.SegmentKey;
import io.strata.kafka.migration.remote.store.layout.StoreIdentity;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.NoSuchFileException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.function.LongConsumer;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.server.log.remote.storage.LogSegmentData;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata.CustomMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteStorageException;
import org.apache.kafka.server.log.remote.storage.RemoteStorageManager;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Kafka's remote tier (KIP-405) over directories on SSD and HDD: set {@code
 * remote.log.storage.manager.class.name} to this class's name, with Strata's jar on the broker's
 * class path and on no other.
 *
 * <p>When {@link #copyLogSegmentData} returns, the copy is durable, and every broker that uses the
 * same store can read it. Every operation ends in its time ({@code rsm.config.*.timeout.ms}). An
 * interrupt ends an operation too; the thread stays interrupted.
 *
 * <p>Thread safety: all methods but {@link #configure} and {@link #close} may be called by any
 * number of threads.
 */
public final class StrataRemoteStorageManager implements RemoteStorageManager {

  private static final Logger LOG = LoggerFactory.getLogger(StrataRemoteStorageManager.class);

  /** A store that does not answer when the broker starts: it is refused, or found later. */
  private static final Duration OPENING = Duration.ofMinutes(2);

  /** Longer than a disk that is only busy takes. */
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private final @Nullable RemoteEnvironment given;
  private volatile @Nullable RemoteTier tier;

  /** For Kafka, by reflection. */
  public StrataRemoteStorageManager() {
    this(null);
  }

  /** With an environment of its own: for tests. */
  StrataRemoteStorageManager(@Nullable RemoteEnvironment environment) {
    this.given = environment;
  }

  /**
   * Opens the store.
   *
   * <p>A broker that must not start ends here, with the reason as the last thing on its log: the
   * configuration cannot be used, or a directory is not what it should be.
   *
   * @throws ConfigException in any other JVM, for the same reasons; the message says what was
   *     found, what is expected, and what to do
   */
  @Override
  public void configure(Map<String, ?> configs) {
    RemoteEnvironment environment = environment();
    try {
      RemoteTier opened = open(configs, environment);
      tier = opened;
      environment.onChange(opened::reconfigure);
      environment.publish(opened::stats);
    } catch (IllegalArgumentException | ConfigException e) {
      close();
      ConfigException refused = e instanceof ConfigException known ? known : refused(e);
      environment.refuseStart(refused);
      throw refused;
    } catch (Throwable e) { // Unforeseen, or an Error: it ends like a refusal.
      environment.refuseStart(e);
      close();
      throw e;
    }
  }

  private static RemoteTier open(Map<String, ?> configs, RemoteEnvironment environment) {
    RemoteSettings settings = environment.settings(configs);
    String clusterId =
        environment
            .clusterId()
            .orElseThrow(
                () ->
                    new IllegalArgumentException(
                        "found no cluster id in the log directories' meta.properties, expected one:"
                            + " the store is one cluster's. Format the log directories with"
                            + " kafka-storage.sh; if the broker is embedded in another program,"
                            + " name them in rsm.config.log.dirs"));
    Optional<ColdManager> cold =
        settings
            .cold()
            .map(c -> ColdManager.create(c, settings.live(), environment.engine().threads()));
    try {
      SegmentStore store = open(settings, environment, clusterId, cold);
      RemoteTier opened = new RemoteTier(settings, environment, store, cold);
      LOG.info(
          "Strata's remote tier: broker {} uses {}{}",
          settings.brokerId(),
          opened.describeStore(),
          settings.cold().map(c -> ", and below it " + c.className()).orElse(""));
      return opened;
    } catch (RuntimeException | Error e) {
      cold.ifPresent(ColdManager::closeOrWarn);
      throw e;
    }
  }

  private RemoteEnvironment environment() {
    if (given != null) {
      return given;
    }
    try {
      return ServiceLoader.load(RemoteEnvironment.class, getClass().getClassLoader())
          .findFirst()
          .orElseThrow(
              () ->
                  new ConfigException(
                      """
                      Strata's remote tier: found no %s beside %s, expected the one of Strata's \
                      jar: put the whole jar on the broker's class path\
                      """
                          .formatted(RemoteEnvironment.class.getName(), getClass().getName())));
    } catch (ServiceConfigurationError e) {
      throw new ConfigException("Strata's remote tier cannot be started: " + e.getMessage());
    }
  }

  private static ConfigException refused(Exception e) {
    return new ConfigException("Strata's remote tier: " + e.getMessage());
  }

  private static SegmentStore open(
      RemoteSettings settings,
      RemoteEnvironment environment,
      String clusterId,
      Optional<ColdManager> cold) {
    try (Deadlines opening =
        new Deadlines("strata-remote-open", 1, environment.engine().threads())) {
      StoreOptions options =
          new StoreOptions(
              settings.levels(),
              settings.brokerId(),
              clusterId,
              environment.logDirectories(),
              environment.engine().clock(),
              environment.stages(),
              StoreIdentity::read,
              new DirectoryAccess.Threads(
                  Optional.of(environment.engine().threads()),
                  PATIENCE,
                  environment.engine().nanoTime()));
      return opening.call(
          "opening the remote store",
          OPENING,
          control -> new SegmentStore(options, cold.map(c -> c)));
    } catch (TimeLimitException e) {
      throw new ConfigException(
          """
          Strata's remote tier: its directories did not answer within %d s: look at the file system \
          and its mount\
          """
              .formatted(OPENING.toSeconds()));
    } catch (IOException e) {
      throw refused(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw refused(e);
    }
  }

  @Override
  public Optional<CustomMetadata> copyLogSegmentData(
      RemoteLogSegmentMetadata metadata, LogSegmentData data) throws RemoteStorageException {
    String what = KafkaSegments.describe(metadata);
    return run(
        Operation.COPY,
        "Copying " + what,
        (now, run) -> {
          SegmentInfo segment = KafkaSegments.info(metadata);
          now.copy(what, segment, KafkaSegments.source(data));
          run.latency();
          run.done(segment.bytes());
          return Optional.empty();
        });
  }

  @Override
  public InputStream fetchLogSegment(RemoteLogSegmentMetadata metadata, int startPosition)
      throws RemoteStorageException {
    return fetchLogSegment(metadata, startPosition, Integer.MAX_VALUE);
  }

  @Override
  public InputStream fetchLogSegment(
      RemoteLogSegmentMetadata metadata, int startPosition, int endPosition)
      throws RemoteStorageException {
    String what = KafkaSegments.describe(metadata);
    return run(
        Operation.FETCH,
        "Fetching " + what + " from byte " + startPosition,
        (now, run) -> {
          SegmentKey key = KafkaSegments.key(metadata);
          try {
            InputStream range = now.open(what, key, startPosition, endPosition);
            LongConsumer read = bytes -> now.read(key, bytes);
            return new FetchStream(range, run, read, now.outages());
          } catch (SegmentMissingException e) {
            throw missing(metadata, e);
          }
        },
        true);
  }

  /** A replica's fetcher asks for the others, and must not wait: it fetches for many partitions. */
  private static boolean isForConsumers(IndexType type) {
    return type == IndexType.OFFSET || type == IndexType.TIMESTAMP || type == IndexType.TRANSACTION;
  }

  @Override
  public InputStream fetchIndex(RemoteLogSegmentMetadata metadata, IndexType indexType)
      throws RemoteStorageException {
    String what = KafkaSegments.describe(metadata);
    return run(
        Operation.INDEX,
        "Fetching the " + indexType + " index of " + what,
        (now, run) -> {
          try {
            byte[] index =
                now.index(what, KafkaSegments.key(metadata), KafkaSegments.type(indexType));
            run.latency();
            run.done(index.length);
            return new ByteArrayInputStream(index);
          } catch (SegmentMissingException | NoSuchFileException e) {
            IOException missing =
                e instanceof SegmentMissingException segment ? missing(metadata, segment) : e;
            if (indexType == IndexType.TRANSACTION) {
              // "Not found" would mean to Kafka that nothing in the segment was aborted.
              throw new IOException(RemoteFailures.describe(missing), missing);
            }
            throw missing;
          }
        },
        isForConsumers(indexType));
  }

  @Override
  public void deleteLogSegmentData(RemoteLogSegmentMetadata metadata)
      throws RemoteStorageException {
    String what = KafkaSegments.describe(metadata);
    Long unused =
        run(
            Operation.DELETE,
            "Deleting " + what,
            (now, run) -> {
              long bytes = now.delete(what, KafkaSegments.info(metadata));
              run.latency();
              run.done(bytes);
              return bytes;
            });
  }

  /** Returns why a segment is not there, as far as that can be known. */
  private static SegmentMissingException missing(
      RemoteLogSegmentMetadata metadata, SegmentMissingException e) {
    return new SegmentMissingException(
        """
        %s. Broker %d wrote it; the brokers of a cluster must share one store: if other segments \
        are missing too, look whether all see the same directories\
        """
            .formatted(e.getMessage(), metadata.brokerId()));
  }

  /** An operation's work; it ends its run by {@code done}, or throws. */
  @FunctionalInterface
  private interface Work<T> {
    T run(RemoteTier now, RemoteMeters.Run run) throws IOException, InterruptedException;
  }

  private <T> T run(Operation operation, String what, Work<T> work) throws RemoteStorageException {
    return run(operation, what, work, false);
  }

  /** Runs an operation; {@code isRead} if a consumer repeats it at once when it fails. */
  private <T> T run(Operation operation, String what, Work<T> work, boolean isRead)
      throws RemoteStorageException {
    RemoteTier now = tier;
    if (now == null) {
      throw new RemoteStorageException(
          "Strata's remote tier is not open: it was not configured yet, or is closed");
    }
    RemoteMeters.Run run = now.begin(operation, what);
    try {
      return isRead
          ? now.outages()
              .read(run::tookNanos, operation == Operation.INDEX, () -> work.run(now, run))
          : work.run(now, run);
    } catch (Throwable e) { // An Error too: Kafka neither logs nor counts it.
      if (e instanceof InterruptedException) {
        Thread.currentThread().interrupt();
      }
      throw isRead ? run.readFailed(e) : run.failed(e);
    }
  }

  /** Logs a failure that Kafka does not log, with where it came from if it is a fault. */
  static void log(String message, Optional<Throwable> fault) {
    fault.ifPresentOrElse(failure -> LOG.error(message, failure), () -> LOG.warn(message));
  }

  @Override
  public void close() {
    RemoteTier now = tier;
    tier = null;
    if (now != null) {
      now.close();
    }
  }
}
