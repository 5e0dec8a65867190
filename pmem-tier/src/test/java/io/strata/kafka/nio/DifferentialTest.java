package io.strata.kafka.nio;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.config.StrataConfig;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.memory.ProgressListener;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.PoolChecker;
import io.strata.kafka.pool.words.PoolOwner;
import io.strata.kafka.pool.words.PoolSpec;
import io.strata.kafka.segment.SegmentEvents;
import io.strata.kafka.tier.FileSystemKind;
import io.strata.kafka.tier.HotTier;
import io.strata.kafka.tier.directory.SegmentFiles;
import io.strata.kafka.tier.spec.MoveStage;
import io.strata.kafka.tier.spec.TierEvents;
import io.strata.kafka.tier.spec.TierSpec;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The same random operations in two directories, in one through our provider and in the other
 * through the JDK's: results and exceptions must agree, whatever is hot. (The messages too, as long
 * as nothing is.)
 */
class DifferentialTest {

  /** {@code hot}: which of the new files with a segment's name go to the pool, in a hundred. */
  @ParameterizedTest(name = "seed {0}, {1} % hot")
  @CsvSource({"1,0", "2,100", "3,100", "4,50", "5,50", "6,50"})
  void agreesWithTheJdk(long seed, int hot, @TempDir Path directory) throws IOException {
    Random placement = new Random(seed);
    FakeTier tier =
        new FakeTier(
            Files.createDirectory(directory.resolve("pool")), file -> placement.nextInt(100) < hot);
    RandomOperations ours = ours(tier, directory, seed, 3_000, hot == 0);
    RandomOperations.agree(jdks(directory, seed, 3_000, hot == 0), ours, 4_000);
    assertThat(tier.placed() > 0).isEqualTo(hot > 0);
    ours.deleteAll();
    assertThat(tier.hotFiles()).as("slots left behind").isZero();
  }

  /** Over a real pool: one with space, one with few slots, and one that is always full. */
  @ParameterizedTest(name = "seed {0}, {1} MiB in {2} slots, up to {3} bytes at once, {4}")
  @CsvSource({
    "7,32,64,3000,mapped",
    "8,32,2,3000,mapped",
    "9,8,64,300000,mapped",
    "10,4,64,2000000,mapped"
  })
  void agreesWithTheJdkOverAPool(
      long seed, int megabytes, int slots, int longest, String type, @TempDir Path directory)
      throws IOException {
    Path file = directory.resolve("hot.pool");
    PoolOwner owner = PoolOwner.of(1, "test-cluster");
    Pool.create(
        PoolSpec.of(file, MemoryType.MAPPED, (long) megabytes << 20)
            .withSlotCount(slots)
            .withOwner(owner),
        ProgressListener.NONE);
    Path logs = Files.createDirectory(directory.resolve("logs"));
    StrataConfig config =
        StrataConfig.parse(Map.of("strata.pools", file.toString(), "strata.pool.type", type))
            .config()
            .orElseThrow();
    Pattern everySegment =
        Pattern.compile(Pattern.quote(directory.toRealPath() + "/our/") + ".*[0-9]{20}\\.log.*");
    TierSpec spec =
        new TierSpec(
            config,
            List.of(file),
            owner,
            List.of(logs),
            config.placement(),
            Optional.of(everySegment),
            MoveStage.Hook.NONE);
    AtomicLong spilled = new AtomicLong();
    SegmentEvents events =
        new SegmentEvents() {
          @Override
          public void spilled(long bytes, boolean first) {
            spilled.addAndGet(bytes);
          }
        };
    try (HotTier tier = HotTier.open(spec, TierEvents.NONE, events)) {
      RandomOperations ours = ours(tier, directory, seed, longest, false);
      RandomOperations.agree(jdks(directory, seed, longest, false), ours, 2_000);
      assertThat(tier.counts().placements().sum()).isPositive();
      assertThat(spilled.get() > 0).as("spilled").isEqualTo(longest > 1_000_000);
      ours.deleteAll();
      assertThat(tier.figures().hot()).as("segments left behind").isZero();
      Awaitility.await()
          .untilAsserted(
              () -> assertThat(tier.pools().get(0).usage().usedBytes()).as("bytes left").isZero());
    }
    assertThat(PoolChecker.check(file).findings()).isEmpty();
  }

  /** The same on file systems that are not the JDK's: what we agree with is theirs. */
  @ParameterizedTest(name = "seed {0}, {1} % hot, {2}")
  @CsvSource({"11,0,LUCENE", "12,50,LUCENE", "13,0,WINDOWS", "14,50,WINDOWS", "15,0,JIMFS"})
  void agreesWithOtherFileSystems(long seed, int hot, FileSystemKind kind, @TempDir Path temporary)
      throws IOException {
    Path directory = kind.at(temporary.toRealPath());
    Random placement = new Random(seed);
    FakeTier tier =
        new FakeTier(
            Files.createDirectory(temporary.resolve("pool")), file -> placement.nextInt(100) < hot);
    RandomOperations ours = ours(tier, directory, seed, 3_000, hot == 0);
    RandomOperations.agree(jdks(directory, seed, 3_000, hot == 0), ours, 2_000);
    assertThat(tier.placed() > 0).isEqualTo(hot > 0);
    ours.deleteAll();
    assertThat(tier.hotFiles()).as("slots left behind").isZero();
    FileSystemKind.requireClosed(directory);
  }

  private static RandomOperations jdks(Path directory, long seed, int longest, boolean cold)
      throws IOException {
    return new RandomOperations(
        Files.createDirectory(directory.resolve("jdk")), seed, longest, cold);
  }

  private static RandomOperations ours(
      SegmentFiles tier, Path directory, long seed, int longest, boolean cold) throws IOException {
    StrataFileSystemProvider provider =
        new StrataFileSystemProvider(directory.getFileSystem().provider(), () -> tier);
    Path root = Files.createDirectory(directory.resolve("our"));
    return new RandomOperations(
        provider.getFileSystem(URI.create("file:///")).getPath(root.toString()),
        seed,
        longest,
        cold);
  }
}
