package io.strata.kafka.migration.remote.cold;

import static java.util.Objects.requireNonNull;

import io.strata.kafka.migration.remote.calls.Deadlines;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.server.log.remote.storage.LogSegmentData;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata.CustomMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteStorageException;
import org.apache.kafka.server.log.remote.storage.RemoteStorageManager;

/**
 * Another {@code RemoteStorageManager}, which has the lowest level. It is loaded apart from the
 * broker's classes where it has a class path of its own, called with its class loader as the
 * thread's, each call ends in its time, and what it throws arrives as what Kafka asks for, with the
 * manager's class in the message.
 *
 * <p>Nothing that it hands out is used outside such a call: a range is read to its end in it.
 *
 * <p>Thread safety: all methods may be called by any number of threads, as those of every {@code
 * RemoteStorageManager}.
 */
public final class ColdManager implements AutoCloseable {

  private final String className;
  private final ColdLoading.Loaded loaded;
  private final Deadlines deadlines;
  private final AtomicBoolean closed = new AtomicBoolean();

  /** Segments whose copy has not come back, be it long after its time. */
  private final Set<Uuid> copying = ConcurrentHashMap.newKeySet();

  private ColdManager(String className, ColdLoading.Loaded loaded, Deadlines deadlines) {
    this.className = className;
    this.loaded = loaded;
    this.deadlines = deadlines;
  }

