package io.strata.kafka.migration.remote.store;

import io.strata.kafka.migration.remote.calls.CallControl;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.zip.CRC32C;

/**
 * Reads the logs of copies where they are: chunk by chunk, each checked before a byte of it is
 * handed on. No file stays open: a segment may be moved at any moment.
 *
 * <p>Thread safety: all methods may be called by any number of threads.
 */
public final class LogReads {

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
