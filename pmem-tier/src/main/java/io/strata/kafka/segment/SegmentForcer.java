package io.strata.kafka.segment;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.strata.kafka.pool.Slot;
import io.strata.kafka.segment.Segment.LogFileForce;
import io.strata.kafka.segment.view.SegmentBytes;
import io.strata.kafka.segment.view.SpilledTail;
import java.io.IOException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Remembers what of a segment has not been forced, and forces it while appends go on.
 *
 * <p>The slot counts bytes as forced from the start on and without a gap, and not if it was
 * truncated meanwhile. So this begins where the last force that counted has ended, and begins again
 * after a truncation that came in between.
 *
 * <p>Thread safety: all methods may be called by any number of threads; the writer calls its own
 * with the lock held, so that what they say and what they say it of change together.
 */
final class SegmentForcer {

  private static final long NONE = Long.MAX_VALUE;

  private final SpilledTail tail;

  /** The writer's, which is taken for moments only. */
  private final ReentrantLock lock;

  /** Where the pool's bytes are; null when all are in the log file. */
  @GuardedBy("lock")
  private @Nullable Slot slot;

  /** Bytes of the pool from here on may be unforced, {@link #NONE} when none is. */
  @GuardedBy("lock")
  private long dirtyFrom;

  /** Whether a force of the pool's bytes is under way, which has taken what was dirty. */
  @GuardedBy("lock")
  private boolean forcingPool;

  /** As {@code forcingPool}, of the log file's bytes. */
  @GuardedBy("lock")
  private boolean forcingLogFile;

  /** How often the pool's part has been truncated. */
  @GuardedBy("lock")
  private long truncations;

  /**
   * All is unforced, for all that is known.
   *
   * @param lock the writer lock, which guards {@code tail} too
   */
  SegmentForcer(@Nullable Slot slot, SpilledTail tail, ReentrantLock lock) {
    this.slot = slot;
    this.tail = tail;
    this.lock = lock;
  }

  /**
   * The segment has moved: the pool's bytes are durable in {@code newSlot}, or in the log file.
   *
   * <p>A force that runs meanwhile may still look at the slot before; there is nothing to lose.
   */
  @SuppressWarnings("GuardedBy") // the caller holds it
  void movedToLocked(@Nullable Slot newSlot) {
    assert lock.isHeldByCurrentThread();
    slot = newSlot;
    dirtyFrom = NONE;
  }

  /** Bytes of the pool have been written, the first of them at {@code from}. */
  @SuppressWarnings("GuardedBy") // the caller holds it
  void writtenLocked(long from) {
    assert lock.isHeldByCurrentThread();
    dirtyFrom = Math.min(dirtyFrom, from);
  }

  /** The pool's part is about to be truncated to {@code length}. */
  @SuppressWarnings("GuardedBy") // the caller holds it
  void truncatingLocked(long length) {
    assert lock.isHeldByCurrentThread();
    truncations++;
    dirtyFrom = Math.min(dirtyFrom, length);
  }

  /**
   * See {@link SegmentBytes#force}. One force at a time: a second one must not return while the
   * first still works.
   *
   * @param logFile forces the log file, if it is dirty
   */
  synchronized void force(LogFileForce logFile) throws IOException {
    boolean counts;
    do {
      counts = forceOnce(logFile);
    } while (!counts);
  }

  /**
   * Returns whether nothing is dirty, and no force runs of what was.
   *
   * @param poolNeedsNone whether bytes of the pool need no force
   */
  boolean isForced(boolean poolNeedsNone) {
    lock.lock();
    try {
      boolean poolIsForced = poolNeedsNone || (!forcingPool && dirtyFrom == NONE);
      return poolIsForced && !forcingLogFile && !tail.dirty();
    } finally {
      lock.unlock();
    }
  }

  /** Forces what is dirty now; on an exception or an answer of false it is dirty as before. */
  private boolean forceOnce(LogFileForce logFile) throws IOException {
    Slot current;
    long from;
    boolean logFileIsDirty;
    long truncationsBefore;
    lock.lock();
    try {
      current = slot;
      from = dirtyFrom;
      logFileIsDirty = tail.dirty();
      truncationsBefore = truncations;
      dirtyFrom = NONE;
      tail.dirty(false);
      forcingPool = from != NONE;
      forcingLogFile = logFileIsDirty;
    } finally {
      lock.unlock();
    }
    boolean done = false;
    boolean counts;
    try {
      if (from != NONE && current != null) {
        current.force(from, Long.MAX_VALUE);
      }
      if (logFileIsDirty) {
        logFile.run();
      }
      done = true;
    } finally {
      lock.lock();
      try {
        forcingPool = false;
        forcingLogFile = false;
        counts = done && truncations == truncationsBefore;
        if (!counts) {
          dirtyFrom = Math.min(dirtyFrom, from);
        }
        if (!done) {
          tail.dirty(tail.dirty() || logFileIsDirty);
        }
      } finally {
        lock.unlock();
      }
    }
    return counts;
  }
}
