package io.strata.kafka.pool;

import io.strata.kafka.memory.Durability;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.memory.PersistentMemory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;
import java.util.BitSet;

/**
 * A memory that needs a force, and knows which pages have been changed since theirs.
 *
 * <p>Thread safety: none; for threads that take turns.
 */
final class UnforcedMemory implements PersistentMemory {

  private static final int PAGE = 4 << 10;

  private final PersistentMemory memory;
  private final BitSet changed = new BitSet();

  UnforcedMemory(PersistentMemory memory) {
    this.memory = memory;
  }

  private static int page(long position) {
    return (int) (position / PAGE);
  }

  private void changed(long position, long length) {
    changed.set(page(position), page(position + length - 1) + 1);
  }

  /** Whether nothing of a range has been changed since it was forced. */
  boolean isForced(long position, long length) {
    int next = changed.nextSetBit(page(position));
    return next < 0 || next > page(position + length - 1);
  }

  @Override
  public MemoryType type() {
    return MemoryType.MAPPED;
  }

  @Override
  public Durability durability() {
    return Durability.FORCE;
  }

  @Override
  public Path path() {
    return memory.path();
  }

  @Override
  public long size() {
    return memory.size();
  }

  @Override
  public boolean writable() {
    return true;
  }

  @Override
  public void load(long position, ByteBuffer target) throws IOException {
    memory.load(position, target);
  }

  @Override
  public long loadLong(long position) throws IOException {
    return memory.loadLong(position);
  }

  @Override
  public void store(long position, ByteBuffer source) throws IOException {
    changed(position, source.remaining());
    memory.store(position, source);
  }

  @Override
  public void storeAndPersist(long position, ByteBuffer source) throws IOException {
    store(position, source);
  }

  @Override
  public void storeLong(long position, long value) throws IOException {
    changed(position, Long.BYTES);
    memory.storeLong(position, value);
  }

  @Override
  public void zero(long position, long length) throws IOException {
    if (length > 0) {
      changed(position, length);
      memory.zero(position, length);
    }
  }

  @Override
  public void persist(long position, long length) throws IOException {
    memory.persist(position, length);
  }

  @Override
  public void force(long position, long length) {
    if (length > 0) {
      changed.clear(page(position), page(position + length - 1) + 1);
    }
  }

  @Override
  public long transferTo(long position, long count, WritableByteChannel target) throws IOException {
    return memory.transferTo(position, count, target);
  }

  @Override
  public void close() throws IOException {
    memory.close();
  }
}
