package io.strata.kafka.memory.calls;

import io.strata.kafka.memory.PmemMemory;
import java.nio.ByteBuffer;

/**
 * The calls of libpmem that {@link PmemMemory} needs.
 *
 * <p>Thread safety: all methods may be called by any number of threads.
 */
public interface PmemCalls {
  /** The longest piece of one {@link #copy}, in bytes. */
  int maxPiece();

  /**
   * Copies bytes of a buffer into persistent memory with the stores that suit their number
   * (non-temporal ones from 256 bytes on) and flushes what these leave in the cache.
   *
   * @param target an address in this process
   * @param source its position and limit do not count, and stay
   * @param start of the piece in the source
   * @param drain whether the copy, and all before it that did not drain, must be durable, and
   *     ordered before what this thread stores next, when this returns
   * @throws InternalError on a fault under the source, when that is a mapping
   */
  void copy(long target, ByteBuffer source, int start, int length, boolean drain);

  /** Flushes a range of the pool, at a position in its file, and fences. */
  void persist(long position, long length);
}
