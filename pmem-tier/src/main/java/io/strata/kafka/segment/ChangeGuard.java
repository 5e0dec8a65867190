package io.strata.kafka.segment;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Lets a move notice that bytes which it has copied were replaced or truncated, and lets such a
 * change wait until a copier does not write to the log file any more. An append is no change: it
 * leaves the bytes before it as they are.
 *
 * <p>A move remembers {@link #changes} and asks again before it publishes anything. A move that
 * writes to the log file does so piece by piece in {@link #piece}; a thread that changes the
 * segment calls {@link #changing} first, which waits for the piece under way, if there is one, and
 * lets no other begin.
 *
 * <p>Why no piece is missed: the changer counts and then looks whether a copy is under way; the
 * copier announces itself (under the writer lock, so not in the middle of a change) and looks at
 * the count inside the lock that the changer takes.
 *
 * <p>Thread safety: all methods may be called by any number of threads; {@link #changing} and
 * {@link #beginCopy} under the writer lock. One copier at a time.
 */
final class ChangeGuard {

  private final AtomicLong changes = new AtomicLong();
  private final ReentrantLock pieceLock = new ReentrantLock();
  private volatile boolean copying;

  /** A piece of a copy. */
  interface Piece {
    void write() throws IOException;
  }

  /** Returns how often bytes of the segment have been replaced or truncated. */
  long changes() {
    return changes.get();
  }

  /** Bytes of the segment are about to be replaced or truncated, or need not be copied. */
  void changing() {
    long unused = changes.incrementAndGet();
    if (copying) {
      pieceLock.lock();
      try {
        // Only to wait for it.
        return;
      } finally {
        pieceLock.unlock();
      }
    }
  }

  /** A copier begins to write to the log file. */
  void beginCopy() {
    copying = true;
  }

  /** Writes one piece to the log file, unless the segment has changed since {@code begun}. */
  boolean piece(long begun, Piece piece) throws IOException {
    pieceLock.lock();
    try {
      if (changes.get() != begun) {
        return false;
      }
      piece.write();
      return true;
    } finally {
      pieceLock.unlock();
    }
  }

  /** The log file is no longer written to. */
  void endCopy() {
    copying = false;
  }
}
