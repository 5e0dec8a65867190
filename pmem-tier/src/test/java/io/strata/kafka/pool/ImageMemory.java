package io.strata.kafka.pool;

import io.strata.kafka.memory.Durability;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.memory.PersistentMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * A pool's metadata on the heap, and zeros for all that lies behind: cheap enough to open thousands
 * of pools in a second. What is stored behind the metadata is dropped; whatever lies outside the
 * memory fails the test. Used by one thread.
 */
final class ImageMemory implements PersistentMemory {

  static final Path PATH = Path.of("the-image");

  private static final int PAGE = 4096;

  private final ByteBuffer metadata;
  private final long size;
  private final Durability durability;

  /** What was stored behind the metadata, by page: a superblock may tell of more slots. */
  private final Map<Long, byte[]> behind = new HashMap<>();

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

  private byte at(long position) {
    if (position < metadata.capacity()) {
      return metadata.get((int) position);
    }
    byte[] page = behind.get(position / PAGE);
    return page == null ? 0 : page[(int) (position % PAGE)];
  }

  private void put(long position, byte value) {
    if (position < metadata.capacity()) {
      metadata.put((int) position, value);
    } else if (value != 0 || behind.containsKey(position / PAGE)) {
      behind.computeIfAbsent(position / PAGE, any -> new byte[PAGE])[(int) (position % PAGE)] =
          value;
    }
  }

  @Override
  public void load(long position, ByteBuffer target) {
    requireInside(position, target.remaining());
    for (long p = position; target.hasRemaining(); p++) {
      target.put(at(p));
    }
  }

  @Override
  public long loadLong(long position) {
    requireInside(position, Long.BYTES);
    long value = 0;
    for (int i = Long.BYTES - 1; i >= 0; i--) {
      value = (value << Byte.SIZE) | Byte.toUnsignedLong(at(position + i));
    }
    return value;
  }

  @Override
  public void store(long position, ByteBuffer source) {
    requireInside(position, source.remaining());
    stores++;
    for (long p = position; source.hasRemaining(); p++) {
      put(p, source.get());
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
    for (int i = 0; i < Long.BYTES; i++) {
      put(position + i, (byte) (value >>> (i * Byte.SIZE)));
    }
  }

  @Override
  public void zero(long position, long length) {
    requireInside(position, length);
    stores++;
    for (long p = position; p < Math.min(position + length, metadata.capacity()); p++) {
      metadata.put((int) p, (byte) 0);
    }
    behind.forEach(
        (page, bytes) -> {
          long from = Math.max(position, page * PAGE);
          long to = Math.min(position + length, (page + 1) * PAGE);
          if (from < to) {
            Arrays.fill(bytes, (int) (from - page * PAGE), (int) (to - page * PAGE), (byte) 0);
          }
        });
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
