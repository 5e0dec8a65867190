package io.strata.kafka.migration.remote.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.migration.remote.store.CopyPlacement.StoreFullException;
import io.strata.kafka.migration.remote.store.SegmentStore.LogSource;
import io.strata.kafka.migration.remote.store.disk.BytePace;
import io.strata.kafka.migration.remote.store.disk.CopyMarks;
import io.strata.kafka.migration.remote.store.disk.DirectoryAccess.StoreUnavailableException;
import io.strata.kafka.migration.remote.store.disk.StoreDirectory;
import io.strata.kafka.migration.remote.store.disk.StoreListing;
import io.strata.kafka.migration.remote.store.disk.StoreOptions.StoreStage;
import io.strata.kafka.migration.remote.store.layout.JsonFile.CorruptManifestException;
import io.strata.kafka.migration.remote.store.layout.SegmentInfo;
import io.strata.kafka.migration.remote.store.layout.StoreNames;
import io.strata.kafka.migration.remote.store.layout.StoredObject.ObjectType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Executors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Copies, lookups and deletions. */
class SegmentStoreTest {

  private static final Duration HOUR = Duration.ofHours(1);

  @TempDir private Path top = Path.of("");
  private Path ssd = Path.of("");
  private Path hdd = Path.of("");
  private Path local = Path.of("");

  @BeforeEach
  void directories() throws Exception {
    ssd = Files.createDirectory(top.resolve("ssd"));
    hdd = Files.createDirectory(top.resolve("hdd"));
    local = Files.createDirectory(top.resolve("local"));
  }

  @Test
  void aCopyIsWholeAndReadableByKafkasTools() throws Exception {
    SegmentStore store = Stores.open(1, Stores.level("ssd", ssd));
    SegmentInfo segment = Stores.info("orders", 0, 100, 1, 200_000);
    SegmentStore.Copied copied = Stores.copy(store, local, segment);
    SegmentStore.Located found = store.lookup.locate(segment.key()).orElseThrow();
    assertThat(found.manifest()).isEqualTo(copied.manifest());
    assertThat(found.manifest().segment()).isEqualTo(segment);
    assertThat(Files.readAllBytes(found.file(ObjectType.LOG)))
        .isEqualTo(Stores.bytes(100, 200_000));
    assertThat(found.path())
        .isEqualTo(
            ssd.resolve("topics/orders")
                .resolve(Stores.TOPIC_ID)
                .resolve("0/00000000000000000100-" + Stores.id(1)));
    assertThat(StoreListing.entries(found.path()))
        .extracting(p -> p.getFileName().toString())
        .containsExactlyInAnyOrder(
            "00000000000000000100.log",
            "00000000000000000100.index",
            "00000000000000000100.timeindex",
            "00000000000000000100.snapshot",
            "leader-epoch-checkpoint",
            "manifest.json");
    assertThat(store.known.usedBytes(copied.directory())).isEqualTo(copied.manifest().diskBytes());
    assertThat(Stores.tree(ssd)).noneMatch(p -> p.matches("staging/[^/]*/.*"));
  }

  @Test
  void anotherBrokerSeesItAtOnce() throws Exception {
    SegmentStore first = Stores.open(1, Stores.level("ssd", ssd));
    SegmentStore second = Stores.open(2, Stores.level("ssd", ssd));
    SegmentInfo segment = Stores.info("orders", 0, 0, 1, 1000);
    SegmentStore.Copied unused = Stores.copy(first, local, segment);
    assertThat(second.lookup.locate(segment.key())).isPresent();
    assertThat(second.delete(segment)).hasSize(1);
    assertThat(first.lookup.locate(segment.key())).isEmpty();
  }

  /** A listing that hung in a mount that was replaced comes back when another one has ended. */
  @Test
  void anOldListingChangesNothing() throws Exception {
    SegmentStore store = Stores.open(1, Stores.level("ssd", ssd));
    SegmentStore other = Stores.open(2, Stores.level("ssd", ssd));
    SegmentStore.Copied unused = Stores.copy(store, local, Stores.info("orders", 0, 0, 1, 1000));
    StoreDirectory directory = store.directories().get(0);
    SegmentInfo added = Stores.info("payments", 0, 0, 2, 1000);
    assertThatThrownBy(
            () ->
                store.known.refresh(
                    directory,
                    () -> {
                      try {
                        SegmentStore.Copied unusedToo = Stores.copy(other, local, added);
                        assertThat(store.known.refresh(directory, () -> {})).isEmpty();
                      } catch (IOException | InterruptedException e) {
                        throw new AssertionError(e);
                      }
                    }))
        .hasMessageContaining("another listing has begun");
    assertThat(store.known.entries())
        .extracting(known -> known.key().id())
        .contains(added.key().id());
  }

