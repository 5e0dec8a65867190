package io.strata.kafka.it.bench;

import com.sun.management.ThreadMXBean;
import io.strata.kafka.config.StrataConfig;
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
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * One turn of {@code bench.sh turns}: the appends of {@link MemoryTurn} through the channel of a
 * segment in a pool, as Kafka makes them; and what the appends and reads allocate.
 */
final class SegmentTurn {
  private static final int ROUNDS = 60;
  private static final long POOL_BYTES = 512L << 20;

  private SegmentTurn() {}

  /**
   * Prints the median of the rounds in ms, and to the error stream the bytes that an append and a
   * read allocate.
   *
   * @param args the directory, a memory type, and the bytes of an append
   */
  public static void main(String[] args) throws Exception {
    MemoryType type = MemoryType.valueOf(args[1].toUpperCase(Locale.ROOT));
    ByteBuffer piece = BenchFile.source(Integer.parseInt(args[2]));
    Path logs = Files.createTempDirectory("strata-bench");
    Path pool = BenchFile.fresh(args[0]);
    try {
      Pool.create(PoolSpec.of(pool, type, POOL_BYTES), ProgressListener.NONE);
      try (HotTier tier = open(pool, type, "pool", logs)) {
        Path segment =
            Files.createDirectory(logs.resolve("orders-0")).resolve("00000000000000000000.log");
        try (FileChannel channel =
            tier.open(
                    segment,
                    Set.of(
                        StandardOpenOption.CREATE,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE))
                .orElseThrow()) {
          measure(channel, piece);
        }
      }
    } finally {
      Files.deleteIfExists(pool);
      delete(logs);
    }
  }

  static void delete(Path tree) throws IOException {
    try (Stream<Path> all = Files.walk(tree)) {
      for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }

  /** Opens a tier of one pool and one log directory, without migration. */
  static HotTier open(Path pool, MemoryType type, String durability, Path logs) throws Exception {
    StrataConfig config =
        StrataConfig.parse(
                Map.of(
                    "strata.pools",
                    pool.toString(),
                    "strata.pool.type",
                    type.name().toLowerCase(Locale.ROOT),
                    "strata.durability",
                    durability,
                    "strata.migration.threshold",
                    "-1"))
            .config()
            .orElseThrow();
    TierSpec spec =
        new TierSpec(
            config,
            List.of(pool),
            PoolOwner.of(1, "bench"),
            List.of(logs),
            config.placement(),
            Optional.empty(),
            MoveStage.Hook.NONE);
    return HotTier.open(spec, TierEvents.NONE, SegmentEvents.NONE);
  }

  private static void measure(FileChannel channel, ByteBuffer piece) throws Exception {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long[] nanos = new long[ROUNDS];
    long allocated = 0;
    for (int round = -ROUNDS; round < ROUNDS; round++) {
      FileChannel unused = channel.truncate(0);
      long before = threads.getCurrentThreadAllocatedBytes();
      long start = threads.getCurrentThreadCpuTime();
      long unusedBytes = BenchFile.append(channel, piece);
      if (round >= 0) {
        nanos[round] = threads.getCurrentThreadCpuTime() - start;
        allocated += threads.getCurrentThreadAllocatedBytes() - before;
      }
    }
    long appends = BenchFile.TOTAL / piece.capacity();
    long before = threads.getCurrentThreadAllocatedBytes();
    for (int i = 0; i < appends; i++) {
      int unused = channel.read(piece.clear(), (long) i * piece.capacity());
    }
    long read = threads.getCurrentThreadAllocatedBytes() - before;
    Arrays.sort(nanos);
    System.err.printf(
        Locale.ROOT,
        "%d bytes: an append allocates %d bytes, a read %d%n",
        piece.capacity(),
        allocated / ROUNDS / appends,
        read / appends);
    System.out.printf(Locale.ROOT, "%.3f%n", nanos[ROUNDS / 2] / 1e6);
  }
}
