package io.strata.kafka.memory;

import io.strata.kafka.memory.calls.Faults;
import io.strata.kafka.memory.calls.MappedWindows;
import io.strata.kafka.memory.calls.PmemCalls;
import java.io.IOException;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Intel's libpmem by way of LLPL for stores, and a mapping by the JDK for loads and words.
 *
 * <p>On a file system without DAX it also flushes, and is as durable as its file: LLPL does not
 * notice. This package has probed what {@link #durability} says.
 *
 * <p>LLPL maps the file for itself, and does not say where; stores go through a second mapping of
 * the same pages. LLPL has no public way to undo its mapping, which stays until the process ends.
 *
 * <p>Bulk bytes go by non-temporal stores to the medium. This is the one native copy of this
 * package; why a store may do what a load must not is in docs/adr/0002-faults-under-a-mapping.md: a
 * fault in it ends the process, which has then not acknowledged what it was storing.
 *
 * <p>Thread safety: as {@link PersistentMemory} says.
 */
public final class PmemMemory extends MappedMemory {
  /** Empty when read-only. */
  private final Optional<PmemCalls> calls;

  /** Where each window begins. */
  private final long[] addresses;

  public PmemMemory(
      Path path,
      long size,
      Durability durability,
      MappedWindows windows,
      WriteBack<MappedWindows> writeBack,
      Optional<PmemCalls> calls,
      Optional<ZeroedRanges> ranges) {
    super(MemoryType.PMEM, path, size, calls.isPresent(), durability, windows, writeBack, ranges);
    this.calls = calls;
    this.addresses = windows.addresses();
  }

  /**
   * {@inheritDoc}
   *
   * <p>The stores used are durable at once: a plain copy that is flushed later takes longer.
   */
  @Override
  public void store(long position, ByteBuffer source) throws IOException {
    MappedWindows open = openForWriting();
    PmemCalls to = calls.orElseThrow();
    int start = source.position();
    int length = source.remaining();
    check(position, length);
    try {
      for (int done = 0; done < length; ) {
        int piece = Math.min(to.maxPiece(), length - done);
        long target = MappedWindows.address(addresses, position + done);
        int from = start + done;
        done += piece;
        to.copy(target, source, from, piece, done == length);
      }
    } catch (InternalError e) {
      throw Faults.at(path, position, length, size, e);
    } finally {
      Reference.reachabilityFence(open);
    }
    source.position(start + length);
  }

  @Override
  public void storeAndPersist(long position, ByteBuffer source) throws IOException {
    store(position, source);
  }

  @Override
  public void persist(long position, long length) throws IOException {
    MappedWindows open = open();
    check(position, length);
    try {
      if (calls.isPresent() && length > 0) {
        calls.get().persist(position, length);
      }
    } finally {
      Reference.reachabilityFence(open);
    }
  }
}
