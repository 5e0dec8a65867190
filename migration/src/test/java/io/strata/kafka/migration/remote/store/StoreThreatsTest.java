package io.strata.kafka.migration.remote.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.migration.remote.store.disk.Disk;
import io.strata.kafka.migration.remote.store.disk.MoverLock;
import io.strata.kafka.migration.remote.store.layout.JsonFile.CorruptManifestException;
import io.strata.kafka.migration.remote.store.layout.Manifest;
import io.strata.kafka.migration.remote.store.layout.ManifestTest;
import io.strata.kafka.migration.remote.store.layout.SegmentInfo;
import io.strata.kafka.migration.remote.store.layout.SegmentKey;
import io.strata.kafka.migration.remote.store.layout.StoreNames;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What a person can do who writes files into a store: make a segment unreadable, as by deleting it;
 * not reach a file outside, not exhaust the broker.
 */
class StoreThreatsTest {

  @TempDir private Path top = Path.of("");
  private Path ssd = Path.of("");
  private Path local = Path.of("");
  private Path victim = Path.of("");

  @BeforeEach
  void directories() throws Exception {
    ssd = Files.createDirectory(top.resolve("ssd"));
    local = Files.createDirectory(top.resolve("local"));
    victim = Files.createDirectory(top.resolve("victim"));
    Files.writeString(victim.resolve("precious"), "another's bytes");
  }

  private void assertVictimIsWhole() {
    assertThat(victim.resolve("precious")).hasContent("another's bytes");
    assertThat(victim.toFile().list()).containsExactly("precious");
  }

