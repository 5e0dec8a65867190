package io.strata.kafka.migration.remote.store;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.strata.kafka.migration.FileStatus;
import io.strata.kafka.migration.remote.store.disk.Deadlines;
import io.strata.kafka.migration.remote.store.disk.DirectoryAccess.StoreUnavailableException;
import io.strata.kafka.migration.remote.store.disk.Disk;
import io.strata.kafka.migration.remote.store.layout.ChunkChecksums;
import io.strata.kafka.migration.remote.store.layout.ChunkChecksums.CorruptChunkException;
import io.strata.kafka.migration.remote.store.layout.StoredObject;
import io.strata.kafka.migration.remote.store.layout.StoredObject.ObjectType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/**
 * Reads the logs of copies where they are: chunk by chunk, each checked before a byte of it is
 * handed on. No file stays open: a segment may be moved at any moment.
 */
public final class LogReads {

  /** No index of Kafka's is larger: its offsets are 32 bits. */
  private static final long LARGEST_INDEX = Integer.MAX_VALUE - 8;

  private final ObjectFiles.CopyBuffers buffers = new ObjectFiles.CopyBuffers();

  /**
   * Fills a target, on a thread of the copy's directory.
   *
   * @param position of the target's first byte; all of its bytes are the segment's
   * @param limit the longest that the caller waits
   * @throws CorruptChunkException if the bytes are not what was copied
   * @throws NoSuchFileException if the log is not there
   * @throws StoreUnavailableException if the directory cannot be used
   * @throws io.strata.kafka.migration.remote.store.disk.Deadlines.TimeLimitException if it takes
   *     too long
   */
  public void read(SegmentStore.Located copy, long position, ReadTarget target, Duration limit)
      throws IOException, InterruptedException {
    Path log = copy.file(ObjectType.LOG);
    ChunkChecksums chunks = copy.manifest().chunks();
    copy.directory()
        .read("reading " + log, limit, control -> fill(log, chunks, position, target, control));
  }

  /** Returns how many bytes were read: all, unless the caller has gone on. */
  private int fill(
      Path file, ChunkChecksums chunks, long position, ReadTarget target, Deadlines.Control control)
      throws IOException {
    try (ObjectFiles.CopyBuffers.Lease lease = buffers.borrow(chunks.chunkBytes());
        FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      ByteBuffer buffer = lease.buffer();
      int done = 0;
      while (done < target.bytes() && !control.isCancelled()) {
        int chunk = (int) ((position + done) / chunks.chunkBytes());
        long first = (long) chunk * chunks.chunkBytes();
        Disk.readFully(channel, buffer.clear().limit(chunks.bytesOf(chunk)), first);
        chunks.check(file.toString(), first, buffer);
        done += target.put(done, buffer.position((int) (position + done - first)));
      }
      return done;
    } catch (IOException e) {
      throw isStale(e) ? new NoSuchFileException(file.toString()) : e;
    }
  }

  /**
   * Returns whether NFS says that another machine has removed a file that is open here. The JDK
   * hands over the system's text for ESTALE alone, and no number: in another language the read
   * fails, and another copy of the segment is read.
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
      if (!FileStatus.isThere(copy.path())) {
        throw e;
      }
      throw new CorruptChunkException(
          """
          %s: is not there, expected it: the segment's manifest names it; check the store with \
          'strata remote scrub'\
          """
              .formatted(file));
    }
    int crc = ChunkChecksums.crc(ByteBuffer.wrap(bytes));
    if (bytes.length != object.get().bytes() || crc != object.get().checksum()) {
      throw new CorruptChunkException(
          file.toString(), size, crc, object.get().bytes(), object.get().checksum());
    }
    return bytes;
  }

  /**
   * The part of a reader's array that another thread fills, until the reader goes on without it: a
   * read that hangs may end when the array has long been used for something else.
   */
  public static final class ReadTarget implements AutoCloseable {

    private final byte[] array;
    private final int offset;
    private final int bytes;

    @GuardedBy("this")
    private boolean closed;

    /** A target of {@code bytes} bytes of an array, from {@code offset} on. */
    public ReadTarget(byte[] array, int offset, int bytes) {
      int unused = Objects.checkFromIndexSize(offset, bytes, array.length);
      this.array = array;
      this.offset = offset;
      this.bytes = bytes;
    }

    public int bytes() {
      return bytes;
    }

    /**
     * Copies bytes in, as many as there are and fit.
     *
     * @param at where, from 0
     * @param from is read from its position, which is left where it was
     */
    public synchronized int put(int at, ByteBuffer from) {
      int count = Math.min(bytes - at, from.remaining());
      if (!closed) {
        from.get(from.position(), array, offset + at, count);
      }
      return count;
    }

    /** Takes no more bytes: from now on the array is its owner's alone. */
    @Override
    public synchronized void close() {
      closed = true;
    }
  }

  /** A segment is there, and was copied without an index of the kind: it never had one. */
  public static final class IndexMissingException extends IOException {
    private static final long serialVersionUID = 1L;

    public IndexMissingException(String message) {
      super(message);
    }
  }
}