  @Test
  void aSecondCopyOfTheSameIdReplacesTheFirst() throws Exception {
    SegmentStore store = Stores.open(1, Stores.level("ssd", ssd));
    SegmentInfo segment = Stores.info("orders", 0, 0, 1, 1000);
    SegmentStore.Copied unused = Stores.copy(store, local, segment);
    SegmentStore.Copied unusedToo = Stores.copy(store, local, segment);
    assertThat(store.known.entries()).hasSize(1);
    assertThat(Stores.tree(ssd)).noneMatch(p -> p.startsWith("trash/"));
  }

  @Test
  void deletionLeavesNothingAndMayBeRepeated() throws Exception {
    SegmentStore store = Stores.open(1, Stores.level("ssd", ssd), Stores.level("hdd", hdd));
    SegmentInfo segment = Stores.info("orders", 0, 0, 1, 1000);
    SegmentStore.Copied copied = Stores.copy(store, local, segment);
    assertThat(store.delete(segment))
        .containsExactly(java.util.Map.entry(copied.directory(), copied.manifest().totalBytes()));
    assertThat(store.delete(segment)).isEmpty();
    assertThat(store.lookup.locate(segment.key())).isEmpty();
    assertThat(Stores.tree(ssd)).allMatch(p -> p.startsWith("staging/"));
    assertThat(store.known.usedBytes(copied.directory())).isZero();
  }

  @Test
  void aFullLevelSendsCopiesToTheNextAndThenRefuses() throws Exception {
    SegmentStore store =
        Stores.open(
            1,
            Stores.level("ssd", OptionalLong.of(40_000), ssd),
            Stores.level("hdd", OptionalLong.of(40_000), hdd));
    assertThat(Stores.copy(store, local, Stores.info("t", 0, 0, 1, 2000)).directory().level())
        .isEqualTo(0);
    assertThat(Stores.copy(store, local, Stores.info("t", 0, 100, 2, 2000)).directory().level())
        .isEqualTo(1);
    assertThatThrownBy(() -> Stores.copy(store, local, Stores.info("t", 0, 200, 3, 2000)))
        .isInstanceOf(StoreFullException.class)
        .hasMessageContaining("ssd:" + ssd)
        .hasMessageContaining("hdd:" + hdd);
    assertThat(store.known.entries()).hasSize(2);
  }

  @Test
  void directoriesOfALevelFillEvenly() throws Exception {
    SegmentStore store = Stores.open(1, Stores.level("ssd", OptionalLong.of(1 << 20), ssd, hdd));
    for (int i = 0; i < 10; i++) {
      SegmentStore.Copied unused =
          Stores.copy(store, local, Stores.info("t", 0, i * 100L, i, 10_000));
    }
    assertThat(store.known.usedBytes(store.directories().get(0)))
        .isEqualTo(store.known.usedBytes(store.directories().get(1)));
  }

  @Test
  void aSegmentThatChangesWhileItIsCopiedIsNotPublished() throws Exception {
    SegmentStore store = Stores.open(1, Stores.level("ssd", ssd));
    SegmentInfo segment = Stores.info("t", 0, 0, 1, 1000);
    LogSource source = Stores.source(local, segment);
    Path unused = Files.write(source.log(), new byte[999]);
    assertThatThrownBy(() -> store.copy(segment, source, Stores.CHUNK, bytes -> {}))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("999")
        .hasMessageContaining("1000")
        .hasMessageContaining(source.log().toString());
    assertThat(store.lookup.locate(segment.key())).isEmpty();
    assertThat(Stores.tree(ssd)).allMatch(p -> p.matches("staging/1-[^/]*"));
  }

  @Test
  void aCopyThatIsCancelledLeavesNothing() throws Exception {
    SegmentStore store = Stores.open(1, Stores.level("ssd", ssd));
    SegmentInfo segment = Stores.info("t", 0, 0, 1, 3_000_000);
    int[] pieces = {0};
    assertThatThrownBy(
            () ->
                store.copy(
                    segment,
                    Stores.source(local, segment),
                    Stores.CHUNK,
                    bytes -> {
                      if (++pieces[0] == 2) {
                        throw new BytePace.CopyCancelledException("enough");
                      }
                    }))
        .isInstanceOf(BytePace.CopyCancelledException.class);
    assertThat(Stores.tree(ssd)).allMatch(p -> p.matches("staging/1-[^/]*"));
  }

