package io.strata.kafka.migration.remote;

import static java.util.Objects.requireNonNull;

import com.github.benmanes.caffeine.cache.AsyncCache;
import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.stats.CacheStats;
import io.strata.kafka.migration.remote.SegmentStream.FetchTime;
import io.strata.kafka.migration.remote.calls.TimeLimitException;
import io.strata.kafka.migration.remote.store.ChunkChecksums;
import io.strata.kafka.migration.remote.store.LogReads;
import io.strata.kafka.migration.remote.store.PieceFiles;
import io.strata.kafka.migration.remote.store.PieceFiles.Piece;
import io.strata.kafka.migration.remote.store.ReadTarget;
import io.strata.kafka.migration.remote.store.SegmentStore;
import io.strata.kafka.migration.remote.store.SegmentStore.Located;
import io.strata.kafka.migration.remote.store.StoreUnavailableException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps bytes that were read from the cold manager: in pieces of some megabytes, which is what a
 * request to it is worth, checked, as files up to a bound. Finds them again when the broker starts.
 * A reader that asks for a piece that is on its way waits for it. For a reader that reads on, the
 * next pieces are on their way already.
 *
 * <p>A piece that cannot be written is handed to those who wait for it, and stays in memory for a
 * moment: a reader asks for it in several reads.
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

  /** After so long the manager is asked again for a piece that could not be kept. */
  private static final Duration UNKEPT = Duration.ofMinutes(1);

  private static final Logger LOG = LoggerFactory.getLogger("io.strata.kafka.migration.remote");

  /**
   * The outcome of a request.
   *
   * @param bytes how many the piece has
   * @param unkept the piece, if it is not in a file
   * @param failure why there is none; no exception, which the cache would log
   */
  private record Answer(int bytes, Optional<ByteBuffer> unkept, Optional<Throwable> failure) {
    static Answer unkept(ByteBuffer bytes) {
      return new Answer(0, Optional.of(bytes), Optional.empty());
    }

    static Answer kept(int bytes) {
      return new Answer(bytes, Optional.empty(), Optional.empty());
    }
  }

  private final SegmentStore store;
  private final LongAdder fetched;
  private final ThreadPoolExecutor executor;
  private final long capacityBytes;
  private final PieceFiles files;
  private final AsyncCache<Piece, Answer> pieces;

  /**
   * Pieces that are in no file, or whose file cannot be used now: as many as there are requests.
   */
  private final Cache<Piece, ByteBuffer> unkept =
      Caffeine.newBuilder()
          .maximumSize(REQUESTS)
          .expireAfterWrite(UNKEPT)
          .executor(Runnable::run)
          .build();

  /** Whether all files count. */
  private final AtomicBoolean found = new AtomicBoolean();

  /** Why pieces could not be kept or found: each cause is logged once, of whatever piece. */
  private final Set<String> warned = ConcurrentHashMap.newKeySet();

  /**
   * In front of a store's cold manager.
   *
   * @param fetched counts the bytes that the manager gave
   * @param capacityBytes how much is kept; 0 without a cold manager
   */
  ColdPieces(SegmentStore store, LongAdder fetched, long capacityBytes, ThreadFactory threads) {
    this.store = store;
    this.fetched = fetched;
    this.capacityBytes = capacityBytes;
    files = new PieceFiles(store);
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
            .weigher((Piece piece, Answer answer) -> answer.bytes())
            .executor(Runnable::run)
            .evictionListener((piece, answer, cause) -> remove(requireNonNull(piece)))
            .recordStats()
            .buildAsync();
    executor.execute(this::begin);
  }

  private void begin() {
    try {
      files.removeLeftovers(capacityBytes > 0);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // All is being closed.
      return;
    }
    if (capacityBytes > 0) {
      findAgain();
    }
  }

  /** A read of a piece before it is found asks the manager for it. */
  private void findAgain() {
    if (!found.compareAndSet(false, true)) {
      return;
    }
    try {
      for (Map.Entry<Piece, Integer> found : files.list().entrySet()) {
        var unused =
            pieces
                .asMap()
                .putIfAbsent(
                    found.getKey(),
                    CompletableFuture.completedFuture(Answer.kept(found.getValue())));
      }
    } catch (IOException e) {
      found.set(false);
      warnOnce("what is kept of the cold level is not found now", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // All is being closed.
    }
  }

  /** On a thread of the requests: the directory may hang. A piece that stays counts again later. */
  private void remove(Piece piece) {
    try {
      executor.execute(
          () -> {
            if (!files.remove(piece)) {
              found.set(false);
            }
          });
    } catch (RejectedExecutionException e) {
      return; // Closed: the next start finds it, and removes what is too much.
    }
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
      if (number > 0 && isAtHand(new Piece(id(place), number - 1))) {
        ahead(place, number);
      }
      int from = (int) (position + done - (long) number * pieceBytes);
      done += read(asked, place, number, from, target, done, time);
    }
  }

  private boolean isAtHand(Piece piece) {
    return pieces.asMap().containsKey(piece) || unkept.getIfPresent(piece) != null;
  }

  /**
   * Reads from one piece. A file that is damaged, gone, or cannot be read gets another one in its
   * place; the files of a directory that cannot be used now stay.
   */
  private int read(
      CompletableFuture<Answer> asked,
      Located place,
      int number,
      int from,
      ReadTarget target,
      int at,
      FetchTime time)
      throws IOException, InterruptedException {
    Piece piece = new Piece(id(place), number);
    long begin = (long) number * pieceBytes(place);
    CompletableFuture<Answer> next = asked;
    boolean again = false;
    Answer answer = await(next, place, time);
    while (answer.unkept().isEmpty()) {
      try {
        Duration left = time.left(place);
        return files.read(piece, place.manifest().chunks(), begin, from, target, at, left);
      } catch (ClosedByInterruptException e) {
        throw e;
      } catch (StoreUnavailableException | TimeLimitException e) {
        if (time.isOver()) {
          throw time.late(place);
        }
        next = request(place, piece, false);
      } catch (IOException e) {
        boolean unused = pieces.asMap().remove(piece, next);
        next = again ? request(place, piece, false) : ask(place, number);
        again = true;
      }
      answer = await(next, place, time);
    }
    ByteBuffer bytes = answer.unkept().orElseThrow();
    return target.put(at, bytes.duplicate().position(from));
  }

  private static int pieceBytes(Located place) {
    return Math.max(PIECE_BYTES, place.manifest().chunks().chunkBytes());
  }

  private static String id(Located place) {
    return place.key().id();
  }

  /** Reads ahead of the reader, where no request waits. */
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
    ByteBuffer bytes = unkept.getIfPresent(piece);
    return bytes == null
        ? pieces.get(piece, (key, unused) -> request(place, piece, true))
        : CompletableFuture.completedFuture(Answer.unkept(bytes));
  }

  private CompletableFuture<Answer> request(Located place, Piece piece, boolean keep) {
    CompletableFuture<Answer> answer = new CompletableFuture<>();
    try {
      executor.execute(() -> load(place, piece, keep, answer));
    } catch (RejectedExecutionException e) {
      boolean unused = answer.cancel(false);
    }
    return answer;
  }

  private void load(Located place, Piece piece, boolean keep, CompletableFuture<Answer> answer) {
    Answer loaded;
    try {
      loaded = load(place, piece, keep);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // All is being closed.
      boolean unused = answer.cancel(false);
      return;
    } catch (Throwable e) { // The waiting readers throw it; the next one asks the manager.
      loaded = new Answer(0, Optional.empty(), Optional.of(e));
    }
    boolean isKept = loaded.bytes() > 0;
    if (!isKept) {
      boolean unused = pieces.asMap().remove(piece, answer);
    }
    boolean unused = answer.complete(loaded);
    if (isKept) {
      unkept.invalidateAll();
      findAgain();
    }
  }

  private Answer load(Located place, Piece piece, boolean keep)
      throws IOException, InterruptedException {
    ByteBuffer bytes = unkept.getIfPresent(piece);
    if (bytes == null) { // It was not put there since this was asked for.
      bytes = load(place, piece.number());
      if (keep && isKept(piece, bytes)) {
        return Answer.kept(bytes.capacity());
      }
      unkept.put(piece, bytes);
    }
    return Answer.unkept(bytes);
  }

  private boolean isKept(Piece piece, ByteBuffer bytes) throws InterruptedException {
    try {
      files.write(piece, bytes);
      return true;
    } catch (IOException e) {
      warnOnce("what is read of the cold level cannot be kept", e);
      return false;
    }
  }

  private void warnOnce(String what, IOException why) {
    if (warned.add(what + RemoteFailures.cause(why))) {
      LOG.warn("Remote store: {}: {}", what, RemoteFailures.describe(why));
    }
  }

  private ByteBuffer load(Located place, int number) throws IOException, InterruptedException {
    ChunkChecksums chunks = place.manifest().chunks();
    long begin = (long) number * pieceBytes(place);
    int length = (int) Math.min(pieceBytes(place), place.manifest().segment().bytes() - begin);
    ByteBuffer piece = ByteBuffer.allocate(length);
    store.readCold(place, begin, piece);
    fetched.add(length);
    int chunk = (int) (begin / chunks.chunkBytes());
    for (int at = 0; at < length; at += chunks.bytesOf(chunk), chunk++) {
      ByteBuffer bytes = piece.slice(at, chunks.bytesOf(chunk));
      LogReads.check(StoreReads.describe(place), chunks, chunk, bytes);
    }
    return piece.clear();
  }

  private static Answer await(CompletableFuture<Answer> asked, Located place, FetchTime time)
      throws IOException, InterruptedException {
    Throwable failure;
    try {
      Answer answer = asked.get(time.left(place).toNanos(), TimeUnit.NANOSECONDS);
      if (answer.failure().isEmpty()) {
        return answer;
      }
      failure = answer.failure().get();
    } catch (TimeoutException e) {
      throw time.late(place);
    } catch (CancellationException e) {
      throw new IOException(StoreReads.describe(place) + ": the store is closed", e);
    } catch (ExecutionException e) {
      failure = requireNonNull(e.getCause());
    }
    throw failure instanceof IOException io
        ? io
        : new IOException(StoreReads.describe(place) + ": " + failure, failure);
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
