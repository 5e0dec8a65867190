package io.strata.kafka.memory.calls;

import com.intel.pmem.llpl.MemoryPool;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;

/**
 * The calls of an append on any JDK: LLPL's flush, and libpmem's copy by way of a small direct
 * buffer, which stays in the first-level cache.
 *
 * <p>Thread safety: as {@link PmemCalls} says. Each thread has a buffer of its own.
 */
public final class LlplPmem implements PmemCalls {
  /** Fits the first-level cache, and is long enough for the call's cost not to matter; in bytes. */
  private static final int SCRATCH = 32 << 10;

  private final MemoryPool pool;
  private final ThreadLocal<Scratch> scratch = ThreadLocal.withInitial(Scratch::new);

  public LlplPmem(MemoryPool pool) {
    this.pool = pool;
  }

  @Override
  public int maxPiece() {
    return SCRATCH;
  }

  @Override
  public void copy(long target, ByteBuffer source, int start, int length, boolean drain) {
    Scratch through = scratch.get();
    try {
      through.buffer.put(0, source, start, length);
      if (source.isDirect()) {
        Faults.deliver(); // the source may be a mapping too
      }
      LibPmem.copy(target, through.address, length, drain);
    } finally {
      Reference.reachabilityFence(through);
    }
  }

  @Override
  public void persist(long position, long length) {
    pool.flush(position, length);
  }

  /** A thread's buffer outside of the heap. */
  private static final class Scratch {
    final ByteBuffer buffer = ByteBuffer.allocateDirect(SCRATCH);
    final long address = LibC.address(buffer);
  }
}
