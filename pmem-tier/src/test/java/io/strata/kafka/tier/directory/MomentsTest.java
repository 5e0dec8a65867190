package io.strata.kafka.tier.directory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.layout.MomentLayout;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.pool.OpenReport;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.tier.Batches;
import io.strata.kafka.tier.TierFixture;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Starts with a pool and a log directory of different moments, in both directions. */
final class MomentsTest {

  private static final long MIB = 1 << 20;
  private static final byte[] BATCHES = Batches.of(700_000, 1);
  private static final byte[] MORE = Batches.of(100_000, 2);

  @TempDir private Path directory;
  private TierFixture fixture;
  private Path segment;
  private Path newer;
  private int copies;

  @BeforeEach
  void oneSegment() throws IOException {
    fixture = new TierFixture(Files.createDirectory(directory.resolve("broker")));
    fixture.pool("a.pool", 16 * MIB).open();
    segment = fixture.segment("orders-0", 0);
    newer = fixture.segment("orders-0", 1000);
    fixture.append(segment, BATCHES);
  }

  /** As a volume's snapshot has it, with its attributes. */
  private Path copy(Path original) throws Exception {
    Path copy = directory.resolve("copy-" + ++copies);
    Process process =
        new ProcessBuilder("cp", "-a", original.toString(), copy.toString()).inheritIO().start();
    assertThat(process.waitFor()).isZero();
    return copy;
  }

  /** Moves what is there away, and a copy of the copy there. */
  private Path putInPlaceOf(Path place, Path copy) throws Exception {
    Path current = Files.move(place, directory.resolve("current-" + ++copies));
    Path unused = Files.move(copy(copy), place);
    return current;
  }

  /** Everything but the lock files: names, bytes, attributes. */
  private Map<String, String> everything() throws IOException {
    Map<String, String> all = new TreeMap<>();
    try (Stream<Path> files = Files.walk(fixture.root)) {
      for (Path file : files.filter(each -> !each.toString().endsWith(".lock")).toList()) {
        String bytes = Files.isRegularFile(file) ? hash(file) : "directory";
        all.put(file.toString(), bytes + TierFixture.attributes(file));
      }
    }
    return all;
  }

  private static String hash(Path file) throws IOException {
    return Files.size(file) + ":" + Arrays.hashCode(Files.readAllBytes(file));
  }

  /** Refused at two automatic restarts too, and nothing has changed. */
  private void assertRefused(String... words) throws IOException {
    Map<String, String> before = everything();
    for (int i = 0; i < 3; i++) {
      assertThatThrownBy(() -> fixture.open())
          .isInstanceOf(IOException.class)
          .hasMessageContainingAll(words);
      assertThat(everything()).isEqualTo(before);
    }
  }

  /** More in the segment, a newer segment, and the first one is wholly in the log file. */
  private void goOn() throws Exception {
    fixture.append(segment, MORE);
    fixture.append(newer, MORE);
    TierFixture.assertDone(fixture.destage(segment, 1));
  }

  private void assertOlderLogDirectoryIsRefused(Path copy) throws Exception {
    byte[] all = fixture.read(segment);
    fixture.close();
    Path current = putInPlaceOf(fixture.logs(), copy);
    assertRefused(
        fixture.logs().toString(),
        fixture.pools.get(0).toString(),
        "the log directory is older than the pool file",
        "accept-loss");
    Path unused = putInPlaceOf(fixture.logs(), current);
    fixture.open();
    assertThat(fixture.read(segment)).isEqualTo(all);
    assertThat(fixture.read(newer)).isEqualTo(MORE);
    fixture.close();
  }

  @Test
  void aLogDirectoryFromBeforeTheLastStartIsRefused() throws Exception {
    fixture.close();
    Path copy = copy(fixture.logs());
    fixture.open();
    goOn();
    assertOlderLogDirectoryIsRefused(copy);
  }

  /** Nothing but a stop has happened since. */
  @Test
  void aLogDirectoryFromBeforeTheStopIsRefused() throws Exception {
    Path copy = copy(fixture.logs());
    goOn();
    assertOlderLogDirectoryIsRefused(copy);
  }

  /** The process is killed; the copy is made then; the next one goes on. */
  @Test
  void aLogDirectoryFromAfterAKillIsRefused() throws Exception {
    fixture.awaitBackgroundWork();
    TierFixture killed = fixture.copyTo(Files.createDirectory(directory.resolve("killed")));
    fixture.close();
    segment = killed.root.resolve(fixture.root.relativize(segment));
    newer = killed.root.resolve(fixture.root.relativize(newer));
    fixture = killed;
    Path copy = copy(fixture.logs());
    fixture.open();
    goOn();
    assertOlderLogDirectoryIsRefused(copy);
  }

  @Test
  void aPoolFromBeforeTheLastStartIsRefused() throws Exception {
    fixture.close();
    Path copy = copy(fixture.pools.get(0));
    fixture.open();
    assertOlderPoolIsRefused(copy);
  }

