package io.strata.kafka.it.bench;

import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.memory.ProgressListener;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.words.PoolSpec;
import io.strata.kafka.tier.HotTier;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * One turn of {@code bench.sh forced}: appends through segments' channels, a segment for each
 * thread, to a pool of type {@code file} with {@code strata.durability=ack}.
 */
final class ForcedTurn {
  private static final long POOL_BYTES = 1L << 30;

  private ForcedTurn() {}

  /**
   * Prints the appends per second of all threads together, without the first fifth of each.
   *
   * @param args the directory, the bytes of an append, the threads, and the appends of each thread
   */
  public static void main(String[] args) throws Exception {
    int length = Integer.parseInt(args[1]);
    int threads = Integer.parseInt(args[2]);
    int appends = Integer.parseInt(args[3]);
    Path logs = Files.createTempDirectory("strata-bench");
    Path pool = BenchFile.fresh(args[0]);
    ExecutorService executor = Executors.newFixedThreadPool(threads);
    try {
      Pool.create(PoolSpec.of(pool, MemoryType.FILE, POOL_BYTES), ProgressListener.NONE);
      try (HotTier tier = SegmentTurn.open(pool, MemoryType.FILE, "ack", logs)) {
        CyclicBarrier measured = new CyclicBarrier(threads + 1);
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
          Path partition = Files.createDirectory(logs.resolve("orders-" + i));
          all.add(
              executor.submit(
                  () -> {
                    append(tier, partition, length, appends, measured);
                    return true;
                  }));
        }
        measured.await();
        long start = System.nanoTime();
        for (Future<?> each : all) {
          Object unused = each.get();
        }
        double seconds = (System.nanoTime() - start) / 1e9;
        System.out.printf(Locale.ROOT, "%.0f%n", threads * (appends - appends / 5) / seconds);
      }
    } finally {
      executor.shutdownNow();
      Files.deleteIfExists(pool);
      SegmentTurn.delete(logs);
    }
  }

  private static void append(
      HotTier tier, Path partition, int length, int appends, CyclicBarrier measured)
      throws Exception {
    ByteBuffer piece = BenchFile.source(length);
    try (FileChannel channel =
        tier.open(
                partition.resolve("00000000000000000000.log"),
                Set.of(
                    StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE))
            .orElseThrow()) {
      for (int i = 0; i < appends; i++) {
        if (i == appends / 5) {
          int unused = measured.await();
        }
        int unusedBytes = channel.write(piece.clear());
      }
    }
  }
}
