package io.strata.kafka.it;

import io.strata.kafka.config.StrataConfig;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.memory.ProgressListener;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.PoolOwner;
import io.strata.kafka.pool.PoolSpec;
import io.strata.kafka.segment.SegmentEvents;
import io.strata.kafka.tier.HotTier;
import io.strata.kafka.tier.TierEvents;
import io.strata.kafka.tier.TierSpec;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What many segments cost: heap per open hot segment against one of the JDK's channels, bytes of
 * pool for idle partitions, and the time that recovery takes. A benchmark, not a test: see
 * docs/benchmarks.md for the command.
 */
final class TierScale {

  private static final Set<StandardOpenOption> KAFKA =
      Set.of(StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
  private static final PoolOwner OWNER = PoolOwner.of(1, "scale");

  private TierScale() {}

  /**
   * Prints the figures.
   *
   * @param arguments the number of segments (10,000)
   */
  public static void main(String[] arguments) throws IOException {
    int segments = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 10_000;
    Path folder = Files.createTempDirectory(Files.createDirectories(Distribution.work()), "scale-");
    Path pool =
        Path.of(Files.isDirectory(Path.of("/dev/shm")) ? "/dev/shm" : folder.toString())
            .resolve("strata-scale.pool");
    Files.deleteIfExists(pool);
    Pool.create(
        PoolSpec.of(pool, MemoryType.MAPPED, 2L << 30).withSlotCount(segments + 16),
        ProgressListener.NONE);
    try {
      measure(folder, pool, segments);
    } finally {
      Files.deleteIfExists(pool);
      Files.deleteIfExists(pool.resolveSibling(pool.getFileName() + ".lock"));
      Workspace.delete(folder);
    }
  }

  private static void measure(Path folder, Path pool, int segments) throws IOException {
    Path logs = Files.createDirectories(folder.resolve("logs"));
    StrataConfig config =
        StrataConfig.parse(Map.of("strata.pools", pool.toString())).config().orElseThrow();
    TierSpec spec =
        new TierSpec(
            config, List.of(pool), OWNER, List.of(logs), config.placement(), Optional.empty());

    long before = usedHeap();
    List<FileChannel> plain = new ArrayList<>();
    for (int i = 0; i < segments; i++) {
      plain.add(FileChannel.open(segment(folder.resolve("plain"), i), KAFKA));
    }
    long perPlain = (usedHeap() - before) / segments;
    closeAll(plain);

    try (HotTier tier = HotTier.open(spec, TierEvents.NONE, SegmentEvents.NONE)) {
      before = usedHeap();
      List<FileChannel> hot = new ArrayList<>();
      for (int i = 0; i < segments; i++) {
        hot.add(tier.open(segment(logs, i), KAFKA).orElseThrow());
      }
      long idle = tier.pools().get(0).usage().usedBytes();
      for (FileChannel channel : hot) {
        channel.write(ByteBuffer.allocate(100));
      }
      long perHot = (usedHeap() - before) / segments;
      long small = tier.pools().get(0).usage().usedBytes();
      print("heap per open channel: JDK %d B, hot %d B", perPlain, perHot);
      print("heap of Strata per open hot segment beyond the JDK's: %d B", perHot - perPlain);
      print("pool for %,d segments without a record: %,d B of data", segments, idle);
      print("pool for %,d segments of 100 B: %,d B of data", segments, small);
      closeAll(hot);
    }
    for (int i = 0; i < 3; i++) {
      long start = System.nanoTime();
      try (HotTier tier = HotTier.open(spec, TierEvents.NONE, SegmentEvents.NONE)) {
        print(
            "opening with %,d segments: %d ms, of which recovery %d ms",
            tier.hotSegments(),
            (System.nanoTime() - start) / 1_000_000,
            tier.recoveryReport().millis());
      }
    }
  }

  private static Path segment(Path logs, int partition) throws IOException {
    return Files.createDirectories(logs.resolve("idle-" + partition))
        .resolve("00000000000000000000.log");
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
