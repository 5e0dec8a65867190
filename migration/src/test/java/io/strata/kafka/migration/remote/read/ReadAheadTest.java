package io.strata.kafka.migration.remote.read;

import static io.strata.kafka.migration.remote.read.Workbench.CHUNK;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What is read before it is asked for, and what is not. */
@Timeout(600)
class ReadAheadTest {

  private static void check(FakeSource source, byte[] found, int from) {
    assertThat(found).isEqualTo(Arrays.copyOfRange(source.content(), from, from + found.length));
  }

  /** As Kafka reads: a stream for each fetch, each a little before where the last one ended. */
  @Test
  void aReaderThatReadsOnFindsItsChunks() throws Exception {
    FakeSource source = new FakeSource(1, 64 * CHUNK, CHUNK);
    try (Workbench bench = Workbench.ofChunks(64)) {
      bench.ahead.set(8);
      int fetch = CHUNK;
      for (int at = 0; at + fetch <= 64 * CHUNK; at += fetch - 500) {
        check(source, bench.fetch(source, at, fetch), at);
        bench.settle();
      }
      bench.settle();
      assertThat(source.reads).doesNotHaveDuplicates().hasSize(64);
      ReadAheadStats stats = bench.reader.readAheadStats();
      assertThat(stats.bytes()).isGreaterThan(50 * CHUNK);
      assertThat(stats.wastedBytes()).isZero();
      assertThat(stats.usedBytes()).isGreaterThan(50 * CHUNK);
      assertThat(bench.reader.cacheStats().hits()).isGreaterThan(50);
    }
  }

  @Test
  void aLookAtOnePlaceReadsNothingAhead() throws Exception {
    FakeSource source = new FakeSource(1, 64 * CHUNK, CHUNK);
    try (Workbench bench = Workbench.ofChunks(64)) {
      bench.ahead.set(8);
      for (int i = 0; i < 10; i++) {
        FakeSource other = new FakeSource(100 + i, 64 * CHUNK, CHUNK);
        check(other, bench.fetch(other, 5 * CHUNK + 10, 100), 5 * CHUNK + 10);
        bench.settle();
        assertThat(other.reads).containsExactly(5);
      }
      assertThat(bench.reader.readAheadStats()).isEqualTo(new ReadAheadStats(0, 0, 0));
      assertThat(source.reads).isEmpty();
    }
  }

  @Test
  void itGoesAsFarAsTheSettingAndNoFurther() throws Exception {
    FakeSource source = new FakeSource(1, 64 * CHUNK, CHUNK);
    try (Workbench bench = Workbench.ofChunks(64)) {
      bench.ahead.set(5);
      bench.fetch(source, 0, 10 * CHUNK);
      bench.settle();
      // The reader is in chunk 9. A new start is made when half of the distance is used up.
      assertThat(source.reads).doesNotContain(15).contains(10, 11);
      bench.ahead.set(0);
      List<Integer> before = List.copyOf(source.reads);
      bench.fetch(source, 10 * CHUNK, 4 * CHUNK);
      bench.settle();
      // The reader reads what was not ahead of it in time, and nothing is read ahead any more.
      assertThat(source.reads.subList(before.size(), source.reads.size()))
          .isSubsetOf(10, 11, 12, 13);
    }
  }

