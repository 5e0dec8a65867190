package io.strata.kafka.migration.remote.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.migration.remote.faults.FaultyFileSystem;
import io.strata.kafka.migration.remote.store.KnownSegment.StoredCopy;
import io.strata.kafka.migration.remote.store.disk.DirectoryAccess;
import io.strata.kafka.migration.remote.store.disk.Disk;
import io.strata.kafka.migration.remote.store.disk.StoreDirectory;
import io.strata.kafka.migration.remote.store.disk.StoreOptions;
import io.strata.kafka.migration.remote.store.disk.StoreOptions.StoreStage;
import io.strata.kafka.migration.remote.store.layout.SegmentInfo;
import io.strata.kafka.migration.remote.store.layout.StoreIdentity;
import io.strata.kafka.migration.remote.store.layout.StoreNames;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a listing asks the file system for, when nothing has changed and when something has. */
class ListingCostTest {

  private static final int SEGMENTS = 5;

  @TempDir private Path top = Path.of("");
  private final FaultyFileSystem files = new FaultyFileSystem();
  private final AtomicLong nanos = new AtomicLong();
  private final List<Path> asked = new ArrayList<>();
  private Optional<SegmentStore> opened = Optional.empty();

  @BeforeEach
  void segments() throws Exception {
    Files.createDirectory(top.resolve("ssd"));
    opened =
        Optional.of(
            new SegmentStore(
                new StoreOptions(
                    List.of(Stores.level("ssd", files.wrap(top.resolve("ssd")))),
                    1,
                    Stores.CLUSTER,
                    List.of(),
                    InstantSource.system(),
                    StoreStage.Hook.NONE,
                    StoreIdentity::read,
                    new DirectoryAccess.Threads(
                        Optional.empty(), Duration.ofSeconds(5), nanos::get)),
                Optional.empty()));
    // Another broker has made them.
    try (SegmentStore other = Stores.open(2, Stores.level("ssd", top.resolve("ssd")))) {
      for (int i = 0; i < SEGMENTS; i++) {
        SegmentStore.Copied unused = Stores.copy(other, top.resolve("local"), segment(i));
      }
    }
    Runnable unused =
        files.fail(
            "",
            (operation, path) -> {
              asked.add(path);
              return false;
            });
  }

  @AfterEach
  void close() {
    opened.ifPresent(SegmentStore::close);
  }

  private static SegmentInfo segment(int number) {
    return Stores.info("orders", 0, number * 100L, number, 1000);
  }

  private SegmentStore store() {
    return opened.orElseThrow();
  }

  private Path directory(int number) {
    return StoreNames.segment(top.resolve("ssd"), segment(number).key());
  }

  /** Returns what was asked for below the segments' directories, a minute after the one before. */
  private List<Path> list() throws IOException {
    return list(Duration.ofMinutes(1));
  }

  private List<Path> list(Duration later) throws IOException {
    nanos.addAndGet(later.toNanos());
    asked.clear();
    StoreDirectory directory = store().directories().get(0);
    assertThat(store().known.refresh(directory, () -> {})).isEmpty();
    Path partition = directory(0).getParent();
    return asked.stream().filter(p -> p.startsWith(partition) && !p.equals(partition)).toList();
  }

  private StoredCopy copy(int number) {
    return store().known.entries().stream()
        .filter(known -> known.key().equals(segment(number).key()))
        .findFirst()
        .orElseThrow()
        .copies()
        .get(0);
  }

  @Test
  void atRestASegmentCostsOneLookAtItsDirectory() throws Exception {
    assertThat(list()).hasSizeGreaterThan(3 * SEGMENTS);
    assertThat(list()).as("while a time may be as coarse").hasSizeGreaterThan(3 * SEGMENTS);
    for (int i = 0; i < 3; i++) {
      assertThat(list())
          .hasSize(SEGMENTS)
          .allMatch(path -> path.getFileName().toString().startsWith("0000"));
    }
    assertThat(store().known.entries()).hasSize(SEGMENTS);
  }

  @Test
  void whatAnotherBrokerChangesIsSeen() throws Exception {
    for (int i = 0; i < 3; i++) {
      list();
    }
    Files.createFile(directory(1).resolve(StoreNames.MOVING));
    Files.createFile(directory(2).resolve(StoreNames.DAMAGED));
    assertThat(list())
        .filteredOn(path -> path.startsWith(directory(0)) || path.startsWith(directory(4)))
        .containsExactly(directory(0), directory(4));
    assertThat(copy(1).moving()).isTrue();
    assertThat(copy(2).damaged()).isTrue();
    assertThat(copy(0)).isEqualTo(StoredCopy.whole(store().directories().get(0)));

    Files.delete(directory(1).resolve(StoreNames.MOVING));
    Disk.removeTree(directory(3));
    list();
    assertThat(copy(1).moving()).isFalse();
    assertThat(store().known.entries()).hasSize(SEGMENTS - 1);
  }

  /** As the modification times of a network file system are. */
  @Test
  void aChangeWithinTheSameSecondIsSeen() throws Exception {
    list();
    FileTime before = Files.getLastModifiedTime(directory(1));
    Files.createFile(directory(1).resolve(StoreNames.MOVING));
    Files.setLastModifiedTime(directory(1), before);
    list(Duration.ofSeconds(1));
    assertThat(copy(1).moving()).isTrue();
    Files.delete(directory(1).resolve(StoreNames.MOVING));
    Files.setLastModifiedTime(directory(1), before);
    list();
    assertThat(copy(1).moving()).isFalse();
  }

  /** Another broker may have undone it, in the same second. */
  @Test
  void whatThisBrokerChangesIsLookedAtAgain() throws Exception {
    for (int i = 0; i < 3; i++) {
      list();
    }
    FileTime before = Files.getLastModifiedTime(directory(1));
    store().known.change(segment(1).key().id(), copy(1).directory(), made -> made.withLog(false));
    Files.setLastModifiedTime(directory(1), before);
    list();
    assertThat(copy(1).hasLog()).isTrue();
  }
}
