package io.strata.kafka.migration.remote.read;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.Optional;

/**
 * A range of a segment, chunk by chunk. It reads nothing before the first byte is asked for, and
 * between two reads it holds nothing that would have to be given back: a stream that is never
 * closed costs nothing.
 *
 * <p>An interrupt of the reading thread ends the read with an {@link InterruptedIOException}; the
 * thread stays interrupted, and the stream is where it was before.
 *
 * <p>Thread safety: for one thread at a time, as all streams; {@link #close} may be called by
 * another.
 */
final class SegmentStream extends InputStream {

  /** How often a chunk may be taken away under us before we read it into memory of our own. */
  private static final int ATTEMPTS = 2;

  private final ChunkSource source;
  private final ChunkLoader loader;
  private final ReadAhead readAhead;
  private final long last;
  private long position;
  private Optional<Track> track = Optional.empty();
  private Optional<Chunk> current = Optional.empty();
  private int currentNumber;
  private volatile boolean closed;

  /**
   * A stream.
   *
   * @param last the last byte, within the segment; before {@code start} for an empty range
   */
  SegmentStream(
      ChunkSource source, long start, long last, ChunkLoader loader, ReadAhead readAhead) {
    this.source = source;
    this.position = start;
    this.last = last;
    this.loader = loader;
    this.readAhead = readAhead;
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] target, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, target.length);
    checkOpen();
    if (length == 0) {
      return 0;
    }
    if (left() == 0) {
      return -1;
    }
    int chunk = Chunks.at(source, position);
    int inChunk = (int) (position % source.chunkBytes());
    int chunkLength = Chunks.length(source, chunk);
    int count = (int) Math.min(left(), Math.min(length, chunkLength - inChunk));
    boolean done = false;
    try {
      copy(chunk, inChunk, ByteBuffer.wrap(target, offset, count));
      position += count;
      if (inChunk + count == chunkLength) {
        loader.readToEnd(source, chunk);
        current = Optional.empty();
      }
      done = true;
      return count;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      InterruptedIOException interrupted =
          new InterruptedIOException(
              source.describe()
                  + ": the read at byte "
                  + position
                  + " was given up, because its thread was interrupted");
      interrupted.initCause(e);
      throw interrupted;
    } finally {
      if (!done) {
        track.ifPresent(t -> readAhead.stopped(t, position, true));
      }
    }
  }

  private void copy(int number, int offset, ByteBuffer target)
      throws IOException, InterruptedException {
    if (Thread.currentThread().isInterrupted()) {
      throw new InterruptedException();
    }
    if (current.isPresent() && currentNumber == number && current.get().read(offset, target)) {
      return;
    }
    current = Optional.empty();
    Track on = track.orElseGet(() -> readAhead.begin(source, position));
    track = Optional.of(on);
    readAhead.at(on, position, last);
    Chunk chunk = loader.load(source, number);
    for (int attempt = 1; !chunk.read(offset, target); attempt++) {
      chunk = attempt < ATTEMPTS ? loader.load(source, number) : loader.loadOwn(source, number);
    }
    current = Optional.of(chunk);
    currentNumber = number;
  }

  private void checkOpen() throws IOException {
    if (closed) {
      throw new IOException(source.describe() + ": the stream is closed");
    }
  }

  private long left() {
    return Math.max(0, last - position + 1);
  }

  @Override
  public long skip(long count) throws IOException {
    checkOpen();
    long skipped = Math.max(0, Math.min(count, left()));
    position += skipped;
    return skipped;
  }

  /**
   * What is left of the range, as a file's stream has it: nothing of it waits for another party.
   */
  @Override
  public int available() throws IOException {
    checkOpen();
    return (int) Math.min(Integer.MAX_VALUE, left());
  }

  /**
   * Ends the stream. What was read ahead stays for a while, and reading ahead goes on to where it
   * was going: the consumer's next fetch comes in a stream of its own.
   */
  @Override
  public void close() {
    if (!closed) {
      closed = true;
      track.ifPresent(t -> readAhead.stopped(t, position, false));
    }
  }
}
