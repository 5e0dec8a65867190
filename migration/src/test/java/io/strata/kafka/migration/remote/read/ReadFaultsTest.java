package io.strata.kafka.migration.remote.read;

import static io.strata.kafka.migration.remote.read.Workbench.CHUNK;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.strata.kafka.migration.remote.calls.TimeLimitException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.nio.file.NoSuchFileException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a reader gets when the store is wrong, slow, or gone, and when it is interrupted. */
@Timeout(600)
class ReadFaultsTest {

  private final FakeSource source = new FakeSource(1, 4 * CHUNK - 100, CHUNK);
  private final Workbench bench = Workbench.ofChunks(16);
  private final ExecutorService threads = Executors.newCachedThreadPool();

  @AfterEach
  void close() {
    bench.close();
    threads.shutdownNow();
  }

  private byte[] expected(int from, int count) {
    return Arrays.copyOfRange(source.content(), from, from + count);
  }

  @Test
  void aFlippedBitIsNeverReturned() throws IOException {
    source.flip(CHUNK + 17);
    try (InputStream in = bench.open(source, CHUNK - 10)) {
      assertThat(in.readNBytes(10)).isEqualTo(expected(CHUNK - 10, 10));
      assertThatThrownBy(in::read)
          .isInstanceOf(CorruptChunkException.class)
          .hasMessageContaining("orders-3@4711 (/ssd/a/1.log), chunk 1 (bytes 65536 to 131071)")
          .hasMessageContaining(String.format("expected %08x", source.checksum(1)))
          .hasMessageContaining("twice");
      // It is not in the cache: what was repaired is read.
      source.flip(CHUNK + 17);
      assertThat(in.readNBytes(100)).isEqualTo(expected(CHUNK, 100));
    }
    assertThat(source.reads).containsExactly(0, 1, 1, 1);
  }

  @Test
  void aFaultOfOneReadIsMendedByTheNext() throws IOException {
    AtomicInteger count = new AtomicInteger();
    source.flip(5);
    source.obstacle =
        (first, chunks) -> {
          if (count.incrementAndGet() == 2) {
            source.flip(5);
          }
        };
    assertThat(bench.fetch(source, 0, 100)).isEqualTo(expected(0, 100));
    assertThat(source.reads).containsExactly(0, 0);
  }

  @Test
  void aSegmentThatMovedIsLookedForOnce() throws IOException {
    AtomicInteger failures = new AtomicInteger(1);
    source.obstacle =
        (first, chunks) -> {
          if (failures.getAndDecrement() > 0) {
            throw new NoSuchFileException("/ssd/a/1.log");
          }
        };
    assertThat(bench.fetch(source, 3, 100)).isEqualTo(expected(3, 100));
    failures.set(2);
    assertThatThrownBy(() -> bench.fetch(source, 3 * CHUNK, 100))
        .isInstanceOf(NoSuchFileException.class)
        .hasMessageContaining("/ssd/a/1.log");
    assertThat(source.reads).containsExactly(0, 0, 3, 3);
  }

  @Test
  void otherFailuresArePassedOn() {
    source.obstacle =
        (first, chunks) -> {
          throw new IOException("Input/output error");
        };
    assertThatThrownBy(() -> bench.fetch(source, 0, 1))
        .isInstanceOf(IOException.class)
        .hasMessage("Input/output error");
    source.obstacle =
        (first, chunks) -> {
          throw new IllegalStateException("a fault of the source's");
        };
    assertThatThrownBy(() -> bench.fetch(source, 0, 1)).hasMessageContaining("a fault");
    source.obstacle = FakeSource.Obstacle.NONE;
    assertThat(bench.deadlines.stuck()).isZero();
  }

  @Test
  void aReadEndsInItsTimeAndCanBeRepeated() throws IOException {
    CountDownLatch hangs = new CountDownLatch(1);
    source.obstacle = (first, chunks) -> hangUntil(hangs);
    bench.timeout = Duration.ofMillis(200);
    try (InputStream in = bench.open(source, 0)) {
      assertThatThrownBy(in::read)
          .isInstanceOf(TimeLimitException.class)
          .hasMessageContaining("orders-3@4711")
          .hasMessageContaining("chunk 0")
          .hasMessageContaining(" ms");
      assertThat(bench.deadlines.stuck()).isEqualTo(1);
      bench.timeout = Duration.ofSeconds(20);
      source.obstacle = FakeSource.Obstacle.NONE;
      assertThat(in.readNBytes(100)).isEqualTo(expected(0, 100));
    }
    hangs.countDown();
    await().untilAsserted(() -> assertThat(bench.deadlines.stuck()).isZero());
    assertThat(bench.fetch(source, 0, CHUNK)).isEqualTo(expected(0, CHUNK));
  }

