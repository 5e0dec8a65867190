package io.strata.kafka.migration.remote.read;

import static org.awaitility.Awaitility.await;

import io.strata.kafka.migration.ByteRateLimiter;
import io.strata.kafka.migration.EngineEnvironment;
import io.strata.kafka.migration.remote.calls.Deadlines;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.LongSupplier;

/** A reader with all it needs. */
final class Workbench implements AutoCloseable {

  static final int CHUNK = 64 << 10;

  final Deadlines deadlines = new Deadlines("test-call", 16, EngineEnvironment.system().threads());
  final ByteRateLimiter limiter = new ByteRateLimiter(System::nanoTime);

  /** How far the clock of the cache and of the reader is ahead. */
  final AtomicLong passed;

  volatile Duration timeout = Duration.ofSeconds(20);
  final AtomicInteger ahead = new AtomicInteger();
  final ChunkedReader reader;

  Workbench(ChunkCache cache) {
    this(unused -> cache);
  }

  private Workbench(Function<LongSupplier, ChunkCache> cache) {
    AtomicLong more = new AtomicLong();
    passed = more;
    EngineEnvironment system = EngineEnvironment.system();
    LongSupplier nanoTime = () -> System.nanoTime() + more.get();
    reader =
        new ChunkedReader(
            cache.apply(nanoTime),
            deadlines,
            limiter,
            () -> timeout,
            ahead::get,
            new EngineEnvironment(system.clock(), nanoTime, system.threads(), system.random()));
  }

  /** With a cache of so many chunks in memory. */
  static Workbench ofChunks(int chunks) {
    return new Workbench(
        nanoTime -> ChunkCache.in(new MemoryArena((long) chunks * CHUNK), nanoTime));
  }

  InputStream open(FakeSource source, long start) {
    return reader.open(source, start, Long.MAX_VALUE);
  }

  /** Reads as Kafka does for one fetch: so many bytes from there on, in a stream of its own. */
  byte[] fetch(FakeSource source, long start, int bytes) throws IOException {
    try (InputStream in = open(source, start)) {
      return in.readNBytes(bytes);
    }
  }

  /** Waits until all is read that is going to be read ahead. */
  void settle() {
    await().pollDelay(Duration.ZERO).pollInterval(Duration.ofMillis(1)).until(reader::idle);
  }

  @Override
  public void close() {
    reader.close();
    deadlines.close();
  }
}
