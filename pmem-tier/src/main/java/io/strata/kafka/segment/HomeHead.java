package io.strata.kafka.segment;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;

/**
 * What home begins with: a batch only as long as home has all of the segment's bytes. Somebody who
 * has lost the pool can tell by that whether home can do without it.
 *
 * <p>Thread safety: none; all calls under the segment's writer lock.
 */
public final class HomeHead {

  /**
   * The length of a batch's header. No batch begins with so many zeros: the 17th byte is its magic,
   * 2 since Kafka 0.11.
   */
  public static final int LENGTH = 61;

  private final HomeTail tail;

  /** Whether home may begin with bytes, though it is the pool's that count. */
  private boolean written;

  HomeHead(HomeTail tail, boolean written) {
    this.tail = tail;
    this.written = written;
  }

  /**
   * Makes a home begin with zeros; not durable.
   *
   * @param home open for writing
   */
  public static void makeZeros(FileChannel home) throws IOException {
    ByteBuffer zeros = ByteBuffer.allocate(LENGTH);
    while (zeros.hasRemaining()) {
      home.write(zeros, zeros.position());
    }
  }

  /** Whether home may begin with bytes from now on, though it is the pool's that count. */
  void written(boolean now) {
    written = now;
  }

  /**
   * Home is not whole any more, and must not look so: makes its head zeros, if that does not count.
   *
   * @param view what readers see
   * @param durably whether what is stored in the pool next survives a power cut, by itself or
   *     because it is forced before it counts
   */
  void withdraw(HotView view, FileChannel home, boolean durably) throws IOException {
    if (!written) {
      return;
    }
    boolean countsNot = !view.spilled() || view.poolEnd(view.size()) >= LENGTH;
    if (countsNot && home.size() > 0) {
      makeZeros(home);
      tail.dirty(true);
      if (durably) {
        // Else who loses the power and then the pool finds a home that looks whole, and is older.
        home.force(false);
      }
      if (!view.spilled()) {
        tail.mayBeLonger();
      }
    }
    written = false;
  }
}
