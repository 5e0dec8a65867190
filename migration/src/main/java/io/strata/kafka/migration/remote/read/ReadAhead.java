package io.strata.kafka.migration.remote.read;

import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;

/**
 * Reads chunks before a reader that reads on asks for them. How far: twice as far as it has come
 * without a jump, up to the setting; less when many read at once, so that all of them find space;
 * less when what was read ahead lately was not used. A reader's part is read in one go and by one
 * thread, which on a disk is a long move of the head saved.
 *
 * <p>What goes wrong here is dropped: the reader will meet it and say so.
 *
 * <p>Thread safety: all methods may be called by any number of threads.
 */
final class ReadAhead implements AutoCloseable {

  /** Readers that wait for a thread; the work of those beyond is left out. */
  private static final int QUEUE = 256;

  private static final long IDLE_SECONDS = 30;

  /** A run of so many chunks is one. */
  private static final long PROVEN_CHUNKS = 8;

  /** Where several chunks are read at once. */
  private static final int MOST_BYTES_AT_ONCE = 4 << 20;

  private final ChunkLoader loader;
  private final ChunkCache cache;
  private final IntSupplier mostChunks;
  private final Tracks tracks;
  private final ThreadPoolExecutor executor;

  /** Tracks that wait for a thread or have one. */
  private final AtomicInteger begun = new AtomicInteger();

  ReadAhead(
      ChunkLoader loader,
      ChunkCache cache,
      IntSupplier mostChunks,
      int threads,
      ThreadFactory factory,
      LongSupplier nanoTime) {
    this.loader = loader;
    this.cache = cache;
    this.mostChunks = mostChunks;
    tracks = new Tracks(nanoTime);
    AtomicInteger number = new AtomicInteger();
    executor =
        new ThreadPoolExecutor(
            threads,
            threads,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(QUEUE),
            task -> {
              Thread thread = factory.newThread(task);
              thread.setName("strata-remote-read-ahead-" + number.getAndIncrement());
              return thread;
            });
    executor.allowCoreThreadTimeOut(true);
  }

  /** A stream begins to read. */
  Track begin(ChunkSource source, long start) {
    return tracks.begin(source, start);
  }

  /**
   * A reader asks for a chunk.
   *
   * @param position the byte that it asks for
   * @param last the last byte that it may ask for
   */
  void at(Track track, long position, long last) {
    track.at(position);
    ChunkSource source = track.source();
    int distance = distance(track);
    if (distance > 0 && track.aim(Chunks.at(source, position), distance, Chunks.at(source, last))) {
      start(track);
    }
  }

  /** A reader stops, for now or for good. */
  void stopped(Track track, long position, boolean failed) {
    track.at(position);
    if (failed) {
      track.giveUp();
    }
  }

  private int distance(Track track) {
    int most = mostChunks.getAsInt();
    long runChunks = track.runChunks();
    if (most <= 0 || runChunks == 0) {
      return 0;
    }
    long room = cache.aheadLimitBytes() / track.source().chunkBytes();
    // Each reader has the chunk that it reads there, too, and the one before.
    long share = Math.max(1, room / Math.max(1, tracks.active()) - 2);
    long ramp = Math.min(2 * runChunks, most) >> cache.account().halvings();
    return (int) Math.min(Math.min(most, share), longer(ramp, runChunks));
  }

  /** A long run is worth a chunk, however much was in vain for others. */
  private static long longer(long ramp, long runChunks) {
    return ramp == 0 && runChunks >= PROVEN_CHUNKS ? 1 : ramp;
  }

  private void start(Track track) {
    int unused = begun.incrementAndGet();
    try {
      executor.execute(() -> work(track));
    } catch (RejectedExecutionException e) {
      track.stopWorking(); // Too many wait, or all is being closed.
      int unusedToo = begun.decrementAndGet();
    }
  }

  private void work(Track first) {
    try {
      Optional<Track> track = Optional.of(first);
      while (track.isPresent()) {
        track = segment(track.get()) ? following(track.get()) : Optional.empty();
      }
    } catch (InterruptedException e) {
      // All is being closed; the thread ends.
    } catch (IOException | RuntimeException e) {
      // The reader will meet it.
    } finally {
      int unused = begun.decrementAndGet();
    }
  }

  /** Reads what is wanted of the track's segment; false if it could not be read to the end. */
  private boolean segment(Track track) throws IOException, InterruptedException {
    boolean ended = false;
    try {
      ChunkSource source = track.source();
      Optional<Track.Step> step = track.step(atOnce(source));
      while (step.isPresent()) {
        int done = read(track, step.get());
        if (done == 0) {
          return false;
        }
        track.done(step.get().first() + done);
        step = track.step(atOnce(source));
      }
      ended = true;
      return true;
    } finally {
      if (!ended) {
        track.stopWorking();
      }
    }
  }

  private static int atOnce(ChunkSource source) {
    return Math.min(source.chunksAtOnce(), Math.max(1, MOST_BYTES_AT_ONCE / source.chunkBytes()));
  }

  private int read(Track track, Track.Step step) throws IOException, InterruptedException {
    ChunkSource source = track.source();
    int count = missing(source, step.first(), step.count());
    return count == 0 ? 1 : loader.loadAhead(source, step.first(), count, () -> stopped(track));
  }

  private int missing(ChunkSource source, int first, int most) {
    int count = 0;
    while (count < most && !loader.hasOrLoads(source.key(first + count))) {
      count++;
    }
    return count;
  }

  private boolean stopped(Track track) {
    return executor.isShutdown() || track.givenUp();
  }

  /** Goes over into the segment that follows, if that is wanted. */
  private Optional<Track> following(Track track) throws IOException, InterruptedException {
    int beyond = track.beyond();
    if (beyond == 0) {
      return Optional.empty();
    }
    Optional<Track> next = track.next();
    if (next.isEmpty()) {
      next = loader.following(track.source()).map(source -> tracks.expect(source, track.run()));
      next.ifPresent(track::setNext);
    }
    return next.filter(n -> n.aimFromBefore(beyond));
  }

  /** Whether nothing is read ahead now. */
  boolean idle() {
    return begun.get() == 0;
  }

  /** Begins nothing any more, and tells what is under way to stop. */
  @Override
  public void close() {
    var unused = executor.shutdownNow();
  }
}