  /**
   * Loads and configures a manager.
   *
   * @param deadlines makes the calls; stays open
   * @throws ConfigException if it cannot be loaded, or refuses its configuration; the message names
   *     the key, and nothing stays open
   */
  public static ColdManager create(ColdSettings settings, Deadlines deadlines) {
    requireNonNull(deadlines);
    ColdLoading.Loaded loaded = ColdLoading.load(settings);
    ColdManager manager = new ColdManager(settings.className(), loaded, deadlines);
    try {
      boolean unused =
          Calls.with(
              loaded.loader(),
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
      manager.closeAfter(refused);
      throw refused;
    }
  }

  private void closeAfter(Exception failure) {
    try {
      close();
    } catch (IOException e) {
      failure.addSuppressed(e);
    }
  }

  /** The manager's class. */
  public String className() {
    return className;
  }

  /**
   * Copies a segment. Its files must stay until this returns, and longer if it ran out of its time.
   * One copy of a segment is made at a time: what a manager does when its copy fails in the end,
   * long after its time perhaps, is to remove what is there of the segment, another copy's files,
   * too.
   *
   * @return what the manager wants to see again in each later call for the segment
   * @throws RemoteStorageException if it fails, of {@link RetriableFailures} if a retry may
   *     overcome that; with a {@link io.strata.kafka.migration.remote.calls.TimeLimitException} as
   *     its cause if it ran out of its time; also retriable while an earlier copy of the segment
   *     has not come back
   */
  public Optional<CustomMetadata> copy(
      RemoteLogSegmentMetadata segment, LogSegmentData data, Duration limit)
      throws RemoteStorageException, InterruptedException {
    Uuid id = segment.remoteLogSegmentId().id();
    String what = "copying " + describe(segment);
    if (!copying.add(id)) {
      throw RetriableFailures.create(
          named(what)
              + ": an earlier copy of it ran out of its time and has not come back; it is made"
              + " again when that has ended: look at the manager's connections and time limits",
          new IOException("an earlier copy has not come back"));
    }
    return call(
        what,
        limit,
        manager -> notNull(manager.copyLogSegmentData(segment, data)),
        () -> copying.remove(id));
  }

  /** Whether a copy is under way, be it long after its time. */
  public boolean isCopying() {
    return !copying.isEmpty();
  }

  /**
   * Reads a range.
   *
   * @param start the first byte, from 0
   * @param bytes how many; the segment must have them
   * @throws RemoteStorageException as {@link #copy}; a {@code RemoteResourceNotFoundException} if
   *     the manager does not have the segment
   */
  public byte[] fetch(RemoteLogSegmentMetadata segment, int start, int bytes, Duration limit)
      throws RemoteStorageException, InterruptedException {
    return call(
        "reading " + describe(segment) + " from byte " + start,
        limit,
        manager -> {
          ByteBuffer target = ByteBuffer.allocate(bytes);
          fill(manager, segment, start, target);
          return target.array();
        });
  }

  /**
   * Deletes a segment; one that is not there any more is deleted.
   *
   * @throws RemoteStorageException as {@link #copy}
   */
  public void delete(RemoteLogSegmentMetadata segment, Duration limit)
      throws RemoteStorageException, InterruptedException {
    boolean unused =
        call(
            "deleting " + describe(segment),
            limit,
            manager -> {
              manager.deleteLogSegmentData(segment);
              return true;
            });
  }

  private static void fill(
      RemoteStorageManager manager, RemoteLogSegmentMetadata segment, int start, ByteBuffer target)
      throws RemoteStorageException, IOException {
    if (!target.hasRemaining()) {
      return;
    }
    int wanted = target.remaining();
    try (InputStream in = notNull(manager.fetchLogSegment(segment, start, start + wanted - 1))) {
      byte[] piece = new byte[Math.min(wanted, 64 << 10)];
      while (target.hasRemaining()) {
        int count = in.read(piece, 0, Math.min(piece.length, target.remaining()));
        if (count < 0) {
          throw new EOFException(
              "found %s bytes from byte %s on, expected %s"
                  .formatted(wanted - target.remaining(), start, wanted));
        }
        target.put(piece, 0, count);
      }
    }
  }

  private static <T> T notNull(T answer) throws RemoteStorageException {
    if (answer == null) {
      throw new RemoteStorageException("the manager answered null");
    }
    return answer;
  }

  private static String describe(RemoteLogSegmentMetadata segment) {
    return "%s@%s (id %s)"
        .formatted(
            segment.topicIdPartition().topicPartition(),
            segment.startOffset(),
            segment.remoteLogSegmentId().id());
  }

  /** What the manager is asked. */
  @FunctionalInterface
  private interface Question<T> {
    T ask(RemoteStorageManager manager) throws RemoteStorageException, IOException;
  }

  /** An answer, or why there is none: a call can throw no exception of Kafka's. */
  private record Answer<T>(Optional<T> value, Optional<RemoteStorageException> failure) {}

  private <T> T call(String what, Duration limit, Question<T> question)
      throws RemoteStorageException, InterruptedException {
    return call(what, limit, question, () -> {});
  }

  private <T> T call(String what, Duration limit, Question<T> question, Runnable whenOver)
      throws RemoteStorageException, InterruptedException {
    Answer<T> answer;
    try {
      answer =
          deadlines.call(
              named(what),
              limit,
              control -> {
                try {
                  return new Answer<>(Optional.of(direct(what, question)), Optional.empty());
                } catch (RemoteStorageException e) {
                  return new Answer<>(Optional.empty(), Optional.of(e));
                }
              },
              whenOver);
    } catch (IOException | RejectedExecutionException e) {
      throw ColdFailures.translate(named(what), e);
    }
    if (answer.failure().isPresent()) {
      throw answer.failure().get();
    }
    return answer.value().orElseThrow();
  }

  private <T> T direct(String what, Question<T> question)
      throws RemoteStorageException, InterruptedException {
    if (closed.get()) {
      throw new RemoteStorageException(named(what) + ": the manager is closed");
    }
    try {
      return Calls.with(loaded.loader(), () -> ask(question));
    } catch (InterruptException e) {
      // Kafka's own, by which the flag was set again.
      boolean unused = Thread.interrupted();
      InterruptedException interrupted = new InterruptedException(named(what));
      interrupted.initCause(e);
      throw interrupted;
    } catch (VirtualMachineError e) {
      throw e;
    } catch (Exception | Error e) {
      throw ColdFailures.translate(named(what), e);
    }
  }

  private <T> T ask(Question<T> question) throws RemoteStorageException, IOException {
    return question.ask(loaded.manager());
  }

  private String named(String what) {
    return "cold manager " + className + ", " + what;
  }

  /**
   * Closes the manager, and the files that its classes come from. Calls that follow fail.
   *
   * @throws IOException if the manager could not be closed; the message names it
   */
  @Override
  public void close() throws IOException {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    try {
      boolean unused =
          Calls.with(
              loaded.loader(),
              () -> {
                loaded.manager().close();
                return true;
              });
    } catch (IOException | RuntimeException | LinkageError e) {
      throw new IOException("cold manager " + className + ", closing it: " + e, e);
    } finally {
      loaded.unload();
    }
  }
}
