package io.strata.kafka.migration.remote.store;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.zip.CRC32C;

/** The CRC-32C of each chunk of a segment. */
public final class ChunkChecksums {

  private final int chunkBytes;
  private final long bytes;
  private final int[] checksums;

  private ChunkChecksums(int chunkBytes, long bytes, int[] checksums) {
    this.chunkBytes = chunkBytes;
    this.bytes = bytes;
    this.checksums = checksums;
  }

  /**
   * Of given values.
   *
   * @throws IllegalArgumentException if the chunk size is out of range, or there are not as many as
   *     chunks
   */
  static ChunkChecksums of(int chunkBytes, long bytes, int[] checksums) {
    if (chunkBytes < 1 << 16 || chunkBytes > 1 << 24 || Integer.bitCount(chunkBytes) != 1) {
      throw new IllegalArgumentException(
          "chunkBytes: found " + chunkBytes + ", expected a power of two from 65536 to 16777216");
    }
    long chunks = (bytes + chunkBytes - 1) / chunkBytes;
    if (chunks != checksums.length) {
      throw new IllegalArgumentException(
          "chunk checksums: found %s, expected %s: %s bytes in chunks of %s"
              .formatted(checksums.length, chunks, bytes, chunkBytes));
    }
    return new ChunkChecksums(chunkBytes, bytes, checksums.clone());
  }

  /** How many bytes a chunk has; the last one may have fewer. */
  public int chunkBytes() {
    return chunkBytes;
  }

  /** How many chunks there are. */
  public int chunks() {
    return checksums.length;
  }

  /** How many bytes one chunk has. */
  public int bytesOf(int chunk) {
    return (int) Math.min(chunkBytes, bytes - (long) chunk * chunkBytes);
  }

  /** The checksum of one chunk. */
  public int get(int chunk) {
    return checksums[chunk];
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ChunkChecksums that
        && chunkBytes == that.chunkBytes
        && bytes == that.bytes
        && Arrays.equals(checksums, that.checksums);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(checksums);
  }

  @Override
  public String toString() {
    return checksums.length + " chunks of " + chunkBytes + " bytes";
  }

  /**
   * Takes a segment's bytes in their order, and gives the checksums of its chunks and of the whole.
   *
   * <p>Thread safety: used by one thread.
   */
  static final class Builder {
    private final int chunkBytes;
    private final CRC32C whole = new CRC32C();
    private final CRC32C chunk = new CRC32C();
    private int[] checksums = new int[16];
    private int count;
    private int inChunk;
    private long bytes;

    Builder(int chunkBytes) {
      this.chunkBytes = chunkBytes;
    }

    /** Takes all that the buffer has left; its position is left where it was. */
    void update(ByteBuffer buffer) {
      whole.update(buffer.duplicate());
      ByteBuffer rest = buffer.duplicate();
      while (rest.hasRemaining()) {
        int piece = Math.min(rest.remaining(), chunkBytes - inChunk);
        ByteBuffer part = rest.slice(rest.position(), piece);
        chunk.update(part);
        rest.position(rest.position() + piece);
        inChunk += piece;
        bytes += piece;
        if (inChunk == chunkBytes) {
          endChunk();
        }
      }
    }

    private void endChunk() {
      if (count == checksums.length) {
        checksums = Arrays.copyOf(checksums, count * 2);
      }
      checksums[count++] = (int) chunk.getValue();
      chunk.reset();
      inChunk = 0;
    }

    /** How many bytes were taken. */
    long bytes() {
      return bytes;
    }

    /** The checksum of all of them. */
    int whole() {
      return (int) whole.getValue();
    }

    /** The chunks' checksums; nothing may be taken after this. */
    ChunkChecksums build() {
      if (inChunk > 0) {
        endChunk();
      }
      return ChunkChecksums.of(chunkBytes, bytes, Arrays.copyOf(checksums, count));
    }
  }
}
