package io.strata.kafka.pool;

import io.strata.kafka.memory.DelegatingMemory;
import io.strata.kafka.memory.Durability;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.memory.PersistentMemory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.BitSet;

/**
 * A memory that needs a force, and knows which pages have been changed since theirs.
 *
 * <p>Thread safety: none; for threads that take turns.
 */
final class UnforcedMemory extends DelegatingMemory {

  private static final int PAGE = 4 << 10;

  private final BitSet changed = new BitSet();

  UnforcedMemory(PersistentMemory memory) {
    super(memory);
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
  public void store(long position, ByteBuffer source) throws IOException {
    changed(position, source.remaining());
    super.store(position, source);
  }

  @Override
  public void storeAndPersist(long position, ByteBuffer source) throws IOException {
    store(position, source);
  }

  @Override
  public void storeLong(long position, long value) throws IOException {
    changed(position, Long.BYTES);
    super.storeLong(position, value);
  }

  @Override
  public void zero(long position, long length) throws IOException {
    if (length > 0) {
      changed(position, length);
      super.zero(position, length);
    }
  }

  @Override
  public void zeroRange(long position, long length) throws IOException {
    zero(position, length);
  }

  @Override
  public void forceAlone(long position, long length) {
    force(position, length);
  }

  @Override
  public void force(long position, long length) {
    if (length > 0) {
      changed.clear(page(position), page(position + length - 1) + 1);
    }
  }
}
