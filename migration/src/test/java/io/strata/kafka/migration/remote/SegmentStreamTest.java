package io.strata.kafka.migration.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.strata.kafka.migration.remote.faults.FaultyFileSystem.Operation;
import io.strata.kafka.migration.remote.store.disk.Deadlines.TimeLimitException;
import io.strata.kafka.migration.remote.store.layout.ChunkChecksums.CorruptChunkException;
import io.strata.kafka.migration.remote.store.layout.SegmentInfo;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a fetch reads, from a directory that is well, wrong, slow or gone. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SegmentStreamTest {

  private static final int CHUNK = 1 << 16;

  @TempDir private Path top = Path.of("");
  private TierBench bench = new TierBench(Path.of(""));
  private final ExecutorService executor = Executors.newCachedThreadPool();
  private final List<Runnable> faults = new ArrayList<>();
  private final List<Path> opened = new CopyOnWriteArrayList<>();

  @BeforeEach
  void bench() throws IOException {
    bench = new TierBench(top).level("ssd", 1 << 30, "a");
    bench.segmentBytes = 40 * CHUNK - 100;
    bench.known = Duration.ofHours(1);
    // Listens, and never hangs.
    faults.add(
        bench.files.hang(
            (operation, path) -> {
              if (operation == Operation.READ && isLog(path) && !isVisit()) {
                opened.add(path);
              }
              return false;
            }));
  }

  @AfterEach
  void close() {
    faults.forEach(Runnable::run);
    bench.close();
    var unused = executor.shutdownNow();
  }

  /** Whether a listing asks, and not a fetch. */
  private static boolean isVisit() {
    return Thread.currentThread().getName().equals("strata-remote-visit");
  }

  private static boolean isLog(Path path) {
    return path.toString().endsWith(".log");
  }

  private Path log() throws IOException {
    return ChangingTree.file(bench.directory("a").resolve("topics"), ".log");
  }

  private static void flip(Path file, int at) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    bytes[at] ^= 0x10;
    Path unused = Files.write(file, bytes);
  }

  private static InputStream open(RemoteTier tier, SegmentInfo segment, long start)
      throws IOException, InterruptedException {
    return tier.open("orders", segment.key(), start, Integer.MAX_VALUE);
  }

  @Test
  void isAsAStreamOverAnArray() throws Exception {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    RemoteTier tier = bench.open();
    SegmentInfo segment = bench.copied(tier);
    byte[] bytes = TierBench.bytes(segment);
    for (int round = 0; round < 30; round++) {
      int start = random.nextInt(bytes.length);
      int end = start + random.nextInt(bytes.length - start);
      String which = "seed " + seed + ", bytes " + start + " to " + end;
      InputStream expected = new ByteArrayInputStream(bytes, start, end - start + 1);
      try (InputStream found = tier.open("orders", segment.key(), start, end)) {
        compare(which, random, expected, found);
      }
    }
  }

  /** As a consumer with a small fetch size reads: each fetch begins with the batch that was cut. */
  @Test
  void smallFetchesReadNoChunkTwice() throws Exception {
    RemoteTier tier = bench.open();
    SegmentInfo segment = bench.copied(tier);
    byte[] bytes = TierBench.bytes(segment);
    opened.clear();
    int batch = 8000;
    for (int at = 0; at + 2 * batch < bytes.length; at += 2 * batch) {
      try (InputStream fetch = open(tier, segment, at)) {
        byte[] found = new byte[2 * batch + 384];
        int count = fetch.readNBytes(found, 0, 17);
        count += fetch.readNBytes(found, count, batch - count);
        count += fetch.readNBytes(found, count, found.length - count);
        assertThat(Arrays.copyOf(found, count))
            .isEqualTo(Arrays.copyOfRange(bytes, at, at + count));
      }
    }
    assertThat(opened).hasSizeLessThanOrEqualTo(42);
  }

  private static void compare(String which, Random random, InputStream expected, InputStream found)
      throws IOException {
    for (int step = 0; step < 60; step++) {
      assertThat(found.available()).as(which).isEqualTo(expected.available());
      if (random.nextInt(3) == 0) {
        assertThat(found.read()).as(which).isEqualTo(expected.read());
      } else if (random.nextInt(8) == 0) {
        long count = random.nextInt(2 * CHUNK) - 10L;
        assertThat(found.skip(count)).as(which).isEqualTo(expected.skip(count));
      } else if (random.nextInt(30) == 0) {
        assertThat(found.readAllBytes()).as(which).isEqualTo(expected.readAllBytes());
      } else {
        int length = 1 + random.nextInt(random.nextInt(10) == 0 ? 30 * CHUNK : CHUNK / 4);
        byte[] target = new byte[length + 10];
        int count = found.read(target, 5, length);
        if (count < 0) {
          assertThat(expected.read()).as(which).isEqualTo(-1);
          return;
        }
        assertThat(count).as(which).isBetween(1, length);
        assertThat(Arrays.copyOfRange(target, 5, 5 + count))
            .as(which)
            .isEqualTo(expected.readNBytes(count));
        byte[] outside = target.clone();
        Arrays.fill(outside, 5, 5 + count, (byte) 0);
        assertThat(outside).as(which).isEqualTo(new byte[target.length]);
      }
    }
  }

  /** As Kafka reads: the header of a batch, the batch, and then as much as was asked for. */
  @Test
  void aFetchOpensTheFileOncePerMebibyteAndOnceForTheFirstBatch() throws Exception {
    RemoteTier tier = bench.open();
    SegmentInfo segment = bench.copied(tier);
    try (InputStream in = open(tier, segment, 5)) {
      opened.clear();
      assertThat(in.available()).isEqualTo(segment.bytes() - 5);
      assertThat(in.skip(10)).isEqualTo(10);
      assertThat(opened).as("before the first byte is asked for").isEmpty();
      assertThat(in.readNBytes(17)).hasSize(17);
      assertThat(in.readNBytes(CHUNK - 15 - 17)).hasSize(CHUNK - 15 - 17);
      assertThat(opened).hasSize(1);
      assertThat(in.readNBytes(new byte[1 << 20], 0, 1 << 20)).isEqualTo(1 << 20);
      assertThat(opened).hasSize(2);
    }
  }

  /** A consumer that catches up, and those who look at one place alone. */
  @Test
  void aFetchThatFollowsAnotherHasTheNextOneReadAhead() throws Exception {
    List<String> filled = new CopyOnWriteArrayList<>();
    bench.pageCache = (file, position, bytes) -> filled.add(file + " " + position + " " + bytes);
    RemoteTier tier = bench.open();
    SegmentInfo segment = bench.copied(tier);
    // In the midst of it; at another place; little; to its end; and then two that follow.
    for (int[] fetch :
        new int[][] {{10, 8}, {30 * CHUNK, 8}, {0, 1}, {CHUNK, 40}, {0, 8}, {8 * CHUNK - 9, 6}}) {
      try (InputStream in = open(tier, segment, fetch[0])) {
        assertThat(in.readNBytes(fetch[1] * CHUNK)).isNotEmpty();
      }
    }
    await().until(() -> filled.size() >= 2);
    assertThat(filled)
        .containsExactlyInAnyOrder(
            log() + " " + 8 * CHUNK + " " + 8 * CHUNK,
            log() + " " + (14 * CHUNK - 9) + " " + 6 * CHUNK);
  }

  /** More of them than there are threads for it: the others are not read ahead. */
  @Test
  void aReadAheadThatHangsKeepsNobodyWaiting() throws Exception {
    CountDownLatch over = new CountDownLatch(1);
    AtomicInteger hanging = new AtomicInteger();
    bench.pageCache =
        (file, position, bytes) -> {
          int unused = hanging.incrementAndGet();
          awaitUninterruptibly(over);
        };
    RemoteTier tier = bench.open();
    SegmentInfo segment = bench.copied(tier);
    for (int fetch = 0; fetch < 100; fetch++) {
      try (InputStream in = open(tier, segment, 0)) {
        assertThat(in.readNBytes(8 * CHUNK)).hasSize(8 * CHUNK);
      }
    }
    await().until(() -> hanging.get() == 4);
    over.countDown();
    assertThat(TierBench.read(tier, segment)).isEqualTo(TierBench.bytes(segment));
  }

  /** Kafka may close a stream when it has closed the manager. */
  @Test
  void aStreamIsClosedAfterItsManager() throws Exception {
    RemoteTier tier = bench.open();
    SegmentInfo segment = bench.copied(tier);
    InputStream in = open(tier, segment, 0);
    assertThat(in.readNBytes(8 * CHUNK)).hasSize(8 * CHUNK);
    tier.close();
    in.close();
  }

  /** A thread in the kernel sees no interrupt. */
  private static void awaitUninterruptibly(CountDownLatch latch) {
    boolean interrupted = false;
    while (latch.getCount() > 0) {
      try {
        latch.await();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** What was found before is not looked for again: opening it needs no thread and no I/O. */
  @Test
  void aKnownSegmentIsOpenedThoughItsDirectoryHangs() throws Exception {
    bench.fetchTimeout = Duration.ofMillis(300);
    RemoteTier tier = bench.open();
    SegmentInfo segment = bench.copied(tier);
    assertThat(TierBench.isRead(tier, segment)).isTrue();
    faults.add(bench.files.hang((operation, path) -> true));
    try (InputStream in = open(tier, segment, 0)) {
      assertThat(in.available()).isEqualTo(segment.bytes());
    }
  }

  @Test
  void aFlippedBitIsNeverReturned() throws Exception {
    RemoteTier tier = bench.open();
    SegmentInfo segment = bench.copied(tier);
    byte[] bytes = TierBench.bytes(segment);
    flip(log(), CHUNK + 17);
    for (int length : new int[] {1, 100, 3 * CHUNK}) {
      byte[] target = new byte[length];
      try (InputStream in = open(tier, segment, CHUNK - 10)) {
        assertThat(in.readNBytes(10)).isEqualTo(Arrays.copyOfRange(bytes, CHUNK - 10, CHUNK));
        assertThatThrownBy(() -> in.read(target))
            .isInstanceOf(CorruptChunkException.class)
            .hasMessageContaining(log() + ", chunk 1 (bytes 65536 to 131071)");
        assertThat(target).isEqualTo(new byte[target.length]);
      }
    }
    assertThat(log().resolveSibling("damaged")).exists();
    flip(log(), CHUNK + 17);
    assertThat(TierBench.read(tier, segment)).isEqualTo(bytes);
  }

  @Test
  void aFaultOfOneReadIsCorrectedByTheNext() throws Exception {
    RemoteTier tier = bench.open();
    SegmentInfo segment = bench.copied(tier);
    Path log = log();
    flip(log, 5);
    AtomicInteger opens = new AtomicInteger();
    faults.add(
        bench.files.hang(
            (operation, path) -> {
              if (operation == Operation.READ && isLog(path) && opens.incrementAndGet() == 4) {
                flipBack(log);
              }
              return false;
            }));
    // The lookup looks whether the log is there; then the first read, the lookup again, and the
    // second read.
    assertThat(TierBench.read(tier, segment)).isEqualTo(TierBench.bytes(segment));
    assertThat(opens.get()).isGreaterThanOrEqualTo(4);
    assertThat(log.resolveSibling("damaged")).doesNotExist();
    assertThat(TierBench.stats(tier).replacedReads()).isZero();
  }

  private static void flipBack(Path log) {
    try {
      flip(log, 5);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void aShortFileIsDamage() throws Exception {
    RemoteTier tier = bench.open();
    SegmentInfo segment = bench.copied(tier);
    Path unused = Files.write(log(), Arrays.copyOf(TierBench.bytes(segment), 3 * CHUNK + 7));
    try (InputStream in = open(tier, segment, 0)) {
      assertThat(in.readNBytes(3 * CHUNK)).hasSize(3 * CHUNK);
      assertThatThrownBy(in::read)
          .isInstanceOf(CorruptChunkException.class)
          .hasMessageContaining("found 7 bytes")
          .hasMessageContaining("expected 65536");
    }
  }

  @Test
  void aFetchEndsInItsTimeAndNothingIsWrittenIntoItsArrayLater() throws Exception {
    bench.fetchTimeout = Duration.ofMillis(700);
    RemoteTier tier = bench.open();
    SegmentInfo segment = bench.copied(tier);
    assertThat(TierBench.isRead(tier, segment)).isTrue();
    Runnable over = bench.files.hang((operation, path) -> isLog(path));
    faults.add(over);
    byte[] target = new byte[3 * CHUNK];
    try (InputStream in = open(tier, segment, 0)) {
      assertThatThrownBy(() -> in.read(target))
          .isInstanceOf(TimeLimitException.class)
          .hasMessageContaining("orders-1, offsets 0 to 99")
          .hasMessageContaining("not read within 700 ms");
      assertThatThrownBy(() -> in.read(target))
          .as("the fetch's time is over")
          .isInstanceOf(TimeLimitException.class);
    }
    assertThat(TierBench.stats(tier).stuckThreads()).isEqualTo(1);
    over.run();
    await().untilAsserted(() -> assertThat(TierBench.stats(tier).stuckThreads()).isZero());
    assertThat(target).isEqualTo(new byte[target.length]);
    assertThat(TierBench.isRead(tier, segment)).isTrue();
  }

  /** Its time ends while the directory is being asked for its identity, which says nothing. */
  @Test
  void aDirectoryThatHangsKeepsNoFetchBeyondItsTime() throws Exception {
    bench.fetchTimeout = Duration.ofSeconds(3);
    RemoteTier tier = bench.open();
    SegmentInfo segment = bench.copied(tier);
    assertThat(TierBench.isRead(tier, segment)).isTrue();
    Runnable over = bench.files.hang((operation, path) -> true);
    faults.add(over);
    try (InputStream in = open(tier, segment, 0)) {
      assertThatThrownBy(in::read)
          .isInstanceOf(TimeLimitException.class)
          .hasMessageContaining("not read within 3000 ms");
    }
    assertThat(TierBench.stats(tier).levels().get(0).unavailableDirectories()).isZero();
    over.run();
    await().untilAsserted(() -> assertThat(TierBench.isRead(tier, segment)).isTrue());
  }

  @Test
  void anInterruptEndsTheReadAndDamagesNothing() throws Exception {
    RemoteTier tier = bench.open();
    SegmentInfo segment = bench.copied(tier);
    assertThat(TierBench.isRead(tier, segment)).isTrue();
    Runnable over = bench.files.hang((operation, path) -> isLog(path));
    faults.add(over);
    AtomicReference<Thread> reader = new AtomicReference<>();
    InputStream in = open(tier, segment, 0);
    Future<Throwable> interrupted =
        executor.submit(
            () -> {
              reader.set(Thread.currentThread());
              Throwable thrown = catchThrowable(in::read);
              assertThat(Thread.interrupted()).isTrue();
              return thrown;
            });
    await().until(() -> bench.files.hanging() == 1);
    Thread hanging = reader.get();
    assertThat(hanging).isNotNull();
    hanging.interrupt();
    assertThat(interrupted.get())
        .isInstanceOf(InterruptedIOException.class)
        .hasMessageContaining("orders-1")
        .hasMessageContaining("byte 0");
    over.run();
    assertThat(in.readAllBytes()).isEqualTo(TierBench.bytes(segment));
    InputStream other = open(tier, segment, 0);
    Thread.currentThread().interrupt();
    assertThatThrownBy(other::read).isInstanceOf(InterruptedIOException.class);
    assertThat(Thread.currentThread().isInterrupted()).isTrue();
    assertThatThrownBy(() -> open(tier, segment, 0))
        .as("known, and opened without I/O")
        .isInstanceOf(InterruptedException.class);
    assertThat(other.readAllBytes()).isEqualTo(TierBench.bytes(segment));
  }

  @Test
  void aSegmentThatWasRemovedIsMissing() throws Exception {
    RemoteTier tier = bench.open();
    SegmentInfo segment = bench.copied(tier);
    assertThat(TierBench.isRead(tier, segment)).isTrue();
    Path copy = log().getParent();
    Path unused = Files.move(copy, top.resolve("elsewhere"));
    try (InputStream in = open(tier, segment, 0)) {
      assertThatThrownBy(in::read).hasMessageContaining("is in no directory of the store");
    }
  }

  /** Readers of all kinds, over a directory that fails now and then; some are interrupted. */
  @Test
  void everyByteIsRightWhateverHappens() throws Exception {
    long seed = System.nanoTime();
    bench.level("hdd", 1 << 30, "b");
    RemoteTier tier = bench.open();
    List<SegmentInfo> segments = List.of(bench.copied(tier), bench.copied(tier));
    Random trouble = new Random(seed);
    faults.add(
        bench.files.fail(
            "trouble",
            (operation, path) -> {
              synchronized (trouble) {
                return operation == Operation.READ && isLog(path) && trouble.nextInt(30) == 0;
              }
            }));
    List<Thread> readers = new CopyOnWriteArrayList<>();
    List<Future<Integer>> all = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      Random random = new Random(seed + 1 + i);
      all.add(
          executor.submit(
              () -> {
                int whole = 0;
                for (int fetch = 0; fetch < 100; fetch++) {
                  if (fetch == 10) {
                    readers.add(Thread.currentThread()); // On a slow machine no other one ends.
                  }
                  whole += fetch(tier, segments.get(random.nextInt(2)), random) ? 1 : 0;
                }
                return whole;
              }));
    }
    Random random = new Random(seed);
    for (Future<Integer> each : all) {
      while (!each.isDone()) {
        readers.stream().skip(random.nextInt(6)).findFirst().ifPresent(Thread::interrupt);
        TimeUnit.MILLISECONDS.sleep(3);
      }
      assertThat(each.get()).as("seed %d: fetches that met no trouble", seed).isPositive();
    }
    await().untilAsserted(() -> assertThat(TierBench.stats(tier).stuckThreads()).isZero());
    assertThat(log().resolveSibling("damaged")).doesNotExist();
  }

  /** Whether it had all of its bytes; those that it had are right. */
  private static boolean fetch(RemoteTier tier, SegmentInfo segment, Random random) {
    byte[] bytes = TierBench.bytes(segment);
    int start = random.nextInt(bytes.length);
    byte[] target = new byte[Math.min(bytes.length - start, 1 + random.nextInt(20 * CHUNK))];
    int done = 0;
    try (InputStream in = open(tier, segment, start)) {
      while (done < target.length) {
        int wanted = Math.min(target.length - done, 1 + random.nextInt(10 * CHUNK));
        done += in.read(target, done, wanted);
      }
    } catch (InterruptedException e) {
      return false;
    } catch (IOException e) {
      boolean unused = Thread.interrupted();
    }
    assertThat(Arrays.equals(target, 0, done, bytes, start, start + done)).isTrue();
    return done == target.length;
  }

  @Test
  void aRangeAndArgumentsAreChecked() throws Exception {
    bench.segmentBytes = 100;
    RemoteTier tier = bench.open();
    SegmentInfo segment = bench.copied(tier);
    assertThat(tier.open("orders", segment.key(), 90, 1000).readAllBytes()).hasSize(10);
    assertThat(tier.open("orders", segment.key(), 99, 99).readAllBytes()).hasSize(1);
    assertThat(tier.open("orders", segment.key(), 100, 1000).readAllBytes()).isEmpty();
    assertThatThrownBy(() -> tier.open("orders", segment.key(), 101, 101))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("100 bytes");
    assertThatThrownBy(() -> tier.open("orders", segment.key(), -1, 10))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("-1");
    assertThatThrownBy(() -> tier.open("orders", segment.key(), 11, 10))
        .isInstanceOf(IllegalArgumentException.class);
    InputStream in = open(tier, segment, 0);
    assertThatThrownBy(() -> in.read(new byte[4], 2, 3))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThat(in.read(new byte[4], 2, 0)).isZero();
    assertThat(in.read()).isNotNegative();
    in.close();
    in.close();
    assertThatThrownBy(in::read).isInstanceOf(IOException.class).hasMessageContaining("closed");
    assertThatThrownBy(in::available).isInstanceOf(IOException.class);
    assertThatThrownBy(() -> in.skip(1)).isInstanceOf(IOException.class);
  }
}
