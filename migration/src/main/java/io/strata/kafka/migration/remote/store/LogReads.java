package io.strata.kafka.migration.remote.store;

import io.strata.kafka.migration.remote.calls.CallControl;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Optional;
import java.util.zip.CRC32C;

/**
 * Reads the logs of copies where they are: chunk by chunk, each checked before a byte of it is
 * handed on. No file stays open: a segment may be moved at any moment.
 *
 * <p>Thread safety: all methods may be called by any number of threads.
 */
public final class LogReads {

  /** No index of Kafka's is larger: its offsets are 32 bits. */
  private static final long LARGEST_INDEX = Integer.MAX_VALUE - 8;

  private final CopyBuffers buffers = new CopyBuffers();

  /**
   * Fills a target, on a thread of the copy's directory.
   *
   * @param position of the target's first byte; all of its bytes are the segment's
   * @param limit the longest that the caller waits
   * @throws CorruptChunkException if the bytes are not what was copied
   * @throws NoSuchFileException if the log is not there
   * @throws StoreUnavailableException if the directory cannot be used
   * @throws io.strata.kafka.migration.remote.calls.TimeLimitException if it takes too long
   */
  public void read(SegmentStore.Located copy, long position, ReadTarget target, Duration limit)
      throws IOException, InterruptedException {
    Path log = copy.file(ObjectType.LOG);
    boolean unused =
        copy.directory()
            .access()
            .read(
                "reading " + log,
                limit,
                control -> {
                  fill(log, copy.manifest().chunks(), position, target, control);
                  return true;
                });
  }

  private void fill(
      Path log, ChunkChecksums chunks, long position, ReadTarget target, CallControl control)
      throws IOException {
    try (CopyBuffers.Lease lease = buffers.borrow(chunks.chunkBytes());
        FileChannel channel = FileChannel.open(log, StandardOpenOption.READ)) {
      ByteBuffer buffer = lease.buffer();
      for (int done = 0; done < target.bytes() && !control.givenUp(); ) {
        int chunk = (int) ((position + done) / chunks.chunkBytes());
        long begin = (long) chunk * chunks.chunkBytes();
        Disk.readFully(channel, buffer.clear().limit(chunks.bytesOf(chunk)), begin);
        check(log.toString(), chunks, chunk, buffer);
        done += target.put(done, buffer.position((int) (position + done - begin)));
      }
    } catch (IOException e) {
      throw isStale(e) ? new NoSuchFileException(log.toString()) : e;
    }
  }

  /**
   * Whether NFS says that another machine has removed a file that is open here. The JDK hands over
   * the system's text for ESTALE alone, and no number: in another language the read fails, and
   * another copy of the segment is read.
   */
  private static boolean isStale(IOException e) {
    return String.valueOf(e.getMessage()).contains("Stale file handle");
  }

  /**
   * Reads an index of a copy, on the caller's thread.
   *
   * @throws IndexMissingException if the segment was copied without such an index
   * @throws CorruptChunkException if it is not what was copied, or is lost: Kafka would take "no
   *     such index" for an empty one, and return aborted records
   * @throws NoSuchFileException if the copy is not there
   */
  public static byte[] index(SegmentStore.Located copy, ObjectType type) throws IOException {
    Optional<StoredObject> object = copy.manifest().object(type);
    Path file = copy.file(type);
    if (object.isEmpty()) {
      throw new IndexMissingException(
          "%s: the segment was copied without %s".formatted(copy.path(), file.getFileName()));
    }
    byte[] bytes;
    long size;
    try {
      size = Files.size(file);
      bytes = size > LARGEST_INDEX ? new byte[0] : Files.readAllBytes(file);
    } catch (NoSuchFileException e) {
      if (!Disk.isThere(copy.path())) {
        throw e;
      }
      throw new CorruptChunkException(
          """
          %s: is not there, expected it: the segment's manifest names it; check the store with \
          'strata remote scrub'\
          """
              .formatted(file));
    }
    CRC32C crc = new CRC32C();
    crc.update(bytes);
    if (bytes.length != object.get().bytes() || (int) crc.getValue() != object.get().checksum()) {
      throw new CorruptChunkException(
          """
          %s: found %d bytes with CRC-32C %08x, expected %d with %08x; the object is not what was \
          copied: look at its disk, and check the store with 'strata remote scrub'\
          """
              .formatted(
                  file, size, (int) crc.getValue(), object.get().bytes(), object.get().checksum()));
    }
    return bytes;
  }

  /**
   * Checks a chunk.
   *
   * @param what names the object in messages
   * @param bytes from position to limit; both are left where they were
   * @throws CorruptChunkException if these are not the bytes that were copied
   */
  public static void check(String what, ChunkChecksums chunks, int chunk, ByteBuffer bytes)
      throws CorruptChunkException {
    CRC32C crc = new CRC32C();
    crc.update(bytes.duplicate());
    int expected = chunks.bytesOf(chunk);
    if (bytes.remaining() == expected && (int) crc.getValue() == chunks.get(chunk)) {
      return;
    }
    long begin = (long) chunk * chunks.chunkBytes();
    throw new CorruptChunkException(
        """
        %s, chunk %d (bytes %d to %d): found %d bytes with CRC-32C %08x, expected %d with %08x; \
        the object is not what was copied: look at its disk, and check the store with \
        'strata remote scrub'\
        """
            .formatted(
                what,
                chunk,
                begin,
                begin + expected - 1,
                bytes.remaining(),
                (int) crc.getValue(),
                expected,
                chunks.get(chunk)));
  }
}
