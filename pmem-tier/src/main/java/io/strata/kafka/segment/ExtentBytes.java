package io.strata.kafka.segment;

import io.strata.kafka.memory.PersistentMemory;
import io.strata.kafka.pool.ExtentList;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.util.Optional;

/**
 * Bytes of a segment by their offsets in it, piece by piece where they cross from one extent to the
 * next.
 *
 * <p>Thread safety: stateless but for the memory; safe for use by any thread, and as that says.
 */
final class ExtentBytes {

  /** The bytes of a segment without a pool: there are none, and no caller asks for any. */
  static final ExtentBytes NONE = new ExtentBytes(Optional.empty());

  private final Optional<PersistentMemory> pool;

  // Made once: an append is not to allocate.
  private final Access load;
  private final Access storeAndPersist;

  ExtentBytes(PersistentMemory memory) {
    this(Optional.of(memory));
  }

  private ExtentBytes(Optional<PersistentMemory> pool) {
    this.pool = pool;
    if (pool.isPresent()) {
      PersistentMemory memory = pool.get();
      this.load = memory::load;
      this.storeAndPersist = memory::storeAndPersist;
    } else {
      this.load = (position, bytes) -> memory();
      this.storeAndPersist = this.load;
    }
  }

  private PersistentMemory memory() {
    return pool.orElseThrow(
        () -> new IllegalStateException("a segment without a slot has no pool"));
  }

  /** Fills {@code length} bytes of {@code target}, whose limit stays. */
  void load(ExtentList extents, long offset, ByteBuffer target, int length) throws IOException {
    inPieces(extents, offset, target, length, load);
  }

  /** Stores {@code length} bytes of {@code source}, whose limit stays, durably. */
  void storeAndPersist(ExtentList extents, long offset, ByteBuffer source, int length)
      throws IOException {
    inPieces(extents, offset, source, length, storeAndPersist);
  }

  /** Stores zeros from one offset up to another, durably. */
  void zeroAndPersist(ExtentList extents, long from, long to) throws IOException {
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
  long transferTo(ExtentList extents, long offset, long count, WritableByteChannel target)
      throws IOException {
    int i = extents.find(offset);
    long within = offset - extents.start(i);
    long piece = Math.min(extents.length(i) - within, count);
    return memory().transferTo(extents.position(i) + within, piece, target);
  }

  private interface Access {
    void at(long position, ByteBuffer bytes) throws IOException;
  }

  private static void inPieces(
      ExtentList extents, long offset, ByteBuffer bytes, int length, Access access)
      throws IOException {
    int limit = bytes.limit();
    int end = bytes.position() + length;
    long at = offset;
    try {
      for (int i = extents.find(offset); bytes.position() < end; i++) {
        long within = at - extents.start(i);
        int piece = (int) Math.min(end - bytes.position(), extents.length(i) - within);
        bytes.limit(bytes.position() + piece);
        access.at(extents.position(i) + within, bytes);
        at += piece;
      }
    } finally {
      bytes.limit(limit);
    }
  }
}
