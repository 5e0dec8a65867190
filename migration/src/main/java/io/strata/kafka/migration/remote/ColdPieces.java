package io.strata.kafka.migration.remote;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.strata.kafka.migration.remote.SegmentStream.FetchTime;
import io.strata.kafka.migration.remote.store.LogReads.ReadTarget;
import io.strata.kafka.migration.remote.store.SegmentStore;
import io.strata.kafka.migration.remote.store.SegmentStore.Located;
import io.strata.kafka.migration.remote.store.disk.Deadlines.TimeLimitException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.LongAdder;

/**
 * Reads segments of the cold manager, in checked pieces of some megabytes: a request each. Readers
 * of a piece share its request, which goes on when they leave.
 *
 * <p>The pieces that were asked for last stay in memory. Kafka drops the result of a read that
 * takes longer than {@code remote.fetch.max.wait.ms} and asks for the same bytes again: a manager
 * that is slower serves a consumer only if they are there by then. So the last use alone decides
 * which pieces stay; a cache that counts uses would turn away the one that has just come.
 */
final class ColdPieces implements AutoCloseable {

  /** The length of a piece; a chunk's where that is more. */
  static final int PIECE_BYTES = 4 << 20;

  private static final int REQUESTS = 8;

  /** The most bytes that stay: some tens of partitions that are read at once. */
  private static final long MOST_BYTES = 128 << 20;

  /** A piece of a segment: the remote segment's id, which is never used twice, and a number. */
  private record Piece(String id, int number) {}

  private final SegmentStore store;
  private final LongAdder fetched;
  private final int most;
  private final ExecutorService executor;

  /** The pieces that are here or on their way, by their last use. */
  @GuardedBy("this")
  private final Map<Piece, FutureTask<ByteBuffer>> pieces = new LinkedHashMap<>(16, 0.75f, true);

  /**
   * Creates the reads of a store's cold manager.
   *
   * @param fetched counts the bytes that the manager gave
   * @param most how many pieces stay
   */
  ColdPieces(SegmentStore store, LongAdder fetched, int most, ThreadFactory threads) {
    this.store = store;
    this.fetched = fetched;
    this.most = most;
    executor =
        Executors.newFixedThreadPool(
            REQUESTS,
            task -> {
              Thread thread = threads.newThread(task);
              thread.setName("strata-remote-cold-read");
              return thread;
            });
  }

  /** Returns how many pieces stay: those of a part of the heap, and one for each request. */
  static int mostInHeap() {
    long bytes = Math.min(MOST_BYTES, Runtime.getRuntime().maxMemory() / 16);
    return (int) Math.max(REQUESTS, bytes / PIECE_BYTES);
  }

  /**
   * Fills a target with bytes of a segment that the cold manager has.
   *
   * @throws TimeLimitException if the fetch's time is over; the piece stays on its way
   */
  void read(Located place, long position, ReadTarget target, FetchTime time)
      throws IOException, InterruptedException {
    int pieceBytes = pieceBytes(place);
    for (int done = 0; done < target.bytes(); ) {
      int number = (int) ((position + done) / pieceBytes);
      int from = (int) (position + done - (long) number * pieceBytes);
      ByteBuffer piece = await(place, number, time);
      done += target.put(done, piece.duplicate().position(from));
    }
  }

  private static int pieceBytes(Located place) {
    return Math.max(PIECE_BYTES, place.manifest().chunks().chunkBytes());
  }

  private synchronized Future<ByteBuffer> ask(Located place, int number) {
    Piece piece = new Piece(place.key().id(), number);
    FutureTask<ByteBuffer> found = pieces.get(piece);
    if (found != null) {
      return found;
    }
    FutureTask<ByteBuffer> asked =
        new FutureTask<>(() -> load(place, piece)) {
          /** Has the waiting readers throw it; the next asks again. */
          @Override
          protected void setException(Throwable failure) {
            forget(piece, this);
            super.setException(failure);
          }
        };
    executor.execute(asked);
    pieces.put(piece, asked);
    if (pieces.size() > most) {
      pieces.remove(pieces.keySet().iterator().next());
    }
    return asked;
  }

  /** Forgets a request, unless another one for that piece has taken its place. */
  private synchronized void forget(Piece piece, FutureTask<ByteBuffer> asked) {
    boolean unused = pieces.remove(piece, asked);
  }

  private ByteBuffer load(Located place, Piece piece) throws IOException, InterruptedException {
    long begin = (long) piece.number() * pieceBytes(place);
    int length = (int) Math.min(pieceBytes(place), place.manifest().segment().bytes() - begin);
    ByteBuffer bytes = ByteBuffer.allocate(length);
    store.lookup.readCold(place, begin, bytes);
    fetched.add(length);
    place.manifest().chunks().check(StoreReads.describe(place), begin, bytes.clear());
    return bytes;
  }

  private ByteBuffer await(Located place, int number, FetchTime time)
      throws IOException, InterruptedException {
    try {
      return ask(place, number).get(time.left(place).toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      throw time.late(place);
    } catch (CancellationException | RejectedExecutionException e) {
      throw new IOException(StoreReads.describe(place) + ": the store is closed", e);
    } catch (ExecutionException e) {
      throw e.getCause() instanceof IOException io
          ? io
          : new IOException(StoreReads.describe(place) + ": " + e.getCause(), e.getCause());
    }
  }

  /** Begins no request any more; those who wait fail. */
  @Override
  public synchronized void close() {
    var unused = executor.shutdownNow();
    pieces.values().forEach(piece -> piece.cancel(true));
  }
}
