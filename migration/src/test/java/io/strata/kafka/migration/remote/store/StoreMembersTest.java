package io.strata.kafka.migration.remote.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.migration.remote.store.StoreOptions.LevelOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Brokers with other directories than the rest, and directories that come and go. */
class StoreMembersTest {

  private static final SegmentInfo SEGMENT = Stores.info("t", 0, 0, 1, 2000);

  @TempDir private Path top = Path.of("");
  private Path ssd = Path.of("");
  private Path hdd = Path.of("");
  private Path logs = Path.of("");

  @BeforeEach
  void directories() throws Exception {
    ssd = Files.createDirectory(top.resolve("ssd"));
    hdd = Files.createDirectory(top.resolve("hdd"));
    logs = Files.createDirectory(top.resolve("logs"));
  }

  private SegmentStore open(int broker, LevelOptions... levels) throws Exception {
    List<Path> memory = broker == 1 ? List.of(logs) : List.of();
    return SegmentStore.open(
        Stores.options(broker, memory, StoreStage.Hook.NONE, levels), Optional.empty());
  }

  private SegmentStore both(int broker) throws Exception {
    return open(broker, Stores.level("ssd", ssd), Stores.level("hdd", hdd));
  }

  private static String id(Path directory) throws Exception {
    return StoreIdentity.read(directory).directoryId();
  }

  /** A segment that is in the second directory alone. */
  private SegmentStore withSegmentBelow() throws Exception {
    SegmentStore store = both(1);
    SegmentStore.Copied unused = Stores.copy(store, top.resolve("local"), SEGMENT);
    Path above = StoreNames.segment(ssd, SEGMENT.key());
    if (Files.exists(above)) {
      Path below = StoreNames.segment(hdd, SEGMENT.key());
      Path unusedToo = Files.createDirectories(Disk.parent(below));
      Path unusedThree = Files.move(above, below);
    }
    return store;
  }

  @Test
  void aBrokerWithoutADirectoryDoesNotSayThatItHasDeleted() throws Exception {
    SegmentStore one = withSegmentBelow();
    SegmentStore two = open(2, Stores.level("ssd", ssd));
    assertThatThrownBy(() -> two.delete(SEGMENT))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining(id(hdd))
        .hasMessageContaining("strata remote retire");
    assertThat(one.locate(SEGMENT.key())).isPresent();
    assertThat(one.delete(SEGMENT)).hasSize(1);
    assertThat(one.locate(SEGMENT.key())).isEmpty();
  }

  @Test
  void theDirectoryThatKafkaWasToldOfIsAsked() throws Exception {
    SegmentStore store = open(1, Stores.level("ssd", ssd));
    String other = Ids.random();
    assertThatThrownBy(() -> store.delete(SEGMENT, Optional.of(other)))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining(other);
    assertThat(store.delete(SEGMENT, Optional.of(id(ssd)))).isEmpty();
    StoreInspection.retire(ssd, other);
    assertThat(store.delete(SEGMENT, Optional.of(other))).isEmpty();
  }

  @Test
  void aDirectoryThatIsNamedAgainIsNoNewOne() throws Exception {
    SegmentStore unused = both(1);
    SegmentStore unusedToo = open(1, Stores.level("ssd", ssd));
    Path away = Files.move(hdd, top.resolve("away"));
    Path unusedThree = Files.createDirectory(hdd);

    assertThat(both(1).warnings()).singleElement().asString().contains("mounted");

    assertThat(StoreListing.entries(hdd)).isEmpty();
    Files.delete(hdd);
    Path unusedFour = Files.move(away, hdd);
    assertThat(both(1).warnings()).isEmpty();
  }

