package io.strata.kafka.migration.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.strata.kafka.migration.remote.SegmentStream.FetchTime;
import io.strata.kafka.migration.remote.store.FakeCold;
import io.strata.kafka.migration.remote.store.LogReads.ReadTarget;
import io.strata.kafka.migration.remote.store.SegmentStore.Located;
import io.strata.kafka.migration.remote.store.disk.Deadlines.TimeLimitException;
import io.strata.kafka.migration.remote.store.layout.ChunkChecksums.CorruptChunkException;
import io.strata.kafka.migration.remote.store.layout.SegmentInfo;
import io.strata.kafka.migration.remote.store.layout.StoreNames;
import io.strata.kafka.migration.remote.store.layout.StoredObject.ObjectType;
import java.io.ByteArrayOutputStream;
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
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Reads from the cold manager, and the pieces that stay. */
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
    bench.threshold = 0;
    bench.segmentBytes = 4 * PIECE - 100;
  }

  @AfterEach
  void close() {
    bench.close();
    var unused = executor.shutdownNow();
  }

  /** A segment that the cold manager alone has. */
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

  /** Reads as Kafka does: what takes too long is dropped when it ends, and asked for again. */
  @Test
  void aManagerThatIsSlowerThanKafkaWaitsServesAConsumer() throws Exception {
    RemoteTier tier = bench.open();
    SegmentInfo segment = cold(tier);
    cold.beforeRead(
        position -> {
          reads.add(position);
          Thread.sleep(300);
        });
    ByteArrayOutputStream consumed = new ByteArrayOutputStream();
    int dropped = 0;
    while (consumed.size() < segment.bytes()) {
      int start = consumed.size();
      int bytes = Math.min(1 << 20, segment.bytes() - start);
      Future<byte[]> fetch = executor.submit(() -> read(tier, segment, start, bytes));
      try {
        consumed.writeBytes(fetch.get(100, TimeUnit.MILLISECONDS));
      } catch (TimeoutException e) {
        dropped++;
        assertThat(dropped).as("dropped, %d bytes consumed", consumed.size()).isLessThan(300);
      }
    }
    assertThat(consumed.toByteArray()).isEqualTo(TierBench.bytes(segment));
    assertThat(dropped).as("dropped").isGreaterThanOrEqualTo(4);
    assertThat(reads).containsExactly(0L, (long) PIECE, 2L * PIECE, 3L * PIECE);
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
    await().until(() -> reads.size() == 1);
    slow.countDown();
    for (int i = 0; i < all.size(); i++) {
      assertThat(all.get(i).get()).isEqualTo(expected(segment, PIECE + i, 1000));
    }
    assertThat(reads).containsExactly((long) PIECE);
  }

  /** However often the others were read before: it is what Kafka asks for next. */
  @Test
  void thePieceThatHasJustComeStays() throws Exception {
    SegmentInfo segment = cold(bench.open());
    Located place = bench.store().lookup.locate(segment.key()).orElseThrow();
    try (ColdPieces pieces = new ColdPieces(bench.store(), new LongAdder(), 2, bench.threads)) {
      for (int round = 0; round < 20; round++) {
        readPiece(pieces, place, 0);
        readPiece(pieces, place, 1);
      }
      assertThat(reads).containsExactly(0L, (long) PIECE);
      readPiece(pieces, place, 2);
      readPiece(pieces, place, 1);
      readPiece(pieces, place, 2);
      assertThat(reads).containsExactly(0L, (long) PIECE, 2L * PIECE);
      readPiece(pieces, place, 0);
      assertThat(reads).as("the one that was used first is gone").hasSize(4);
    }
  }

  private static void readPiece(ColdPieces pieces, Located place, int number) throws Exception {
    byte[] bytes = new byte[1000];
    FetchTime time = new FetchTime(Duration.ofSeconds(60), System::nanoTime);
    time.begin();
    pieces.read(place, (long) number * PIECE, new ReadTarget(bytes, 0, bytes.length), time);
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

  /** Its indexes are right: only the cold manager's bytes are not. */
  @Test
  void aCopyWithoutTheLogIsNotMarkedForTheManagersBytes() throws Exception {
    bench.level("hdd", 1 << 30, "b");
    SegmentInfo segment = cold(bench.open());
    await().until(() -> bench.logs("b") == 0);
    bench.close();
    bench.threshold = 1;
    RemoteTier tier = bench.open();
    assertThat(read(tier, segment, 0, 100)).isEqualTo(expected(segment, 0, 100));
    Located place = bench.store().lookup.locate(segment.key()).orElseThrow();
    Path without = Path.of(place.path().toString());
    boolean isInA = without.startsWith(bench.directory("a"));
    Path whole =
        bench
            .directory(isInA ? "b" : "a")
            .resolve(bench.directory(isInA ? "a" : "b").relativize(without));
    Path unused = Files.createDirectories(whole);
    try (Stream<Path> files = Files.list(without)) {
      for (Path file : files.toList()) {
        if (!file.endsWith(StoreNames.WITHOUT_LOG)) {
          Path unusedToo = Files.copy(file, whole.resolve(String.valueOf(file.getFileName())));
        }
      }
    }
    Path log =
        Files.write(
            whole.resolve(ObjectType.LOG.fileName(segment.key())), TierBench.bytes(segment));
    assertThat(log).exists();
    byte[] stored = cold.segments.get(segment.key().id());
    assertThat(stored).isNotNull();
    stored[PIECE + 70_000] ^= 1;
    assertThat(read(tier, segment, PIECE, 100)).isEqualTo(expected(segment, PIECE, 100));
    assertThat(TierBench.stats(tier).replacedReads()).isEqualTo(1);
    assertThat(without.resolve(StoreNames.DAMAGED)).doesNotExist();
  }

  @Test
  void aFailureIsNotKept() throws Exception {
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
    await().until(() -> Arrays.equals(read(tier, segment, 0, 100), expected(segment, 0, 100)));
    assertThat(reads).containsExactly(0L);
  }

  @Test
  void whoWaitsWhenTheStoreIsClosedFails() throws Exception {
    RemoteTier tier = bench.open();
    SegmentInfo segment = cold(tier);
    CountDownLatch asked = new CountDownLatch(1);
    cold.beforeRead(
        position -> {
          asked.countDown();
          new CountDownLatch(1).await();
        });
    Future<Throwable> reading =
        executor.submit(() -> catchThrowable(() -> read(tier, segment, 0, 100)));
    asked.await();
    tier.close();
    assertThat(reading.get(30, TimeUnit.SECONDS))
        .isInstanceOfAny(IOException.class, RejectedExecutionException.class);
  }
}