  @Test
  void aDeletionThatCannotReachADirectoryFailsAndIsRepeated() throws Exception {
    SegmentStore store = Stores.open(1, Stores.level("ssd", ssd), Stores.level("hdd", hdd));
    SegmentInfo segment = Stores.info("t", 0, 0, 1, 1000);
    SegmentStore.Copied unused = Stores.copy(store, local, segment);
    Path away = Files.move(hdd, top.resolve("away"));
    assertThatThrownBy(() -> store.delete(segment))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining(hdd.toString());
    assertThatThrownBy(() -> store.lookup.locate(segment.key()))
        .isInstanceOf(StoreUnavailableException.class);
    Path unusedToo = Files.move(away, hdd);
    assertThat(store.delete(segment)).isEmpty();
    assertThat(store.lookup.locate(segment.key())).isEmpty();
  }

  @Test
  void nothingIsWrittenToAnUnmountedDirectory() throws Exception {
    SegmentStore store = Stores.open(1, Stores.level("ssd", ssd));
    Path away = Files.move(ssd, top.resolve("away"));
    Path unused = Files.createDirectory(ssd);
    assertThatThrownBy(() -> Stores.copy(store, local, Stores.info("t", 0, 0, 1, 1000)))
        .isInstanceOf(StoreUnavailableException.class);
    assertThat(StoreListing.entries(ssd)).isEmpty();
    assertThat(away).isDirectory();
  }

  /** The indexes are there, and Kafka asks for them first. */
  @Test
  void aDamagedMarkOfTheColdManagersHidesNothingElse() throws Exception {
    SegmentStore store =
        Stores.open(
            Stores.options(1, List.of(), StoreStage.Hook.NONE, Stores.level("ssd", ssd)),
            Optional.of(new FakeCold()));
    SegmentInfo segment = Stores.info("t", 0, 0, 1, 1000);
    SegmentStore.Copied unused = Stores.copy(store, local, segment);
    Path copy = StoreNames.segment(ssd, segment.key());
    Path unusedPath = Files.write(copy.resolve(StoreNames.COLD), new byte[] {'x'});
    assertThat(store.lookup.copies(segment.key()).found())
        .singleElement()
        .matches(SegmentStore.Located::hasLog);
    Files.delete(copy.resolve(ObjectType.LOG.fileName(segment.key())));
    assertThat(store.lookup.copies(segment.key()).found())
        .singleElement()
        .matches(found -> !found.hasLog());
    SegmentStore.Located found = store.lookup.locate(segment.key()).orElseThrow();
    assertThatThrownBy(() -> store.lookup.readCold(found, 0, ByteBuffer.allocate(10)))
        .isInstanceOf(CorruptManifestException.class)
        .hasMessageContaining(StoreNames.COLD);
    assertThat(CopyMarks.isDamaged(copy)).isTrue();
  }

  @Test
  void theInventoryIsMadeByListing() throws Exception {
    SegmentStore first = Stores.open(1, Stores.level("ssd", ssd));
    for (int i = 0; i < 5; i++) {
      SegmentStore.Copied unused =
          Stores.copy(first, local, Stores.info("t", 0, i * 100L, i, 1000));
    }
    SegmentStore second = Stores.open(2, Stores.level("ssd", ssd));
    StoreUpkeep upkeep = new StoreUpkeep(second);
    StoreDirectory directory = second.directories().get(0);
    assertThat(second.known.refresh(directory, () -> {})).isEmpty();
    assertThat(second.known.entries()).hasSize(5);
    assertThat(second.known.usedBytes(directory))
        .isEqualTo(first.known.usedBytes(first.directories().get(0)));
    assertThat(first.delete(Stores.info("t", 0, 100, 1, 1000))).hasSize(1);
    assertThat(second.known.refresh(directory, () -> {})).isEmpty();
    assertThat(second.known.entries()).hasSize(4);
    upkeep.signIn(directory);
    assertThat(StoreUpkeep.brokers(ssd, damage -> {}))
        .extracting(b -> b.brokerId())
        .containsExactly(2);
  }

