package io.strata.kafka.it.mirror;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.server.log.remote.storage.LogSegmentData;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata.CustomMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteStorageException;
import org.apache.kafka.server.log.remote.storage.RemoteStorageManager;
import org.apache.kafka.server.log.remote.storage.RemoteStorageManager.IndexType;
import org.jspecify.annotations.Nullable;

/**
 * Does with a second manager what Kafka's {@code LocalTieredStorage} has just done, and gives the
 * reader what the second manager gives, compared byte by byte with what Kafka's has. A difference
 * is an error for the reader, and is in the report.
 *
 * <p>The system property {@code strata.it.mirror.manager} names the second manager, {@code
 * strata.it.mirror.directory} the folder of its stores, {@code strata.it.mirror.report} the file of
 * the report.
 *
 * <p>Thread safety: all methods may be called by any thread.
 */
public final class Mirror {

  private static final Map<RemoteStorageManager, RemoteStorageManager> MIRRORS =
      new ConcurrentHashMap<>();
  private static final Queue<String> DIFFERENCES = new ConcurrentLinkedQueue<>();
  private static final AtomicLong COPIES = new AtomicLong();
  private static final AtomicLong READS = new AtomicLong();
  private static final AtomicLong INDEXES = new AtomicLong();
  private static final AtomicLong DELETES = new AtomicLong();
  private static final AtomicLong BYTES = new AtomicLong();

  private Mirror() {}

  /** A read of the second manager. */
  private interface Read {
    InputStream of(RemoteStorageManager manager) throws RemoteStorageException;
  }

  /** Kafka's manager has been configured. */
  public static void configured(RemoteStorageManager kafkas, Map<String, ?> configs) {
    Object directory = configs.get("dir");
    if (directory == null || "false".equals(configs.get("delete.enable"))) {
      return; // nothing to share between brokers; a store that never deletes, which no other is
    }
    Path stores = Path.of(System.getProperty("strata.it.mirror.directory", ""));
    if (Path.of(directory.toString()).startsWith(stores)) {
      return; // is a mirror itself: Kafka's manager checks the comparison
    }
    try {
      String name = Path.of(directory.toString()).toAbsolutePath().toString().replace('/', '_');
      Path store = Files.createDirectories(stores.resolve(name));
      Map<String, Object> own = new HashMap<>();
      own.put("broker.id", configs.get("broker.id"));
      if (System.getProperty("strata.it.mirror.manager", "").startsWith("org.apache.kafka.")) {
        own.put("dir", store.toString());
      } else {
        own.put("levels", "mirror");
        own.put("mirror.directories", store.toString());
      }
      RemoteStorageManager mirror =
          Class.forName(System.getProperty("strata.it.mirror.manager", ""))
              .asSubclass(RemoteStorageManager.class)
              .getConstructor()
              .newInstance();
      mirror.configure(own);
      MIRRORS.put(kafkas, mirror);
    } catch (IOException | ReflectiveOperationException e) {
      throw new IllegalStateException("the second manager could not be made", e);
    }
  }

  /** It has copied a segment. */
  public static Optional<CustomMetadata> copied(
      RemoteStorageManager kafkas,
      RemoteLogSegmentMetadata metadata,
      LogSegmentData data,
      Optional<CustomMetadata> returned)
      throws RemoteStorageException {
    RemoteStorageManager mirror = MIRRORS.get(kafkas);
    if (mirror == null) {
      return returned;
    }
    COPIES.incrementAndGet();
    // Kafka's manager has read this buffer to its end.
    ByteBuffer epochs = data.leaderEpochIndex().duplicate().rewind();
    return mirror.copyLogSegmentData(
        metadata,
        new LogSegmentData(
            data.logSegment(),
            data.offsetIndex(),
            data.timeIndex(),
            data.transactionIndex(),
            data.producerSnapshotIndex(),
            epochs));
  }

