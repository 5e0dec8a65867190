package io.strata.kafka.pool.space;

import io.strata.kafka.memory.PersistentMemory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import org.jspecify.annotations.Nullable;

/**
 * Bytes of a pool's segments by their offsets in these, piece by piece where they cross from one
 * extent to the next.
 *
 * <p>Thread safety: stateless but for the memory; safe for use by any thread, and as that says.
 */
public final class ExtentBytes {

  /** The bytes of a segment without a pool: there are none, and no caller asks for any. */
  public static final ExtentBytes NONE = new ExtentBytes();

  private final @Nullable PersistentMemory pool;

  public ExtentBytes(PersistentMemory memory) {
    this.pool = memory;
  }

  private ExtentBytes() {
    this.pool = null;
  }

  private PersistentMemory memory() {
    if (pool == null) {
      throw new IllegalStateException("a segment without a slot has no pool");
    }
    return pool;
  }

  /** Fills {@code length} bytes of {@code target}, whose limit stays. */
  public void load(ExtentList extents, long offset, ByteBuffer target, int length)
      throws IOException {
    inPieces(extents, offset, target, length, false);
  }

  /** Stores {@code length} bytes of {@code source}, whose limit stays, durably. */
  public void storeAndPersist(ExtentList extents, long offset, ByteBuffer source, int length)
      throws IOException {
    inPieces(extents, offset, source, length, true);
  }

  /** Stores zeros from one offset up to another, durably. */
  public void zeroAndPersist(ExtentList extents, long from, long to) throws IOException {
    long at = from;
    for (int i = extents.find(from); at < to; i++) {
      long within = at - extents.start(i);
      long piece = Math.min(to - at, extents.length(i) - within);
      memory().zero(extents.position(i) + within, piece);
      memory().persist(extents.position(i) + within, piece);
      at += piece;
    }
  }

  /** One attempt to write up to {@code count} bytes of the extent that {@code offset} lies in. */
  public long transferTo(ExtentList extents, long offset, long count, WritableByteChannel target)
      throws IOException {
    int i = extents.find(offset);
    long within = offset - extents.start(i);
    long piece = Math.min(extents.length(i) - within, count);
    return memory().transferTo(extents.position(i) + within, piece, target);
  }

  private void inPieces(
      ExtentList extents, long offset, ByteBuffer bytes, int length, boolean store)
      throws IOException {
    PersistentMemory memory = memory();
    int limit = bytes.limit();
    int end = bytes.position() + length;
    long at = offset;
    try {
      for (int i = extents.find(offset); bytes.position() < end; i++) {
        long within = at - extents.start(i);
        int piece = (int) Math.min(end - bytes.position(), extents.length(i) - within);
        bytes.limit(bytes.position() + piece);
        long position = extents.position(i) + within;
        if (store) {
          memory.storeAndPersist(position, bytes);
        } else {
          memory.load(position, bytes);
        }
        at += piece;
      }
    } finally {
      bytes.limit(limit);
    }
  }
}
