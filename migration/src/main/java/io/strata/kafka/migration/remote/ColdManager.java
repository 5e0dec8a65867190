package io.strata.kafka.migration.remote;

import io.strata.kafka.migration.FileStatus;
import io.strata.kafka.migration.remote.store.ColdCopies.ColdStorage;
import io.strata.kafka.migration.remote.store.disk.Deadlines;
import io.strata.kafka.migration.remote.store.layout.Manifest;
import io.strata.kafka.migration.remote.store.layout.SegmentInfo;
import io.strata.kafka.migration.remote.store.layout.SegmentKey;
import io.strata.kafka.migration.remote.store.layout.StoreNames;
import io.strata.kafka.migration.remote.store.layout.StoredObject.ObjectType;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.server.log.remote.storage.LogSegmentData;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata.CustomMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteResourceNotFoundException;
import org.apache.kafka.server.log.remote.storage.RemoteStorageException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Another {@code RemoteStorageManager}, which has the lowest level. It is loaded apart from the
 * broker's classes where it has a class path of its own, called with its class loader as the
 * thread's and with the metadata that Kafka gave us for the segment, as its manifest has it; each
 * call ends in its time, and what it throws arrives as a {@link ColdFailure}, with the manager's
 * class in the message.
 *
 * <p>Nothing that it hands out is used outside such a call: a range is read to its end in it.
 */