  /**
   * A copy of a running broker's pool. Kafka would not look at its logs after an orderly stop, and
   * would give the offsets that the copy lacks to other records.
   */
  @Test
  void aPoolFromBeforeTheStopIsRefused() throws Exception {
    assertOlderPoolIsRefused(copy(fixture.pools.get(0)));
  }

  private void assertOlderPoolIsRefused(Path copy) throws Exception {
    goOn();
    byte[] all = fixture.read(segment);
    fixture.close();
    Path current = putInPlaceOf(fixture.pools.get(0), copy);
    assertRefused(
        fixture.logs().toString(),
        fixture.pools.get(0).toString(),
        "the pool file is older than the log directory",
        "one of the two is a copy from a backup or a snapshot",
        "accept-loss --pool");
    Files.move(current, fixture.pools.get(0), StandardCopyOption.REPLACE_EXISTING);
    fixture.open();
    assertThat(fixture.read(segment)).isEqualTo(all);
    fixture.close();
  }

  /** A snapshot of last night, of a process that has run for weeks and is killed now. */
  @Test
  void aLogDirectoryFromBeforeTheLastMinuteIsRefused() throws Exception {
    Path copy = copy(fixture.logs());
    LogDirectory directory = fixture.tier().logDirectories().all().iterator().next();
    fixture.tier().moveOn(directory);
    goOn();
    fixture.awaitBackgroundWork();
    TierFixture killed = fixture.copyTo(Files.createDirectory(directory("killed")));
    fixture.close();
    segment = killed.root.resolve(fixture.root.relativize(segment));
    newer = killed.root.resolve(fixture.root.relativize(newer));
    fixture = killed;
    Path current = putInPlaceOf(fixture.logs(), copy);
    assertRefused("the log directory is older than the pool file");
    Path unused = putInPlaceOf(fixture.logs(), current);
    fixture.open();
    assertThat(fixture.read(newer)).isEqualTo(MORE);
    fixture.close();
  }

  private Path directory(String name) {
    return directory.resolve(name);
  }

  /**
   * A file system is mounted over a log directory while the broker runs: of an older copy, or of
   * one that is as old. It must not take the moment of the one that the pool has the segments of.
   */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whatTakesTheLogDirectorysPlaceUnderARunningBrokerGetsNoMoment(boolean older)
      throws Exception {
    LogDirectory logs = fixture.tier().logDirectories().all().iterator().next();
    Path before = copy(fixture.logs());
    fixture.tier().moveOn(logs);
    goOn();
    Path current = putInPlaceOf(fixture.logs(), older ? before : copy(fixture.logs()));
    Map<String, String> attributes = TierFixture.attributes(fixture.logs());
    fixture.tier().moveOn(logs);
    assertThat(TierFixture.attributes(fixture.logs())).isEqualTo(attributes);
    fixture.close();
    assertThat(TierFixture.attributes(fixture.logs())).isEqualTo(attributes);

    Path unused = putInPlaceOf(fixture.logs(), current);
    fixture.open();
    assertThat(fixture.read(newer)).isEqualTo(MORE);
    fixture.close();
  }

  /** It is back before the broker ends. */
  @Test
  void aLogDirectoryThatIsBackInItsPlaceGetsTheNextMoment() throws Exception {
    LogDirectory logs = fixture.tier().logDirectories().all().iterator().next();
    Path copy = copy(fixture.logs());
    Path current = putInPlaceOf(fixture.logs(), copy);
    fixture.tier().moveOn(logs);
    Path unused = Files.move(fixture.logs(), directory("aside"));
    Path unusedToo = Files.move(current, fixture.logs());
    goOn();
    assertOlderLogDirectoryIsRefused(copy);
  }

  /** One of two disks is restored. */
  @Test
  void oneOlderLogDirectoryOfTwoIsNamed() throws Exception {
    Path second = secondLogDirectory();
    fixture.close();
    Path copy = copy(second);
    fixture.open();
    fixture.append(second.resolve("orders-1/00000000000000000000.log"), MORE);
    fixture.close();
    Path unused = putInPlaceOf(second, copy);
    assertRefused(second.toString(), "the log directory is older than the pool file");
  }

  private Path secondLogDirectory() throws IOException {
    fixture.close();
    Path second = Files.createDirectory(fixture.root.resolve("logs2"));
    fixture.logDirectories.add(second);
    fixture.open();
    Files.createDirectory(second.resolve("orders-1"));
    fixture.append(second.resolve("orders-1/00000000000000000000.log"), BATCHES);
    return second;
  }

  /** A disk that is away misses starts and stops, and nothing of it has changed in the pool. */
  @Test
  void aLogDirectoryThatWasAwayIsBack() throws Exception {
    Path second = secondLogDirectory();
    fixture.close();
    Path away = Files.move(second, directory.resolve("away"));
    for (int i = 0; i < 2; i++) {
      fixture.open();
      fixture.append(segment, MORE);
      fixture.close();
    }
    Files.move(away, second);
    fixture.open();
    assertThat(fixture.read(second.resolve("orders-1/00000000000000000000.log")))
        .isEqualTo(BATCHES);
    fixture.close();
  }

