package io.strata.kafka.migration.remote.read;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;

/**
 * The room that cached chunks lie in. Room may be taken away at any moment (a pool needs it for
 * segments), and what lies there may be lost or damaged by a crash: a reader checks what it reads
 * by the chunk's checksum.
 *
 * <p>Thread safety: all methods, those of frames included, may be called by any number of threads.
 */
public interface ChunkArena extends AutoCloseable {

  /** How many bytes it takes at most. */
  long capacityBytes();

  /** How many bytes it takes now. */
  long usedBytes();

  /** Whether it lies in a pool. */
  boolean inPool();

  /**
   * Stores a chunk.
   *
   * @param bytes its bytes, from position to limit; the position is left where it was
   * @return empty if there is no room now
   */
  Optional<Frame> store(ChunkKey key, ByteBuffer bytes);

  /** What an earlier process left, the most recently stored last; each is given once. */
  List<Frame> survivors();

  /** Gives up what it holds in memory; what lies in a pool stays there for the next process. */
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
     * @param target gets as many bytes as it has room for; {@code offset} and that number must lie
     *     within the chunk
     * @return false if the room was taken away: {@code target}'s position is unchanged then, and
     *     its content undefined
     */
    boolean read(int offset, ByteBuffer target);

    /** Whether the room was taken away or given up. */
    boolean gone();

    /** Gives the room up; without effect when it is gone. */
    void release();
  }
}
