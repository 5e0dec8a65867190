package io.strata.kafka.migration.remote.read;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;

/**
 * Buffers that chunks are read into and checked in. Outside the heap: the JDK reads a file straight
 * into such a buffer. A few are kept for the next read.
 *
 * <p>Thread safety: all methods may be called by any number of threads.
 */
final class TransferBuffers {

  /** What is kept while nobody reads. */
  private static final long KEPT_BYTES = 8 << 20;

  @GuardedBy("this")
  private final Deque<ByteBuffer> kept = new ArrayDeque<>();

  @GuardedBy("this")
  private long keptBytes;

  /** A buffer with exactly so much room. Give it back when nobody writes into it any more. */
  ByteBuffer take(int bytes) {
    ByteBuffer buffer = takeKept(bytes);
    return buffer.capacity() >= bytes ? buffer.clear().limit(bytes) : allocate(bytes);
  }

  private synchronized ByteBuffer takeKept(int bytes) {
    for (Iterator<ByteBuffer> all = kept.iterator(); all.hasNext(); ) {
      ByteBuffer buffer = all.next();
      if (buffer.capacity() >= bytes) {
        all.remove();
        keptBytes -= buffer.capacity();
        return buffer;
      }
    }
    return ByteBuffer.allocate(0);
  }

  private static ByteBuffer allocate(int bytes) {
    try {
      return ByteBuffer.allocateDirect(bytes);
    } catch (OutOfMemoryError e) {
      // Its limit is one for the whole broker; the heap may still have room.
      return ByteBuffer.allocate(bytes);
    }
  }

  synchronized void giveBack(ByteBuffer buffer) {
    if (buffer.isDirect() && keptBytes + buffer.capacity() <= KEPT_BYTES) {
      kept.addFirst(buffer);
      keptBytes += buffer.capacity();
    }
  }
}
