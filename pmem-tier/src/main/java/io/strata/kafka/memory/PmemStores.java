package io.strata.kafka.memory;

import com.intel.pmem.llpl.MemoryPool;
import java.io.IOException;
import java.lang.invoke.VarHandle;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/**
 * The writing half of {@link PmemMemory}: LLPL's stores and flushes, and libpmem's copy.
 *
 * <p>LLPL maps the file for itself, and does not say where; the copy goes through a second mapping
 * of the same pages. LLPL has no public way to undo its mapping, which stays until the process
 * ends.
 *
 * <p>Bulk bytes go from the Java heap to a small direct buffer, which stays in the first-level
 * cache, and from there by non-temporal stores to the medium. This is the one native copy of this
 * package; why a store may do what a load must not is in docs/adr/0002-faults-under-a-mapping.md: a
 * fault in it ends the process, which has then acknowledged nothing of what it was storing.
 *
 * <p>Thread safety: all methods may be called by any number of threads. Each thread has a buffer of
 * its own.
 */
final class PmemStores {
  /** Fits the first-level cache, and is long enough for the call's cost not to matter; in bytes. */
  private static final int SCRATCH = 32 << 10;

  private final Path path;
  private final long size;
  private final MemoryPool pool;
  private final MappedWindows windows;
  private final ThreadLocal<Scratch> scratch = ThreadLocal.withInitial(Scratch::new);

  PmemStores(Path path, long size, MemoryPool pool, MappedWindows windows) {
    this.path = path;
    this.size = size;
    this.pool = pool;
    this.windows = windows;
  }

  /** As {@link PersistentMemory#storeAndPersist}, without its checks. */
  void store(long position, ByteBuffer source) throws IOException {
    int start = source.position();
    int length = source.remaining();
    Scratch through = scratch.get();
    try {
      for (int done = 0; done < length; ) {
        int piece = Math.min(SCRATCH, length - done);
        through.buffer.put(0, source, start + done, piece);
        if (source.isDirect()) {
          Faults.deliver(); // the source may be a mapping, too
        }
        long at = position + done;
        done += piece;
        long target = windows.address(at);
        LibPmem.copy(target, through.address, piece, done == length);
      }
    } catch (InternalError e) {
      throw Faults.at(path, position, length, size, e);
    } finally {
      Reference.reachabilityFence(windows);
      Reference.reachabilityFence(through);
    }
    source.position(start + length);
  }

  /** As {@link PersistentMemory#storeLong}, without its checks. */
  void storeLong(long position, long value) throws IOException {
    try {
      VarHandle.releaseFence();
      pool.setLong(position, value);
      Faults.deliver();
    } catch (InternalError e) {
      throw Faults.at(path, position, Long.BYTES, size, e);
    }
  }

  /**
   * As {@link PersistentMemory#zero}, without its checks. Not by LLPL: see {@link
   * MappedWindows#zero}.
   */
  void zero(long position, long length) throws IOException {
    windows.zero(path, position, length);
  }

  /** As {@link PersistentMemory#persist}, without its checks. */
  void persist(long position, long length) {
    pool.flush(position, length);
  }

  /** A thread's buffer outside of the heap. */
  private static final class Scratch {
    final ByteBuffer buffer = ByteBuffer.allocateDirect(SCRATCH);
    final long address = LibC.address(buffer);
  }
}
