package io.strata.kafka.memory;

import java.nio.ByteBuffer;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

/**
 * Direct buffers for bytes on their way from a file to a channel, kept for the next transfer: to
 * allocate one takes longer than to fill it.
 *
 * <p>Thread safety: all methods may be called by any number of threads; none waits.
 */
final class TransferBuffers {
  /**
   * The length of a buffer, in bytes: a socket's send buffer (100 KiB is Kafka's default) takes no
   * more at once, and what it does not take has been read in vain.
   */
  static final int LENGTH = 256 << 10;

  /** More threads than this at a time get a buffer as well; it is not kept. */
  private static final int KEPT = 16;

  private final BlockingQueue<ByteBuffer> free = new ArrayBlockingQueue<>(KEPT);

  /** A cleared buffer of {@value #LENGTH} bytes, the caller's alone until given back. */
  ByteBuffer take() {
    ByteBuffer kept = free.poll();
    return kept == null ? ByteBuffer.allocateDirect(LENGTH) : kept.clear();
  }

  /** Ends the use of a buffer that was taken here. */
  void giveBack(ByteBuffer buffer) {
    boolean unused = free.offer(buffer);
  }
}
