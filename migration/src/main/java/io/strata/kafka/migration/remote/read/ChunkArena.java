package io.strata.kafka.migration.remote.read;

import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * The space that cached chunks lie in. What lies there may go at any moment.
 *
 * <p>Thread safety: all methods, those of frames included, may be called by any number of threads.
 */
public interface ChunkArena extends AutoCloseable {

  /** How many bytes it takes at most. */
  long capacityBytes();

  /** How many bytes it takes now. */
  long usedBytes();

  /**
   * Stores a chunk.
   *
   * @param bytes its bytes, from position to limit; the position is left where it was
   * @return empty if there is no space now
   */
  Optional<Frame> store(ChunkKey key, ByteBuffer bytes);

  /** Frees what it holds. */
  @Override
  void close();

  /** One stored chunk. */
  interface Frame {
    /** Which chunk. */
    ChunkKey key();

    /** How many bytes it has. */
    int bytes();

    /**
     * Copies bytes out.
     *
     * @param offset from 0, in the chunk
     * @param target gets as many bytes as it has space for; {@code offset} and that number must lie
     *     within the chunk
     * @return false if the space was taken away: {@code target}'s position is unchanged then, and
     *     its content undefined
     */
    boolean read(int offset, ByteBuffer target);

    /** Whether the space was taken away or released. */
    boolean gone();

    /** Returns the space; without effect when it is gone. */
    void release();
  }
}
