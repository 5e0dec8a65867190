package io.strata.kafka.segment;

import io.strata.kafka.memory.Durability;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.memory.PersistentMemory;
import io.strata.kafka.turns.Turns;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * A memory on the heap that has only the pages that were written to: cheap to make thousands of.
 *
 * <p>Thread safety: as real memory. Racing threads see each other's bytes or do not; words are
 * ordered.
 */
public final class SparseMemory implements PersistentMemory {

  private static final int PAGE = 16 << 10;
  private static final VarHandle WORD =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final AtomicReferenceArray<byte[]> pages;
  private final int size;

  /** Zeros. */
  public SparseMemory(int size) {
    this.size = size;
    this.pages = new AtomicReferenceArray<>(size / PAGE);
  }

  /** A copy of another one, with pages of its own. */
  public SparseMemory(SparseMemory other) {
    this(other.size);
    for (int i = 0; i < pages.length(); i++) {
      byte[] page = other.pages.get(i);
      if (page != null) {
        pages.set(i, page.clone());
      }
    }
  }

  private byte[] page(long position) {
    int index = (int) (position / PAGE);
    byte[] page = pages.get(index);
    if (page == null) {
      page = new byte[PAGE];
      if (!pages.compareAndSet(index, null, page)) {
        page = pages.get(index);
      }
    }
    return page;
  }

  @Override
  public MemoryType type() {
    return MemoryType.MAPPED;
  }

  @Override
  public Durability durability() {
    return Durability.POWER;
  }

  @Override
  public Path path() {
    return Path.of("sparse-memory");
  }

  @Override
  public long size() {
    return size;
  }

  @Override
  public boolean writable() {
    return true;
  }

  @Override
  public void load(long position, ByteBuffer target) {
    Turns.load(this, position, target.remaining());
    for (long p = position; target.hasRemaining(); ) {
      int within = (int) (p % PAGE);
      int length = Math.min(PAGE - within, target.remaining());
      target.put(page(p), within, length);
      p += length;
    }
  }

  @Override
  public long loadLong(long position) {
    long value = (long) WORD.get(page(position), (int) (position % PAGE));
    VarHandle.fullFence();
    return value;
  }

  @Override
  public void store(long position, ByteBuffer source) {
    Turns.store(this, position, source.remaining());
    for (long p = position; source.hasRemaining(); ) {
      int within = (int) (p % PAGE);
      int length = Math.min(PAGE - within, source.remaining());
      source.get(page(p), within, length);
      p += length;
    }
  }

  @Override
  public void storeAndPersist(long position, ByteBuffer source) {
    store(position, source);
  }

  @Override
  public void storeLong(long position, long value) {
    // A JDK from 22 on has no volatile access to words in an array of bytes.
    VarHandle.fullFence();
    WORD.set(page(position), (int) (position % PAGE), value);
    VarHandle.fullFence();
  }

  @Override
  public void zero(long position, long length) {
    store(position, ByteBuffer.allocate((int) length));
  }

  @Override
  public void persist(long position, long length) {}

  @Override
  public void force(long position, long length) {}

  @Override
  public long transferTo(long position, long count, WritableByteChannel target) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate((int) count);
    load(position, bytes);
    return target.write(bytes.flip());
  }

  @Override
  public void close() {}
}
