package io.strata.kafka.migration.remote.store;

import java.nio.ByteBuffer;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Buffers outside the heap, used again and again: such memory is given back by the collector only.
 *
 * <p>Thread safety: all methods may be called by any number of threads; a lease is for one.
 */
final class CopyBuffers {

  private static final int SMALLEST = 256 << 10;

  private final ConcurrentLinkedQueue<ByteBuffer> idle = new ConcurrentLinkedQueue<>();

  /** A buffer until it is closed. */
  final class Lease implements AutoCloseable {
    private final ByteBuffer buffer;

    private Lease(ByteBuffer buffer) {
      this.buffer = buffer;
    }

    ByteBuffer buffer() {
      return buffer;
    }

    @Override
    public void close() {
      boolean unused = idle.add(buffer);
    }
  }

  /**
   * Gives a buffer.
   *
   * @param bytes its size at least
   */
  Lease borrow(int bytes) {
    ByteBuffer found = idle.poll();
    return new Lease(
        found != null && found.capacity() >= bytes
            ? found
            : ByteBuffer.allocateDirect(Math.max(bytes, SMALLEST)));
  }
}
