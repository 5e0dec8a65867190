package io.strata.kafka.nio;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NonWritableChannelException;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A marked {@code meta.properties} as seen through the provider. */
class MarkedFileTest {

  private static final String KAFKAS = "#\ncluster.id=c\nnode.id=1\nversion=1\n";

  /** The file past the provider. */
  private Path real = Path.of("");

  private Path file = Path.of("");

  @BeforeEach
  void mark(@TempDir Path temporary) throws IOException {
    Path logs = Files.createDirectory(temporary.resolve("logs")).toRealPath();
    real = logs.resolve("meta.properties");
    Files.writeString(real, KAFKAS);
    Path pool = temporary.resolve("hot.pool");
    PoolOwner owner = PoolOwner.of(1, "c");
    Pool.create(
        PoolSpec.of(pool, MemoryType.MAPPED, 4 << 20).withSlotCount(8).withOwner(owner),
        ProgressListener.NONE);
    StrataConfig config =
        StrataConfig.parse(Map.of("strata.pools", pool.toString())).config().orElseThrow();
    TierSpec spec =
        new TierSpec(
            config,
            List.of(pool),
            owner,
            List.of(logs),
            config.placement(),
            Optional.empty(),
            MoveStage.Hook.NONE);
    HotTier.open(spec, TierEvents.NONE, SegmentEvents.NONE).close();
    assertThat(Files.readString(real)).contains("In use by Strata");
    file = in(ReadOnlyTier::new, real);
  }

  private static Path in(StrataFileSystemProvider.Segments segments, Path path) {
    FileSystem fileSystem =
        new StrataFileSystemProvider(FileSystems.getDefault().provider(), segments)
            .getFileSystem(URI.create("file:///"));
    return fileSystem.getPath(path.toString());
  }

  @Test
  void readsAsKafkaWroteIt() throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      assertThat(in).hasContent(KAFKAS);
    }
    assertThat(Files.readString(file)).isEqualTo(KAFKAS);
    assertThat(Files.readAllLines(file)).hasSize(4);
    try (BufferedReader reader = Files.newBufferedReader(file)) {
      assertThat(reader.readLine()).isEqualTo("#");
    }
  }

  @Test
  void itsChannelIsAsTheJdksForReading() throws IOException {
    SeekableByteChannel channel = Files.newByteChannel(file);
    try (channel) {
      assertThat(channel.size()).isEqualTo(KAFKAS.length());
      ByteBuffer bytes = ByteBuffer.allocate(12);
      assertThat(channel.position(2).read(bytes)).isEqualTo(12);
      assertThat(new String(bytes.array(), US_ASCII)).isEqualTo("cluster.id=c");
      assertThat(channel.position()).isEqualTo(14);
      assertThat(channel.position(1000).read(bytes.clear())).isEqualTo(-1);
      assertThatThrownBy(() -> channel.write(bytes))
          .isInstanceOf(NonWritableChannelException.class);
      assertThatThrownBy(() -> channel.truncate(0)).isInstanceOf(NonWritableChannelException.class);
    }
    assertThat(channel.isOpen()).isFalse();
    assertThatThrownBy(channel::size).isInstanceOf(ClosedChannelException.class);
  }

  /** As Kafka's PropertiesUtils and atomicMoveWithFallback do. */
  @Test
  void whatKafkaMovesOverItIsMarked() throws IOException {
    for (StandardCopyOption option :
        List.of(StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING)) {
      Path written = file.resolveSibling("meta.properties.tmp");
      String text = KAFKAS + "# " + option + "\n";
      Files.writeString(written, text);
      Files.move(written, file, option);
      assertThat(Files.readString(file)).isEqualTo(text);
      assertThat(Files.readString(real)).contains("In use by Strata", text);
      assertThat(written).doesNotExist();
    }
  }

  @Test
  void oneThatIsNotMarkedIsReadAndMovedAsItIs() throws IOException {
    Path other = Files.createDirectory(file.resolveSibling("other")).resolve("meta.properties");
    Files.writeString(other, KAFKAS);
    Path written = other.resolveSibling("meta.properties.tmp");
    Files.writeString(written, KAFKAS + "#\n");
    Files.move(written, other, StandardCopyOption.ATOMIC_MOVE);
    assertThat(Path.of(other.toString())).hasContent(KAFKAS + "#\n");
  }

  /** A broker reads it first of all, and before it has changed anything. */
  @Test
  void aBrokerThatMustNotStartIsToldWhenItReadsIt() {
    Path refused =
        in(
            () -> {
              throw new IOException("the pool is missing");
            },
            real);
    assertThatThrownBy(() -> Files.readString(refused)).hasMessage("the pool is missing");
    assertThatThrownBy(() -> Files.newInputStream(refused)).hasMessage("the pool is missing");
  }

  @Test
  void aCopyOfItIsMarkedToo() throws IOException {
    Path copy = file.resolveSibling("copied");
    Files.copy(file, copy);
    assertThat(Path.of(copy.toString())).hasSameTextualContentAs(real);
  }
}
