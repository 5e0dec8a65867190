package io.strata.kafka.migration.remote;

import com.github.benmanes.caffeine.cache.AsyncCache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.stats.CacheStats;
import io.strata.kafka.migration.remote.calls.TimeLimitException;
import io.strata.kafka.migration.remote.store.ChunkChecksums;
import io.strata.kafka.migration.remote.store.LogReads;
import io.strata.kafka.migration.remote.store.ReadTarget;
import io.strata.kafka.migration.remote.store.SegmentStore;
import io.strata.kafka.migration.remote.store.SegmentStore.Located;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Keeps what was read from the cold manager: in pieces of some megabytes, which is what a request
 * to it is worth, checked, in memory up to a bound. A reader that asks for a piece that is on its
 * way waits for it. For a reader that reads on, the next pieces are on their way already.
 *
 * <p>Thread safety: all methods may be called by any number of threads.
 */
final class ColdPieces implements AutoCloseable {

  /** A piece has so many bytes, or a chunk where that is more. */
  static final int PIECE_BYTES = 4 << 20;

  /** So many pieces are read ahead. */
  private static final int AHEAD = 2;

  private static final int REQUESTS = 8;
  private static final long IDLE_SECONDS = 30;

  /**
   * Which piece.
   *
   * @param id the remote segment's, never used twice
   * @param number from 0
   */
  private record Piece(String id, int number) {}

  /** A piece's bytes, or why there are none; no exception, which the cache would log. */
  private record Answer(ByteBuffer bytes, Optional<Throwable> failure) {}

  private final SegmentStore store;
  private final LevelMeters levels;
  private final ThreadPoolExecutor executor;
  private final long capacityBytes;
  private final AsyncCache<Piece, Answer> pieces;

  /**
   * In front of a store's cold manager.
   *
   * @param capacityBytes how much is kept
   */
  ColdPieces(SegmentStore store, LevelMeters levels, long capacityBytes, ThreadFactory threads) {
    this.store = store;
    this.levels = levels;
    this.capacityBytes = capacityBytes;
    AtomicInteger number = new AtomicInteger();
    executor =
        new ThreadPoolExecutor(
            REQUESTS,
            REQUESTS,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            task -> {
              Thread thread = threads.newThread(task);
              thread.setName("strata-remote-cold-read-" + number.getAndIncrement());
              return thread;
            });
    executor.allowCoreThreadTimeOut(true);
    pieces =
        Caffeine.newBuilder()
            .maximumWeight(capacityBytes)
            .weigher((Piece piece, Answer answer) -> answer.bytes().capacity())
            .executor(Runnable::run)
            .recordStats()
            .buildAsync();
  }

  /**
   * Fills a target with bytes of a segment that the cold manager has.
   *
   * @throws TimeLimitException if the fetch's time is over; the pieces stay on their way
   */
  void read(Located place, long position, ReadTarget target, FetchTime time)
      throws IOException, InterruptedException {
    int pieceBytes = pieceBytes(place);
    for (int done = 0; done < target.bytes(); ) {
      int number = (int) ((position + done) / pieceBytes);
      CompletableFuture<Answer> asked = ask(place, number);
      if (number > 0 && pieces.asMap().containsKey(new Piece(id(place), number - 1))) {
        ahead(place, number);
      }
      ByteBuffer piece = await(asked, place, time);
      int from = (int) (position + done - (long) number * pieceBytes);
      done += target.put(done, piece.slice(from, piece.capacity() - from));
    }
  }

  private static int pieceBytes(Located place) {
    return Math.max(PIECE_BYTES, place.manifest().chunks().chunkBytes());
  }

  private static String id(Located place) {
    return place.manifest().segment().key().id();
  }

  /** Reads on before the reader does, where nobody waits for a request. */
  private void ahead(Located place, int number) {
    long bytes = place.manifest().segment().bytes();
    for (int next = number + 1; next <= number + AHEAD; next++) {
      if ((long) next * pieceBytes(place) < bytes && executor.getQueue().isEmpty()) {
        CompletableFuture<Answer> unused = ask(place, next);
      }
    }
  }

  private CompletableFuture<Answer> ask(Located place, int number) {
    Piece piece = new Piece(id(place), number);
    return pieces.get(
        piece,
        (key, unused) -> {
          CompletableFuture<Answer> answer = new CompletableFuture<>();
          try {
            executor.execute(() -> load(place, piece, answer));
          } catch (RejectedExecutionException e) {
            answer.cancel(false);
          }
          return answer;
        });
  }

  private void load(Located place, Piece piece, CompletableFuture<Answer> answer) {
    try {
      boolean unused = answer.complete(new Answer(load(place, piece.number()), Optional.empty()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // All is being closed.
      boolean unused = answer.cancel(false);
    } catch (Throwable e) { // Those that wait throw it; the next one asks the manager.
      boolean unused = pieces.asMap().remove(piece, answer);
      boolean unusedToo = answer.complete(new Answer(ByteBuffer.allocate(0), Optional.of(e)));
    }
  }

  private ByteBuffer load(Located place, int number) throws IOException, InterruptedException {
    ChunkChecksums chunks = place.manifest().chunks();
    long begin = (long) number * pieceBytes(place);
    int length = (int) Math.min(pieceBytes(place), place.manifest().segment().bytes() - begin);
    ByteBuffer piece = ByteBuffer.allocate(length);
    store.readCold(place, begin, piece);
    levels.fetched(levels.cold(), length);
    int chunk = (int) (begin / chunks.chunkBytes());
    for (int at = 0; at < length; at += chunks.bytesOf(chunk), chunk++) {
      ByteBuffer bytes = piece.slice(at, chunks.bytesOf(chunk));
      LogReads.check(StoreReads.describe(place), chunks, chunk, bytes);
    }
    return piece.clear();
  }

  private static ByteBuffer await(CompletableFuture<Answer> asked, Located place, FetchTime time)
      throws IOException, InterruptedException {
    try {
      long left = time.left(() -> StoreReads.describe(place)).toNanos();
      Answer answer = asked.get(left, TimeUnit.NANOSECONDS);
      if (answer.failure().isEmpty()) {
        return answer.bytes();
      }
      throw answer.failure().get() instanceof IOException io
          ? io
          : new IOException(
              StoreReads.describe(place) + ": " + answer.failure().get(), answer.failure().get());
    } catch (TimeoutException e) {
      throw time.late(StoreReads.describe(place));
    } catch (CancellationException e) {
      throw new IOException(StoreReads.describe(place) + ": the store is closed", e);
    } catch (ExecutionException e) {
      throw new IOException(StoreReads.describe(place) + ": " + e.getCause(), e);
    }
  }

  RemoteStats.CacheStats stats() {
    CacheStats counted = pieces.synchronous().stats();
    long used = pieces.synchronous().policy().eviction().orElseThrow().weightedSize().orElse(0);
    return new RemoteStats.CacheStats(
        capacityBytes, used, counted.hitCount(), counted.missCount(), counted.evictionCount());
  }

  /** Begins no request any more; those who wait fail. */
  @Override
  public void close() {
    var unused = executor.shutdownNow();
  }
}
