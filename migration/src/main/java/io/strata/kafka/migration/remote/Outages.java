package io.strata.kafka.migration.remote;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.strata.kafka.migration.EngineEnvironment;
import io.strata.kafka.migration.remote.RemoteEnvironment.KafkaReads;
import io.strata.kafka.migration.remote.RemoteStats.Cause;
import io.strata.kafka.migration.remote.store.LogReads.IndexMissingException;
import io.strata.kafka.migration.remote.store.disk.Deadlines;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Rides out the time in which the store, or a part of it, is away. A consumer repeats a fetch that
 * has failed at once, thousands of times a second, and some clients end for good. But Kafka answers
 * a fetch without records when it has waited for {@code remote.fetch.max.wait.ms}, and then every
 * client goes on. So a read that meets an outage is tried again until that is over.
 *
 * <p>It waits on a thread of Kafka's, of which other reads need some: while the store serves others
 * half of the threads wait at most, no read of an index waits, and further reads fail at once.
 * Reads that wait take turns to try, and one that succeeds wakes all. A fault of one copy (it is
 * damaged, or missing) stays an error that the consumer sees, unless a directory that may have
 * another is away: it is only delayed.
 *
 * <p>An outage is reported when it begins, each minute, and when it ends, by a thread that runs as
 * long as the outage.
 */
final class Outages implements AutoCloseable {

  /** Beyond Kafka's own wait: its answer is on its way by then. */
  static final Duration MARGIN = Duration.ofMillis(200);

  /** Between two tries, of whichever reads: each costs more than all that waits. */
  private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** So long after a read the store is taken to serve others. */
  private static final long SERVES_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** Kafka reads an index under a lock, and the next thread has it at once. */
  private static final long FOLLOWS_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  private static final Duration LOOK = Duration.ofSeconds(1);
  private static final long REPORT_NANOS = TimeUnit.MINUTES.toNanos(1);

  /** Nobody may ask for what is away any more. */
  private static final long FORGOTTEN_NANOS = TimeUnit.SECONDS.toNanos(15);

  /**
   * Ends a read without an answer of its own. Kafka's reader catches each {@link Exception} and
   * answers the consumer at once, which repeats the fetch at once, whatever the exception; and some
   * clients end for good. An {@code Error} ends Kafka's task alone, without a line in the log: the
   * consumer is answered after {@code remote.fetch.max.wait.ms}, without records.
   */
  @SuppressWarnings("serial") // It does not leave the JVM.
  static final class Unanswered extends Error {
    Unanswered(Throwable cause) {
      super(
          "the remote store is away, or a part of it: Strata's warnings say which",
          cause,
          false,
          false);
    }
  }

  private final KafkaReads reads;
  private final EngineEnvironment engine;
  private final LongSupplier nanoTime;
  private final Consumer<String> log;
  private final CountDownLatch closed = new CountDownLatch(1);

  /** When one of the reads that wait may try again. */
  @GuardedBy("this")
  private long nextTry;

  /** When a read was last served. */
  private volatile long served;

  @GuardedBy("this")
  private int waiting;

  /** When the wait of an index's read ended last. */
  @GuardedBy("this")
  private long indexWaited;

  @GuardedBy("this")
  private boolean out;

  /** When the outage began, failed a read last, and was last served after it had failed. */
  @GuardedBy("this")
  private long begun;

  @GuardedBy("this")
  private long failed;

  @GuardedBy("this")
  private long recovered;

  /** Why the last read failed. */
  @GuardedBy("this")
  private String reason = "";

  /** Counts the reads that waited in vain, that did not wait, and that were served after a wait. */
  @GuardedBy("this")
  private long late;

  @GuardedBy("this")
  private long refused;

  @GuardedBy("this")
  private long rescued;

  /**
   * Without an outage.
   *
   * @param log takes a warning
   */
  Outages(KafkaReads reads, EngineEnvironment engine, Consumer<String> log) {
    this.reads = reads;
    this.engine = engine;
    this.log = log;
    nanoTime = engine.nanoTime();
    long past = nanoTime.getAsLong() - SERVES_NANOS;
    served = past;
    indexWaited = past;
    nextTry = past;
    recovered = past;
  }

  /** Returns whether what a read asks for is away: it may be back at any moment. */
  static boolean isAway(Throwable failure) {
    Cause cause = RemoteFailures.cause(failure);
    Throwable why = failure.getCause();
    if (why != null && RemoteFailures.cause(why) == Cause.NOT_FOUND) {
      return false;
    }
    return cause == Cause.UNAVAILABLE
        || cause == Cause.IO
        || cause == Cause.TIMEOUT
        || (failure instanceof ColdManager.ColdFailure cold && cold.retriable());
  }

