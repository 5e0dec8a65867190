package io.strata.kafka.migration.remote.read;

import static io.strata.kafka.migration.remote.read.Workbench.CHUNK;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What stays, what goes, and what is counted. */
class ChunkCacheTest {

  private static final int CHUNKS = 16;

  private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 5); // the clock may overflow
  private final MemoryArena arena = new MemoryArena(CHUNKS * CHUNK);
  private final ChunkCache cache = ChunkCache.in(arena, nanos::get);
  private final FakeSource source = new FakeSource(1, 200 * CHUNK, CHUNK);

  @AfterEach
  void close() {
    cache.close();
  }

  private ByteBuffer bytes(FakeSource of, int chunk) {
    return ByteBuffer.wrap(of.content(), chunk * CHUNK, CHUNK).slice();
  }

  /** As a reader that asks for a chunk and reads it to its end. */
  private boolean readWhole(int chunk) {
    Optional<Chunk> found = cache.find(source, chunk);
    Chunk read = found.orElseGet(() -> cache.store(source.key(chunk), bytes(source, chunk)));
    ByteBuffer target = ByteBuffer.allocate(CHUNK);
    assertThat(read.read(0, target)).isTrue();
    assertThat(target.array())
        .isEqualTo(Arrays.copyOfRange(source.content(), chunk * CHUNK, (chunk + 1) * CHUNK));
    cache.readToEnd(source, chunk);
    return found.isPresent();
  }

  private boolean ahead(int chunk) {
    if (!cache.reserveAhead(CHUNK)) {
      return false;
    }
    boolean stored = cache.storeAhead(source.key(chunk), bytes(source, chunk)).isPresent();
    cache.giveBackAhead(CHUNK);
    return stored;
  }

  @Test
  void countsAndHoldsItsBound() {
    for (int chunk = 0; chunk < 100; chunk++) {
      assertThat(readWhole(chunk)).isFalse();
      assertThat(cache.stats().usedBytes()).isLessThanOrEqualTo(CHUNKS * CHUNK);
    }
    CacheStats stats = cache.stats();
    assertThat(stats)
        .isEqualTo(new CacheStats(CHUNKS * CHUNK, CHUNKS * CHUNK, 0, 100, 100 - CHUNKS));
    assertThat(readWhole(99)).isTrue();
    assertThat(cache.stats().hits()).isEqualTo(1);
  }

  @Test
  void whatIsUsedOftenStaysWhileOthersPass() {
    for (int chunk = 0; chunk < CHUNKS; chunk++) {
      readWhole(chunk);
    }
    for (int round = 0; round < 10; round++) {
      readWhole(0);
      readWhole(1);
    }
    for (int chunk = 20; chunk < 100; chunk++) {
      readWhole(chunk);
    }
    assertThat(readWhole(0)).isTrue();
    assertThat(readWhole(1)).isTrue();
  }

  @Test
  void whatWaitsToBeUsedIsNotDrivenOut() {
    int waiting = 0;
    while (ahead(waiting)) {
      waiting++;
    }
    assertThat(waiting).as("half of the room").isEqualTo(CHUNKS / 2);
    for (int chunk = 100; chunk < 200; chunk++) {
      readWhole(chunk);
    }
    for (int chunk = 0; chunk < waiting; chunk++) {
      assertThat(readWhole(chunk)).as("chunk %d", chunk).isTrue();
    }
    assertThat(cache.readAheadStats())
        .isEqualTo(new ReadAheadStats((long) waiting * CHUNK, (long) waiting * CHUNK, 0));
    assertThat(ahead(50)).as("there is room again").isTrue();
  }

  /** Kafka reads a chunk in several fetches: it stays until its end was read. */
  @Test
  void whatWasReadInPartIsNotDrivenOut() {
    Chunk part = cache.store(source.key(0), bytes(source, 0));
    for (int chunk = 100; chunk < 200; chunk++) {
      readWhole(chunk);
    }
    assertThat(cache.find(source, 0)).contains(part);
  }

  /** Kafka's next fetch begins a batch before where the last one ended. */
  @Test
  void theChunkBeforeTheReaderIsNotDrivenOut() {
    for (int round = 0; round < 10; round++) {
      for (int chunk = 100; chunk < 100 + CHUNKS; chunk++) {
        readWhole(chunk);
      }
    }
    for (int chunk = 0; chunk < 50; chunk++) {
      readWhole(chunk);
      assertThat(ahead(chunk + 1)).isTrue();
      assertThat(cache.has(source.key(chunk))).as("chunk %d", chunk).isTrue();
    }
  }

  @Test
  void whatNobodyComesForLeavesAndIsWasted() {
    for (int chunk = 0; chunk < CHUNKS / 2; chunk++) {
      assertThat(ahead(chunk)).isTrue();
    }
    nanos.addAndGet(ChunkCache.SHORT_PATIENCE_NANOS);
    assertThat(ahead(90)).isFalse();
    nanos.addAndGet(1);
    assertThat(ahead(90)).isTrue();
    assertThat(cache.account().halvings()).isPositive();
    assertThat(cache.readAheadStats().wastedBytes()).as("it is still there").isZero();
    assertThat(readWhole(0)).isTrue();
    for (int round = 0; round < 3; round++) {
      for (int chunk = 100; chunk < 120; chunk++) {
        readWhole(chunk);
      }
    }
    ReadAheadStats stats = cache.readAheadStats();
    assertThat(stats.usedBytes()).isEqualTo(CHUNK);
    assertThat(stats.wastedBytes()).isEqualTo((CHUNKS / 2 - 1) * CHUNK);
    assertThat(stats.bytes()).isEqualTo((CHUNKS / 2 + 1) * CHUNK);
  }

  @Test
  void whatIsTakenAwayIsAMissAndItsRoomIsNotCounted() {
    ChunkCache flaky =
        ChunkCache.in(new FlakyArena(new MemoryArena(CHUNKS * CHUNK), 1, 1 << 30), nanos::get);
    for (int chunk = 0; chunk < CHUNKS / 2; chunk++) {
      assertThat(flaky.reserveAhead(CHUNK)).isTrue();
      assertThat(flaky.storeAhead(source.key(chunk), bytes(source, chunk))).isPresent();
      flaky.giveBackAhead(CHUNK);
    }
    assertThat(flaky.reserveAhead(CHUNK)).isFalse();
    flaky.close(); // All frames are gone.
    assertThat(flaky.find(source, 0)).isEmpty();
    assertThat(flaky.has(source.key(1))).isFalse();
    assertThat(flaky.stats().misses()).isEqualTo(1);
    assertThat(flaky.readAheadStats().wastedBytes()).isEqualTo(CHUNK);
    nanos.addAndGet(2_000_000_000L);
    assertThat(flaky.reserveAhead(CHUNKS / 2 * CHUNK)).isTrue();
  }

  @Test
  void whereThereIsRoomAReaderMayTakeItsTime() {
    assertThat(ahead(0)).isTrue();
    nanos.addAndGet(ChunkCache.PATIENCE_NANOS);
    assertThat(ahead(1)).isTrue();
    assertThat(cache.account().halvings()).isZero();
    for (int i = 2; i < 12; i++) {
      nanos.addAndGet(ChunkCache.PATIENCE_NANOS + 1);
      assertThat(ahead(i)).isTrue();
    }
    assertThat(cache.account().halvings()).isPositive();
  }

  @Test
  void aChunkLargerThanTheArenaDrivesNothingOut() {
    readWhole(0);
    FakeSource large = new FakeSource(9, 32 * CHUNK, 32 * CHUNK);
    Chunk own = cache.store(large.key(0), ByteBuffer.wrap(large.content()));
    assertThat(own).isInstanceOf(Chunk.Own.class);
    assertThat(readWhole(0)).isTrue();
  }

  @Test
  void anAccountForgivesAndForgetsNothing() {
    AheadAccount account = new AheadAccount();
    assertThat(account.halvings()).isZero();
    for (int i = 0; i < 100; i++) {
      account.wasted(1, false);
    }
    assertThat(account.halvings()).isEqualTo(5);
    for (int i = 0; i < 100; i++) {
      account.used(1);
    }
    assertThat(account.halvings()).isZero();
    assertThat(account.stats()).isEqualTo(new ReadAheadStats(0, 100, 100));
  }

  @Test
  void buffersAreUsedAgainWithinABound() {
    ReadBuffers buffers = new ReadBuffers();
    ByteBuffer first = buffers.take(1000);
    assertThat(first.remaining()).isEqualTo(1000);
    buffers.giveBack(first.position(10).limit(20));
    ByteBuffer second = buffers.take(500);
    assertThat(second).isSameAs(first);
    assertThat(second.remaining()).isEqualTo(500);
    assertThat(buffers.take(500)).isNotSameAs(first);
    int half = (int) ReadBuffers.BOUND_BYTES / 2;
    ByteBuffer large = buffers.take(half);
    assertThat(large.isDirect()).isTrue();
    ByteBuffer beyond = buffers.take(half);
    assertThat(beyond.isDirect()).isFalse();
    assertThat(beyond.remaining()).isEqualTo(half);
    buffers.giveBack(beyond);
    buffers.giveBack(large);
    buffers.giveBack(second);
    // What is idle frees space for what is wanted.
    assertThat(buffers.take(half + 1).isDirect()).isTrue();
    assertThat(buffers.take(half).isDirect()).isFalse();
  }

  @Test
  void tracksTellReadersApart() {
    Tracks tracks = new Tracks(nanos::get);
    FakeSource other = new FakeSource(2, 4 * CHUNK, CHUNK);
    Track first = tracks.begin(source, 0);
    first.at(3 << 20);
    Track second = tracks.begin(source, 10 << 20);
    assertThat(second).isNotSameAs(first);
    assertThat(tracks.begin(source, (3 << 20) - 5000)).isSameAs(first);
    assertThat(tracks.begin(source, (10 << 20) + 5)).isSameAs(second);
    assertThat(tracks.begin(other, 0)).isNotSameAs(first);
    assertThat(first.runChunks()).isEqualTo(3 * (1 << 20) / CHUNK + 1);
    nanos.addAndGet(61_000_000_000L);
    assertThat(tracks.begin(source, 3 << 20)).as("forgotten").isNotSameAs(first);
    Random random = new Random(1);
    for (int i = 0; i < 10_000; i++) {
      Track unused = tracks.begin(new FakeSource(i, 10, CHUNK), random.nextInt(10));
    }
    assertThat(tracks.active()).isLessThanOrEqualTo(4096);
  }
}