  @Test
  void publishingAndDeletingInOnePartitionDoNotMeet() throws Exception {
    SegmentStore store = Stores.open(1, Stores.level("ssd", ssd));
    var executor = Executors.newFixedThreadPool(4);
    try {
      List<java.util.concurrent.Future<?>> all = new java.util.ArrayList<>();
      for (int thread = 0; thread < 4; thread++) {
        int number = thread;
        all.add(
            executor.submit(
                () -> {
                  for (int i = 0; i < 40; i++) {
                    SegmentInfo segment =
                        Stores.info("t", 0, number * 100_000L + i * 100L, number * 1000L + i, 500);
                    var unused = Stores.copy(store, local.resolve("" + number), segment);
                    assertThat(store.delete(segment)).hasSize(1);
                  }
                  return Optional.empty();
                }));
      }
      for (var one : all) {
        Object unused = one.get();
      }
    } finally {
      var unused = executor.shutdownNow();
    }
    assertThat(store.known.entries()).isEmpty();
    assertThat(Stores.tree(ssd)).allMatch(p -> p.matches("staging/1-[^/]*"));
  }

  @Test
  void aDirectoryThatDoesNotAnswerIsLeftAloneAndItsSegmentsAreUnavailable() throws Exception {
    SegmentStore store = Stores.open(1, Stores.level("ssd", ssd), Stores.level("hdd", hdd));
    SegmentInfo there = Stores.info("t", 0, 0, 1, 1000);
    SegmentStore.Copied unused = Stores.copy(store, local, there);
    store.directories().get(0).suspend("it hangs");
    SegmentInfo next = Stores.info("t", 0, 100, 2, 1000);
    assertThat(Stores.copy(store, local, next).directory().level()).isEqualTo(1);
    assertThat(store.lookup.locate(next.key())).isPresent();
    assertThatThrownBy(() -> store.lookup.locate(there.key()))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("it hangs");
    assertThatThrownBy(() -> store.delete(there)).isInstanceOf(StoreUnavailableException.class);
    store.directories().get(0).resume();
    assertThat(store.lookup.locate(there.key())).isPresent();
  }

  @Test
  void aDirectoryThatIsReadOnlyIsReadAndNotWrittenTo() throws Exception {
    SegmentStore store = Stores.open(1, Stores.level("ssd", ssd), Stores.level("hdd", hdd));
    SegmentInfo there = Stores.info("t", 0, 0, 1, 1000);
    SegmentStore.Copied unused = Stores.copy(store, local, there);
    store.directories().get(0).unwritable("read only");
    assertThat(Stores.copy(store, local, Stores.info("t", 0, 100, 2, 1000)).directory().level())
        .isEqualTo(1);
    assertThat(store.lookup.locate(there.key())).isPresent();
  }

  @Test
  void brokersWithOtherDirectoriesAreNoticed() throws Exception {
    SegmentStore first = Stores.open(1, Stores.level("ssd", ssd));
    SegmentStore second = Stores.open(2, Stores.level("ssd", ssd), Stores.level("hdd", hdd));
    StoreUpkeep one = new StoreUpkeep(first);
    StoreUpkeep two = new StoreUpkeep(second);
    one.signIn(first.directories().get(0));
    StoreDirectory shared = first.directories().get(0);
    assertThat(one.disagreeing(shared, HOUR, damage -> {})).isEmpty();
    two.signIn(second.directories().get(0));
    assertThat(one.disagreeing(shared, HOUR, damage -> {}))
        .singleElement()
        .satisfies(b -> assertThat(b.brokerId()).isEqualTo(2));
    assertThat(one.disagreeing(shared, Duration.ofMillis(-1), damage -> {})).isEmpty();
  }

  @Test
  void anInterruptAfterThePublicationLeavesNothingToBeSeen() throws Exception {
    SegmentInfo segment = Stores.info("t", 0, 0, 1, 1000);
    for (StoreStage at :
        List.of(StoreStage.COPY_MANIFEST_WRITTEN, StoreStage.COPY_INDEXES_WRITTEN)) {
      SegmentStore store =
          Stores.open(
              Stores.options(
                  1,
                  List.of(),
                  stage -> {
                    if (stage == at) {
                      Thread.currentThread().interrupt();
                    }
                  },
                  Stores.level("ssd", ssd)),
              Optional.empty());
      assertThatThrownBy(() -> Stores.copy(store, local, segment)).isInstanceOf(IOException.class);
      assertThat(Thread.interrupted()).as("the flag").isTrue();
      assertThat(store.lookup.locate(segment.key())).isEmpty();
      assertThat(Stores.tree(ssd)).allMatch(p -> p.startsWith("staging/"));
    }
  }