  @Test
  void aDirectoryThatHasMovedIsNotExpectedWhereItWas() throws Exception {
    SegmentStore before = both(1);
    Path elsewhere = Files.move(hdd, top.resolve("elsewhere"));
    SegmentStore store = open(1, Stores.level("ssd", ssd), Stores.level("hdd", elsewhere));
    assertThat(store.warnings()).isEmpty();
    Path unused = Files.createDirectory(hdd);
    assertThat(open(1, Stores.level("ssd", ssd), Stores.level("hdd", elsewhere, hdd)).warnings())
        .isEmpty();
    assertThat(before.storeId()).isEqualTo(StoreIdentity.read(hdd).storeId());
  }

  /** What it has may have been deleted since. */
  @Test
  void aRetiredDirectoryDoesNotComeBack() throws Exception {
    SegmentStore one = withSegmentBelow();
    assertThatThrownBy(() -> StoreInspection.retire(ssd, id(ssd)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("itself");
    assertThatThrownBy(() -> StoreInspection.retire(ssd, "../x"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("expected a directory's id");
    String retired = id(hdd);
    StoreInspection.retire(ssd, retired);
    assertThat(open(2, Stores.level("ssd", ssd)).delete(SEGMENT)).isEmpty();
    for (StoreDirectory directory : one.directories()) {
      new StoreUpkeep(one).signIn(directory);
    }

    assertThatThrownBy(() -> both(1))
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageContaining(hdd.toString())
        .hasMessageContaining("retired");

    // An empty mount point in its place is no new directory, for who has never seen it, too.
    Disk.removeTree(hdd);
    Path unused = Files.createDirectory(hdd);
    for (int broker = 1; broker <= 2; broker++) {
      SegmentStore store = both(broker);
      assertThat(store.warnings())
          .singleElement()
          .asString()
          .contains(hdd.toString(), "retired", "another path");
      assertThat(StoreListing.entries(hdd)).isEmpty();
      assertThat(store.delete(SEGMENT)).isEmpty();
      assertThat(store.locate(SEGMENT.key())).isEmpty();
    }

    // Another disk under its path is a new directory when all have run without the old one.
    SegmentStore without = open(1, Stores.level("ssd", ssd));
    new StoreUpkeep(without).signIn(without.directories().get(0));
    SegmentStore again = both(1);
    assertThat(again.warnings()).isEmpty();
    assertThat(id(hdd)).isNotEqualTo(retired);
    assertThat(again.delete(SEGMENT)).isEmpty();
  }

  /** A lost directory is configured, and the brokers run on. */
  @Test
  void aRunningBrokerDeletesWithoutALostDirectoryThatWasRetired() throws Exception {
    SegmentStore store = withSegmentBelow();
    new StoreUpkeep(store).signIn(store.directories().get(0));
    assertThat(new StoreUpkeep(store).refresh(store.directories().get(1))).isEmpty();
    SegmentInfo above = Stores.info("t", 0, 100, 2, 2000);
    SegmentStore.Copied unused = Stores.copy(store, top.resolve("local"), above);
    String lost = id(hdd);
    Path away = Files.move(hdd, top.resolve("away"));
    Path unusedToo = Files.createDirectory(hdd);
    assertThat(store.delete(SEGMENT)).isEmpty();
    assertThat(new StoreUpkeep(store).deletePending(() -> false))
        .get()
        .isInstanceOf(StoreUnavailableException.class);

    StoreInspection.retire(ssd, lost);

    assertThat(store.delete(SEGMENT)).isEmpty();
    assertThat(store.delete(above)).hasSize(1);
    assertThat(new StoreUpkeep(store).deletePending(() -> false)).isEmpty();
    assertThat(store.parts().deletions().all()).isEmpty();
    assertThat(store.segments()).isEmpty();
    assertThat(StoreListing.entries(hdd)).isEmpty();
    // What was deleted does not come back with it.
    Files.delete(hdd);
    Path unusedThree = Files.move(away, hdd);
    assertThat(store.locate(SEGMENT.key())).isEmpty();
    assertThatThrownBy(() -> store.directories().get(1).access().ask())
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("retired");
  }
}
