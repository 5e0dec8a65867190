package io.strata.kafka.migration.remote.read;

import static java.util.Objects.requireNonNull;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.RemovalCause;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The chunks that were read, in an arena, bounded by it. A chunk that a reader is expected to ask
 * for next waits in {@link ExpectedChunks}, in a part of the space; one that was read to its end
 * stays by how often and how lately it was used (Caffeine's policy), as long as nothing else needs
 * its space.
 *
 * <p>A chunk whose space was taken away counts as a miss.
 *
 * <p>Thread safety: all methods may be called by any number of threads.
 */
public final class ChunkCache implements AutoCloseable {

  /** What there is space for without a cache. */
  private static final int SMALLEST_CHUNKS = 16;

  /** How often one chunk's coming may drive out others: those still being read free no space. */
  private static final int ATTEMPTS = 4;

  private static final int COLDEST = 8;

  /** A reader that reads on comes back sooner than that. */
  static final long PATIENCE_NANOS = Duration.ofSeconds(60).toNanos();

  /**
   * Where others want the space, it is to come back sooner; the more so, the more was read ahead in
   * vain lately.
   */
  static final long SHORT_PATIENCE_NANOS = Duration.ofSeconds(10).toNanos();

  private final ChunkArena arena;
  private final boolean keepsFinished;
  private final ExpectedChunks expected;
  private final Cache<ChunkKey, CachedChunk> finished;
  private final ReadBuffers buffers = new ReadBuffers();
  private final AheadAccount account = new AheadAccount();
  private final LongAdder hits = new LongAdder();
  private final LongAdder misses = new LongAdder();
  private final LongAdder evictions = new LongAdder();

  private ChunkCache(ChunkArena arena, boolean keepsFinished, LongSupplier nanoTime) {
    this.arena = arena;
    this.keepsFinished = keepsFinished;
    long capacity = arena.capacityBytes();
    expected =
        keepsFinished
            ? new ExpectedChunks(capacity / 4 * 3, capacity / 2, nanoTime)
            : new ExpectedChunks(capacity, capacity / 4 * 3, nanoTime);
    finished =
        Caffeine.newBuilder()
            .maximumWeight(capacity)
            .weigher((ChunkKey key, CachedChunk chunk) -> chunk.bytes())
            // Space is to be free when a call returns, not later.
            .executor(Runnable::run)
            .removalListener(this::removed)
            .build();
  }

  /**
   * A cache.
   *
   * @param arena what the chunks lie in; closed with the cache
   * @param nanoTime a clock for intervals
   */
  public static ChunkCache in(ChunkArena arena, LongSupplier nanoTime) {
    return new ChunkCache(requireNonNull(arena), true, nanoTime);
  }

  /**
   * No cache, but a little space for what is read in part and for reading ahead. A chunk leaves
   * when its end was read.
   *
   * @param chunkBytes the usual size of chunks
   * @param nanoTime a clock for intervals
   */
  public static ChunkCache none(int chunkBytes, LongSupplier nanoTime) {
    return new ChunkCache(new MemoryArena((long) SMALLEST_CHUNKS * chunkBytes), false, nanoTime);
  }

  private void removed(@Nullable ChunkKey key, @Nullable CachedChunk chunk, RemovalCause cause) {
    if (chunk != null) {
      if (cause.wasEvicted()) {
        evictions.increment();
      }
      chunk.leave();
    }
  }

  /** What is known of it. */
  public CacheStats stats() {
    return new CacheStats(
        keepsFinished ? arena.capacityBytes() : 0,
        arena.usedBytes(),
        hits.sum(),
        misses.sum(),
        evictions.sum());
  }

  /** What was read ahead, and what came of it. */
  public ReadAheadStats readAheadStats() {
    return account.stats();
  }

  AheadAccount account() {
    return account;
  }

  ReadBuffers buffers() {
    return buffers;
  }

  /** How much can be read ahead at once, for all readers together. */
  long aheadLimitBytes() {
    return expected.aheadLimitBytes();
  }

  /** Looks for a chunk that a reader asks for, and counts whether it is there. */
  Optional<Chunk> find(ChunkSource source, int chunk) {
    Optional<Chunk> found = findUncounted(source, chunk);
    (found.isPresent() ? hits : misses).increment();
    return found;
  }

  /** The same for one that was counted before. */
  Optional<Chunk> findUncounted(ChunkSource source, int chunk) {
    ChunkKey key = source.key(chunk);
    Optional<CachedChunk> found =
        expected.touch(key).or(() -> Optional.ofNullable(finished.getIfPresent(key)));
    if (found.isEmpty() || !usable(found.get())) {
      return Optional.empty();
    }
    found.get().used();
    return Optional.of(found.get());
  }

  /** Whether a chunk is there; that it was asked is not noticed. */
  boolean has(ChunkKey key) {
    return expected
        .peek(key)
        .or(() -> Optional.ofNullable(finished.policy().getIfPresentQuietly(key)))
        .filter(chunk -> !chunk.gone())
        .isPresent();
  }

  private boolean usable(CachedChunk found) {
    if (!found.gone()) {
      return true;
    }
    drop(found);
    return false;
  }

  private void drop(CachedChunk chunk) {
    boolean unusedHere = expected.remove(chunk);
    boolean unusedThere = finished.asMap().remove(chunk.key(), chunk);
    chunk.leave();
  }

  /**
   * Stores a chunk that a reader asked for.
   *
   * @param bytes checked
   * @return the chunk in the cache, or a copy of one's own if there is no space
   */
  Chunk store(ChunkKey key, ByteBuffer bytes) {
    Optional<ChunkArena.Frame> frame = room(key, bytes);
    if (frame.isEmpty()) {
      return Chunk.Own.copyOf(bytes);
    }
    CachedChunk chunk = CachedChunk.asked(frame.get(), account);
    takeIn(chunk);
    return chunk;
  }

  /**
   * Stores a chunk that was read ahead. What is stored needs the space that {@link #reserveAhead}
   * gave, until {@link #giveBackAhead}.
   *
   * @param bytes checked
   * @return empty if there is no space
   */
  Optional<Chunk> storeAhead(ChunkKey key, ByteBuffer bytes) {
    account.read(bytes.remaining());
    Optional<ChunkArena.Frame> frame = room(key, bytes);
    if (frame.isEmpty()) {
      account.wasted(bytes.remaining(), false);
      return Optional.empty();
    }
    CachedChunk chunk = CachedChunk.ahead(frame.get(), account);
    takeIn(chunk);
    return Optional.of(chunk);
  }

  private void takeIn(CachedChunk chunk) {
    expected.add(chunk).forEach(this::finish);
  }

  private Optional<ChunkArena.Frame> room(ChunkKey key, ByteBuffer bytes) {
    if (bytes.remaining() > arena.capacityBytes()) {
      return Optional.empty();
    }
    Optional<ChunkArena.Frame> frame = arena.store(key, bytes);
    for (int i = 0; i < ATTEMPTS && frame.isEmpty() && makeRoom(bytes.remaining()); i++) {
      frame = arena.store(key, bytes);
    }
    return frame;
  }

  /** Drives out what is least likely to be used again; false if there was nothing. */
  private boolean makeRoom(long bytes) {
    if (!keepsFinished) {
      Optional<CachedChunk> eldest = expected.removeEldest();
      eldest.ifPresent(this::finish);
      return eldest.isPresent();
    }
    long freed = 0;
    for (var coldest : finished.policy().eviction().orElseThrow().coldest(COLDEST).entrySet()) {
      if (freed < bytes && finished.asMap().remove(coldest.getKey(), coldest.getValue())) {
        evictions.increment();
        freed += coldest.getValue().bytes();
      }
    }
    return freed > 0;
  }

  /**
   * A reader has read the chunk to its end. The one before it is then not expected to be asked for
   * any more; this one still is: Kafka's next fetch begins a batch before where the last one ended.
   */
  void readToEnd(ChunkSource source, int chunk) {
    if (chunk > 0) {
      expected.peek(source.key(chunk - 1)).ifPresent(this::finish);
    }
    if (chunk == Chunks.count(source) - 1) {
      expected.peek(source.key(chunk)).ifPresent(this::finish);
    }
  }

  /**
   * From now on it stays by how often it is used. It is in its new place before it leaves the old
   * one, so that no reader misses it.
   */
  private void finish(CachedChunk chunk) {
    if (keepsFinished && !chunk.gone()) {
      finished.put(chunk.key(), chunk);
      boolean unused = expected.remove(chunk);
    } else {
      drop(chunk);
    }
  }

  /** Keeps space free for reading ahead; false if what waits to be used has all of it. */
  boolean reserveAhead(long bytes) {
    forget(PATIENCE_NANOS);
    if (expected.reserve(bytes)) {
      return true;
    }
    expected.removeGone().forEach(this::drop);
    forget(SHORT_PATIENCE_NANOS >> account.halvings());
    return expected.reserve(bytes);
  }

  private void forget(long patienceNanos) {
    for (CachedChunk forgotten : expected.removeForgotten(patienceNanos)) {
      forgotten.grewStale();
      finish(forgotten);
    }
  }

  void giveBackAhead(long bytes) {
    expected.giveBack(bytes);
  }

  /** Closes the arena. */
  @Override
  public void close() {
    arena.close();
  }
}
