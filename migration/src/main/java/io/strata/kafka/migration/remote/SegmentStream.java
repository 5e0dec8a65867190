package io.strata.kafka.migration.remote;

import io.strata.kafka.migration.remote.StoreReads.Kept;
import io.strata.kafka.migration.remote.store.LogReads.ReadTarget;
import io.strata.kafka.migration.remote.store.SegmentStore.Located;
import io.strata.kafka.migration.remote.store.disk.Deadlines.TimeLimitException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.Objects;
import java.util.function.LongSupplier;

/**
 * A range of a segment, read where the segment is. It reads nothing before the first byte is asked
 * for, and between two reads it holds nothing that would have to be given back: a stream that is
 * never closed costs nothing.
 *
 * <p>A read of a chunk or more fills the caller's array. For less, as Kafka asks for the header of
 * the first batch, the rest of the chunk is kept, for the next fetch too, so that no chunk is read
 * twice.
 *
 * <p>When a fetch ends that follows another one of the same segment, the kernel is asked for the
 * bytes of the next one.
 *
 * <p>An interrupt of the reading thread ends the read with an {@link InterruptedIOException}; the
 * thread stays interrupted, and the stream is where it was before.
 *
 * <p>Thread safety: for one thread at a time, as all streams; {@link #close} may be called by
 * another.
 */
final class SegmentStream extends InputStream {

  /** At once: a disk that is only slow must not look like one that hangs. */
  private static final int MOST_BYTES = 1 << 20;

  /** A consumer that catches up fetches at least so much. */
  private static final long LEAST_AHEAD = 256 << 10;

  private final StoreReads reads;
  private final FetchTime time;
  private final long start;
  private final long end;
  private Located place;
  private long position;

  /** The end of a chunk of which less was asked for. */
  private Kept kept = Kept.NOTHING;

  private volatile boolean closed;

  /**
   * Creates a stream of the bytes from {@code start} on.
   *
   * @param end behind the last byte, within the segment
   */
  SegmentStream(StoreReads reads, FetchTime time, Located place, long start, long end) {
    this.reads = reads;
    this.time = time;
    this.place = place;
    this.start = start;
    this.position = start;
    this.end = end;
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] target, int offset, int length) throws IOException {
    int unused = Objects.checkFromIndexSize(offset, length, target.length);
    checkOpen();
    if (length == 0) {
      return 0;
    }
    if (left() == 0) {
      return -1;
    }
    if (Thread.currentThread().isInterrupted()) {
      throw interrupted();
    }
    int count = (int) Math.min(left(), length);
    if (!kept.has(position)) {
      keep();
      kept = reads.kept(place, position);
    }
    if (!kept.has(position)) {
      int inChunk = inChunk();
      if (count >= inChunk) {
        count = Math.min(count, MOST_BYTES);
        fill(target, offset, count);
        position += count;
        return count;
      }
      byte[] rest = new byte[inChunk];
      fill(rest, 0, inChunk);
      kept = new Kept(position, rest);
    }
    count = kept.copy(position, target, offset, count);
    position += count;
    return count;
  }

  /** For the next fetch, which begins where a small one ends, or a little before. */
  private void keep() {
    if (kept != Kept.NOTHING && position - start < place.manifest().chunks().chunkBytes()) {
      reads.keep(place, kept);
    }
  }

  /** Returns how many bytes the chunk has from the position on. */
  private int inChunk() {
    var chunks = place.manifest().chunks();
    int chunk = (int) (position / chunks.chunkBytes());
    return (int) ((long) chunk * chunks.chunkBytes() + chunks.bytesOf(chunk) - position);
  }

  private void fill(byte[] array, int offset, int count) throws IOException {
    time.begin();
    try (ReadTarget target = new ReadTarget(array, offset, count)) {
      place = reads.read(place, position, target, time);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      InterruptedIOException interrupted = interrupted();
      interrupted.initCause(e);
      throw interrupted;
    } finally {
      time.end();
    }
  }

  private InterruptedIOException interrupted() {
    return new InterruptedIOException(
        "%s: the read at byte %d was discarded, because its thread was interrupted"
            .formatted(StoreReads.describe(place), position));
  }

  private void checkOpen() throws IOException {
    if (closed) {
      throw new IOException(StoreReads.describe(place) + ": the stream is closed");
    }
  }

  private long left() {
    return Math.max(0, end - position);
  }

  @Override
  public long skip(long count) throws IOException {
    checkOpen();
    long skipped = Math.max(0, Math.min(count, left()));
    position += skipped;
    return skipped;
  }

  /** Returns what is left of the range, as a file's stream has it. */
  @Override
  public int available() throws IOException {
    checkOpen();
    return (int) Math.min(Integer.MAX_VALUE, left());
  }

  @Override
  public void close() {
    boolean first = !closed;
    closed = true;
    if (first) {
      keep();
    }
    if (first && position - start >= LEAST_AHEAD && left() > 0) {
      reads.readAhead(place, start, position);
    }
  }

  /**
   * The time that one fetch may take: the lookup and all reads together, and not what Kafka does
   * between them.
   *
   * <p>Thread safety: begun and ended by one thread; others may ask what is left.
   */
  static final class FetchTime {

    private final Duration whole;
    private final LongSupplier nanoTime;
    private volatile long end;
    private long left;

    FetchTime(Duration whole, LongSupplier nanoTime) {
      this.whole = whole;
      this.nanoTime = nanoTime;
      left = whole.toNanos();
    }

    void begin() {
      end = nanoTime.getAsLong() + left;
    }

    void end() {
      left = end - nanoTime.getAsLong();
    }

    boolean isOver() {
      return end - nanoTime.getAsLong() <= 0;
    }

    /**
     * Returns what is left, more than nothing.
     *
     * @throws TimeLimitException if it is over
     */
    Duration left(Located place) throws TimeLimitException {
      long now = end - nanoTime.getAsLong();
      if (now <= 0) {
        throw late(place);
      }
      return Duration.ofNanos(now);
    }

    TimeLimitException late(Located place) {
      return new TimeLimitException(
          """
          %s: not read within %d ms; it can be tried again. If the store is slower than that, raise \
          rsm.config.fetch.timeout.ms or look at its file system\
          """
              .formatted(StoreReads.describe(place), whole.toMillis()));
    }
  }
}