final class ColdManager implements ColdStorage, AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(StrataRemoteStorageManager.class);

  /** The bound for each kind: one kind that hangs keeps no other from being asked. */
  private static final int CALLS = 16;

  private final String className;
  private final ColdLoading.Loaded loaded;
  private final Deadlines copies;
  private final Deadlines reads;
  private final Deadlines deletions;
  private final AtomicBoolean closed = new AtomicBoolean();

  /**
   * The ids of segments whose copy has not come back, be it long after its time; true once the
   * segment has been deleted.
   */
  private final Map<String, Boolean> copying = new ConcurrentHashMap<>();

  private volatile RemoteSettings.Live live;

  private ColdManager(
      String className,
      ColdLoading.Loaded loaded,
      RemoteSettings.Live live,
      ThreadFactory threads) {
    this.className = className;
    this.loaded = loaded;
    this.live = live;
    copies = new Deadlines("strata-remote-cold-copy", CALLS, threads);
    reads = new Deadlines("strata-remote-cold", CALLS, threads);
    deletions = new Deadlines("strata-remote-cold-delete", CALLS, threads);
  }

  /**
   * Loads and configures a manager.
   *
   * @throws ConfigException if it cannot be loaded, or refuses its configuration; the message names
   *     the key, and nothing stays open
   */
  static ColdManager create(
      RemoteSettings.ColdSettings settings, RemoteSettings.Live live, ThreadFactory threads) {
    ColdLoading.Loaded loaded = ColdLoading.load(settings);
    ColdManager manager = new ColdManager(settings.className(), loaded, live, threads);
    try {
      boolean unused =
          loaded.call(
              () -> {
                loaded.manager().configure(settings.configs());
                return true;
              });
      return manager;
    } catch (RuntimeException | LinkageError e) {
      ConfigException refused =
          new ConfigException(
              """
              rsm.config.cold.*: found a configuration that %s (%s) does not take: %s; expected what \
              that manager's own documentation asks for, each key with the prefix rsm.config.cold.\
              """
                  .formatted(settings.className(), ColdLoading.KEY, e));
      refused.initCause(e);
      try {
        manager.close();
      } catch (IOException notClosed) {
        refused.addSuppressed(notClosed);
      }
      throw refused;
    }
  }

  void reconfigure(RemoteSettings.Live changed) {
    live = changed;
  }

  @Override
  public String className() {
    return className;
  }

  /**
   * {@inheritDoc}
   *
   * <p>The files must stay until this returns, and longer if it ran out of its time. One copy of a
   * segment is made at a time: what a manager does when its copy fails in the end, long after its
   * time perhaps, is to remove what is there of the segment, another copy's files too. A copy that
   * ends when the segment has been deleted has the manager delete it again, whether or not its
   * caller waits.
   *
   * @throws ColdFailure if it fails; retriable, with a {@link
   *     io.strata.kafka.migration.remote.store.disk.Deadlines.TimeLimitException} as its cause, if
   *     it ran out of its time; also retriable while an earlier copy of the segment has not come
   *     back
   */
  @Override
  public Optional<byte[]> copy(Manifest manifest, Path directory)
      throws IOException, InterruptedException {
    SegmentKey key = manifest.segment().key();
    LogSegmentData data =
        new LogSegmentData(
            file(directory, ObjectType.LOG, key),
            file(directory, ObjectType.OFFSET_INDEX, key),
            file(directory, ObjectType.TIME_INDEX, key),
            manifest
                .object(ObjectType.TRANSACTION_INDEX)
                .map(index -> file(directory, index.type(), key)),
            file(directory, ObjectType.PRODUCER_SNAPSHOT, key),
            ByteBuffer.wrap(Files.readAllBytes(file(directory, ObjectType.LEADER_EPOCHS, key))));
    RemoteLogSegmentMetadata segment = KafkaSegments.metadata(manifest.segment(), Optional.empty());
    return call(
            "copying " + key,
            copies,
            live.copyTimeout(),
            () -> copyOnce(manifest.segment(), segment, data, directory))
        .map(CustomMetadata::value);
  }

  private Optional<CustomMetadata> copyOnce(
      SegmentInfo info, RemoteLogSegmentMetadata segment, LogSegmentData data, Path directory)
      throws Exception {
    String id = info.key().id();
    if (copying.putIfAbsent(id, false) != null) {
      throw new IOException(
          "an earlier copy of it ran out of its time and has not come back; it is made again when"
              + " that has ended: look at the manager's connections and time limits");
    }
    Optional<CustomMetadata> custom = Optional.empty();
    try {
      custom = notNull(loaded.manager().copyLogSegmentData(segment, data));
      return custom;
    } finally {
      // Perhaps nobody waits for the copy any more: what it has made is known by its mark alone.
      if (lacksMark(directory) || !copying.remove(id, false)) {
        try {
          boolean unused = Thread.interrupted();
          loaded
              .manager()
              .deleteLogSegmentData(
                  KafkaSegments.metadata(info, custom.map(CustomMetadata::value)));
        } catch (RemoteResourceNotFoundException nothingLeft) {
          // The manager has removed what it had copied.
        } finally {
          copying.remove(id);
        }
      }
    }
  }

  private static boolean lacksMark(Path directory) {
    try {
      return !FileStatus.isThere(directory.resolve(StoreNames.COLD));
    } catch (IOException e) {
      return false; // A deletion that comes when it answers again finds the mark.
    }
  }

  private static Path file(Path directory, ObjectType type, SegmentKey key) {
    return directory.resolve(type.fileName(key));
  }

  RemoteStats.HangingCalls hanging() {
    return new RemoteStats.HangingCalls(
        className, copies.stuck(), reads.stuck(), deletions.stuck());
  }

  @Override
  public boolean isCopying() {
    return !copying.isEmpty();
  }

  @Override
  public void read(Manifest manifest, Optional<byte[]> custom, long position, ByteBuffer target)
      throws IOException, InterruptedException {
    RemoteLogSegmentMetadata segment = KafkaSegments.metadata(manifest.segment(), custom);
    int start = Math.toIntExact(position);
    int count = target.remaining();
    byte[] bytes =
        call(
            "reading " + manifest.segment().key() + " from byte " + start,
            reads,
            live.fetchTimeout(),
            () -> read(segment, start, count));
    ByteBuffer unused = target.put(bytes);
  }

  private byte[] read(RemoteLogSegmentMetadata segment, int start, int count)
      throws RemoteStorageException, IOException {
    if (count == 0) {
      return new byte[0];
    }
    try (InputStream in =
        notNull(loaded.manager().fetchLogSegment(segment, start, start + count - 1))) {
      byte[] bytes = new byte[count];
      int found = in.readNBytes(bytes, 0, count);
      if (found < count) {
        throw new EOFException(
            "found %s bytes from byte %s on, expected %s".formatted(found, start, count));
      }
      return bytes;
    }
  }

  @Override
  public void delete(SegmentInfo segment, Optional<byte[]> custom)
      throws IOException, InterruptedException {
    RemoteLogSegmentMetadata metadata = KafkaSegments.metadata(segment, custom);
    // The copy deletes what it has made after this.
    Boolean unusedToo = copying.computeIfPresent(segment.key().id(), (id, deleted) -> true);
    try {
      boolean unused =
          call(
              "deleting " + segment.key(),
              deletions,
              live.deleteTimeout(),
              () -> {
                loaded.manager().deleteLogSegmentData(metadata);
                return true;
              });
    } catch (ColdFailure e) {
      if (!(e.getCause() instanceof RemoteResourceNotFoundException)) {
        throw e;
      } // Deleted by an earlier attempt.
    }
  }

  private static <T> T notNull(T answer) throws RemoteStorageException {
    if (answer == null) {
      throw new RemoteStorageException("the manager answered null");
    }
    return answer;
  }

  private <T> T call(
      String what, Deadlines calls, Duration limit, ColdLoading.Call<T, Exception> question)
      throws IOException, InterruptedException {
    String named = "cold manager " + className + ", " + what;
    Deadlines.Work<T> work = control -> ask(named, question);
    try {
      return calls == copies
          ? calls.callInTurn(named, limit, work)
          : calls.call(named, limit, work);
    } catch (ColdFailure e) {
      throw e;
    } catch (IOException e) {
      throw ColdFailure.of(named, e);
    } catch (RejectedExecutionException e) {
      throw new ColdFailure(named + ": the manager is closed", e, false);
    }
  }

  private <T> T ask(String named, ColdLoading.Call<T, Exception> question)
      throws ColdFailure, InterruptedException {
    try {
      if (closed.get()) {
        throw new RemoteStorageException("the manager is closed");
      }
      return loaded.call(question);
    } catch (InterruptException e) {
      // Kafka's own, by which the flag was set again.
      boolean unused = Thread.interrupted();
      InterruptedException interrupted = new InterruptedException(named);
      interrupted.initCause(e);
      throw interrupted;
    } catch (VirtualMachineError e) {
      throw e;
    } catch (Exception | Error e) {
      throw ColdFailure.of(named, e);
    }
  }

  /** Closes the manager, and the files that its classes come from. Calls that follow fail. */
  @Override
  public void close() throws IOException {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    try (copies;
        reads;
        deletions;
        loaded) {
      boolean unused =
          loaded.call(
              () -> {
                loaded.manager().close();
                return true;
              });
    } catch (IOException | RuntimeException | LinkageError e) {
      throw new IOException("cold manager " + className + ", closing it: " + e, e);
    }
  }

  /** As {@link #close}; a manager that cannot be closed keeps nothing else open. */
  void closeOrWarn() {
    try {
      close();
    } catch (IOException e) {
      LOG.warn("The cold manager of Strata's remote tier could not be closed", e);
    }
  }

  /** The cold manager failed: the message says which one, and what it was asked. */
  static final class ColdFailure extends IOException {
    private static final long serialVersionUID = 1L;

    private final boolean retriable;

    ColdFailure(String message, Throwable cause, boolean retriable) {
      super(message, cause);
      this.retriable = retriable;
    }

    /**
     * Tells what the manager threw, or what became of its call.
     *
     * @param what the manager and what it was asked
     */
    static ColdFailure of(String what, Throwable thrown) {
      boolean ofKafka = thrown instanceof RemoteStorageException && thrown.getMessage() != null;
      return new ColdFailure(
          what + ": " + (ofKafka ? thrown.getMessage() : thrown),
          thrown,
          RemoteFailures.isRetriable(thrown)
              // A stream that breaks off, a call that ran out of its time: the next may be better.
              || thrown instanceof IOException
              || thrown instanceof RetriableException);
    }

    boolean retriable() {
      return retriable;
    }
  }
}