  /** It fails while the broker runs, and is there again at the next start. */
  @Test
  void aLogDirectoryThatWasAwayAtTheStopIsBack() throws Exception {
    Path second = secondLogDirectory();
    Path away = Files.move(second, directory.resolve("away"));
    fixture.append(segment, MORE);
    fixture.close();
    Files.move(away, second);
    fixture.open();
    assertThat(fixture.read(second.resolve("orders-1/00000000000000000000.log")))
        .isEqualTo(BATCHES);
    fixture.close();
  }

  /** A new and empty disk beside others, as Kafka allows it. */
  @Test
  void aNewLogDirectoryIsUsed() throws Exception {
    Path second = secondLogDirectory();
    fixture.reopen();
    assertThat(fixture.read(second.resolve("orders-1/00000000000000000000.log")))
        .isEqualTo(BATCHES);
    fixture.close();
  }

  /** A crash after each step of moving on: the pool, the log directory, the pool. */
  @Test
  void aMomentThatWasBegunIsPermittedUntilItsEnd() throws Exception {
    fixture.close();
    UUID id = LogDirectory.find(fixture.logs()).orElseThrow().id();
    LogDirectory logs = new LogDirectory(id, fixture.logs());
    for (int round = 0; round < 2; round++) {
      for (boolean given : List.of(false, true)) {
        try (Pool pool = Pool.open(fixture.pools.get(0), MemoryType.MAPPED, TierFixture.OWNER)) {
          long next = pool.moments().begin(id, 1);
          if (given) {
            logs.recordMoments(Map.of(pool.info().id(), next));
          }
        }
        fixture.open();
        assertThat(fixture.read(segment)).isEqualTo(BATCHES);
        fixture.close();
      }
    }
  }

  /** What is left of it is used: its attribute says of no pool when it was used with it. */
  @Test
  void aLogDirectoryWithoutItsMomentIsRefused() throws Exception {
    fixture.close();
    Files.getFileAttributeView(fixture.logs(), UserDefinedFileAttributeView.class)
        .delete("strata.moments");
    assertRefused("the log directory was last used with this pool at no time");
  }

  /** A bit of the pool is wrong: the pair cannot be told from one of the same moment. */
  @Test
  void aDamagedMomentPermitsAny() throws Exception {
    fixture.close();
    flip(MomentLayout.POSITION + MomentLayout.LAST_OFFSET);
    fixture.open();
    OpenReport report = fixture.tier().pools().get(0).report();
    assertThat(report.repaired()).isEmpty();
    assertThat(report.damagedMoments()).hasSize(1);
    assertThat(fixture.read(segment)).isEqualTo(BATCHES);
    fixture.close();
    flip(MomentLayout.POSITION + MomentLayout.DIRECTORY_ID_OFFSET);
    fixture.open();
    assertThat(fixture.read(segment)).isEqualTo(BATCHES);
    fixture.close();
  }

  private void flip(long position) throws IOException {
    try (FileChannel file =
        FileChannel.open(fixture.pools.get(0), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      ByteBuffer one = ByteBuffer.allocate(1);
      assertThat(file.read(one, position)).isEqualTo(1);
      one.put(0, (byte) (one.get(0) ^ 4));
      assertThat(file.write(one.flip(), position)).isEqualTo(1);
    }
  }

  /**
   * A new pool beside the one in use, and one that is taken out while it is empty, and put back.
   */
  @Test
  void aPoolThatSharesNothingMayComeAndGo() throws Exception {
    fixture.close();
    fixture.pool("b.pool", 16 * MIB).open();
    fixture.close();
    Path pool = fixture.pools.remove(1);
    fixture.reopen();
    fixture.close();
    fixture.pools.add(pool);
    fixture.open();
    assertThat(fixture.read(segment)).isEqualTo(BATCHES);
    fixture.close();
  }

  /** A killed broker had unlinked its last log file, and not freed the slot. */
  @Test
  void aPoolWhoseSegmentsWereAllDeletedMayComeAndGo() throws Exception {
    fixture.close();
    fixture.pool("b.pool", 16 * MIB).open();
    UUID directory = fixture.tier().logDirectories().all().iterator().next().id();
    fixture.close();
    Path pool = fixture.pools.remove(1);
    fixture.reopen();
    fixture.close();
    try (Pool opened = Pool.open(pool, MemoryType.MAPPED, TierFixture.OWNER)) {
      opened
          .allocateSlot(directory, "orders-7/00000000000000000000.log")
          .orElseThrow()
          .markDeleting();
    }
    fixture.pools.add(pool);
    fixture.open();
    assertThat(fixture.read(segment)).isEqualTo(BATCHES);
    assertThat(fixture.tier().pools().get(1).slots()).isEmpty();
    fixture.close();
  }
}