  /** A file takes whole blocks, and a directory one. */
  @Test
  void aCapacityCountsWhatSmallSegmentsTakeOnDisk() throws Exception {
    long capacity = 400_000;
    SegmentStore store =
        Stores.open(
            1, Stores.level("ssd", OptionalLong.of(capacity), ssd), Stores.level("hdd", hdd));
    for (int i = 0; i < 40; i++) {
      SegmentStore.Copied unused = Stores.copy(store, local, Stores.info("t", 0, i, i, 2000));
    }
    long blocks = 0;
    try (Stream<Path> all = Files.walk(ssd.resolve("topics/t"))) {
      for (Path path : (Iterable<Path>) all::iterator) {
        blocks += (Files.size(path) + 4095) / 4096 * 4096;
      }
    }
    assertThat(blocks).isBetween(capacity / 2, capacity + 20_000);
    assertThat(store.known.usedBytes(store.directories().get(1))).isPositive();
  }

  /** By a broker whose clock is an hour ahead, for example. */
  @Test
  void aCopyWhoseStagingIsTakenAwayFails() throws Exception {
    SegmentInfo segment = Stores.info("t", 0, 0, 1, 1000);
    for (StoreStage at :
        List.of(
            StoreStage.COPY_STAGED,
            StoreStage.COPY_LOG_WRITTEN,
            StoreStage.COPY_INDEXES_WRITTEN,
            StoreStage.COPY_MANIFEST_WRITTEN)) {
      SegmentStore store =
          Stores.open(
              Stores.options(
                  1,
                  List.of(),
                  stage -> {
                    if (stage == at) {
                      clear(2);
                    }
                  },
                  Stores.level("ssd", ssd)),
              Optional.empty());
      assertThatThrownBy(() -> Stores.copy(store, local, segment))
          .as("%s", at)
          .isInstanceOf(IOException.class);
      assertThat(store.lookup.locate(segment.key())).as("%s", at).isEmpty();
    }
  }

  private void clear(int broker) {
    SegmentStore other = Stores.open(broker, Stores.level("ssd", ssd));
    try {
      assertThat(
              new StoreUpkeep(other)
                  .clear(other.directories().get(0), java.time.Duration.ofDays(-1))
                  .removed())
          .isNotEmpty();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void whatIsPublishedWithoutAFileIsTakenBack() throws Exception {
    SegmentInfo segment = Stores.info("t", 0, 0, 1, 1000);
    SegmentStore store =
        Stores.open(
            Stores.options(
                1,
                List.of(),
                stage -> {
                  if (stage == StoreStage.COPY_MANIFEST_WRITTEN) {
                    removeIndexes();
                  }
                },
                Stores.level("ssd", ssd)),
            Optional.empty());
    assertThatThrownBy(() -> Stores.copy(store, local, segment)).isInstanceOf(IOException.class);
    assertThat(store.lookup.locate(segment.key())).isEmpty();
  }

  private void removeIndexes() {
    try (var files = Files.walk(ssd)) {
      for (Path file :
          (Iterable<Path>) files.filter(f -> f.toString().endsWith(".index"))::iterator) {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void aDeletionWhoseTrashCannotBeEmptiedIsDone() throws Exception {
    SegmentInfo segment = Stores.info("t", 0, 0, 1, 1000);
    SegmentStore store =
        Stores.open(
            Stores.options(
                1,
                List.of(),
                stage -> {
                  if (stage == StoreStage.DELETE_TRASHED) {
                    lockTrash(false);
                  }
                },
                Stores.level("ssd", ssd)),
            Optional.empty());
    SegmentStore.Copied unused = Stores.copy(store, local, segment);
    try {
      assertThat(store.delete(segment)).hasSize(1);
    } finally {
      lockTrash(true);
    }
    assertThat(store.lookup.locate(segment.key())).isEmpty();
  }

  private void lockTrash(boolean writable) {
    try (var files = Files.walk(ssd.resolve("trash"))) {
      for (Path file : (Iterable<Path>) files.filter(Files::isDirectory)::iterator) {
        boolean unused = file.toFile().setWritable(writable);
      }
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