  /** Whatever is made is made with the broker's umask, as Kafka's own files; nothing adds to it. */
  @Test
  void nothingIsOpenedWiderThanTheUmaskSays() throws Exception {
    Path probe = Files.createFile(top.resolve("probe"));
    Set<PosixFilePermission> allowed = new TreeSet<>(Files.getPosixFilePermissions(probe));
    SegmentStore store = Stores.open(1, Stores.level("ssd", ssd));
    SegmentInfo segment = Stores.info("orders", 0, 100, 1, 200_000);
    Stores.copy(store, local, segment);
    try (MoverLock lock = new MoverLock(List.copyOf(store.directories()))) {
      assertThat(lock.tryHold()).isTrue();
    }
    try (Stream<Path> all = Files.walk(ssd)) {
      for (Path file : all.filter(Files::isRegularFile).toList()) {
        assertThat(allowed)
            .as("%s: %s", file, PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
            .containsAll(Files.getPosixFilePermissions(file));
      }
    }
  }

  @Test
  void linksInStagingAndTrashAreRemovedAndNotFollowed() throws Exception {
    SegmentStore store = Stores.open(1, Stores.level("ssd", ssd));
    SegmentInfo segment = Stores.info("orders", 0, 100, 1, 200_000);
    Stores.copy(store, local, segment);
    for (String place : List.of("staging", "trash")) {
      Path directory = Files.createDirectories(ssd.resolve(place).resolve("1-planted"));
      Files.createSymbolicLink(directory.resolve("inside"), victim);
      Files.createSymbolicLink(ssd.resolve(place).resolve("1-link"), victim);
      Disk.removeTree(directory);
      Disk.removeTree(ssd.resolve(place).resolve("1-link"));
      assertThat(ssd.resolve(place).resolve("1-link")).doesNotExist();
      assertThat(directory).doesNotExist();
    }
    assertVictimIsWhole();
    // A deletion takes what is in the segment's directory, and not where it leads.
    Path there = store.lookup.locate(segment.key()).orElseThrow().path();
    Files.createSymbolicLink(there.resolve("planted"), victim);
    store.delete(segment);
    assertThat(there).doesNotExist();
    assertVictimIsWhole();
  }

  @Test
  void linksAtTemporaryNamesAreNotFollowed() throws Exception {
    Path file = ssd.resolve("strata-store.json");
    Files.createSymbolicLink(ssd.resolve("strata-store.json.part"), victim.resolve("precious"));
    Files.createSymbolicLink(file, victim.resolve("precious"));
    Disk.replace(file, new byte[] {1});
    assertVictimIsWhole();
    assertThat(Files.isSymbolicLink(file)).isFalse();
  }

  @Test
  void aLinkInPlaceOfTheMoversLockIsNotFollowed() throws Exception {
    SegmentStore store = Stores.open(1, Stores.level("ssd", ssd));
    Path file = ssd.resolve("locks/mover.lock");
    Files.deleteIfExists(file);
    Files.createSymbolicLink(file, victim.resolve("nobody"));
    try (MoverLock lock = new MoverLock(List.copyOf(store.directories()))) {
      assertThatThrownBy(lock::tryHold).isInstanceOf(java.io.IOException.class);
    }
    assertVictimIsWhole();
  }

  /** Before it is read: what is too long to be a manifest of ours is none. */
  @Test
  void aManifestOfATerabyteIsRefusedUnread() throws Exception {
    SegmentStore store = Stores.open(1, Stores.level("ssd", ssd));
    SegmentInfo segment = Stores.info("orders", 0, 100, 1, 200_000);
    Stores.copy(store, local, segment);
    Path there = store.lookup.locate(segment.key()).orElseThrow().path();
    try (RandomAccessFile manifest =
        new RandomAccessFile(there.resolve(StoreNames.MANIFEST).toFile(), "rw")) {
      manifest.setLength(1L << 40);
    }
    assertThatThrownBy(() -> Manifest.read(there, segment.key()))
        .isInstanceOf(CorruptManifestException.class)
        .hasMessageContaining("1099511627776 bytes");
  }

  @Test
  void deepNestingAndLongTextsAreRefused() {
    for (String text :
        List.of(
            "[".repeat(1_000_000),
            "{\"a\":".repeat(500_000),
            "{\"topic\":\"" + "x".repeat(1 << 20) + "\"",
            "{\"startOffset\":" + "9".repeat(1 << 20),
            "{\"startOffset\":1e999999999",
            "\u0000".repeat(1000))) {
      assertThatThrownBy(() -> Manifest.parse("m", ManifestTest.sign(text + ", \"checksum\"")))
          .isInstanceOf(CorruptManifestException.class)
          .satisfies(e -> assertThat(String.valueOf(e.getMessage())).hasSizeLessThan(1_000));
    }
  }

  /**
   * A number in a manifest reserves no memory: the list of checksums must be as long as it says.
   */
  @Test
  void numbersReserveNothing() {
    String text =
        """
        {"formatVersion":1,"storeId":"%s","topic":"orders","topicId":"%s","partition":0,"id":"%s",
        "startOffset":0,"endOffset":9,"maxTimestampMillis":0,"brokerId":1,"eventTimestampMillis":0,
        "bytes":2147483647,"leaderEpochs":{"0":0},"transactionIndexEmpty":true,"createdMillis":0,
        "objects":[{"type":"log","name":"00000000000000000000.log","bytes":2147483647,
        "crc32c":"00000000"}],"chunkBytes":%d,"chunkCrc32c":"00000000","checksum"
        """;
    for (int chunkBytes : new int[] {1, 1024, 65536, 1 << 30, Integer.MAX_VALUE}) {
      byte[] signed =
          ManifestTest.sign(
              text.formatted(Stores.id(1), Stores.TOPIC_ID, Stores.id(2), chunkBytes));
      assertThatThrownBy(() -> Manifest.parse("m", signed))
          .as("chunks of %d bytes", chunkBytes)
          .isInstanceOf(CorruptManifestException.class);
    }
  }

  /** Names of topics, as an attacker may write them into a directory or a broker's record. */
  @Test
  void noNameThatIsNoTopicsLeadsAnywhere() throws Exception {
    for (String topic :
        List.of("..", ".", "", "a/b", "a\nb", "a\u001b[2J", "x".repeat(250), "\u202e", "a b")) {
      assertThatThrownBy(() -> new SegmentKey(topic, Stores.TOPIC_ID, 0, 0, Stores.id(1)))
          .isInstanceOf(IllegalArgumentException.class)
          .satisfies(
              e -> assertThat(String.valueOf(e.getMessage())).doesNotContain("\n", "\u001b"));
    }
    SegmentStore store = Stores.open(1, Stores.level("ssd", ssd));
    SegmentInfo segment = Stores.info("x".repeat(249), 0, 100, 1, 1_000);
    Stores.copy(store, local, segment);
    assertThat(store.lookup.locate(segment.key())).isPresent();
    for (String ours : List.of("staging", "trash", "locks", "strata-store.json", "manifest.json")) {
      SegmentInfo same = Stores.info(ours, 0, 100, 2, 1_000);
      Stores.copy(store, local, same);
      assertThat(store.lookup.locate(same.key())).isPresent();
      store.delete(same);
      assertThat(store.lookup.locate(same.key())).isEmpty();
    }
    Path broker = ssd.resolve("brokers/9.json");
    Files.createDirectories(broker.getParent());
    Files.write(
        broker,
        ManifestTest.sign(
            "{\"formatVersion\":1,\"brokerId\":9,\"firstSeenMillis\":0,\"lastSeenMillis\":"
                + Long.MAX_VALUE
                + ",\"directories\":[{\"level\":0,\"path\":\"../../../etc\",\"id\":\"..\"}],"
                + "\"checksum\""));
    assertThat(StoreUpkeep.brokers(ssd, damage -> {})).anyMatch(b -> b.brokerId() == 9);
    assertThat(Stores.open(2, Stores.level("ssd", ssd)).lookup.locate(segment.key())).isPresent();
    Files.writeString(broker, "[".repeat(100_000), StandardCharsets.US_ASCII);
    assertThat(Stores.open(3, Stores.level("ssd", ssd)).lookup.locate(segment.key())).isPresent();
  }
}
