package io.strata.kafka.migration.remote;

import io.strata.kafka.migration.plan.MigrationSettings;
import io.strata.kafka.migration.remote.ColdManager.ColdFailure;
import io.strata.kafka.migration.remote.RemoteStats.Cause;
import io.strata.kafka.migration.remote.RemoteStats.Operation;
import io.strata.kafka.migration.remote.StoreReads.SegmentMissingException;
import io.strata.kafka.migration.remote.store.CopyPlacement.StoreFullException;
import io.strata.kafka.migration.remote.store.disk.Deadlines.TimeLimitException;
import io.strata.kafka.migration.remote.store.disk.DirectoryAccess.StoreUnavailableException;
import io.strata.kafka.migration.remote.store.disk.StoreOptions;
import io.strata.kafka.migration.remote.store.disk.StoreOptions.StoreStage;
import io.strata.kafka.migration.remote.store.layout.ChunkChecksums.CorruptChunkException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.server.log.remote.storage.LogSegmentData;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentId;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteResourceNotFoundException;
import org.apache.kafka.server.log.remote.storage.RemoteStorageException;
import org.apache.kafka.server.log.remote.storage.RemoteStorageManager;
import org.apache.kafka.server.log.remote.storage.RemoteStorageManager.IndexType;

/**
 * Fails in every way in which the manager can: {@link OlderKafkaTest} loads it where classes of
 * newer Kafkas are missing. Its answers are of the JDK and of Kafka alone, for the loaders differ.
 */
public final class ErrorPaths {

  private static final int BYTES = 70_000;

  private final Path top;
  private final Map<String, Throwable> failures = new LinkedHashMap<>();
  private volatile StoreStage.Hook stages = StoreStage.Hook.NONE;
  private Optional<FixedEnvironment> environment = Optional.empty();

  private ErrorPaths(Path top) {
    this.top = top;
  }

  /** How each failed, by what was done. */
  public static Map<String, Throwable> run(Path folder) throws Exception {
    ErrorPaths paths = new ErrorPaths(folder);
    paths.translations();
    paths.operations();
    return paths.failures;
  }

  private void translations() {
    Map<String, Throwable> causes = new LinkedHashMap<>();
    causes.put("full", new StoreFullException("full"));
    causes.put("timeout", new TimeLimitException("late"));
    causes.put("unavailable", new StoreUnavailableException("away"));
    causes.put("cold, retriable", new ColdFailure("cold", new IOException("cold"), true));
    causes.put("cold", new ColdFailure("cold", new IOException("cold"), false));
    causes.put("interrupted", new InterruptedException());
    causes.put("io", new IOException("io"));
    causes.put("io of a file", new FileSystemException("/f", null, "Input/output error"));
    causes.put("corrupt", new CorruptChunkException("damaged"));
    causes.put("missing", new SegmentMissingException("missing"));
    causes.put("missing file", new NoSuchFileException("/f"));
    causes.put("a fault", new IllegalStateException("fault"));
    causes.put("an error", new NoClassDefFoundError("some/Type"));
    causes.put("cold: missing", cold(new RemoteResourceNotFoundException("missing")));
    causes.put("cold: failed", cold(new RemoteStorageException("failed")));
    causes.put("cold: io", cold(new IOException("io")));
    causes.put("cold: retriable error of Kafka", cold(new TimeoutException("late")));
    causes.put("cold: fault", cold(new IllegalStateException("fault")));
    causes.put("cold: error", cold(new NoClassDefFoundError("some/Type")));
    causes.forEach(
        (name, cause) ->
            failures.put(
                name, RemoteFailures.translate("Trying", cause, RemoteFailures.cause(cause))));
  }

  private static ColdFailure cold(Throwable thrown) {
    return ColdFailure.of("cold", thrown);
  }

