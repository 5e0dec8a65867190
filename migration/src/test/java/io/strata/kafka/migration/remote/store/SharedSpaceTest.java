package io.strata.kafka.migration.remote.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.migration.MoveControl;
import io.strata.kafka.migration.MoveResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Brokers that share a directory, and what they know of each other between two listings. */
class SharedSpaceTest {

  private static final int SEGMENT = 100_000;
  private static final long CAPACITY = 10 * SEGMENT;

  @TempDir private Path top = Path.of("");
  private Path ssd = Path.of("");
  private Path hdd = Path.of("");

  @BeforeEach
  void directories() throws Exception {
    ssd = Files.createDirectory(top.resolve("ssd"));
    hdd = Files.createDirectory(top.resolve("hdd"));
  }

  private List<SegmentStore> brokers(int count) throws IOException {
    List<SegmentStore> brokers = new ArrayList<>();
    for (int broker = 1; broker <= count; broker++) {
      SegmentStore store = Stores.open(broker, Stores.level("ssd", OptionalLong.of(CAPACITY), ssd));
      brokers.add(store);
    }
    for (SegmentStore store : brokers) {
      list(store);
    }
    return brokers;
  }

  private static void list(SegmentStore store) throws IOException {
    try (StoreUpkeep upkeep = new StoreUpkeep(store)) {
      assertThat(upkeep.refresh(store.directories().get(0))).isEmpty();
    }
  }

  private boolean isCopied(SegmentStore store, int number) throws Exception {
    try {
      SegmentInfo segment = Stores.info("t", 0, number * 100L, number, SEGMENT - 2_000);
      SegmentStore.Copied unused = Stores.copy(store, top.resolve("local"), segment);
      return true;
    } catch (StoreFullException e) {
      return false;
    }
  }

  private long bytes() throws IOException {
    try (var files = Files.walk(ssd.resolve("topics"))) {
      return files.filter(Files::isRegularFile).mapToLong(file -> file.toFile().length()).sum();
    }
  }

  @Test
  void brokersKeepTogetherWithinACapacityBetweenTwoListings() throws Exception {
    List<SegmentStore> brokers = brokers(3);
    int copied = 0;
    for (int i = 0; i < 45; i++) {
      copied += isCopied(brokers.get(i % 3), i) ? 1 : 0;
    }
    assertThat(bytes()).isLessThanOrEqualTo(CAPACITY + 10 * 2_000);
    assertThat(copied).isEqualTo(10);
  }

  @Test
  void aListingTellsWhatIsFreeAgain() throws Exception {
    List<SegmentStore> brokers = brokers(2);
    for (int i = 0; i < 10; i++) {
      assertThat(isCopied(brokers.get(0), i)).isTrue();
    }
    assertThat(isCopied(brokers.get(1), 10)).isFalse();
    assertThat(brokers.get(0).delete(Stores.info("t", 0, 0, 0, SEGMENT - 2_000))).hasSize(1);
    list(brokers.get(1));
    assertThat(isCopied(brokers.get(1), 11)).isTrue();
    assertThat(isCopied(brokers.get(0), 12)).isFalse();
  }

  @Test
  void aNoteThatIsDamagedKeepsNobodyFromCopying() throws Exception {
    List<SegmentStore> brokers = brokers(2);
    assertThat(isCopied(brokers.get(0), 0)).isTrue();
    Path unused = Files.write(ssd.resolve("brokers/1.space"), new byte[0]);
    assertThat(isCopied(brokers.get(1), 1)).isTrue();
    assertThat(isCopied(brokers.get(0), 2)).isTrue();
  }

  /** As a hard link of an earlier version may have. */
  @Test
  void anObjectThatHasGrownMovesDown() throws Exception {
    SegmentStore store = Stores.open(1, Stores.level("ssd", ssd), Stores.level("hdd", hdd));
    StoreTiers tiers = new StoreTiers(store, List.of("ssd", "hdd"));
    SegmentInfo segment = Stores.info("t", 0, 0, 1, 150_000);
    SegmentStore.Copied copied = Stores.copy(store, top.resolve("local"), segment);
    Path log =
        copied.directory().segment(segment.key()).resolve(ObjectType.LOG.fileName(segment.key()));
    Path unused = Files.write(log, new byte[100], StandardOpenOption.APPEND);
    long id = tiers.state().segments().get(0).id();
    assertThat(tiers.destage(id, 1, MoveControl.UNLIMITED).outcome())
        .isEqualTo(MoveResult.Outcome.DONE);
    Path lower =
        StoreNames.segment(hdd, segment.key()).resolve(ObjectType.LOG.fileName(segment.key()));
    assertThat(Files.readAllBytes(lower)).isEqualTo(Stores.bytes(0, 150_000));
    assertThatThrownBy(() -> Files.readAllBytes(lower.resolveSibling("moving")))
        .isInstanceOf(java.nio.file.NoSuchFileException.class);
  }

  /**
   * Copies under way when it stops answering fail; the other brokers do not count them for ever.
   */
  @Test
  void whatEndsWhileADirectoryIsSuspendedIsGivenBack() throws Exception {
    List<SegmentStore> brokers = brokers(2);
    SegmentStore one = brokers.get(0);
    try (CopyPlacement.Reservation reserved = one.placement().reserve(8 * SEGMENT)) {
      reserved.directory().access().suspend("it hangs");
    }
    one.directories().get(0).access().resume();
    // What is said next says it, too.
    assertThat(isCopied(one, 0)).isTrue();
    list(brokers.get(1));
    for (int i = 1; i < 6; i++) {
      assertThat(isCopied(brokers.get(1), i)).isTrue();
    }
  }

  /** It was killed while it copied, and is not started again. */
  @Test
  void whatABrokerHadBegunThatNeverComesBackIsFreeAgain() throws Exception {
    List<SegmentStore> brokers = brokers(2);
    for (SegmentStore store : brokers) {
      new StoreUpkeep(store).signIn(store.directories().get(0));
    }
    CopyPlacement.Reservation unused = brokers.get(0).placement().reserve(8 * SEGMENT);
    assertThat(isCopied(brokers.get(1), 0)).isTrue();
    assertThat(isCopied(brokers.get(1), 1)).isTrue();
    assertThat(isCopied(brokers.get(1), 2)).isFalse();

    int number = 3;
    for (Duration off : List.of(Duration.ofHours(-2), Duration.ofDays(3650))) {
      // By a clock that was years ahead, too.
      for (String name : List.of("1.json", "1.space")) {
        Path unusedPath =
            Files.setLastModifiedTime(
                ssd.resolve("brokers").resolve(name), FileTime.from(Instant.now().plus(off)));
      }
      assertThat(isCopied(brokers.get(1), number)).as("off by %s", off).isTrue();
      number++;
    }

    new StoreUpkeep(brokers.get(0)).signIn(brokers.get(0).directories().get(0));
    assertThat(isCopied(brokers.get(1), number)).isFalse();
  }
}
