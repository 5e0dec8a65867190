package io.strata.kafka.migration.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.strata.kafka.migration.remote.faults.FaultyFileSystem.Operation;
import io.strata.kafka.migration.remote.store.layout.SegmentInfo;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Kafka interrupts a copy or a deletion, at each of the directory's operations in turn. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class InterruptedCallsTest {

  /** More than a copy or a deletion has. */
  private static final int MOST = 200;

  private static final int COPIES = 300;

  @TempDir private Path top = Path.of("");
  private TierBench bench = new TierBench(Path.of(""));
  private final List<Runnable> faults = new ArrayList<>();

  @BeforeEach
  void bench() throws IOException {
    bench = new TierBench(top);
    bench.known = Duration.ofHours(1);
    bench.memory = List.of(Files.createDirectory(top.resolve("logs")));
    bench.level("ssd", 1 << 30, "a");
  }

  @AfterEach
  void close() {
    faults.forEach(Runnable::run);
    bench.close();
  }

  /** A call of Kafka's. */
  private interface Call {
    void run() throws IOException, InterruptedException;
  }

  /**
   * Makes a call whose n-th operation in the directory takes long, and interrupts it then.
   *
   * @return false if it has fewer operations
   */
  private boolean interruptAt(int n, Call call) throws InterruptedException {
    AtomicInteger operations = new AtomicInteger();
    Runnable over =
        bench.files.hang(
            (operation, path) ->
                path.startsWith(bench.directory("a"))
                    && operation != Operation.LIST
                    && Thread.currentThread().getName().startsWith("strata-remote-write")
                    && operations.incrementAndGet() == n);
    faults.add(over);
    AtomicInteger ended = new AtomicInteger();
    Thread kafka =
        new Thread(
            () -> {
              try {
                call.run();
                ended.set(1);
              } catch (InterruptedException | InterruptedIOException e) {
                ended.set(2);
              } catch (IOException e) {
                ended.set(3);
              }
            });
    kafka.start();
    await().until(() -> bench.files.hanging() > 0 || ended.get() > 0);
    boolean hangs = ended.get() == 0;
    kafka.interrupt();
    kafka.join();
    // The interrupt of the work, if any, comes before or after: both are tried.
    if (n % 2 == 0) {
      Thread.sleep(20);
    }
    over.run();
    assertThat(ended).hasValue(hangs ? 2 : 1);
    return hangs;
  }

  private boolean isEmpty(String below) throws IOException {
    try (Stream<Path> all = Files.walk(bench.directory("a").resolve(below))) {
      return all.noneMatch(Files::isRegularFile);
    }
  }

  @Test
  void aCopyThatIsInterruptedAnywhereIsTakenBack() throws Exception {
    RemoteTier tier = bench.open();
    SegmentInfo first = bench.copied(tier);
    long unused = tier.delete("the first", first);
    boolean more = true;
    int n = 0;
    while (more) {
      n++;
      SegmentInfo segment = bench.segment();
      more = interruptAt(n, () -> bench.copy(tier, segment));
      int at = n;
      if (more) {
        await()
            .alias("after operation " + at)
            .atMost(Duration.ofSeconds(10))
            .until(() -> isEmpty("topics") && isEmpty("staging") && isEmpty("trash"));
      }
    }
    assertThat(n).isBetween(10, MOST);
    assertThat(bench.logs("a")).isEqualTo(1);
    assertThat(TierBench.stats(tier).levels().get(0).unavailableDirectories()).isZero();
  }

  /** The interrupt comes while nothing hangs, also when the copy has just been made. */
  @Test
  void aCopyThatIsInterruptedAtAnyMomentIsTakenBack() throws Exception {
    RemoteTier tier = bench.open();
    SegmentInfo first = bench.copied(tier);
    long begun = System.nanoTime();
    SegmentInfo second = bench.copied(tier);
    long takes = Math.min(20_000_000, System.nanoTime() - begun);
    long unused = tier.delete("the first", first) + tier.delete("the second", second);
    int copied = 0;
    for (int i = 0; i < COPIES; i++) {
      SegmentInfo segment = bench.segment();
      CountDownLatch begins = new CountDownLatch(1);
      AtomicBoolean ended = new AtomicBoolean();
      Thread kafka =
          new Thread(
              () -> {
                begins.countDown();
                try {
                  bench.copy(tier, segment);
                  ended.set(true);
                } catch (IOException | InterruptedException e) {
                  // It is to leave nothing.
                }
              });
      kafka.start();
      begins.await();
      long until = System.nanoTime() + takes * 3 / 2 * i / COPIES;
      while (System.nanoTime() < until) {
        Thread.onSpinWait();
      }
      kafka.interrupt();
      kafka.join();
      copied += ended.get() ? 1 : 0;
    }
    int expected = copied;
    await()
        .atMost(Duration.ofSeconds(10))
        .untilAsserted(
            () -> {
              assertThat(bench.logs("a")).isEqualTo(expected);
              assertThat(isEmpty("staging") && isEmpty("trash")).isTrue();
            });
  }

  @Test
  void aDeletionThatIsInterruptedAnywhereIsDoneAllTheSame() throws Exception {
    RemoteTier tier = bench.open();
    // Work of the copy before may still be going on, and take the operation that was meant.
    int whole = 0;
    int n = 0;
    int noted = 0;
    while (whole < 2) {
      n++;
      SegmentInfo segment = bench.copied(tier);
      whole = interruptAt(n, () -> tier.delete("a segment", segment)) ? 0 : whole + 1;
      await()
          .alias("after operation " + n)
          .atMost(Duration.ofSeconds(10))
          .until(() -> isEmpty("topics") && isEmpty("trash"));
      Path file = bench.memory.get(0).resolve("strata-remote-deletions");
      noted += Files.readString(file).contains(segment.key().id()) ? 1 : 0;
    }
    assertThat(n).isBetween(5, MOST);
    // The deletion may be at its end before its interrupt.
    assertThat(noted).isPositive();
  }
}
