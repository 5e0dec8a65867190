package io.strata.kafka.migration.remote.read;

import java.nio.ByteBuffer;

/**
 * A chunk's bytes, checked.
 *
 * <p>Thread safety: all methods may be called by any number of threads.
 */
interface Chunk {

  /**
   * Copies bytes out, as {@link ChunkArena.Frame#read}.
   *
   * @return false if they are not there any more
   */
  boolean read(int offset, ByteBuffer target);

  /** Bytes of one's own on the heap: where the cache has no space for them. */
  record Own(ByteBuffer bytes) implements Chunk {

    /** Copies {@code bytes}, from position to limit. */
    static Own copyOf(ByteBuffer bytes) {
      ByteBuffer own = ByteBuffer.allocate(bytes.remaining());
      own.put(0, bytes, bytes.position(), bytes.remaining());
      return new Own(own);
    }

    @Override
    public boolean read(int offset, ByteBuffer target) {
      int wanted = target.remaining();
      target.put(target.position(), bytes, offset, wanted);
      target.position(target.position() + wanted);
      return true;
    }
  }
}
