package io.strata.kafka.migration.remote.read;

import static io.strata.kafka.migration.remote.read.Workbench.CHUNK;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.nio.file.NoSuchFileException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Many readers of all kinds at once, over a store that fails now and then. */
@Timeout(600)
class ReadStressTest {

  private static final int SEGMENTS = 6;
  private static final long SECONDS = Integer.getInteger("strata.test.read.seconds", 2);

  static List<Supplier<ChunkCache>> caches() {
    return List.of(
        () -> ChunkCache.in(new MemoryArena(24 * CHUNK), System::nanoTime),
        () -> ChunkCache.in(new FlakyArena(new MemoryArena(24 * CHUNK), 11, 20), System::nanoTime),
        () -> ChunkCache.none(CHUNK, System::nanoTime));
  }

  @ParameterizedTest
  @MethodSource("caches")
  void everyByteIsRight(Supplier<ChunkCache> cache) throws Exception {
    long seed = System.nanoTime();
    List<FakeSource> sources = new ArrayList<>();
    for (int i = 0; i < SEGMENTS; i++) {
      sources.add(troubled(new FakeSource(i, 30 * CHUNK + i * 777, CHUNK), seed + i));
    }
    for (int i = 0; i + 1 < SEGMENTS; i++) {
      sources.get(i).next = Optional.of(sources.get(i + 1));
    }
    ConcurrentHashMap<Thread, Boolean> readers = new ConcurrentHashMap<>();
    ExecutorService threads = Executors.newCachedThreadPool();
    AtomicLong bytes = new AtomicLong();
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
    try (Workbench bench = new Workbench(cache.get())) {
      bench.ahead.set(6);
      bench.timeout = Duration.ofSeconds(10);
      List<Future<?>> all = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        Random random = new Random(seed + 100 + i);
        all.add(
            threads.submit(
                () -> {
                  readers.put(Thread.currentThread(), true);
                  while (System.nanoTime() < end) {
                    bytes.addAndGet(readOn(bench, sources, random, end));
                  }
                  readers.remove(Thread.currentThread());
                  return null;
                }));
      }
      Random random = new Random(seed);
      while (System.nanoTime() < end) {
        TimeUnit.MILLISECONDS.sleep(3);
        readers.keySet().stream().skip(random.nextInt(8)).findFirst().ifPresent(Thread::interrupt);
        bench.ahead.set(random.nextInt(9));
        assertThat(bench.reader.cacheStats().usedBytes()).isLessThanOrEqualTo(24L * CHUNK);
      }
      for (Future<?> each : all) {
        assertThat(each).as("seed %d", seed).succeedsWithin(Duration.ofSeconds(30));
      }
      bench.settle();
      await().untilAsserted(() -> assertThat(bench.deadlines.stuck()).isZero());
      var ahead = bench.reader.readAheadStats();
      assertThat(ahead.usedBytes() + ahead.wastedBytes()).isBetween(0L, ahead.bytes());
      assertThat(bytes.get()).isPositive();
    } finally {
      threads.shutdownNow();
    }
  }

  private static FakeSource troubled(FakeSource source, long seed) {
    Random random = new Random(seed);
    source.chunksAtOnce = 1 + (int) (Math.abs(seed) % 3);
    source.obstacle =
        (first, count) -> {
          int trouble;
          synchronized (random) {
            trouble = random.nextInt(60);
          }
          switch (trouble) {
            case 0 -> throw new IOException("trouble");
            case 1 -> throw new NoSuchFileException("trouble");
            case 2 -> throw new IllegalStateException("trouble");
            case 3, 4, 5 -> TimeUnit.MILLISECONDS.sleep(5);
            default -> {
              // Well.
            }
          }
        };
    return source;
  }

  /** A consumer: fetch after fetch from somewhere on, into the segments that follow. */
  private static long readOn(Workbench bench, List<FakeSource> sources, Random random, long end) {
    int segment = random.nextInt(sources.size());
    FakeSource source = sources.get(segment);
    int at = random.nextInt((int) source.bytes());
    int fetches = random.nextInt(40);
    long sum = 0;
    for (int i = 0; i < fetches && System.nanoTime() < end; i++) {
      if (at >= source.bytes()) {
        if (++segment == sources.size()) {
          break;
        }
        source = sources.get(segment);
        at = 0;
      }
      int wanted = 1 + random.nextInt(3 * CHUNK / 2);
      int got = fetch(bench, source, at, wanted, random);
      at += got;
      sum += got;
    }
    return sum;
  }

  private static int fetch(Workbench bench, FakeSource source, int at, int wanted, Random random) {
    byte[] bytes = new byte[(int) Math.min(wanted, source.bytes() - at)];
    int done = 0;
    InputStream in = bench.reader.open(source, at, Long.MAX_VALUE);
    try {
      while (done < bytes.length) {
        done += in.read(bytes, done, Math.min(bytes.length - done, 1 + random.nextInt(CHUNK)));
      }
      in.close();
    } catch (InterruptedIOException e) {
      assertThat(Thread.interrupted()).isTrue();
    } catch (IOException | IllegalStateException e) {
      // As in life; some streams are never closed.
      assertThat(e).hasMessageContaining("trouble");
    }
    assertThat(Arrays.copyOf(bytes, done))
        .isEqualTo(Arrays.copyOfRange(source.content(), at, at + done));
    return done;
  }
}