  /** As a thread that hangs in the kernel: an interrupt does not reach it. */
  private static void hangUntil(CountDownLatch latch) {
    boolean interrupted = false;
    while (true) {
      try {
        latch.await();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void whoeverWaitsForAnothersReadHasATimeOfItsOwn() throws Exception {
    CountDownLatch hangs = new CountDownLatch(1);
    source.obstacle = (first, chunks) -> hangUntil(hangs);
    Future<byte[]> first = threads.submit(() -> bench.fetch(source, 0, 10));
    await().until(() -> source.reads.size() == 1);
    bench.timeout = Duration.ofMillis(200);
    assertThatThrownBy(() -> bench.fetch(source, 0, 10))
        .isInstanceOf(TimeLimitException.class)
        .hasMessageContaining("another reader");
    hangs.countDown();
    assertThat(first.get()).isEqualTo(expected(0, 10));
    assertThat(source.reads).containsExactly(0);
  }

  @Test
  void anInterruptEndsTheReadAndDamagesNothing() throws Exception {
    CountDownLatch slow = new CountDownLatch(1);
    source.obstacle = (first, chunks) -> slow.await();
    AtomicBoolean kept = new AtomicBoolean();
    CompletableFuture<Thread> reader = new CompletableFuture<>();
    InputStream in = bench.open(source, 0);
    Future<Throwable> interrupted =
        threads.submit(
            () -> {
              reader.complete(Thread.currentThread());
              Throwable thrown = catchThrowable(in::read);
              kept.set(Thread.currentThread().isInterrupted());
              return thrown;
            });
    await().until(() -> source.reads.size() == 1);
    Future<byte[]> other = threads.submit(() -> bench.fetch(source, 0, 100));
    reader.get().interrupt();
    assertThat(interrupted.get())
        .isInstanceOf(InterruptedIOException.class)
        .hasMessageContaining("orders-3@4711")
        .hasMessageContaining("byte 0");
    assertThat(kept).isTrue();
    slow.countDown();
    // The other reader goes on, and so does the same stream.
    assertThat(other.get()).isEqualTo(expected(0, 100));
    assertThat(in.readNBytes(100)).isEqualTo(expected(0, 100));
    await().untilAsserted(() -> assertThat(bench.deadlines.stuck()).isZero());
  }

  @Test
  void anInterruptedThreadReadsNothing() throws Exception {
    assertThat(bench.fetch(source, 0, 10)).hasSize(10);
    try (InputStream in = bench.open(source, 0)) {
      Thread.currentThread().interrupt();
      assertThatThrownBy(in::read).isInstanceOf(InterruptedIOException.class);
      assertThat(Thread.interrupted()).isTrue();
      assertThat(in.read()).isEqualTo(source.content()[0] & 0xff);
    }
  }

  @Test
  void manyReadersOfOneChunkReadItOnce() throws Exception {
    CountDownLatch slow = new CountDownLatch(1);
    source.obstacle = (first, chunks) -> slow.await();
    List<Future<byte[]>> all =
        java.util.stream.IntStream.range(0, 20)
            .mapToObj(i -> threads.submit(() -> bench.fetch(source, i, 1000)))
            .toList();
    TimeUnit.MILLISECONDS.sleep(100);
    slow.countDown();
    for (int i = 0; i < all.size(); i++) {
      assertThat(all.get(i).get()).isEqualTo(expected(i, 1000));
    }
    assertThat(source.reads).containsExactly(0);
  }

  @Test
  void aFailureIsTheSameForAllWhoWait() throws Exception {
    CountDownLatch slow = new CountDownLatch(1);
    source.flip(9);
    source.obstacle = (first, chunks) -> slow.await();
    List<Future<Throwable>> all =
        java.util.stream.IntStream.range(0, 8)
            .mapToObj(i -> threads.submit(() -> catchThrowable(() -> bench.fetch(source, i, 1000))))
            .toList();
    TimeUnit.MILLISECONDS.sleep(100);
    slow.countDown();
    for (Future<Throwable> each : all) {
      assertThat(each.get()).isInstanceOf(CorruptChunkException.class);
    }
  }

  @Test
  void whatIsReadFromTheStoreKeepsToTheRate() throws IOException {
    FakeSource large = new FakeSource(2, 16 * CHUNK, CHUNK);
    bench.limiter.setRate(1 << 20);
    long begin = System.nanoTime();
    assertThat(bench.fetch(large, 0, 16 * CHUNK)).isEqualTo(large.content());
    Duration took = Duration.ofNanos(System.nanoTime() - begin);
    assertThat(took).isGreaterThan(Duration.ofMillis(800));
    int reads = large.reads.size();
    assertThat(bench.fetch(large, 0, 16 * CHUNK)).isEqualTo(large.content());
    assertThat(large.reads).as("what the cache has is not read again").hasSize(reads);
  }

  @Test
  void theWaitForTheRateEndsInTimeToo() {
    bench.limiter.setRate(1000);
    bench.timeout = Duration.ofMillis(300);
    assertThatThrownBy(() -> bench.fetch(source, 0, 4 * CHUNK - 100))
        .isInstanceOf(TimeLimitException.class)
        .hasMessageContaining("strata.remote.rate.fetch");
    assertThat(bench.deadlines.stuck()).isZero();
  }
}
