package io.strata.kafka.migration.remote.read;

import io.strata.kafka.migration.remote.calls.CallControl;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.NoSuchFileException;
import java.util.List;

/**
 * Reads chunks from the store and checks them. What is not there, or is wrong, is read once more:
 * the segment may be on its way from one level to another, and a fault of a bus is not one of the
 * disk. What is wrong or cannot be read then is read from another copy of the segment.
 *
 * <p>Thread safety: stateless; each call has a buffer of its own.
 */
final class ChunkReads {

  private ChunkReads() {}

  /** What is done with each chunk that was found right. */
  @FunctionalInterface
  interface Sink {
    void accept(int chunk, ByteBuffer bytes);
  }

  /**
   * Reads chunks that follow each other, and hands on those that are right.
   *
   * @param buffer has space for exactly these chunks
   * @throws CorruptChunkException if one of them is wrong, when all have been looked at
   */
  static void read(
      ChunkSource source, int first, int count, ByteBuffer buffer, CallControl control, Sink sink)
      throws IOException, InterruptedException {
    try {
      fill(source, first, buffer, Chunks.length(source, first, count), control);
    } catch (IOException e) {
      elsewhere(source, first, count, buffer, control, sink, e);
      return;
    }
    IOException wrong = null;
    for (int chunk = first; chunk < first + count && !control.givenUp(); chunk++) {
      int begin = (chunk - first) * source.chunkBytes();
      ByteBuffer bytes = buffer.slice(begin, Chunks.length(source, chunk));
      int found = Chunks.crc32c(bytes);
      if (found != source.checksum(chunk)) {
        fill(source, chunk, bytes, bytes.capacity(), control);
        int again = Chunks.crc32c(bytes);
        if (again != source.checksum(chunk)) {
          try {
            IOException why = corrupt(source, chunk, found, again);
            elsewhere(source, chunk, 1, bytes, control, sink, why);
          } catch (IOException e) {
            wrong = e;
          }
          continue;
        }
      }
      sink.accept(chunk, bytes);
    }
    if (wrong != null) {
      throw wrong;
    }
  }

  /** Reads chunks from the other copies; throws what was wrong with the first if none has them. */
  private static void elsewhere(
      ChunkSource source,
      int first,
      int count,
      ByteBuffer buffer,
      CallControl control,
      Sink sink,
      IOException why)
      throws IOException, InterruptedException {
    if (control.givenUp()
        || why instanceof ClosedByInterruptException
        || why instanceof InterruptedIOException) {
      throw why;
    }
    for (ChunkSource copy : copies(source, why)) {
      try {
        read(
            copy,
            first,
            count,
            buffer,
            control,
            (chunk, bytes) -> {
              source.isReplacedBy(copy, why);
              sink.accept(chunk, bytes);
            });
        return;
      } catch (IOException e) {
        copy.hasFailed(e);
        why.addSuppressed(e);
      }
    }
    throw why;
  }

  private static List<ChunkSource> copies(ChunkSource source, IOException why)
      throws IOException, InterruptedException {
    try {
      return source.copies();
    } catch (IOException e) {
      why.addSuppressed(e);
      throw why;
    }
  }

  private static void fill(
      ChunkSource source, int first, ByteBuffer target, int length, CallControl control)
      throws IOException, InterruptedException {
    try {
      source.read(first, target.clear().limit(length));
    } catch (NoSuchFileException | ClosedChannelException e) {
      if (control.givenUp()) {
        throw e;
      }
      source.read(first, target.clear().limit(length));
    }
    if (target.hasRemaining() && !control.givenUp()) {
      // The file under the name may have been another one a moment ago.
      source.read(first, target.clear().limit(length));
    }
    if (target.hasRemaining()) {
      throw new CorruptChunkException(
          source.describe()
              + ", from chunk "
              + first
              + ": found "
              + target.position()
              + " bytes, expected "
              + target.limit()
              + "; the object is shorter than when it was copied: look at its file system, and"
              + " check the store with 'strata remote scrub'");
    }
    target.flip();
  }

  private static CorruptChunkException corrupt(
      ChunkSource source, int chunk, int found, int again) {
    long begin = (long) chunk * source.chunkBytes();
    return new CorruptChunkException(
        String.format(
            "%s, chunk %d (bytes %d to %d): found CRC-32C %08x%s, expected %08x; the object is not"
                + " what was copied: look at its disk, and check the store with 'strata remote"
                + " scrub'",
            source.describe(),
            chunk,
            begin,
            begin + Chunks.length(source, chunk) - 1,
            found,
            again == found ? " twice" : String.format(" and, read once more, %08x", again),
            source.checksum(chunk)));
  }
}
