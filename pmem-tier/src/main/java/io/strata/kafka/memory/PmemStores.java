package io.strata.kafka.memory;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;

/**
 * The writing half of {@link PmemMemory}.
 *
 * <p>LLPL maps the file for itself, and does not say where; stores go through a second mapping of
 * the same pages. LLPL has no public way to undo its mapping, which stays until the process ends.
 *
 * <p>Bulk bytes go by non-temporal stores to the medium. This is the one native copy of this
 * package; why a store may do what a load must not is in docs/adr/0002-faults-under-a-mapping.md: a
 * fault in it ends the process, which has then acknowledged nothing of what it was storing.
 *
 * <p>Thread safety: all methods may be called by any number of threads.
 */
final class PmemStores {
  private static final VarHandle WORD =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final Path path;
  private final long size;
  private final MappedWindows windows;

  /** Where each window begins. */
  private final long[] addresses;

  private final PmemCalls calls;

  PmemStores(Path path, long size, MappedWindows windows, PmemCalls calls) {
    this.path = path;
    this.size = size;
    this.windows = windows;
    this.addresses = windows.addresses();
    this.calls = calls;
  }

  /** As {@link PersistentMemory#storeAndPersist}, without its checks. */
  void store(long position, ByteBuffer source) throws IOException {
    int start = source.position();
    int length = source.remaining();
    try {
      for (int done = 0; done < length; ) {
        int piece = Math.min(calls.maxPiece(), length - done);
        long target = MappedWindows.address(addresses, position + done);
        int from = start + done;
        done += piece;
        calls.copy(target, source, from, piece, done == length);
      }
    } catch (InternalError e) {
      throw Faults.at(path, position, length, size, e);
    } finally {
      Reference.reachabilityFence(windows);
    }
    source.position(start + length);
  }

  /** As {@link PersistentMemory#storeLong}, without its checks. */
  void storeLong(long position, long value) throws IOException {
    try {
      WORD.setRelease(windows.at(position), MappedWindows.offset(position), value);
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
    try {
      calls.persist(position, length);
    } finally {
      Reference.reachabilityFence(windows);
    }
  }
}