  @Test
  void itGoesOverIntoTheNextSegments() throws Exception {
    List<FakeSource> segments = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      // Small ones, too: what lies ahead may be in the one after the next.
      segments.add(new FakeSource(i, i % 2 == 0 ? 12 * CHUNK - 77 : CHUNK + 5, CHUNK));
    }
    for (int i = 0; i + 1 < segments.size(); i++) {
      segments.get(i).next = Optional.of(segments.get(i + 1));
    }
    try (Workbench bench = Workbench.ofChunks(128)) {
      bench.ahead.set(6);
      for (FakeSource source : segments) {
        for (int at = 0; at < source.bytes(); at += CHUNK) {
          check(source, bench.fetch(source, at, CHUNK), at);
          bench.settle();
        }
      }
      bench.settle();
      for (FakeSource source : segments.subList(1, segments.size())) {
        assertThat(source.reads).doesNotHaveDuplicates();
      }
      // All but the very first chunks came from the cache.
      assertThat(bench.reader.cacheStats().misses()).isLessThanOrEqualTo(6);
      assertThat(bench.reader.readAheadStats().wastedBytes()).isZero();
    }
  }

  @Test
  void aBoundedRangeIsNotReadBeyond() throws Exception {
    FakeSource source = new FakeSource(1, 64 * CHUNK, CHUNK);
    source.next = Optional.of(new FakeSource(2, 64 * CHUNK, CHUNK));
    try (Workbench bench = Workbench.ofChunks(64)) {
      bench.ahead.set(8);
      try (InputStream in = bench.reader.open(source, 0, 10 * CHUNK - 1)) {
        in.readNBytes(5 * CHUNK);
        bench.settle();
        in.readAllBytes();
      }
      bench.settle();
      assertThat(source.reads).contains(9).doesNotContain(10);
    }
  }

  @Test
  void severalChunksAreReadAtOnceWhereThatIsBetter() throws Exception {
    FakeSource source = new FakeSource(1, 64 * CHUNK, CHUNK);
    source.chunksAtOnce = 4;
    List<Integer> counts = new ArrayList<>();
    source.obstacle =
        (first, count) -> {
          synchronized (counts) {
            counts.add(count);
          }
        };
    try (Workbench bench = Workbench.ofChunks(64)) {
      bench.ahead.set(8);
      for (int at = 0; at < 64 * CHUNK; at += CHUNK) {
        check(source, bench.fetch(source, at, CHUNK), at);
        bench.settle();
      }
      assertThat(source.reads).doesNotHaveDuplicates().hasSize(64);
      assertThat(counts.size()).isLessThan(30);
      assertThat(counts).contains(4);
    }
  }

  @Test
  void manyReadersAtOnceAllFindRoom() throws Exception {
    try (Workbench bench = Workbench.ofChunks(32)) {
      bench.ahead.set(8);
      List<FakeSource> sources = new ArrayList<>();
      for (int i = 0; i < 10; i++) {
        sources.add(new FakeSource(i, 40 * CHUNK, CHUNK));
      }
      for (int at = 0; at < 40 * CHUNK; at += CHUNK / 2) {
        for (FakeSource source : sources) {
          check(source, bench.fetch(source, at, CHUNK / 2), at);
          assertThat(bench.reader.cacheStats().usedBytes()).isLessThanOrEqualTo(32 * CHUNK);
        }
        bench.settle();
      }
      ReadAheadStats stats = bench.reader.readAheadStats();
      // Half of the cache is for what waits: 1.6 chunks for each.
      assertThat(stats.wastedBytes()).isLessThan(stats.bytes() / 20);
      int reads = sources.stream().mapToInt(s -> s.reads.size()).sum();
      assertThat(reads).isLessThan(400 * 11 / 10);
    }
  }

  @Test
  void itDropsItsErrorsAndTheReaderMeetsThem() throws Exception {
    FakeSource source = new FakeSource(1, 64 * CHUNK, CHUNK);
    source.flip(7 * CHUNK);
    try (Workbench bench = Workbench.ofChunks(64)) {
      bench.ahead.set(8);
      check(source, bench.fetch(source, 0, 3 * CHUNK), 0);
      bench.settle();
      check(source, bench.fetch(source, 3 * CHUNK, 4 * CHUNK), 3 * CHUNK);
      assertThatThrownBy(() -> bench.fetch(source, 7 * CHUNK, 10))
          .isInstanceOf(CorruptChunkException.class);
      check(source, bench.fetch(source, 8 * CHUNK, 4 * CHUNK), 8 * CHUNK);
    }
  }

  @Test
  void aReaderDoesNotWaitForWhatOnlyWaitsToBeReadAhead() throws Exception {
    CountDownLatch hangs = new CountDownLatch(1);
    FakeSource source = new FakeSource(1, 64 * CHUNK, CHUNK);
    try (Workbench bench = Workbench.ofChunks(64)) {
      bench.ahead.set(8);
      source.obstacle =
          (first, count) -> {
            if (first == 3) {
              hangs.await();
            }
          };
      bench.timeout = java.time.Duration.ofSeconds(1);
      check(source, bench.fetch(source, 0, 3 * CHUNK), 0);
      // Reading ahead hangs at chunk 3; what lies behind it can be read all the same.
      check(source, bench.fetch(source, 4 * CHUNK, 2 * CHUNK), 4 * CHUNK);
      hangs.countDown();
      check(source, bench.fetch(source, 3 * CHUNK, CHUNK), 3 * CHUNK);
    }
  }

  /** Readers that read two chunks and jump away: soon nothing is read for them in vain. */
  @Test
  void itHoldsBackWhenWhatItReadsIsWasted() throws Exception {
    Random random = new Random(5);
    try (Workbench bench = Workbench.ofChunks(32)) {
      bench.ahead.set(8);
      long early = jumpAbout(bench, random, 0, 60);
      long late = jumpAbout(bench, random, 60, 120);
      assertThat(early).isPositive();
      assertThat(late).isLessThan(early / 2);
      // A long run is read ahead of all the same, and balances the account.
      FakeSource source = new FakeSource(5000, 200 * CHUNK, CHUNK);
      long before = bench.reader.readAheadStats().usedBytes();
      for (int at = 0; at < 200 * CHUNK; at += CHUNK) {
        check(source, bench.fetch(source, at, CHUNK), at);
        bench.settle();
      }
      assertThat(bench.reader.readAheadStats().usedBytes() - before).isGreaterThan(100 * CHUNK);
    }
  }

  private static long jumpAbout(Workbench bench, Random random, int from, int to)
      throws IOException {
    long before = bench.reader.readAheadStats().bytes();
    for (int i = from; i < to; i++) {
      FakeSource source = new FakeSource(i, 30 * CHUNK, CHUNK);
      int at = random.nextInt(10) * CHUNK;
      bench.fetch(source, at, CHUNK);
      bench.fetch(source, at + CHUNK, CHUNK);
      bench.passed.addAndGet(TimeUnit.SECONDS.toNanos(1));
      bench.settle();
    }
    return bench.reader.readAheadStats().bytes() - before;
  }

  @Test
  void itWorksWithoutACache() throws Exception {
    FakeSource source = new FakeSource(1, 100 * CHUNK, CHUNK);
    try (Workbench bench = new Workbench(ChunkCache.none(CHUNK, System::nanoTime))) {
      bench.ahead.set(4);
      for (int at = 0; at < 100 * CHUNK; at += CHUNK / 2) {
        check(source, bench.fetch(source, at, CHUNK / 2), at);
        bench.settle();
      }
      bench.settle();
      assertThat(source.reads).doesNotHaveDuplicates().hasSize(100);
      assertThat(bench.reader.cacheStats().capacityBytes()).isZero();
      assertThat(bench.reader.cacheStats().usedBytes()).isZero();
      assertThat(bench.reader.readAheadStats().usedBytes()).isGreaterThan(50 * CHUNK);
    }
  }

  @Test
  void itKeepsToTheRateToo() throws Exception {
    FakeSource source = new FakeSource(1, 64 * CHUNK, CHUNK);
    try (Workbench bench = Workbench.ofChunks(128)) {
      bench.ahead.set(8);
      bench.limiter.setRate(2 << 20);
      long begin = System.nanoTime();
      check(source, bench.fetch(source, 0, 64 * CHUNK), 0);
      assertThat(System.nanoTime() - begin).isGreaterThan(TimeUnit.MILLISECONDS.toNanos(1500));
      assertThat(source.reads).doesNotHaveDuplicates();
    }
  }

  @Test
  void closingEndsIt() throws Exception {
    ConcurrentHashMap<Thread, Boolean> threads = new ConcurrentHashMap<>();
    FakeSource source = new FakeSource(1, 64 * CHUNK, CHUNK);
    CountDownLatch hangs = new CountDownLatch(1);
    try (Workbench bench = Workbench.ofChunks(64)) {
      bench.ahead.set(8);
      bench.fetch(source, 0, 2 * CHUNK);
      source.obstacle =
          (first, count) -> {
            threads.put(Thread.currentThread(), true);
            hangs.await();
          };
      bench.timeout = java.time.Duration.ofMillis(100);
      assertThatThrownBy(() -> bench.fetch(source, 20 * CHUNK, 4 * CHUNK))
          .isInstanceOf(IOException.class);
    }
    await().untilAsserted(() -> assertThat(threads.keySet()).noneMatch(Thread::isAlive));
    assertThat(
            Thread.getAllStackTraces().keySet().stream()
                .filter(t -> t.getName().startsWith("strata-remote-read-ahead"))
                .filter(Thread::isAlive))
        .as("reading ahead")
        .allSatisfy(t -> await().until(() -> !t.isAlive()));
  }
}
