package io.strata.kafka.migration.remote.read;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;

/**
 * A segment of the store whose bytes can be read in chunks.
 *
 * <p>Thread safety: all methods may be called by any number of threads.
 */
public interface ChunkSource {

  /** For messages: the topic, the partition, the offsets, and the path. */
  String describe();

  /** The key of one of its chunks. */
  ChunkKey key(int chunk);

  /** How many bytes the segment has. */
  long bytes();

  /** How many bytes a chunk has; the last one may have fewer. */
  int chunkBytes();

  /** The CRC-32C of one chunk. */
  int checksum(int chunk);

  /**
   * Reads chunks that follow each other, as they are in the store: unchecked.
   *
   * @param first the first one
   * @param target gets as many bytes as it has space for: those of whole chunks, the last one's
   *     shorter
   * @throws IOException if they cannot be read; {@link java.nio.file.NoSuchFileException} if the
   *     segment is not there any more
   */
  void read(int first, ByteBuffer target) throws IOException, InterruptedException;

  /**
   * The places that have the segment's bytes now, each as a source of its own that looks nowhere
   * else, the best first; this one's place may be among them.
   *
   * @throws IOException if none can be found
   */
  default List<ChunkSource> copies() throws IOException, InterruptedException {
    return List.of();
  }

  /**
   * One of the {@link #copies} had right what could not be read here, or was wrong.
   *
   * @param why what was found here
   */
  default void isReplacedBy(ChunkSource copy, IOException why) {}

  /**
   * Notes that this one of the {@link #copies} could not be read, or was wrong.
   *
   * @param why what was found
   */
  default void hasFailed(IOException why) {}

  /** How many chunks are best read at once: 1 on a disk, more where each read is a request. */
  int chunksAtOnce();

  /**
   * The segment that follows in the partition, for reading ahead; empty if there is none, or it is
   * not known.
   */
  Optional<ChunkSource> next() throws IOException;
}
