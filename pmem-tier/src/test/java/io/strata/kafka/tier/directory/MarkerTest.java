package io.strata.kafka.tier.directory;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.config.key.MetaProperties;
import io.strata.kafka.crash.Loss;
import io.strata.kafka.crash.SimFileSystem;
import io.strata.kafka.memory.ProgressListener;
import io.strata.kafka.tier.Batches;
import io.strata.kafka.tier.TierFixture;
import io.strata.kafka.tier.offline.Drain;
import io.strata.kafka.tier.spec.TierEvents;
import java.io.IOException;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MarkerTest {

  /** As Kafka writes it. */
  private static final String KAFKAS =
      """
      #
      #Thu Jan 01 00:00:00 UTC 1970
      cluster.id=mO2KdyIyQ8Sybm5WC0SmqA
      directory.id=oBsOk8xpeuFC2Ozno2LZAQ
      node.id=1
      version=1
      """;

  @TempDir private Path temporary = Path.of("");
  private Path directory = Path.of("");
  private Path file = Path.of("");
  private Optional<TierFixture> opened = Optional.empty();

  @BeforeEach
  void format() throws IOException {
    directory = Files.createDirectory(temporary.resolve("data"));
    file = directory.resolve("meta.properties");
    Files.writeString(file, KAFKAS);
  }

  @AfterEach
  void close() throws IOException {
    if (opened.isPresent()) {
      opened.get().close();
    }
  }

  /** A broker's log directory, not formatted yet, and pool. */
  private TierFixture broker() throws IOException {
    Path base = Files.createDirectory(temporary.resolve("broker"));
    TierFixture fixture = new TierFixture(base).pool("hot.pool", 16 << 20);
    opened = Optional.of(fixture);
    return fixture;
  }

  /** What it holds only that one knows; nothing is changed. */
  @Test
  void aMarkOfANewerVersionIsRefusedBeforeAnythingIsChanged() throws IOException {
    TierFixture broker = broker();
    Path meta = broker.logs().resolve("meta.properties");
    Files.writeString(meta, KAFKAS);
    Marker.mark(broker.logs());
    String newer = Files.readString(meta).replace("#strata-marker 1\n", "#strata-marker 2\n");
    Files.writeString(meta, newer);

    assertThatThrownBy(broker::open)
        .hasMessageContaining(meta.toString())
        .hasMessageEndingWith(
            "found Strata's mark of version 2, expected 1: a newer Strata wrote it; use that one");
    assertThat(meta).hasContent(newer);
    assertThat(LogDirectory.find(broker.logs())).isEmpty();
  }

  @Test
  void kafkaCannotReadTheVersionOfAMarkedFileAndItsOwnTextIsWhole() throws IOException {
    Marker.mark(directory);
    Properties marked = new Properties();
    marked.load(new StringReader(Files.readString(file)));
    assertThat(marked.getProperty("version"))
        .startsWith("In use by Strata")
        .contains("strata drain")
        .isNotEqualTo("1");
    assertThat(marked.getProperty("cluster.id")).isEqualTo("mO2KdyIyQ8Sybm5WC0SmqA");
    assertThat(Files.readString(file))
        .contains("strata drain --config", "-Djava.nio.file.spi.DefaultFileSystemProvider=")
        .contains(KAFKAS);
    assertThat(Marker.read(file).orElseThrow()).isEqualTo(KAFKAS.getBytes(ISO_8859_1));
    assertThat(MetaProperties.clusterId(directory)).isPresent();
  }

  @ParameterizedTest
  @ValueSource(strings = {KAFKAS, "", "version=1", "a=\u00fc\u0000\n\n\n", "#strata-end\n", "\\"})
  void comesBackByteForByte(String text) throws IOException {
    Files.write(file, text.getBytes(ISO_8859_1));
    Marker.mark(directory);
    assertThat(Marker.read(file).orElseThrow()).isEqualTo(text.getBytes(ISO_8859_1));
    Marker.unmark(directory);
    assertThat(Files.readAllBytes(file)).isEqualTo(text.getBytes(ISO_8859_1));
    assertThat(directory).isDirectoryContaining(file::equals);
    assertThat(Marker.read(file)).isEmpty();
  }

  @Test
  void markingTwiceAndTakingOffTwiceChangeNothing() throws IOException {
    Object own = key();
    Marker.unmark(directory);
    assertThat(key()).isEqualTo(own);
    Marker.mark(directory);
    Object marked = key();
    Marker.mark(directory);
    assertThat(key()).isEqualTo(marked);
  }

  private Object key() throws IOException {
    return Files.getAttribute(file, "unix:ino") + Files.readString(file);
  }

  /** A link that leads nowhere is no file of Kafka's yet, and is no reason to fail. */
  @Test
  void aLinkThatLeadsNowhereIsLeftAlone() throws IOException {
    Files.delete(file);
    Path unused = Files.createSymbolicLink(file, directory.resolve("elsewhere"));
    Marker.mark(directory);
    assertThat(Marker.isMissing(directory)).isFalse();
    assertThat(file).isSymbolicLink();
  }

  @Test
  void aDirectoryThatKafkaHasNotFormattedIsLeftAlone() throws IOException {
    Files.delete(file);
    Marker.mark(directory);
    Marker.unmark(directory);
    assertThat(directory).isEmptyDirectory();
    assertThat(Marker.read(file)).isEmpty();
  }

  @Test
  void permissionsStay() throws IOException {
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-rw----"));
    Marker.mark(directory);
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-rw----");
  }

  @Test
  void whatTakesThePlaceOfAMarkedFileIsMarked() throws IOException {
    Path written = directory.resolve("meta.properties.tmp");
    Files.writeString(written, KAFKAS + "more=1\n");
    assertThat(Marker.replace(written, file)).as("the target is not marked").isFalse();

    Marker.mark(directory);
    assertThat(Marker.replace(written, file)).isTrue();
    assertThat(Marker.read(file).orElseThrow())
        .isEqualTo((KAFKAS + "more=1\n").getBytes(ISO_8859_1));
    assertThat(directory).isDirectoryNotContaining(written::equals);
  }

  /** Whatever is left of it: Kafka would read the file, so that it counts as unmarked. */
  @ParameterizedTest
  @ValueSource(strings = {"#strata-end", "\nversion=In use", "#strata-end\nversion=In use"})
  void aMarkThatWasTakenOffByHandIsMissing(String from) throws IOException {
    Marker.mark(directory);
    String marked = Files.readString(file);
    String left = marked.substring(0, marked.indexOf(from)) + "\n";
    Files.writeString(file, left);
    assertThat(Marker.read(file)).isEmpty();
    assertThat(Marker.isMissing(directory)).isTrue();
    Marker.mark(directory);
    Marker.unmark(directory);
    assertThat(Files.readString(file).strip()).isEqualTo(KAFKAS.strip());
  }

  @Test
  void aMarkOfANewerStrataIsNamed() throws IOException {
    Marker.mark(directory);
    String marked = Files.readString(file);
    Files.writeString(file, marked.replace("#strata-marker 1", "#strata-marker 2"));
    assertThatThrownBy(() -> Marker.read(file))
        .isInstanceOf(IOException.class)
        .hasMessageContainingAll(file.toString(), "version 2", "newer Strata");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "meta.properties",
        "a/meta.properties",
        "/a/b/meta.properties",
        "./meta.properties"
      })
  void isToldByItsName(String name) {
    assertThat(Marker.maybeMarked(Path.of(name))).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "/", "xmeta.properties", "meta.properties/x", "meta.properties.tmp"})
  void noOtherNameIs(String name) {
    assertThat(Marker.maybeMarked(Path.of(name))).isFalse();
  }

  /** The power goes, or the process ends, before any change: the file is Kafka's or marked. */
  @Test
  void noCrashLosesTheFile() throws IOException {
    for (long seed = 0; seed < 20; seed++) {
      SimFileSystem disk = new SimFileSystem();
      Path there = Files.createDirectory(disk.getPath("/data"));
      Path meta = there.resolve("meta.properties");
      write(meta);
      force(meta);
      force(there);
      force(disk.getPath("/"));
      AtomicInteger points = new AtomicInteger();
      long mixed = seed;
      disk.points(
          point -> {
            Loss loss = new Loss(Loss.mix(mixed, points.incrementAndGet()));
            try {
              assertWhole(disk.powerCut(loss));
              assertWhole(disk.kill());
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
            return true;
          });
      Marker.mark(there);
      assertMarked(disk.powerCut(new Loss(seed)), true);
      Marker.mark(there);
      Marker.unmark(there);
      assertMarked(disk.powerCut(new Loss(seed)), false);
      assertThat(points.get()).isGreaterThan(6);
    }
  }

  private static void write(Path meta) throws IOException {
    try (FileChannel channel =
        FileChannel.open(meta, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      channel.write(ByteBuffer.wrap(KAFKAS.getBytes(ISO_8859_1)));
    }
  }

  private static void force(Path path) throws IOException {
    Directories.force(path);
  }

  private static void assertWhole(SimFileSystem left) throws IOException {
    Path meta = left.getPath("/data/meta.properties");
    byte[] own = Marker.read(meta).orElse(Files.readAllBytes(meta));
    assertThat(own).isEqualTo(KAFKAS.getBytes(ISO_8859_1));
  }

  private static void assertMarked(SimFileSystem left, boolean marked) throws IOException {
    assertThat(Marker.read(left.getPath("/data/meta.properties")).isPresent()).isEqualTo(marked);
  }

  @Test
  void aBrokersDirectoriesAreMarkedUntilTheyAreDrained() throws IOException {
    TierFixture fixture = broker();
    Path added = Files.createDirectory(fixture.root.resolve("added"));
    Files.writeString(fixture.logs().resolve("meta.properties"), KAFKAS);
    Files.writeString(added.resolve("meta.properties"), KAFKAS);
    fixture.open();
    fixture.append(fixture.segment("orders-0", 0), Batches.of(300_000, 1));
    fixture.logDirectories.add(added);
    fixture.reopen();
    for (Path each : fixture.logDirectories) {
      assertThat(Marker.read(each.resolve("meta.properties"))).as("mark in %s", each).isPresent();
    }
    fixture.close();

    Path away = Files.move(added, fixture.root.resolve("away"));
    assertThat(Drain.run(fixture.spec(), TierEvents.NONE, ProgressListener.NONE).complete())
        .isFalse();
    assertThat(Marker.read(fixture.logs().resolve("meta.properties"))).isPresent();
    Files.move(away, added);

    assertThat(Drain.run(fixture.spec(), TierEvents.NONE, ProgressListener.NONE).complete())
        .isTrue();
    for (Path each : fixture.logDirectories) {
      assertThat(each.resolve("meta.properties")).hasContent(KAFKAS);
      assertThat(each).isDirectoryNotContaining("glob:**.strata");
    }
  }

  @Test
  void aStartThatIsRefusedMarksNothing() throws IOException {
    TierFixture fixture = broker();
    fixture.open();
    fixture.append(fixture.segment("orders-0", 0), Batches.of(300_000, 1));
    fixture.close();
    Files.writeString(fixture.logs().resolve("meta.properties"), KAFKAS);
    fixture.pools.clear();
    fixture.pool("other.pool", 16 << 20);
    assertThatThrownBy(fixture::open).isInstanceOf(IOException.class);
    assertThat(fixture.logs().resolve("meta.properties")).hasContent(KAFKAS);
  }

  /** Its disk is full, say: it stays as it is, and so do new segments' records. */
  @Test
  void whatCannotBeMarkedHasNothingPlacedInAPool() throws IOException {
    TierFixture fixture = broker();
    Files.writeString(fixture.logs().resolve("meta.properties"), KAFKAS);
    // In the way of the new file, and not to be removed.
    Files.createDirectories(fixture.logs().resolve("meta.properties.strata/full"));
    fixture.open();
    Path segment = fixture.segment("orders-0", 0);
    assertThat(fixture.tier().open(segment, TierFixture.KAFKA)).isEmpty();
    assertThat(fixture.logs().resolve("meta.properties")).hasContent(KAFKAS);
  }
}
