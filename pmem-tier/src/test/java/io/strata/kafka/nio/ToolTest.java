package io.strata.kafka.nio;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.config.StrataConfig;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.memory.ProgressListener;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.words.PoolOwner;
import io.strata.kafka.pool.words.PoolSpec;
import io.strata.kafka.segment.SegmentEvents;
import io.strata.kafka.tier.HotTier;
import io.strata.kafka.tier.offline.ReadOnlyTier;
import io.strata.kafka.tier.spec.MoveStage;
import io.strata.kafka.tier.spec.TierEvents;
import io.strata.kafka.tier.spec.TierSpec;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a tool's JVM sees of a broker's hot segment through the provider. */
class ToolTest {
  private static final PoolOwner OWNER = PoolOwner.of(1, "test-cluster");
  private static final byte[] CONTENT = content();

  @TempDir Path root;

  private Optional<HotTier> broker = Optional.empty();
  private Path logFile = Path.of("");
  private Path segment = Path.of("");

  private static byte[] content() {
    byte[] content = new byte[300_001];
    new Random(1).nextBytes(content);
    return content;
  }

  @BeforeEach
  void append() throws IOException {
    Path pool = root.resolve("x.pool");
    Pool.create(
        PoolSpec.of(pool, MemoryType.MAPPED, 8 << 20).withOwner(OWNER), ProgressListener.NONE);
    Path partition = Files.createDirectories(root.resolve("logs/t-0"));
    StrataConfig config =
        StrataConfig.parse(Map.of("strata.pools", pool.toString())).config().orElseThrow();
    TierSpec spec =
        new TierSpec(
            config,
            List.of(pool),
            OWNER,
            List.of(root.resolve("logs")),
            config.placement(),
            Optional.empty(),
            MoveStage.Hook.NONE);
    HotTier tier = HotTier.open(spec, TierEvents.NONE, SegmentEvents.NONE);
    broker = Optional.of(tier);
    logFile = partition.resolve("00000000000000000000.log");
    try (FileChannel channel =
        tier.open(
                logFile,
                Set.of(
                    StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE))
            .orElseThrow()) {
      assertThat(channel.write(ByteBuffer.wrap(CONTENT))).isEqualTo(CONTENT.length);
    }
    assertThat(Files.size(logFile)).as("bytes in the log file").isZero();
    ReadOnlyTier tool = new ReadOnlyTier();
    StrataFileSystemProvider provider =
        new StrataFileSystemProvider(FileSystems.getDefault().provider(), () -> tool);
    segment = provider.getFileSystem(URI.create("file:///")).getPath(logFile.toString());
  }

  @AfterEach
  void stop() throws IOException {
    if (broker.isPresent()) {
      broker.get().close();
    }
  }

  @Test
  void tellsTheLogicalSize() throws IOException {
    FileTime modified = Files.getLastModifiedTime(logFile);
    long size = CONTENT.length;

    assertThat(Files.size(segment)).isEqualTo(size);
    BasicFileAttributes attributes = Files.readAttributes(segment, BasicFileAttributes.class);
    assertThat(attributes.size()).isEqualTo(size);
    assertThat(attributes.lastModifiedTime()).isEqualTo(modified);
    assertThat(Files.readAttributes(segment, "size")).containsExactly(Map.entry("size", size));
    assertThat(Files.readAllBytes(segment)).isEqualTo(CONTENT);
  }

  @Test
  void comparesAndCopiesTheWholeSegment() throws IOException {
    Path copy = Files.write(root.resolve("copy"), CONTENT);
    Path target = segment.resolveSibling("00000000000000000000.copy");

    assertThat(Files.mismatch(segment, segment.resolve(copy.toString()))).isEqualTo(-1);
    Path unused = Files.copy(segment, target);
    assertThat(Files.readAllBytes(target)).isEqualTo(CONTENT);
  }

  @Test
  void leavesOtherFilesAsTheyAre() throws IOException {
    Path cold = segment.resolveSibling("00000000000000000042.log");
    Path unused = Files.write(logFile.resolveSibling(cold.getFileName().toString()), CONTENT);

    assertThat(Files.size(cold)).isEqualTo(CONTENT.length);
    assertThat(new ReadOnlyTier().lastModified(logFile.resolveSibling("none.log"))).isEmpty();
  }
}
