package io.strata.kafka.migration.remote.read;

import static java.util.Objects.requireNonNull;

import io.strata.kafka.migration.ByteRateLimiter;
import io.strata.kafka.migration.EngineEnvironment;
import io.strata.kafka.migration.remote.calls.Deadlines;
import java.io.InputStream;
import java.time.Duration;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

/**
 * Reads ranges of segments of the store: through the cache, each chunk checked before a byte of it
 * is returned, each read in its time and within the rate limit, and ahead of a reader that reads
 * on.
 *
 * <p>Thread safety: all methods may be called by any number of threads; a stream is for one.
 */
public final class ChunkedReader implements AutoCloseable {

  /** Readers that are read ahead for at once; more would only have a disk's head jump. */
  private static final int READ_AHEAD_THREADS = 4;

  private final ChunkCache cache;
  private final ChunkLoader loader;
  private final ReadAhead readAhead;

  /**
   * A reader.
   *
   * @param cache {@link ChunkCache#in} or {@link ChunkCache#none}; closed with the reader
   * @param deadlines makes the calls to the store; stays open
   * @param limiter the rate of what is read from the store
   * @param fetchTimeout the longest that the read of one chunk may take; asked for each
   * @param readAheadChunks how many chunks are read ahead of a reader; 0 for none; asked each time
   * @param environment clock and threads
   */
  public ChunkedReader(
      ChunkCache cache,
      Deadlines deadlines,
      ByteRateLimiter limiter,
      Supplier<Duration> fetchTimeout,
      IntSupplier readAheadChunks,
      EngineEnvironment environment) {
    this.cache = requireNonNull(cache);
    loader = new ChunkLoader(cache, deadlines, limiter, fetchTimeout, environment.nanoTime());
    readAhead =
        new ReadAhead(
            loader,
            cache,
            readAheadChunks,
            READ_AHEAD_THREADS,
            environment.threads(),
            environment.nanoTime());
  }

  /**
   * Opens a range. Nothing is read yet, and nothing is held open: what is wrong with the segment
   * shows at the first read. Its reads throw {@link CorruptChunkException}, {@link
   * io.strata.kafka.migration.remote.calls.TimeLimitException}, {@link
   * java.nio.file.NoSuchFileException}, {@link java.io.InterruptedIOException} (the thread stays
   * interrupted), or what the source throws.
   *
   * @param start the first byte, from 0; from the segment's end on the stream is empty
   * @param endInclusive the last byte; what is beyond the segment's end is left out
   * @throws IllegalArgumentException if {@code start} is negative, or the end is before it
   */
  public InputStream open(ChunkSource source, long start, long endInclusive) {
    if (start < 0 || endInclusive < start) {
      throw new IllegalArgumentException(
          source.describe()
              + ": found a range from byte "
              + start
              + " to "
              + endInclusive
              + ", expected a start from 0 and an end that is not before it");
    }
    return new SegmentStream(
        source, start, Math.min(endInclusive, source.bytes() - 1), loader, readAhead);
  }

  /** The cache's figures. */
  public CacheStats cacheStats() {
    return cache.stats();
  }

  /** Reading ahead's figures. */
  public ReadAheadStats readAheadStats() {
    return cache.readAheadStats();
  }

  /** Whether nothing is read ahead now. */
  boolean idle() {
    return readAhead.idle();
  }

  /** Ends reading ahead and closes the cache. Streams that are still open fail, or read slower. */
  @Override
  public void close() {
    readAhead.close();
    cache.close();
  }
}
