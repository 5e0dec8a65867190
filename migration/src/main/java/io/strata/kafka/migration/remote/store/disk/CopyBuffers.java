package io.strata.kafka.migration.remote.store.disk;

import java.nio.ByteBuffer;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Buffers outside the heap, used again and again: such memory is given back by the collector only.
 */
public final class CopyBuffers {

  private static final int SMALLEST = 256 << 10;

  private final ConcurrentLinkedQueue<ByteBuffer> idle = new ConcurrentLinkedQueue<>();

  /** A buffer until it is closed; for one thread. */
  public record Lease(CopyBuffers owner, ByteBuffer buffer) implements AutoCloseable {
    @Override
    public void close() {
      boolean unused = owner.idle.add(buffer);
    }
  }

  /**
   * Gives a buffer.
   *
   * @param bytes its size at least
   */
  public Lease borrow(int bytes) {
    ByteBuffer found = idle.poll();
    return new Lease(
        this,
        found != null && found.capacity() >= bytes
            ? found
            : ByteBuffer.allocateDirect(Math.max(bytes, SMALLEST)));
  }
}
