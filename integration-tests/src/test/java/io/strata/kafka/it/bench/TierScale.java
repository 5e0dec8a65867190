package io.strata.kafka.it.bench;

import io.strata.kafka.config.StrataConfig;
import io.strata.kafka.it.harness.Distribution;
import io.strata.kafka.it.harness.Workspace;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.memory.ProgressListener;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.words.PoolOwner;
import io.strata.kafka.pool.words.PoolSpec;
import io.strata.kafka.segment.SegmentEvents;
import io.strata.kafka.tier.HotTier;
import io.strata.kafka.tier.spec.MoveStage;
import io.strata.kafka.tier.spec.TierEvents;
import io.strata.kafka.tier.spec.TierSpec;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What many segments cost: heap per open hot segment against one of the JDK's channels, bytes of
 * pool for idle partitions, and the time that recovery takes. A benchmark, not a test: see
 * docs/design/performance.md for the command.
 */
final class TierScale {

  private static final Set<StandardOpenOption> KAFKA =
      Set.of(StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);

  /** What is open at once; more than a process may have is nothing to measure. */
  private static final int OPEN = 10_000;

  private static final int SEGMENTS_PER_PARTITION = 100;

  /** Of a segment with a record; and something to spare. */
  private static final long POOL_BYTES_PER_SEGMENT = 96 << 10;

  private static final PoolOwner OWNER = PoolOwner.of(1, "scale");

  private TierScale() {}

  /**
   * Prints the figures.
   *
   * @param arguments the number of segments (10,000); of more than that, the others are made one
   *     after another, a hundred in a partition
   */
  public static void main(String[] arguments) throws IOException {
    int segments = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 10_000;
    Path folder = Files.createTempDirectory(Files.createDirectories(Distribution.work()), "scale-");
    Path pool =
        Path.of(Files.isDirectory(Path.of("/dev/shm")) ? "/dev/shm" : folder.toString())
            .resolve("strata-scale.pool");
    Files.deleteIfExists(pool);
    Pool.create(
        PoolSpec.of(pool, MemoryType.MAPPED, Math.max(2L << 30, segments * POOL_BYTES_PER_SEGMENT))
            .withSlotCount(segments + 16),
        ProgressListener.NONE);
    try {
      measure(folder, pool, segments);
    } finally {
      Files.deleteIfExists(pool);
      Workspace.delete(folder);
    }
  }

  private static void measure(Path folder, Path pool, int segments) throws IOException {
    Path logs = Files.createDirectories(folder.resolve("logs"));
    StrataConfig config =
        StrataConfig.parse(Map.of("strata.pools", pool.toString(), "strata.pool.type", "mapped"))
            .config()
            .orElseThrow();
    TierSpec spec =
        new TierSpec(
            config,
            List.of(pool),
            OWNER,
            List.of(logs),
            config.placement(),
            Optional.empty(),
            MoveStage.Hook.NONE);

    int open = Math.min(segments, OPEN);
    long before = usedHeap();
    List<FileChannel> plain = new ArrayList<>();
    for (int i = 0; i < open; i++) {
      plain.add(FileChannel.open(segment(folder.resolve("plain"), i), KAFKA));
    }
    long perPlain = (usedHeap() - before) / open;
    closeAll(plain);

    try (HotTier tier = HotTier.open(spec, TierEvents.NONE, SegmentEvents.NONE)) {
      before = usedHeap();
      List<FileChannel> hot = new ArrayList<>();
      for (int i = 0; i < open; i++) {
        hot.add(tier.open(segment(logs, i), KAFKA).orElseThrow());
      }
      long idle = tier.pools().get(0).usage().usedBytes();
      for (FileChannel channel : hot) {
        channel.write(ByteBuffer.allocate(100));
      }
      long perHot = (usedHeap() - before) / open;
      long small = tier.pools().get(0).usage().usedBytes();
      print("heap per open channel: JDK %d B, hot %d B", perPlain, perHot);
      print("heap of Strata per open hot segment beyond the JDK's: %d B", perHot - perPlain);
      print("pool for %,d segments without a record: %,d B of data", open, idle);
      print("pool for %,d segments of 100 B: %,d B of data", open, small);
      closeAll(hot);
      long start = System.nanoTime();
      for (int i = open; i < segments; i++) {
        try (FileChannel channel = tier.open(further(logs, i), KAFKA).orElseThrow()) {
          channel.write(ByteBuffer.allocate(100));
        }
      }
      if (segments > open) {
        print(
            "making %,d further ones: %d us each",
            segments - open, (System.nanoTime() - start) / 1_000 / (segments - open));
      }
    }
    for (int i = 0; i < 3; i++) {
      before = usedHeap();
      long start = System.nanoTime();
      long processor = processorNanos();
      try (HotTier tier = HotTier.open(spec, TierEvents.NONE, SegmentEvents.NONE)) {
        long nanos = System.nanoTime() - start;
        processor = processorNanos() - processor;
        print(
            "opening with %,d segments: %d ms, of which recovery %d ms; %d us, %d us of"
                + " processor time and %d B of heap each",
            tier.figures().hot(),
            nanos / 1_000_000,
            tier.recoveryReport().millis(),
            nanos / 1_000 / segments,
            processor / 1_000 / segments,
            (usedHeap() - before) / segments);
      }
    }
  }

  private static Path segment(Path logs, int partition) throws IOException {
    return Files.createDirectories(logs.resolve("idle-" + partition))
        .resolve("00000000000000000000.log");
  }

  /** Of the process: what a busy machine does not change much. */
  private static long processorNanos() {
    return ProcessHandle.current().info().totalCpuDuration().orElse(Duration.ZERO).toNanos();
  }

  private static Path further(Path logs, int number) throws IOException {
    Path partition = logs.resolve("many-" + number / SEGMENTS_PER_PARTITION);
    return Files.createDirectories(partition)
        .resolve(String.format(Locale.ROOT, "%020d.log", number % SEGMENTS_PER_PARTITION));
  }

  private static long usedHeap() {
    Runtime runtime = Runtime.getRuntime();
    for (int i = 0; i < 4; i++) {
      System.gc();
    }
    return runtime.totalMemory() - runtime.freeMemory();
  }

  private static void closeAll(List<FileChannel> channels) throws IOException {
    for (FileChannel channel : channels) {
      channel.close();
    }
  }

  @SuppressWarnings("SystemOut") // a benchmark's figures are its output
  private static void print(String format, Object... values) {
    System.out.println(String.format(Locale.ROOT, format, values));
  }
}
