package io.strata.kafka.migration.remote.read;

import io.strata.kafka.migration.ByteRateLimiter;
import io.strata.kafka.migration.remote.calls.Deadlines;
import io.strata.kafka.migration.remote.calls.TimeLimitException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Brings chunks from the store into the cache, each in its time, within the rate limit, and by one
 * thread at a time: who asks for a chunk that is on its way waits for it. When the one who reads
 * stops (it was interrupted, or it only read ahead), those who wait read on their own.
 *
 * <p>Thread safety: all methods may be called by any number of threads.
 */
final class ChunkLoader {

  private final ChunkCache cache;
  private final Deadlines deadlines;
  private final ByteRateLimiter limiter;
  private final Supplier<Duration> limit;
  private final LongSupplier nanoTime;
  private final ConcurrentMap<ChunkKey, Flight> flights = new ConcurrentHashMap<>();
  private final AtomicInteger waitingForRate = new AtomicInteger();

  /**
   * A chunk on its way. Ends with the chunk, with what went wrong, or empty if it was cancelled.
   */
  private static final class Flight extends CompletableFuture<Optional<Chunk>> {}

  ChunkLoader(
      ChunkCache cache,
      Deadlines deadlines,
      ByteRateLimiter limiter,
      Supplier<Duration> limit,
      LongSupplier nanoTime) {
    this.cache = cache;
    this.deadlines = deadlines;
    this.limiter = limiter;
    this.limit = limit;
    this.nanoTime = nanoTime;
  }

  /** The moment by which a reader must have what it asks for now. */
  private final class Deadline {
    private final Duration whole = limit.get();
    private final long end = nanoTime.getAsLong() + whole.toNanos();

    long leftNanos() {
      return end - nanoTime.getAsLong();
    }

    boolean over() {
      return leftNanos() <= 0;
    }

    Duration left(ChunkSource source, int chunk) throws TimeLimitException {
      if (over()) {
        throw late(source, chunk, "");
      }
      return Duration.ofNanos(leftNanos());
    }

    TimeLimitException late(ChunkSource source, int chunk, String why) {
      return new TimeLimitException(
          source.describe()
              + ", chunk "
              + chunk
              + ": not read within "
              + whole.toMillis()
              + " ms"
              + why
              + "; it can be tried again. If the store is slower than that, raise"
              + " strata.remote.fetch.timeout.ms or look at its file system");
    }
  }

  /**
   * The chunk, from the cache or from the store.
   *
   * @throws TimeLimitException if it is not there in time
   * @throws CorruptChunkException if the store's bytes are wrong
   */
  Chunk load(ChunkSource source, int chunk) throws IOException, InterruptedException {
    Optional<Chunk> cached = cache.find(source, chunk);
    if (cached.isPresent()) {
      return cached.get();
    }
    Deadline deadline = new Deadline();
    ChunkKey key = source.key(chunk);
    while (true) {
      Flight mine = new Flight();
      Flight others = flights.putIfAbsent(key, mine);
      Optional<Chunk> found =
          others == null
              ? Optional.of(fly(mine, source, chunk, deadline))
              : await(others, source, chunk, deadline);
      // Asked again, so that the cache sees that what was read ahead is used.
      found = found.isPresent() ? found : cache.findUncounted(source, chunk);
      if (found.isPresent()) {
        used(found.get());
        return found.get();
      }
    }
  }

  private static void used(Chunk chunk) {
    if (chunk instanceof CachedChunk cached) {
      cached.used();
    }
  }

  /** The chunk from the store in memory of one's own, past the cache: nobody takes it away. */
  Chunk loadOwn(ChunkSource source, int chunk) throws IOException, InterruptedException {
    Deadline deadline = new Deadline();
    passLimit(source, chunk, deadline);
    Flight own = new Flight();
    read(
        source,
        chunk,
        1,
        deadline.left(source, chunk),
        (number, bytes) -> own.complete(Optional.of(Chunk.Own.copyOf(bytes))));
    return own.getNow(Optional.empty()).orElseThrow(() -> deadline.late(source, chunk, ""));
  }

  private Chunk fly(Flight mine, ChunkSource source, int chunk, Deadline deadline)
      throws IOException, InterruptedException {
    try {
      // An earlier flight may have ended between the look into the cache and now.
      Optional<Chunk> cached = cache.findUncounted(source, chunk);
      if (cached.isEmpty()) {
        passLimit(source, chunk, deadline);
        read(
            source,
            chunk,
            1,
            deadline.left(source, chunk),
            (number, bytes) -> mine.complete(Optional.of(cache.store(source.key(number), bytes))));
        cached = mine.getNow(Optional.empty());
      }
      Optional<Chunk> found = cached;
      mine.complete(found);
      return found.orElseThrow(() -> deadline.late(source, chunk, ""));
    } catch (TimeLimitException e) {
      throw e;
    } catch (IOException e) {
      boolean unused = mine.completeExceptionally(e);
      throw e;
    } finally {
      // What has not ended yet was cancelled: those who wait try by themselves.
      land(source.key(chunk), mine);
    }
  }