  /**
   * Reads, again and again while what is asked for is away. An interrupt ends the wait, and the
   * thread stays interrupted.
   *
   * @param tookNanos how long Kafka's call has taken until now
   * @param isIndex whether Kafka makes other reads wait for this one
   * @throws IOException what the last attempt threw
   */
  <T> T read(LongSupplier tookNanos, boolean isIndex, Deadlines.Plain<T> attempt)
      throws IOException, InterruptedException {
    boolean waits = false;
    boolean wasAway = false;
    try {
      while (true) {
        try {
          T result = attempt.run();
          if (wasAway) {
            recovered();
          }
          return result;
        } catch (Throwable e) {
          boolean away = isAway(e);
          wasAway |= away;
          long left = (away ? untilAnswered() : untilAnswered() / 4) - tookNanos.getAsLong();
          boolean patient =
              !(e instanceof IndexMissingException)
                  && RemoteFailures.cause(e) != Cause.CANCELLED
                  && left > 0
                  && (waits || begins(isIndex));
          boolean waited = waits;
          waits |= patient; // Counts from here: the JVM may have no thread for the report.
          if (away) {
            failed(e, patient, waited);
          }
          if (!patient) {
            throw e;
          }
          if (!away) {
            pause(left);
            throw e;
          }
          if (!awaitTurn(tookNanos)) {
            throw e;
          }
        }
      }
    } finally {
      if (waits) {
        ended(isIndex);
      }
    }
  }

  private long untilAnswered() {
    return reads.maxWait().plus(MARGIN).toNanos();
  }

  private void pause(long nanos) {
    try {
      boolean unused = closed.await(nanos, TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Waits until it is this read's turn to try again, or another one was served.
   *
   * @return false if there is no time left, or the wait was ended
   */
  private synchronized boolean awaitTurn(LongSupplier tookNanos) {
    try {
      while (closed.getCount() > 0) {
        long left = untilAnswered() - tookNanos.getAsLong();
        if (left <= 0) {
          late++;
          return false;
        }
        long now = nanoTime.getAsLong();
        long turn = nextTry - now;
        if (turn <= 0 || recovered - failed > 0) {
          nextTry = now + RETRY_NANOS;
          return true;
        }
        TimeUnit.NANOSECONDS.timedWait(this, Math.min(left, turn));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return false;
  }

  /** Notes that bytes were read in the store. */
  void served() {
    served = nanoTime.getAsLong();
  }

  synchronized boolean isOut() {
    return out;
  }

  private synchronized void recovered() {
    recovered = nanoTime.getAsLong();
    rescued++;
    notifyAll();
  }

  /** Returns whether one more read may wait. */
  private synchronized boolean begins(boolean isIndex) {
    long now = nanoTime.getAsLong();
    boolean othersAreServed = now - served < SERVES_NANOS && (!out || served - begun > 0);
    if (isIndex) {
      // Other reads of this index wait for Kafka's lock, on threads that nobody counts.
      if (othersAreServed || now - indexWaited < FOLLOWS_NANOS) {
        return false;
      }
    } else if (othersAreServed && waiting >= Math.max(1, reads.threads() / 2)) {
      return false;
    }
    waiting++;
    return true;
  }

  private synchronized void ended(boolean isIndex) {
    waiting--;
    if (isIndex) {
      indexWaited = nanoTime.getAsLong();
    }
  }

  private synchronized void failed(Throwable failure, boolean patient, boolean waited) {
    failed = nanoTime.getAsLong();
    reason = RemoteFailures.describe(failure);
    if (!out) {
      begun = failed;
      late = 0;
      refused = 0;
      rescued = 0;
      Thread reporter = engine.threads().newThread(this::report);
      reporter.setName("strata-remote-outage");
      reporter.start();
      out = true;
    }
    if (!patient) {
      late += waited ? 1 : 0;
      refused += waited ? 0 : 1;
    }
  }

  private void report() {
    log.accept(begin());
    long reported = nanoTime.getAsLong();
    try {
      while (!closed.await(LOOK.toNanos(), TimeUnit.NANOSECONDS)) {
        if (isOver()) {
          return;
        }
        if (nanoTime.getAsLong() - reported >= REPORT_NANOS) {
          reported = nanoTime.getAsLong();
          log.accept(progress());
        }
      }
    } catch (InterruptedException e) {
      return; // The broker stops.
    }
  }

  private synchronized String begin() {
    return """
    Reads fail: %s. While that lasts a read waits up to %d ms for the store, and consumers get no \
    records; they go on when it is back\
    """
        .formatted(reason, Duration.ofNanos(untilAnswered()).toMillis());
  }

  private synchronized String progress() {
    return "Reads have failed for %d s: %s; the last one: %s"
        .formatted(seconds(nanoTime.getAsLong()), counts(), reason);
  }

  /** Ends the outage, and says so, if what was away is back, or is not asked for any more. */
  private boolean isOver() {
    String end;
    synchronized (this) {
      long now = nanoTime.getAsLong();
      boolean back = recovered - failed > 0 && rescued > 0 && now - failed > LOOK.toNanos();
      if (!back && now - failed < FORGOTTEN_NANOS) {
        return false;
      }
      out = false;
      end =
          "%s after %d s: %s"
              .formatted(
                  back ? "Reads are served again" : "Nothing is asked any more of what is away",
                  seconds(back ? recovered : failed),
                  counts());
    }
    log.accept(end);
    return true;
  }

  @GuardedBy("this")
  private long seconds(long until) {
    return TimeUnit.NANOSECONDS.toSeconds(until - begun);
  }

  @GuardedBy("this")
  private String counts() {
    return """
    %d waited in vain, %d failed at once because others waited, %d were served after a wait\
    """
        .formatted(late, refused, rescued);
  }

  @Override
  public synchronized void close() {
    closed.countDown();
    notifyAll();
  }
}
