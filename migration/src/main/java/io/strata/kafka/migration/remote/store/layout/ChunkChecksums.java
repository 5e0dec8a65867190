package io.strata.kafka.migration.remote.store.layout;

import io.strata.kafka.migration.remote.store.layout.StoredObject.ObjectType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.IntBuffer;
import java.util.stream.IntStream;
import java.util.zip.CRC32C;

/**
 * The CRC-32C of each chunk of a segment.
 *
 * @param chunkBytes how many bytes a chunk has; the last one may have fewer
 */
public record ChunkChecksums(int chunkBytes, long bytes, IntBuffer checksums) {

  /** Throws if the chunk size is out of range, or there are not as many as chunks. */
  public ChunkChecksums {
    if (chunkBytes < 1 << 16 || chunkBytes > 1 << 24 || Integer.bitCount(chunkBytes) != 1) {
      throw new IllegalArgumentException(
          "chunkBytes: found " + chunkBytes + ", expected a power of two from 65536 to 16777216");
    }
    checksums = checksums.asReadOnlyBuffer();
    long chunks = (bytes + chunkBytes - 1) / chunkBytes;
    if (chunks != checksums.remaining()) {
      throw new IllegalArgumentException(
          "chunk checksums: found %s, expected %s: %s bytes in chunks of %s"
              .formatted(checksums.remaining(), chunks, bytes, chunkBytes));
    }
  }

  /** The CRC-32C of what a buffer has left; its position is left where it was. */
  public static int crc(ByteBuffer bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes.duplicate());
    return (int) crc.getValue();
  }

  public static ChunkChecksums of(int chunkBytes, long bytes, int[] checksums) {
    return new ChunkChecksums(chunkBytes, bytes, IntBuffer.wrap(checksums));
  }

  public int chunks() {
    return checksums.remaining();
  }

  public int bytesOf(int chunk) {
    return (int) Math.min(chunkBytes, bytes - (long) chunk * chunkBytes);
  }

  public int get(int chunk) {
    return checksums.get(chunk);
  }

  /**
   * Checks one or more chunks.
   *
   * @param what names the object in messages
   * @param begin where the first one begins in the segment
   * @param bytes from position to limit; both are left where they were
   * @throws CorruptChunkException if these are not the bytes that were copied
   */
  public void check(String what, long begin, ByteBuffer bytes) throws CorruptChunkException {
    int chunk = (int) (begin / chunkBytes);
    ByteBuffer rest = bytes.duplicate();
    do { // A file that ends too early has no byte of the first one.
      ByteBuffer found = rest.slice(rest.position(), Math.min(chunkBytes, rest.remaining()));
      if (found.remaining() != bytesOf(chunk) || crc(found) != get(chunk)) {
        long first = (long) chunk * chunkBytes;
        String where =
            "%s, chunk %d (bytes %d to %d)"
                .formatted(what, chunk, first, first + bytesOf(chunk) - 1);
        throw new CorruptChunkException(
            where, found.remaining(), crc(found), bytesOf(chunk), get(chunk));
      }
      rest.position(rest.position() + found.remaining());
      chunk++;
    } while (rest.hasRemaining());
  }

  /** Returns where the chunks begin of which others were found. */
  public long[] wrong(ChunkChecksums found) {
    return IntStream.range(0, chunks())
        .filter(chunk -> chunk >= found.chunks() || found.get(chunk) != get(chunk))
        .mapToLong(chunk -> (long) chunk * chunkBytes)
        .toArray();
  }

  /**
   * Takes a segment's bytes in their order, and gives the checksums of its chunks and of the whole.
   * Used by one thread.
   */
  public static final class Builder {
    private final int chunkBytes;
    private final CRC32C whole = new CRC32C();
    private final CRC32C chunk = new CRC32C();
    private final IntStream.Builder checksums = IntStream.builder();
    private int inChunk;
    private long bytes;

    public Builder(int chunkBytes) {
      this.chunkBytes = chunkBytes;
    }

    /** Takes all that the buffer has left; its position is left where it was. */
    public void update(ByteBuffer buffer) {
      whole.update(buffer.duplicate());
      ByteBuffer rest = buffer.duplicate();
      while (rest.hasRemaining()) {
        int piece = Math.min(rest.remaining(), chunkBytes - inChunk);
        chunk.update(rest.slice(rest.position(), piece));
        rest.position(rest.position() + piece);
        inChunk += piece;
        bytes += piece;
        if (inChunk == chunkBytes) {
          endChunk();
        }
      }
    }

    private void endChunk() {
      checksums.add((int) chunk.getValue());
      chunk.reset();
      inChunk = 0;
    }

    public long bytes() {
      return bytes;
    }

    public int whole() {
      return (int) whole.getValue();
    }

    /** Returns what was taken, as a file of a segment. */
    public StoredObject object(ObjectType type) {
      return new StoredObject(type, bytes, whole());
    }

    /** The chunks' checksums; nothing may be taken after this. */
    public ChunkChecksums build() {
      if (inChunk > 0) {
        endChunk();
      }
      return of(chunkBytes, bytes, checksums.build().toArray());
    }
  }

  /** The store has other bytes than were written: the message names the object. */
  public static final class CorruptChunkException extends IOException {
    private static final long serialVersionUID = 1L;

    public CorruptChunkException(String message) {
      super(message);
    }

    /** Says what was found in the bytes that {@code what} names. */
    public CorruptChunkException(String what, long found, int crc, long expected, int expectedCrc) {
      this(
          """
          %s: found %d bytes with CRC-32C %08x, expected %d with %08x; the object is not what was \
          copied: look at its disk, and check the store with 'strata remote scrub'\
          """
              .formatted(what, found, crc, expected, expectedCrc));
    }
  }
}