  /** It has opened a segment from a position on, or failed to. */
  public static @Nullable InputStream fetched(
      RemoteStorageManager kafkas,
      RemoteLogSegmentMetadata metadata,
      int start,
      @Nullable InputStream returned,
      @Nullable Throwable thrown)
      throws RemoteStorageException {
    String what = metadata.remoteLogSegmentId() + " from " + start;
    return read(kafkas, READS, what, m -> m.fetchLogSegment(metadata, start), returned, thrown);
  }

  /** It has opened a range of a segment, or failed to; its stream goes on beyond the range. */
  public static @Nullable InputStream fetchedRange(
      RemoteStorageManager kafkas,
      RemoteLogSegmentMetadata metadata,
      int start,
      int end,
      @Nullable InputStream returned,
      @Nullable Throwable thrown)
      throws RemoteStorageException {
    String what = metadata.remoteLogSegmentId() + " from " + start + " to " + end;
    long range = end - start + 1L;
    return read(
        kafkas,
        READS,
        what,
        m -> m.fetchLogSegment(metadata, start, end),
        returned == null ? null : new FirstBytes(returned, range),
        thrown);
  }

  /** It has opened an index, or failed to. */
  public static @Nullable InputStream fetchedIndex(
      RemoteStorageManager kafkas,
      RemoteLogSegmentMetadata metadata,
      IndexType type,
      @Nullable InputStream returned,
      @Nullable Throwable thrown)
      throws RemoteStorageException {
    String what = metadata.remoteLogSegmentId() + ", index " + type;
    return read(kafkas, INDEXES, what, m -> m.fetchIndex(metadata, type), returned, thrown);
  }

  private static @Nullable InputStream read(
      RemoteStorageManager kafkas,
      AtomicLong counter,
      String what,
      Read read,
      @Nullable InputStream returned,
      @Nullable Throwable thrown)
      throws RemoteStorageException {
    RemoteStorageManager mirror = MIRRORS.get(kafkas);
    if (mirror == null) {
      return returned;
    }
    counter.incrementAndGet();
    InputStream own;
    try {
      own = read.of(mirror);
    } catch (RemoteStorageException e) {
      if (thrown == null || !e.getClass().equals(thrown.getClass())) {
        throw different(what + ": the one threw " + thrown + ", the other " + e, e);
      }
      return null; // and what was thrown is thrown on
    }
    if (thrown != null || returned == null) {
      throw different(what + ": the one threw " + thrown + ", the other did not", thrown);
    }
    return new ComparingStream(what, returned, own);
  }

  /** It has deleted a segment. */
  public static void deleted(RemoteStorageManager kafkas, RemoteLogSegmentMetadata metadata)
      throws RemoteStorageException {
    RemoteStorageManager mirror = MIRRORS.get(kafkas);
    if (mirror != null) {
      DELETES.incrementAndGet();
      mirror.deleteLogSegmentData(metadata);
    }
  }

  /** It has been closed. */
  public static void closed(RemoteStorageManager kafkas) {
    RemoteStorageManager mirror = MIRRORS.remove(kafkas);
    if (mirror != null) {
      try {
        mirror.close();
      } catch (IOException e) {
        DIFFERENCES.add("close: " + e);
      }
    }
  }

  /** So many bytes were the same. */
  static void same(long bytes) {
    BYTES.addAndGet(bytes);
  }

  /** Notes it. */
  static RemoteStorageException different(String text, @Nullable Throwable cause) {
    DIFFERENCES.add(text);
    return new RemoteStorageException(text, cause);
  }

  /** Writes what was done. */
  static void report() {
    Properties report = new Properties();
    report.setProperty("copies", COPIES.toString());
    report.setProperty("reads", READS.toString());
    report.setProperty("indexes", INDEXES.toString());
    report.setProperty("deletes", DELETES.toString());
    report.setProperty("bytes", BYTES.toString());
    report.setProperty("differences", String.join("; ", DIFFERENCES));
    try (var out =
        Files.newBufferedWriter(Path.of(System.getProperty("strata.it.mirror.report", "")))) {
      report.store(out, null);
    } catch (IOException e) {
      throw new IllegalStateException("the report cannot be written", e);
    }
  }
}
