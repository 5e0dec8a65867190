package io.strata.kafka.pool;

import io.strata.kafka.memory.Durability;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.memory.PersistentMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;

/**
 * A pool's metadata on the heap, and zeros for all that lies behind: cheap enough to open thousands
 * of pools in a second. What is stored behind the metadata is dropped; whatever lies outside the
 * memory fails the test. Used by one thread.
 */
final class ImageMemory implements PersistentMemory {

  static final Path PATH = Path.of("the-image");

  private final ByteBuffer metadata;
  private final long size;
  private final Durability durability;
  private int stores;

  ImageMemory(byte[] metadata, long size, Durability durability) {
    this.metadata = ByteBuffer.wrap(metadata).order(ByteOrder.LITTLE_ENDIAN);
    this.size = size;
    this.durability = durability;
  }

  /** How often something was stored. */
  int stores() {
    return stores;
  }

  @Override
  public MemoryType type() {
    return MemoryType.MAPPED;
  }

  @Override
  public Durability durability() {
    return durability;
  }

  @Override
  public Path path() {
    return PATH;
  }

  @Override
  public long size() {
    return size;
  }

  @Override
  public boolean writable() {
    return true;
  }

  private void requireInside(long position, long length) {
    if (position < 0 || length < 0 || position > size - length) {
      throw new AssertionError(position + " + " + length + " is outside of " + size + " bytes");
    }
  }

  @Override
  public void load(long position, ByteBuffer target) {
    requireInside(position, target.remaining());
    for (long p = position; target.hasRemaining(); p++) {
      target.put(p < metadata.capacity() ? metadata.get((int) p) : 0);
    }
  }

  @Override
  public long loadLong(long position) {
    requireInside(position, Long.BYTES);
    return position + Long.BYTES <= metadata.capacity() ? metadata.getLong((int) position) : 0;
  }

  @Override
  public void store(long position, ByteBuffer source) {
    requireInside(position, source.remaining());
    stores++;
    for (long p = position; source.hasRemaining(); p++) {
      byte next = source.get();
      if (p < metadata.capacity()) {
        metadata.put((int) p, next);
      }
    }
  }

  @Override
  public void storeAndPersist(long position, ByteBuffer source) {
    store(position, source);
  }

  @Override
  public void storeLong(long position, long value) {
    requireInside(position, Long.BYTES);
    stores++;
    if (position + Long.BYTES <= metadata.capacity()) {
      metadata.putLong((int) position, value);
    }
  }

  @Override
  public void zero(long position, long length) {
    requireInside(position, length);
    stores++;
    for (long p = position; p < Math.min(position + length, metadata.capacity()); p++) {
      metadata.put((int) p, (byte) 0);
    }
  }

  @Override
  public void persist(long position, long length) {
    requireInside(position, length);
  }

  @Override
  public void force(long position, long length) {
    requireInside(position, length);
  }

  @Override
  public long transferTo(long position, long count, WritableByteChannel target) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void close() {}
}
