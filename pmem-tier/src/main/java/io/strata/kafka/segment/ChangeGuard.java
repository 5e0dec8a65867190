package io.strata.kafka.segment;

import java.io.IOException;

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

  /** Written under the writer lock. */
  private volatile long changes;

  private volatile boolean copying;

  /** A piece of a copy. */
  interface Piece {
    void write() throws IOException;
  }

  /** Returns how often bytes of the segment have been replaced or truncated. */
  long changes() {
    return changes;
  }

  /** Bytes of the segment are about to be replaced or truncated, or need not be copied. */
  @SuppressWarnings("NonAtomicVolatileUpdate") // by one thread at a time: under the writer lock
  void changing() {
    changes = changes + 1;
    if (copying) {
      awaitPiece();
    }
  }

  /** Returns when no piece is being written. */
  private synchronized void awaitPiece() {}

  /** A copier begins to write to the log file. */
  void beginCopy() {
    copying = true;
  }

  /** Writes one piece to the log file, unless the segment has changed since {@code begun}. */
  synchronized boolean piece(long begun, Piece piece) throws IOException {
    if (changes != begun) {
      return false;
    }
    piece.write();
    return true;
  }

  /** The log file is no longer written to. */
  void endCopy() {
    copying = false;
  }
}