  private void land(ChunkKey key, Flight flight) {
    boolean unused = flights.remove(key, flight);
    boolean unusedToo = flight.complete(Optional.empty());
  }

  private Optional<Chunk> await(Flight others, ChunkSource source, int chunk, Deadline deadline)
      throws IOException, InterruptedException {
    try {
      return others.get(Math.max(0, deadline.leftNanos()), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      throw deadline.late(source, chunk, ": another reader's read of it has not ended");
    } catch (ExecutionException e) {
      throw e.getCause() instanceof IOException io
          ? io
          : new IOException(source.describe() + ", chunk " + chunk + ": " + e.getCause(), e);
    }
  }

  private void passLimit(ChunkSource source, int chunk, Deadline deadline)
      throws IOException, InterruptedException {
    int unused = waitingForRate.incrementAndGet();
    try {
      limiter.acquire(Chunks.length(source, chunk), deadline::over);
    } finally {
      int unusedToo = waitingForRate.decrementAndGet();
    }
    if (deadline.over()) {
      throw deadline.late(source, chunk, ", for the rate limit (strata.remote.rate.fetch)");
    }
  }

  private void read(ChunkSource source, int first, int count, Duration left, ChunkReads.Sink sink)
      throws IOException, InterruptedException {
    String what =
        "reading "
            + source.describe()
            + ", chunk "
            + first
            + (count == 1 ? "" : " to " + (first + count - 1));
    try {
      boolean unused =
          deadlines.call(
              what,
              left,
              control -> {
                // Taken here: it is the work's, which may go on when nobody waits any more.
                ByteBuffer buffer = cache.buffers().take(Chunks.length(source, first, count));
                try {
                  ChunkReads.read(source, first, count, buffer, control, sink);
                } finally {
                  cache.buffers().giveBack(buffer);
                }
                return true;
              });
    } catch (RejectedExecutionException e) {
      throw new IOException(what + ": the store is closed", e);
    }
  }

  /** A reader has read a chunk to its end. */
  void readToEnd(ChunkSource source, int chunk) {
    cache.readToEnd(source, chunk);
  }

  /** The segment that follows, for reading ahead. */
  Optional<ChunkSource> following(ChunkSource source) throws IOException, InterruptedException {
    return deadlines.call(
        "looking for what follows " + source.describe(), limit.get(), control -> source.next());
  }

  /** Whether a chunk is in the cache or on its way. */
  boolean hasOrLoads(ChunkKey key) {
    return flights.containsKey(key) || cache.has(key);
  }

  /**
   * Reads chunks that follow each other into the cache, if there is space and nobody waits for the
   * rate limit.
   *
   * @param givenUp ends the wait for the rate limit
   * @return how many of them were read, by this call or another; 0 if there is no space, or the
   *     wait was cancelled
   */
  int loadAhead(ChunkSource source, int first, int count, BooleanSupplier givenUp)
      throws IOException, InterruptedException {
    int bytes = Chunks.length(source, first, count);
    if (waitingForRate.get() > 0 || !cache.reserveAhead(bytes)) {
      return 0;
    }
    List<ChunkKey> keys = new ArrayList<>();
    List<Flight> mine = new ArrayList<>();
    try {
      limiter.acquire(bytes, givenUp);
      if (givenUp.getAsBoolean()) {
        return 0;
      }
      for (int i = 0; i < count; i++) {
        ChunkKey key = source.key(first + i);
        Flight flight = new Flight();
        if (cache.has(key) || flights.putIfAbsent(key, flight) != null) {
          break; // A reader was faster: what lies behind it is the next call's.
        }
        keys.add(key);
        mine.add(flight);
      }
      if (mine.isEmpty()) {
        return 1;
      }
      read(
          source,
          first,
          mine.size(),
          limit.get(),
          (number, chunk) ->
              mine.get(number - first).complete(cache.storeAhead(source.key(number), chunk)));
      return mine.stream().allMatch(flight -> flight.getNow(Optional.empty()).isPresent())
          ? mine.size()
          : 0;
    } finally {
      for (int i = 0; i < mine.size(); i++) {
        land(keys.get(i), mine.get(i));
      }
      cache.giveBackAhead(bytes);
    }
  }
}
