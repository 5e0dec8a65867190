package io.strata.kafka.migration.remote.read;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Buffers that chunks are read into and checked in. Outside the heap, within a bound: the JDK reads
 * a file straight into such a buffer. They are used again and again, since the JDK gives their
 * memory back only when it next collects garbage. What is beyond the bound is on the heap.
 *
 * <p>Thread safety: all methods may be called by any number of threads.
 */
public final class ReadBuffers {

  /** All that is outside the heap: a handful of readers, and of threads that read ahead. */
  static final long BOUND_BYTES = 32 << 20;

  @GuardedBy("this")
  private final List<ByteBuffer> idle = new ArrayList<>();

  /** Of the idle ones and of those in use. */
  @GuardedBy("this")
  private long allocatedBytes;

  /** A buffer with exactly so much space. Give it back when nobody writes into it any more. */
  public ByteBuffer take(int bytes) {
    return takeDirect(bytes).orElseGet(() -> ByteBuffer.allocate(bytes)).clear().limit(bytes);
  }

  private synchronized Optional<ByteBuffer> takeDirect(int bytes) {
    int fitting = fitting(bytes);
    if (fitting >= 0) {
      return Optional.of(idle.remove(fitting));
    }
    while (allocatedBytes + bytes > BOUND_BYTES && !idle.isEmpty()) {
      allocatedBytes -= idle.remove(0).capacity();
    }
    return allocatedBytes + bytes > BOUND_BYTES ? Optional.empty() : allocate(bytes);
  }

  /** The smallest that is large enough, or -1. */
  @GuardedBy("this")
  private int fitting(int bytes) {
    int best = -1;
    for (int i = 0; i < idle.size(); i++) {
      int room = idle.get(i).capacity();
      if (room >= bytes && (best < 0 || room < idle.get(best).capacity())) {
        best = i;
      }
    }
    return best;
  }

  @GuardedBy("this")
  private Optional<ByteBuffer> allocate(int bytes) {
    try {
      ByteBuffer buffer = ByteBuffer.allocateDirect(bytes);
      allocatedBytes += bytes;
      return Optional.of(buffer);
    } catch (OutOfMemoryError e) {
      // Its limit is one for the whole broker; the heap may still have space.
      return Optional.empty();
    }
  }

  /** Nobody writes into it any more. */
  public synchronized void giveBack(ByteBuffer buffer) {
    if (buffer.isDirect()) {
      idle.add(buffer);
    }
  }
}
