package io.strata.kafka.migration.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.strata.kafka.migration.remote.calls.TimeLimitException;
import io.strata.kafka.migration.remote.faults.FaultyFileSystem.Operation;
import io.strata.kafka.migration.remote.store.CorruptChunkException;
import io.strata.kafka.migration.remote.store.FakeCold;
import io.strata.kafka.migration.remote.store.SegmentInfo;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What is read from the cold manager, and what is kept of it. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ColdPiecesTest {

  private static final int PIECE = ColdPieces.PIECE_BYTES;

  @TempDir private Path top = Path.of("");
  private TierBench bench = new TierBench(Path.of(""));
  private final FakeCold cold = new FakeCold();
  private final List<Long> reads = new CopyOnWriteArrayList<>();
  private final ExecutorService executor = Executors.newCachedThreadPool();

  @BeforeEach
  void bench() throws IOException {
    bench = new TierBench(top).level("ssd", 1 << 30, "a");
    bench.cold = Optional.of(cold);
    bench.cacheBytes = 8 * PIECE;
    bench.threshold = 0;
    bench.segmentBytes = 4 * PIECE - 100;
  }

  @AfterEach
  void close() {
    bench.close();
    var unused = executor.shutdownNow();
  }

  /** A segment that the cold manager alone has, and has been read back from. */
  private SegmentInfo cold(RemoteTier tier) throws IOException, InterruptedException {
    SegmentInfo segment = bench.copied(tier);
    await().atMost(Duration.ofSeconds(100)).until(() -> bench.logs("a") == 0);
    cold.beforeRead(reads::add);
    return segment;
  }

  private static byte[] read(RemoteTier tier, SegmentInfo segment, int start, int bytes)
      throws IOException, InterruptedException {
    try (InputStream in = tier.open("orders", segment.key(), start, start + bytes - 1)) {
      return in.readAllBytes();
    }
  }

  private static byte[] expected(SegmentInfo segment, int start, int bytes) {
    return Arrays.copyOfRange(TierBench.bytes(segment), start, start + bytes);
  }

  @Test
  void aPieceIsReadOnceForAll() throws Exception {
    RemoteTier tier = bench.open();
    SegmentInfo segment = cold(tier);
    CountDownLatch slow = new CountDownLatch(1);
    cold.beforeRead(
        position -> {
          reads.add(position);
          slow.await();
        });
    List<Future<byte[]>> all = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      int start = PIECE + i;
      all.add(executor.submit(() -> read(tier, segment, start, 1000)));
    }
    await().until(() -> TierBench.stats(tier).cache().hits() == 19);
    slow.countDown();
    for (int i = 0; i < all.size(); i++) {
      assertThat(all.get(i).get()).isEqualTo(expected(segment, PIECE + i, 1000));
    }
    assertThat(reads).containsExactly((long) PIECE);
    assertThat(TierBench.stats(tier).cache().misses()).isEqualTo(1);
    assertThat(TierBench.stats(tier).cache().usedBytes()).isEqualTo(PIECE);
  }

  /** The directory answers, and a write in it does not come back. */
  @Test
  void aCacheThatCannotBeWrittenHoldsNoReaderForLong() throws Exception {
    bench.patience = Duration.ofMillis(100);
    RemoteTier tier = bench.open();
    SegmentInfo segment = cold(tier);
    Runnable over =
        bench.files.hang(
            (operation, path) ->
                operation == Operation.WRITE && path.startsWith(bench.directory("a/cache")));
    try {
      Future<byte[]> reading = executor.submit(() -> read(tier, segment, 100, 1000));
      await().atMost(Duration.ofSeconds(30)).until(reading::isDone);
      assertThat(reading.get()).isEqualTo(expected(segment, 100, 1000));
      assertThat(bench.files.hanging()).isEqualTo(1);
    } finally {
      over.run();
    }
  }

  @Test
  void theNextPiecesAreReadForWhoReadsOnAndForNobodyElse() throws Exception {
    RemoteTier tier = bench.open();
    SegmentInfo segment = cold(tier);
    assertThat(read(tier, segment, 100, 100)).isEqualTo(expected(segment, 100, 100));
    assertThat(reads).containsExactly(0L);
    assertThat(read(tier, segment, PIECE - 10, 20)).isEqualTo(expected(segment, PIECE - 10, 20));
    await().until(() -> reads.size() == 4);
    assertThat(reads).containsExactlyInAnyOrder(0L, (long) PIECE, 2L * PIECE, 3L * PIECE);
    assertThat(TierBench.read(tier, segment)).isEqualTo(TierBench.bytes(segment));
    assertThat(reads).hasSize(4);
  }

  @Test
  void whatIsKeptIsBounded() throws Exception {
    bench.cacheBytes = 2 * PIECE;
    RemoteTier tier = bench.open();
    SegmentInfo segment = cold(tier);
    for (int round = 0; round < 3; round++) {
      assertThat(TierBench.read(tier, segment)).isEqualTo(TierBench.bytes(segment));
      assertThat(TierBench.stats(tier).cache().usedBytes()).isLessThanOrEqualTo(2L * PIECE);
    }
    assertThat(TierBench.stats(tier).cache().evictions()).isPositive();
  }

  @Test
  void whatTheManagerGivesBackIsChecked() throws Exception {
    RemoteTier tier = bench.open();
    SegmentInfo segment = cold(tier);
    byte[] stored = cold.segments.get(segment.key().id());
    assertThat(stored).isNotNull();
    stored[70_000] ^= 1;
    assertThatThrownBy(() -> read(tier, segment, 0, 100))
        .isInstanceOf(CorruptChunkException.class)
        .hasMessageContaining("chunk 1 (bytes 65536 to 131071)");
    assertThat(read(tier, segment, PIECE, 100)).isEqualTo(expected(segment, PIECE, 100));
    stored[70_000] ^= 1;
    assertThat(read(tier, segment, 0, 100)).as("not kept").isEqualTo(expected(segment, 0, 100));
  }

  @Test
  void aFailureIsTheSameForAllWhoWaitAndIsNotKept() throws Exception {
    RemoteTier tier = bench.open();
    SegmentInfo segment = cold(tier);
    CountDownLatch slow = new CountDownLatch(1);
    cold.beforeRead(
        position -> {
          slow.await();
          throw new IOException("the bucket is gone");
        });
    List<Future<Throwable>> all = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      int start = i;
      all.add(executor.submit(() -> catchThrowable(() -> read(tier, segment, start, 1000))));
    }
    await().until(() -> TierBench.stats(tier).cache().hits() == 7);
    slow.countDown();
    for (Future<Throwable> each : all) {
      assertThat(each.get()).hasMessageContaining("the bucket is gone");
    }
    cold.beforeRead(position -> {});
    assertThat(read(tier, segment, 0, 100)).isEqualTo(expected(segment, 0, 100));
  }

  @Test
  void aReadEndsInItsTimeAndWhatWasOnItsWayIsThereForTheNext() throws Exception {
    bench.fetchTimeout = Duration.ofMillis(500);
    RemoteTier tier = bench.open();
    SegmentInfo segment = cold(tier);
    CountDownLatch slow = new CountDownLatch(1);
    cold.beforeRead(
        position -> {
          reads.add(position);
          slow.await();
        });
    assertThatThrownBy(() -> read(tier, segment, 0, 100))
        .isInstanceOf(TimeLimitException.class)
        .hasMessageContaining("orders-1, offsets 0 to 99")
        .hasMessageContaining("not read within 500 ms");
    slow.countDown();
    await().until(() -> TierBench.stats(tier).cache().usedBytes() > 0);
    assertThat(read(tier, segment, 0, 100)).isEqualTo(expected(segment, 0, 100));
    assertThat(reads).containsExactly(0L);
  }

  private List<Path> files() throws IOException {
    Path cache = bench.directory("a").resolve("cache/1");
    if (!Files.exists(cache)) {
      return List.of();
    }
    try (var all = Files.list(cache)) {
      return all.sorted().toList();
    }
  }

  @Test
  void whatWasKeptIsFoundAgainAfterARestart() throws Exception {
    RemoteTier tier = bench.open();
    SegmentInfo segment = cold(tier);
    assertThat(TierBench.read(tier, segment)).isEqualTo(TierBench.bytes(segment));
    assertThat(files()).hasSize(4).noneMatch(file -> file.toString().endsWith(".part"));
    tier.close();
    Path torn = Files.write(files().get(0).resolveSibling("x.part"), new byte[] {1});
    reads.clear();

    RemoteTier again = bench.open();
    await().until(() -> TierBench.stats(again).cache().usedBytes() == segment.bytes());

    assertThat(TierBench.read(again, segment)).isEqualTo(TierBench.bytes(segment));
    assertThat(reads).isEmpty();
    assertThat(torn).doesNotExist();
  }

  @Test
  void aRestartWithASmallerCacheRemovesWhatIsTooMuch() throws Exception {
    RemoteTier tier = bench.open();
    SegmentInfo segment = cold(tier);
    assertThat(TierBench.read(tier, segment)).isEqualTo(TierBench.bytes(segment));
    tier.close();
    bench.cacheBytes = 2 * PIECE;

    RemoteTier again = bench.open();

    await().until(() -> files().size() == 2);
    assertThat(TierBench.read(again, segment)).isEqualTo(TierBench.bytes(segment));
  }

  @Test
  void aPieceThatIsDamagedOrGoneIsReadFromTheManager() throws Exception {
    RemoteTier tier = bench.open();
    SegmentInfo segment = cold(tier);
    assertThat(TierBench.read(tier, segment)).isEqualTo(TierBench.bytes(segment));
    List<Path> files = files();
    byte[] damaged = Files.readAllBytes(files.get(0));
    damaged[70_000] ^= 1;
    Path unused = Files.write(files.get(0), damaged);
    Path unusedToo = Files.write(files.get(1), Arrays.copyOf(damaged, 100_000));
    Files.delete(files.get(2));
    reads.clear();

    assertThat(TierBench.read(tier, segment)).isEqualTo(TierBench.bytes(segment));
    assertThat(reads).containsExactlyInAnyOrder(0L, (long) PIECE, 2L * PIECE);
    assertThat(TierBench.read(tier, segment)).isEqualTo(TierBench.bytes(segment));
    assertThat(files()).hasSize(4);
  }

  @Test
  void whatCannotBeKeptIsReadAllTheSame() throws Exception {
    RemoteTier tier = bench.open();
    SegmentInfo segment = cold(tier);
    Runnable over =
        bench.files.fail(
            "No space left on device", (operation, path) -> path.toString().contains("/cache/"));
    assertThat(TierBench.read(tier, segment)).isEqualTo(TierBench.bytes(segment));
    assertThat(TierBench.stats(tier).cache().usedBytes()).isZero();
    assertThat(TierBench.read(tier, segment)).isEqualTo(TierBench.bytes(segment));
    assertThat(reads).as("once each").hasSize(4);
    over.run();
    SegmentInfo other = cold(tier);
    assertThat(TierBench.read(tier, other)).isEqualTo(TierBench.bytes(other));
    assertThat(TierBench.read(tier, segment)).isEqualTo(TierBench.bytes(segment));
    assertThat(TierBench.stats(tier).cache().usedBytes()).isEqualTo(2L * segment.bytes());
  }

  @Test
  void aPieceThatItsDiskCannotReadGetsAnotherFile() throws Exception {
    RemoteTier tier = bench.open();
    SegmentInfo segment = cold(tier);
    assertThat(read(tier, segment, 3, 100)).isEqualTo(expected(segment, 3, 100));
    Object first = inode(files().get(0));
    Runnable over =
        bench.files.fail(
            "Input/output error",
            (operation, path) ->
                operation == Operation.READ
                    && path.toString().contains("/cache/1/")
                    && inode(path).equals(first));
    reads.clear();
    // Each begins before what the one before has left in memory.
    for (int i = 2; i >= 0; i--) {
      assertThat(read(tier, segment, i, 100)).isEqualTo(expected(segment, i, 100));
    }
    assertThat(reads).containsExactly(0L);
    over.run();
    assertThat(files()).hasSize(1);
  }

  private static Object inode(Path path) {
    try {
      return Files.getAttribute(path, "unix:ino");
    } catch (IOException e) {
      return path; // It is being replaced.
    }
  }

  @Test
  void whatADirectoryHasThatWasAwayCountsWhenItIsBack() throws Exception {
    RemoteTier tier = bench.open();
    SegmentInfo segment = cold(tier);
    assertThat(TierBench.read(tier, segment)).isEqualTo(TierBench.bytes(segment));
    tier.close();
    CountDownLatch asked = new CountDownLatch(1);
    Runnable over =
        bench.files.fail(
            "Input/output error",
            (operation, path) -> {
              boolean hit = operation == Operation.LIST && path.endsWith("cache/1");
              if (hit) {
                asked.countDown();
              }
              return hit;
            });

    RemoteTier again = bench.open();
    asked.await();
    over.run();
    assertThat(read(again, segment, 0, 100)).isEqualTo(expected(segment, 0, 100));

    await().until(() -> TierBench.stats(again).cache().usedBytes() == segment.bytes());
  }

  @Test
  void theFilesGoWithTheColdLevel() throws Exception {
    RemoteTier tier = bench.open();
    SegmentInfo segment = cold(tier);
    assertThat(TierBench.read(tier, segment)).isEqualTo(TierBench.bytes(segment));
    tier.close();
    bench.cold = Optional.empty();

    RemoteTier unused = bench.open();

    await().until(() -> files().isEmpty());
  }

  /** The levels have got another order, say. */
  @Test
  void theFilesGoFromADirectoryThatHasTheCacheNoMore() throws Exception {
    bench.level("hdd", 1 << 30, "b");
    bench.open().close();
    Path before = Files.createDirectories(bench.directory("b").resolve("cache/1")).resolve("x");
    Path others = Files.createDirectories(bench.directory("b").resolve("cache/2")).resolve("x");
    Path unused = Files.write(before, new byte[] {1});
    Path unusedToo = Files.write(others, new byte[] {1});

    RemoteTier unusedThree = bench.open();

    await().until(() -> !Files.exists(before));
    assertThat(others).as("another broker's").exists();
  }
}
