package io.strata.kafka.broker;

import io.strata.kafka.config.key.ConfigRefusedException;
import io.strata.kafka.pool.words.PoolException;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.kafka.common.config.ConfigException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends the JVM of a broker that must not start, with the reason as the last thing on its log.
 *
 * <p>An exception instead would go through Kafka: it logs stack traces after the reason, and where
 * its log manager exists, its shutdown writes empty checkpoints over those of the log directories.
 *
 * <p>The reasons, by who finds them:
 *
 * <ul>
 *   <li>{@code StrataRuntime}, when the tier cannot be opened: by the role of this JVM; by {@code
 *       BrokerTier}, {@code BrokerProperties} and {@code BrokerMigration} (file, keys, policies);
 *       then in the order of {@code HotTier.start} {@code PoolType}, {@code KafkaLocks}, {@code
 *       MissingPools}, {@code Moments}, {@code PoolSet} with {@code PoolException.Kind}, {@code
 *       LogDirectories}, and {@code Recovery} with {@code RecoveryRule} and {@code ForeignRecords};
 *   <li>{@code StrataReporter}, when the provider is missing or another class loader's, when this
 *       JVM was taken for a tool, or when Kafka reads another configuration;
 *   <li>{@code StrataRemoteStorageManager}: {@code RemoteConfig}, {@code ClassCopies}, {@code
 *       ColdLoading} and {@code ColdManager}, {@code StoreOpener}, and policies.
 * </ul>
 *
 * <p>{@code docs/operations.md}, "When the broker does not start", lists all of them, and {@code
 * RefusalListTest} holds it to the code. {@code HotTier.refusal} tries those of the pools and log
 * directories, and changes nothing.
 */
final class StartRefusal {

  /** As Kafka exits when it cannot start. */
  private static final int EXIT_CODE = 1;

  private StartRefusal() {}

  /** Logs the reason and halts the JVM: neither Kafka's shutdown nor any other hook runs. */
  static void end(Throwable reason) {
    end(
        reason,
        () -> LoggerFactory.getLogger("io.strata"),
        () -> Runtime.getRuntime().halt(EXIT_CODE));
  }

  /** Halts also where the reason cannot be logged: an appender may fail, on a full disk, say. */
  static void end(Throwable reason, Supplier<Logger> logger, Runnable halt) {
    try {
      log(reason, logger.get());
    } finally {
      halt.run();
    }
  }

  private static void log(Throwable reason, Logger log) {
    if (speaksForItself(reason)) {
      log.debug("Where the start was refused", reason);
    } else {
      log.error("Stack trace of the failure that the next message names", reason);
    }
    log.error("Strata refuses to start this broker: {}", messageOf(reason));
  }

  /** Returns whether the message is for an operator; the JDK's names a file at most. */
  private static boolean speaksForItself(Throwable reason) {
    if (reason instanceof FileSystemException file) {
      return file.getReason() != null;
    }
    return reason instanceof PoolException
        || reason instanceof ConfigException
        || (reason.getClass() == IOException.class
            && (reason.getCause() == null || reason.getCause() instanceof ConfigRefusedException));
  }

  private static String messageOf(Throwable reason) {
    if (speaksForItself(reason)) {
      return Optional.ofNullable(reason.getMessage()).orElse("no reason given");
    }
    return reason instanceof IOException
        ? reason.toString()
        : """
        found a failure that it does not foresee (%s); pools and log directories are as they were: \
        start with the jar and the release of Kafka that worked before, and report the stack trace \
        above\
        """
            .formatted(reason);
  }
}
