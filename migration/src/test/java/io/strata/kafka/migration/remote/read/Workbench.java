package io.strata.kafka.migration.remote.read;

import io.strata.kafka.migration.ByteRateLimiter;
import io.strata.kafka.migration.EngineEnvironment;
import io.strata.kafka.migration.remote.calls.Deadlines;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/** A reader with all it needs. */
final class Workbench implements AutoCloseable {

  static final int CHUNK = 64 << 10;

  final Deadlines deadlines = new Deadlines("test-call", 16, EngineEnvironment.system().threads());
  final ByteRateLimiter limiter = new ByteRateLimiter(System::nanoTime);
  volatile Duration timeout = Duration.ofSeconds(20);
  final AtomicInteger ahead = new AtomicInteger();
  final SegmentReader reader;

  Workbench(ChunkCache cache) {
    reader =
        new SegmentReader(
            cache, deadlines, limiter, () -> timeout, ahead::get, EngineEnvironment.system());
  }

  /** With a cache of so many chunks in memory. */
  static Workbench ofChunks(int chunks) {
    return new Workbench(ChunkCache.in(new MemoryArena((long) chunks * CHUNK), System::nanoTime));
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

  @Override
  public void close() {
    reader.close();
    deadlines.close();
  }
}