  private void operations() throws Exception {
    Path store = Files.createDirectories(top.resolve("store"));
    environment =
        Optional.of(new FixedEnvironment(settings(store), stage -> stages.reached(stage)));
    try (RemoteStorageManager manager = new StrataRemoteStorageManager(environment.get())) {
      manager.configure(Map.of());
      RemoteLogSegmentMetadata whole = metadata();
      var unused = manager.copyLogSegmentData(whole, data());
      failed("fetch of none", () -> manager.fetchLogSegment(metadata(), 0));
      failed("index of none", () -> manager.fetchIndex(metadata(), IndexType.OFFSET));
      failed("start beyond the end", () -> manager.fetchLogSegment(whole, BYTES + 1));
      Thread.currentThread().interrupt();
      failed("interrupted fetch", () -> manager.fetchLogSegment(whole, 0));
      boolean interrupted = Thread.interrupted();
      stages = thrown(new NoClassDefFoundError("some/Type"));
      failed("error in a copy", () -> manager.copyLogSegmentData(metadata(), data()));
      failed("error in a deletion", () -> deleted(manager, whole));
      stages = thrown(new StackOverflowError("too deep"));
      failed("error of the JVM in a copy", () -> manager.copyLogSegmentData(metadata(), data()));
      stages = thrown(new IllegalStateException("fault"));
      failed("fault in a copy", () -> manager.copyLogSegmentData(metadata(), data()));
      stages = StoreStage.Hook.NONE;
      if (!interrupted) {
        throw new AssertionError("the interrupt was lost");
      }
      try (InputStream in = manager.fetchLogSegment(whole, 0)) {
        if (in.readAllBytes().length != BYTES) {
          throw new AssertionError("the segment is not whole");
        }
      }
      counted(Operation.FETCH, Cause.NOT_FOUND, 1);
      counted(Operation.FETCH, Cause.CANCELLED, 1);
      counted(Operation.FETCH, Cause.FAULT, 1);
      counted(Operation.COPY, Cause.FAULT, 3);
      counted(Operation.DELETE, Cause.FAULT, 1);
    }
  }

  private static boolean deleted(RemoteStorageManager manager, RemoteLogSegmentMetadata segment)
      throws Exception {
    manager.deleteLogSegmentData(segment);
    return true;
  }

  private void failed(String what, Callable<?> operation) {
    try {
      Object unused = operation.call();
      throw new AssertionError(what + " did not fail");
    } catch (Exception | LinkageError | VirtualMachineError e) {
      failures.put(what, e);
    }
  }

  private void counted(Operation operation, Cause cause, long expected) {
    RemoteStats.OperationMeter figures =
        environment.orElseThrow().stats().operations().get(operation);
    long found = figures == null ? -1 : figures.failures().getOrDefault(cause, 0L);
    if (found != expected) {
      throw new AssertionError(operation + ", " + cause + ": " + found + ", not " + expected);
    }
  }

  private static StoreStage.Hook thrown(Throwable failure) {
    return stage -> {
      if (stage == StoreStage.COPY_MANIFEST_WRITTEN || stage == StoreStage.DELETE_STARTED) {
        if (failure instanceof Error error) {
          throw error;
        }
        throw (RuntimeException) failure;
      }
    };
  }

  private static RemoteSettings settings(Path store) {
    return new RemoteSettings(
        1,
        List.of(
            new StoreOptions.LevelOptions(
                "ssd", List.of(new StoreOptions.Directory(store, OptionalLong.of(1 << 26))))),
        Optional.empty(),
        1 << 16,
        new RemoteSettings.Live(
            Duration.ofSeconds(30),
            Duration.ofSeconds(30),
            Duration.ofSeconds(30),
            Duration.ofHours(1),
            Duration.ZERO,
            Duration.ofHours(1),
            new MigrationSettings(
                MigrationSettings.Mode.EAGER,
                List.of(),
                0.05,
                true,
                1,
                0,
                0,
                Duration.ofHours(1),
                "newest",
                Map.of(),
                List.of())));
  }

  private static RemoteLogSegmentMetadata metadata() {
    return new RemoteLogSegmentMetadata(
        new RemoteLogSegmentId(
            new TopicIdPartition(new Uuid(1, 2), new TopicPartition("orders", 3)),
            Uuid.randomUuid()),
        0,
        99,
        1_700_000_000_000L,
        1,
        1_700_000_000_000L,
        BYTES,
        Map.of(0, 0L));
  }

  private LogSegmentData data() throws IOException {
    Path local = Files.createDirectories(top.resolve("local"));
    String base = String.format(Locale.ROOT, "%020d", 0);
    return new LogSegmentData(
        Files.write(local.resolve(base + ".log"), new byte[BYTES]),
        Files.write(local.resolve(base + ".index"), new byte[80]),
        Files.write(local.resolve(base + ".timeindex"), new byte[120]),
        Optional.empty(),
        Files.write(local.resolve(base + ".snapshot"), new byte[50]),
        ByteBuffer.wrap("0\n1\n0 0\n".getBytes(StandardCharsets.UTF_8)));
  }
}
