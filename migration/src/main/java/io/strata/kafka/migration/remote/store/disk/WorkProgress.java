package io.strata.kafka.migration.remote.store.disk;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.strata.kafka.migration.plan.TieredSegments.MoveControl;
import io.strata.kafka.migration.remote.store.disk.Deadlines.TimeLimitException;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Work in a directory that may take hours, as long as it comes further. A part of a directory may
 * hang while the rest answers: then the caller goes on, and the work is asked to stop.
 *
 * <p>Thread safety: {@link #run} is called once; the rest may be called by any thread.
 */
public final class WorkProgress {

  /** The bytes that {@link MoveControl#beforeCopying} lets pass at once. */
  private static final int PIECE = 1 << 20;

  private final DirectoryAccess access;
  private final Duration longest;
  private final LongSupplier nanoTime;
  private final List<Deadlines.Control> controls = new CopyOnWriteArrayList<>();

  /** Threads that the work is on: each waits for the next, while its caller waits. */
  private final AtomicInteger threads = new AtomicInteger();

  /** Is notified when no thread is at work any more. */
  private final Consumer<WorkProgress> end;

  /** When it came further last; empty while it waits for something else than the directory. */
  private volatile OptionalLong last = OptionalLong.empty();

  WorkProgress(
      DirectoryAccess access, Duration longest, LongSupplier nanoTime, Consumer<WorkProgress> end) {
    this.access = access;
    this.longest = longest;
    this.nanoTime = nanoTime;
    this.end = end;
  }

  /**
   * Does the work, on a thread of the directory.
   *
   * @param what names it in messages
   * @throws TimeLimitException if it has made no progress for too long; it may still be under way
   */
  public <T> T run(String what, Deadlines.Work<T> work) throws IOException, InterruptedException {
    return access.write(what, left -> check(what), given -> counted(given, work));
  }

  /** Continues on the thread of another directory, where it may stay when its caller goes on. */
  public <T> T onward(StoreDirectory to, String what, Deadlines.Work<T> work)
      throws IOException, InterruptedException {
    last = OptionalLong.empty(); // It waits for a thread there.
    return to.write(what, given -> counted(given, work));
  }

  private <T> T counted(Deadlines.Control given, Deadlines.Work<T> work)
      throws IOException, InterruptedException {
    int unused = threads.incrementAndGet();
    controls.add(given);
    made();
    try {
      return work.run(given);
    } finally {
      if (threads.decrementAndGet() == 0) {
        end.accept(this);
      }
    }
  }

  private void check(String what) throws TimeLimitException {
    OptionalLong since = last;
    if (since.isPresent() && nanoTime.getAsLong() - since.getAsLong() >= longest.toNanos()) {
      throw new TimeLimitException(
          """
          %s: has made no progress for %d minutes, though the directory answers: its disk hangs, or \
          a part of it. It is not begun again until it has come back; look at the disk\
          """
              .formatted(what, longest.toMinutes()));
    }
  }

  private void made() {
    last = OptionalLong.of(nanoTime.getAsLong());
  }

  /** Waits for something else than the directory. */
  @FunctionalInterface
  public interface Wait<T, X extends Exception> {
    T run() throws X, InterruptedException;
  }

  /** Does what has a time limit of its own, or waits for its turn. */
  @CanIgnoreReturnValue
  public <T, X extends Exception> T waitFor(Wait<T, X> wait) throws X, InterruptedException {
    last = OptionalLong.empty();
    try {
      return wait.run();
    } finally {
      made();
    }
  }

  /** Returns whether the work has begun and not come back, even if its caller no longer waits. */
  public boolean isUnderWay() {
    return threads.get() > 0;
  }

  /** Returns whether the caller no longer waits for the work. */
  public boolean isCancelled() {
    return controls.stream().anyMatch(Deadlines.Control::isCancelled);
  }

  /** Returns a move's pace, which notes each piece and ends when nobody waits for the move. */
  public BytePace pace(MoveControl move) {
    return bytes -> {
      for (int left = bytes; left > 0; left -= PIECE) {
        if (isCancelled() || move.cancelled()) {
          throw new BytePace.CopyCancelledException("the move was cancelled");
        }
        int piece = Math.min(left, PIECE);
        waitFor(
            () -> {
              move.beforeCopying(piece);
              return true;
            });
      }
    };
  }
}
