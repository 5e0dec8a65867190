package io.strata.kafka.migration.remote.store.keep;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.api.SegmentView;
import io.strata.kafka.api.TierUsage;
import io.strata.kafka.migration.CorruptSegmentException;
import io.strata.kafka.migration.TieredSegmentsContract;
import io.strata.kafka.migration.plan.TieredSegments;
import io.strata.kafka.migration.plan.TieredSegments.MoveControl;
import io.strata.kafka.migration.plan.TieredSegments.MoveResult;
import io.strata.kafka.migration.remote.faults.FaultyFileSystem;
import io.strata.kafka.migration.remote.store.FakeCold;
import io.strata.kafka.migration.remote.store.KnownSegment.StoredCopy;
import io.strata.kafka.migration.remote.store.MoveConfirmation;
import io.strata.kafka.migration.remote.store.SegmentStore;
import io.strata.kafka.migration.remote.store.StoreUpkeep;
import io.strata.kafka.migration.remote.store.Stores;
import io.strata.kafka.migration.remote.store.disk.CopyMarks;
import io.strata.kafka.migration.remote.store.disk.DirectoryAccess;
import io.strata.kafka.migration.remote.store.disk.DirectoryAccess.StoreUnavailableException;
import io.strata.kafka.migration.remote.store.disk.Disk;
import io.strata.kafka.migration.remote.store.disk.MoverLock;
import io.strata.kafka.migration.remote.store.disk.StoreDirectory;
import io.strata.kafka.migration.remote.store.disk.StoreOptions;
import io.strata.kafka.migration.remote.store.disk.StoreOptions.StoreStage;
import io.strata.kafka.migration.remote.store.keep.Scrubber.Finding;
import io.strata.kafka.migration.remote.store.layout.ColdMark;
import io.strata.kafka.migration.remote.store.layout.SegmentInfo;
import io.strata.kafka.migration.remote.store.layout.SegmentKey;
import io.strata.kafka.migration.remote.store.layout.StoreIdentity;
import io.strata.kafka.migration.remote.store.layout.StoreNames;
import io.strata.kafka.migration.remote.store.layout.StoredObject.ObjectType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Moves between levels, and what meets them. */
class StoreTiersTest extends TieredSegmentsContract {

  private static final SegmentInfo SEGMENT = Stores.info("t", 0, 0, 1, 200_000);

  @TempDir private Path top = Path.of("");
  private Path ssd = Path.of("");
  private Path hdd = Path.of("");
  private Path local = Path.of("");
  private final FakeCold cold = new FakeCold();
  private volatile StoreStage.Hook hook = StoreStage.Hook.NONE;

  @BeforeEach
  void directories() throws Exception {
    ssd = Files.createDirectory(top.resolve("ssd"));
    hdd = Files.createDirectory(top.resolve("hdd"));
    local = Files.createDirectory(top.resolve("local"));
  }

  private SegmentStore twoLevels() {
    return Stores.open(
        Stores.options(
            1,
            List.of(),
            stage -> hook.reached(stage),
            Stores.level("ssd", ssd),
            Stores.level("hdd", hdd)),
        Optional.empty());
  }

  /** A store of two levels whose only segment is in both. */
  private SegmentStore inBothLevels() throws Exception {
    SegmentStore store = twoLevels();
    StoreTiers tiers = new StoreTiers(store, List.of("ssd", "hdd"));
    long unused = destaged(store, tiers);
    return store;
  }

  private SegmentStore withCold() {
    return withCold(1);
  }

  private SegmentStore withCold(int broker) {
    return Stores.open(
        Stores.options(broker, List.of(), stage -> hook.reached(stage), Stores.level("ssd", ssd)),
        Optional.of(cold));
  }

  private static SegmentView only(StoreTiers tiers) {
    assertThat(tiers.usages()).as("what is kept of the sums").isEqualTo(tiers.state().tiers());
    assertThat(tiers.state().segments()).hasSize(1);
    return tiers.state().segments().get(0);
  }

  private byte[] read(SegmentStore store, SegmentKey key) throws Exception {
    SegmentStore.Located found = store.lookup.locate(key).orElseThrow();
    ByteBuffer bytes = ByteBuffer.allocate(found.manifest().segment().bytes());
    if (found.hasLog()) {
      return Files.readAllBytes(found.file(ObjectType.LOG));
    }
    store.lookup.readCold(found, 0, bytes);
    return bytes.array();
  }

  @Override
  protected Sealed sealed() throws Exception {
    SegmentStore store = twoLevels();
    StoreTiers tiers = new StoreTiers(store, List.of("ssd", "hdd"));
    SegmentStore.Copied unused = Stores.copy(store, local, SEGMENT);
    long id = only(tiers).id();
    return new Sealed() {
      @Override
      public TieredSegments tiers() {
        return tiers;
      }

      @Override
      public long id() {
        return id;
      }

      @Override
      public int lower() {
        return 1;
      }

      @Override
      public void requireContent() throws Exception {
        assertThat(read(store, SEGMENT.key())).isEqualTo(Stores.bytes(0, 200_000));
        assertThat(Stores.tree(ssd).stream().allMatch(p -> p.startsWith("staging/")))
            .as("nothing on the upper level")
            .isEqualTo(only(tiers).tier() == 1);
      }

      @Override
      public void delete() throws Exception {
        assertThat(store.delete(SEGMENT)).hasSize(1);
      }
    };
  }

  @Test
  void aSegmentGoesToTheColdManagerAndBack() throws Exception {
    SegmentStore store = withCold();
    StoreTiers tiers = new StoreTiers(store, List.of("ssd", "cold"));
    SegmentStore.Copied unused = Stores.copy(store, local, SEGMENT);
    long id = only(tiers).id();
    // Less would be a piece, and the engine would copy the rest.
    assertThat(tiers.destage(id, 1, MoveControl.UNLIMITED))
        .isEqualTo(MoveResult.done(only(tiers).bytes()));
    assertThat(only(tiers).cleanTier()).isEqualTo(OptionalInt.of(1));
    assertThat(tiers.evict(id).outcome()).isEqualTo(MoveResult.Outcome.DONE);
    assertThat(only(tiers).tier()).isEqualTo(1);
    assertThat(read(store, SEGMENT.key())).isEqualTo(Stores.bytes(0, 200_000));
    assertThat(store.lookup.locate(SEGMENT.key()).orElseThrow().hasLog()).isFalse();

    // Another process finds it too.
    SegmentStore again = withCold();
    assertThat(again.known.refresh(again.directories().get(0), () -> {})).isEmpty();
    StoreTiers tiersAgain = new StoreTiers(again, List.of("ssd", "cold"));
    assertThat(only(tiersAgain).tier()).isEqualTo(1);
    assertThat(tiersAgain.promote(only(tiersAgain).id(), 0, MoveControl.UNLIMITED).outcome())
        .isEqualTo(MoveResult.Outcome.DONE);
    assertThat(again.lookup.locate(SEGMENT.key()).orElseThrow().hasLog()).isTrue();
    assertThat(read(again, SEGMENT.key())).isEqualTo(Stores.bytes(0, 200_000));
    assertThat(again.delete(SEGMENT)).hasSize(1);
    assertThat(cold.segments).isEmpty();
  }

  @Test
  void nothingIsEvictedForAColdManagerThatDidNotKeepIt() throws Exception {
    SegmentStore store = withCold();
    StoreTiers tiers = new StoreTiers(store, List.of("ssd", "cold"));
    SegmentStore.Copied unused = Stores.copy(store, local, SEGMENT);
    long id = only(tiers).id();
    cold.duringCopy = () -> cold.segments.replaceAll((k, v) -> new byte[v.length]);
    assertThatThrownBy(() -> tiers.destage(id, 1, MoveControl.UNLIMITED))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("com.example.Cold")
        .hasMessageContaining("checksum");
    assertThat(tiers.evict(id).outcome()).isEqualTo(MoveResult.Outcome.CANCELLED);
    assertThat(read(store, SEGMENT.key())).isEqualTo(Stores.bytes(0, 200_000));
    cold.failing = true;
    assertThatThrownBy(() -> store.delete(SEGMENT)).isInstanceOf(IOException.class);
    cold.failing = false;
    assertThat(store.delete(SEGMENT)).hasSize(1);
    assertThat(cold.segments).isEmpty();
  }

  @Test
  void aDeletionDuringTheColdCopyLeavesNothing() throws Exception {
    SegmentStore store = withCold();
    StoreTiers tiers = new StoreTiers(store, List.of("ssd", "cold"));
    SegmentStore.Copied unused = Stores.copy(store, local, SEGMENT);
    cold.duringCopy =
        () -> {
          byte[] copied = cold.segments.get(SEGMENT.key().id());
          try {
            assertThat(store.delete(SEGMENT)).hasSize(1);
          } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
          }
          cold.segments.put(SEGMENT.key().id(), copied); // It was still writing.
        };
    assertThat(tiers.destage(only(tiers).id(), 1, MoveControl.UNLIMITED).outcome())
        .isEqualTo(MoveResult.Outcome.CANCELLED);
    assertThat(cold.segments).isEmpty();
    assertThat(store.lookup.locate(SEGMENT.key())).isEmpty();
  }

  /** By another broker, at every stage of a move: nothing comes back. */
  @Test
  void aDeletionAtAnyStageOfAMoveWins() throws Exception {
    for (StoreStage stage :
        List.of(StoreStage.MOVE_STAGED, StoreStage.MOVE_PUBLISHED, StoreStage.MOVE_CONFIRMED)) {
      for (boolean up : List.of(false, true)) {
        SegmentStore store = twoLevels();
        StoreTiers tiers = new StoreTiers(store, List.of("ssd", "hdd"));
        SegmentStore.Copied unused = Stores.copy(store, local, SEGMENT);
        long id = only(tiers).id();
        if (up) {
          MoveResult down = tiers.destage(id, 1, MoveControl.UNLIMITED);
          MoveResult gone = tiers.evict(id);
          assertThat(down.outcome()).isEqualTo(gone.outcome());
        }
        SegmentStore other = twoLevels();
        hook =
            reached -> {
              if (reached == stage) {
                hook = StoreStage.Hook.NONE;
                try {
                  assertThat(other.delete(SEGMENT)).isNotEmpty();
                } catch (IOException | InterruptedException e) {
                  throw new AssertionError(e);
                }
              }
            };
        MoveResult unusedToo =
            up
                ? tiers.promote(id, 0, MoveControl.UNLIMITED)
                : tiers.destage(id, 1, MoveControl.UNLIMITED);
        assertThat(store.lookup.locate(SEGMENT.key())).as("%s, up %s", stage, up).isEmpty();
        assertThat(Stores.tree(ssd)).allMatch(p -> p.matches("staging/[^/]*"));
        assertThat(Stores.tree(hdd)).allMatch(p -> p.matches("staging/[^/]*"));
        for (StoreDirectory directory : store.directories()) {
          assertThat(store.known.refresh(directory, () -> {})).isEmpty();
        }
        assertThat(store.known.entries()).isEmpty();
      }
    }
  }

  /** By another broker, at every stage of an eviction: nothing comes back. */
  @Test
  void aDeletionAtAnyStageOfAnEvictionWins() throws Exception {
    for (StoreStage stage : List.of(StoreStage.EVICT_MARKED, StoreStage.EVICT_TRASHED)) {
      SegmentStore store = twoLevels();
      StoreTiers tiers = new StoreTiers(store, List.of("ssd", "hdd"));
      SegmentStore.Copied unused = Stores.copy(store, local, SEGMENT);
      long id = only(tiers).id();
      assertThat(tiers.destage(id, 1, MoveControl.UNLIMITED).outcome())
          .isEqualTo(MoveResult.Outcome.DONE);
      SegmentStore other = twoLevels();
      hook =
          reached -> {
            if (reached == stage) {
              hook = StoreStage.Hook.NONE;
              try {
                assertThat(other.delete(SEGMENT)).isNotEmpty();
              } catch (IOException | InterruptedException e) {
                throw new AssertionError(e);
              }
            }
          };
      MoveResult unusedToo = tiers.evict(id);
      assertThat(store.lookup.locate(SEGMENT.key())).as("%s", stage).isEmpty();
      assertThat(Stores.tree(ssd)).as("%s", stage).allMatch(p -> p.matches("staging/[^/]*"));
      assertThat(Stores.tree(hdd)).as("%s", stage).allMatch(p -> p.matches("staging/[^/]*"));
      refreshAll(store);
      assertThat(store.known.entries()).as("%s", stage).isEmpty();
    }
  }

  /** Its length is right, and it was not read since it was made. */
  @Test
  void aGoodCopyIsNotEvictedForADamagedOne() throws Exception {
    for (ObjectType type : List.of(ObjectType.LOG, ObjectType.TIME_INDEX)) {
      int number = type == ObjectType.LOG ? 1 : 2;
      SegmentInfo segment = Stores.info("t", 0, 100L * number, number, 200_000);
      SegmentStore store = twoLevels();
      StoreTiers tiers = new StoreTiers(store, List.of("ssd", "hdd"));
      SegmentStore.Copied unused = Stores.copy(store, local, segment);
      long id = only(tiers).id();
      assertThat(tiers.destage(id, 1, MoveControl.UNLIMITED).outcome())
          .isEqualTo(MoveResult.Outcome.DONE);
      Path lower = StoreNames.segment(hdd, segment.key()).resolve(type.fileName(segment.key()));
      byte[] bytes = Files.readAllBytes(lower);
      bytes[bytes.length / 2] ^= 1;
      Path unusedPath = Files.write(lower, bytes);

      assertThat(tiers.evict(id).outcome()).isEqualTo(MoveResult.Outcome.CANCELLED);

      assertThat(store.lookup.locate(segment.key()).orElseThrow().directory().level()).isEqualTo(0);
      assertThat(read(store, segment.key()))
          .isEqualTo(Stores.bytes(segment.key().startOffset(), 200_000));
    }
  }

  /** The log is with the cold manager; the indexes are nowhere but in the two copies. */
  @Test
  void aWholeCopyIsNotEvictedForOneWithoutLogWhoseIndexIsDamaged() throws Exception {
    SegmentStore store = threeLevels();
    StoreTiers tiers = new StoreTiers(store, List.of("ssd", "hdd", "cold"));
    SegmentStore.Copied unused = Stores.copy(store, local, SEGMENT);
    long id = only(tiers).id();
    for (int level : List.of(1, 2)) {
      assertThat(tiers.destage(id, level, MoveControl.UNLIMITED).outcome())
          .isEqualTo(MoveResult.Outcome.DONE);
      assertThat(tiers.evict(id).outcome()).isEqualTo(MoveResult.Outcome.DONE);
    }
    assertThat(tiers.promote(id, 0, MoveControl.UNLIMITED).outcome())
        .isEqualTo(MoveResult.Outcome.DONE);
    Path index =
        StoreNames.segment(hdd, SEGMENT.key())
            .resolve(ObjectType.OFFSET_INDEX.fileName(SEGMENT.key()));
    byte[] right = Files.readAllBytes(index);
    byte[] wrong = right.clone();
    wrong[wrong.length / 2] ^= 1;
    Path unusedPath = Files.write(index, wrong);

    for (String found : List.of("not found yet", "marked")) {
      assertThat(tiers.evict(id).outcome()).as(found).isEqualTo(MoveResult.Outcome.CANCELLED);
    }

    StoreDirectory lower = store.directories().get(1);
    assertThat(new CopyRepair(store).known())
        .containsExactly(new CopyRepair.Damaged(lower, SEGMENT.key()));
    assertThat(
            new CopyRepair(store).repair(new CopyRepair.Damaged(lower, SEGMENT.key()), bytes -> {}))
        .containsExactly(index);
    assertThat(Files.readAllBytes(index)).isEqualTo(right);
    assertThat(tiers.evict(id).outcome()).isEqualTo(MoveResult.Outcome.DONE);
    assertThat(read(store, SEGMENT.key())).isEqualTo(Stores.bytes(0, 200_000));
  }

  @Test
  void whatIsDamagedIsRepairedFromTheOtherCopy() throws Exception {
    SegmentStore store = twoLevels();
    StoreTiers tiers = new StoreTiers(store, List.of("ssd", "hdd"));
    long id = destaged(store, tiers);
    StoreDirectory lower = store.directories().get(1);
    Path segment = lower.segment(SEGMENT.key());
    CopyRepair repair = new CopyRepair(store);
    for (String name :
        List.of(
            ObjectType.LOG.fileName(SEGMENT.key()),
            ObjectType.TIME_INDEX.fileName(SEGMENT.key()),
            StoreNames.MANIFEST)) {
      Path file = segment.resolve(name);
      byte[] right = Files.readAllBytes(file);
      for (boolean missing : List.of(false, true)) {
        Path unusedPath = Files.write(file, new byte[right.length]);
        if (missing) {
          Files.delete(file);
        }
        store.lookup.damaged(lower, SEGMENT.key(), "found by the test");
        assertThat(tiers.evict(id).outcome()).isEqualTo(MoveResult.Outcome.CANCELLED);
        assertThat(repair.known()).hasSize(1);

        assertThat(repair.repair(repair.known().get(0), bytes -> {})).containsExactly(file);

        assertThat(Files.readAllBytes(file)).as(name).isEqualTo(right);
        assertThat(repair.known()).isEmpty();
        assertThat(segment.resolve(StoreNames.DAMAGED)).doesNotExist();
        assertThat(Stores.scrub(store, lower)).isEmpty();
      }
    }
    assertThat(tiers.evict(id).outcome()).isEqualTo(MoveResult.Outcome.DONE);
    Files.delete(segment.resolve(ObjectType.LOG.fileName(SEGMENT.key())));
    store.lookup.damaged(lower, SEGMENT.key(), "found by the test");
    assertThatThrownBy(() -> repair.repair(repair.known().get(0), bytes -> {}))
        .hasMessageContaining("no other copy");
    assertThat(segment.resolve(StoreNames.DAMAGED)).exists();
  }

  /**
   * The inventory does not say so yet; the same copy is not tried again and again until it does.
   */
  @Test
  void aCopyThatAnotherBrokerHasDeletedIsNotRepairedAgain() throws Exception {
    SegmentStore store = twoLevels();
    SegmentStore.Copied unused = Stores.copy(store, local, SEGMENT);
    StoreDirectory upper = store.directories().get(0);
    store.lookup.damaged(upper, SEGMENT.key(), "found by the test");
    CopyRepair repair = new CopyRepair(store);
    CopyRepair.Damaged damaged = repair.known().get(0);
    Disk.removeTree(upper.segment(SEGMENT.key()));

    assertThat(repair.repair(damaged, bytes -> {})).isEmpty();
    assertThat(repair.known()).isEmpty();
  }

  @Test
  void aRepairEndsQuietlyWhenItsSegmentIsDeletedMeanwhile() throws Exception {
    SegmentStore store = twoLevels();
    SegmentStore.Copied unused = Stores.copy(store, local, SEGMENT);
    StoreDirectory upper = store.directories().get(0);
    Path log = upper.segment(SEGMENT.key()).resolve(ObjectType.LOG.fileName(SEGMENT.key()));
    Path unusedPath = Files.write(log, new byte[(int) Files.size(log)]);
    store.lookup.damaged(upper, SEGMENT.key(), "found by the test");
    CopyRepair repair = new CopyRepair(store);
    CopyRepair.Damaged damaged = repair.known().get(0);

    assertThat(
            repair.repair(
                damaged,
                bytes -> {
                  Map<StoreDirectory, Long> unusedToo = store.delete(SEGMENT);
                }))
        .isEmpty();
  }

  /** The upper copy is damaged, the lower one is not: the cold manager gets the lower one. */
  @Test
  void aMoveTakesTheGoodCopy() throws Exception {
    SegmentStore store = threeLevels();
    StoreTiers tiers = new StoreTiers(store, List.of("ssd", "hdd", "cold"));
    long id = destaged(store, tiers);
    damage(ObjectType.LOG.fileName(SEGMENT.key()));
    store.lookup.damaged(store.directories().get(0), SEGMENT.key(), "found by the test");
    assertThat(tiers.destage(id, 2, MoveControl.UNLIMITED).outcome())
        .isEqualTo(MoveResult.Outcome.DONE);
    assertThat(cold.segments.get(SEGMENT.key().id())).isEqualTo(Stores.bytes(0, 200_000));
  }

  /** No read has found it yet. */
  @Test
  void aMovePassesACopyWithADamagedManifest() throws Exception {
    SegmentStore store = threeLevels();
    StoreTiers tiers = new StoreTiers(store, List.of("ssd", "hdd", "cold"));
    long id = destaged(store, tiers);
    damage(StoreNames.MANIFEST);
    assertThat(tiers.destage(id, 2, MoveControl.UNLIMITED).outcome())
        .isEqualTo(MoveResult.Outcome.DONE);
    assertThat(cold.segments.get(SEGMENT.key().id())).isEqualTo(Stores.bytes(0, 200_000));
  }

  /** Copies a segment into the store, and on to the second level; returns its id. */
  private long destaged(SegmentStore store, StoreTiers tiers) throws Exception {
    SegmentStore.Copied unused = Stores.copy(store, local, SEGMENT);
    long id = only(tiers).id();
    assertThat(tiers.destage(id, 1, MoveControl.UNLIMITED).outcome())
        .isEqualTo(MoveResult.Outcome.DONE);
    return id;
  }

  /** Changes a byte of a file of the segment in the first level. */
  private void damage(String name) throws IOException {
    Path file = StoreNames.segment(ssd, SEGMENT.key()).resolve(name);
    byte[] bytes = Files.readAllBytes(file);
    bytes[bytes.length / 2] ^= 1;
    Path unused = Files.write(file, bytes);
  }

  /** Has the process die between a move's publication and its confirmation. */
  private void dieInAMove(StoreTiers tiers) {
    hook =
        stage -> {
          if (stage == StoreStage.MOVE_PUBLISHED) {
            throw new IllegalStateException("killed");
          }
        };
    assertThatThrownBy(() -> tiers.destage(only(tiers).id(), 1, MoveControl.UNLIMITED))
        .isInstanceOf(IllegalStateException.class);
    hook = StoreStage.Hook.NONE;
  }

  /** The only copy is then the lower one, which no move has confirmed. */
  @Test
  void anUnconfirmedCopyIsKeptWhenTheUpperDirectoryIsPutBackFromAnOlderBackup() throws Exception {
    SegmentStore store = twoLevels();
    Path backup = ssd.resolveSibling("backup");
    copyTree(ssd, backup);
    StoreTiers tiers = new StoreTiers(store, List.of("ssd", "hdd"));
    SegmentStore.Copied unused = Stores.copy(store, local, SEGMENT);
    dieInAMove(tiers);
    Disk.removeTree(ssd);
    Path unusedToo = Files.move(backup, ssd);
    SegmentStore after = twoLevels();
    refreshAll(after);
    assertThat(new MoveConfirmation(after).settle()).isEmpty();
    assertThat(read(after, SEGMENT.key())).isEqualTo(Stores.bytes(0, 200_000));
    assertThat(after.known.entries().get(0).copies()).noneMatch(StoredCopy::moving);
  }

  /** Also while the move's process goes on. */
  @Test
  void aMoveKeepsItsCopyWhenTheUpperDirectoryIsPutBackMeanwhile() throws Exception {
    SegmentStore store = twoLevels();
    Path backup = ssd.resolveSibling("backup");
    copyTree(ssd, backup);
    StoreTiers tiers = new StoreTiers(store, List.of("ssd", "hdd"));
    SegmentStore.Copied unused = Stores.copy(store, local, SEGMENT);
    hook =
        stage -> {
          if (stage == StoreStage.MOVE_PUBLISHED) {
            try {
              Disk.removeTree(ssd);
              Path unusedToo = Files.move(backup, ssd);
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
          }
        };
    MoveResult unusedAsWell = tiers.destage(only(tiers).id(), 1, MoveControl.UNLIMITED);
    assertThat(read(store, SEGMENT.key())).isEqualTo(Stores.bytes(0, 200_000));
  }

  /** It may be the only one: that the first is gone says too little when the move's process is. */
  @Test
  void anUnconfirmedCopyIsKeptThoughTheFirstOneIsGone() throws Exception {
    SegmentStore store = twoLevels();
    StoreTiers tiers = new StoreTiers(store, List.of("ssd", "hdd"));
    SegmentStore.Copied unused = Stores.copy(store, local, SEGMENT);
    dieInAMove(tiers);
    Disk.removeTree(StoreNames.segment(ssd, SEGMENT.key()));
    SegmentStore after = twoLevels();
    refreshAll(after);
    assertThat(new MoveConfirmation(after).settle()).isEmpty();
    assertThat(read(after, SEGMENT.key())).isEqualTo(Stores.bytes(0, 200_000));
    assertThat(after.known.entries().get(0).copies()).noneMatch(StoredCopy::moving);
    assertThat(after.delete(SEGMENT)).hasSize(1);
  }

  /** Builds before this one wrote the first copy's directory into the mark. */
  @Test
  void aMarkWithContentIsAMark() throws Exception {
    SegmentStore store = twoLevels();
    StoreTiers tiers = new StoreTiers(store, List.of("ssd", "hdd"));
    SegmentStore.Copied unused = Stores.copy(store, local, SEGMENT);
    dieInAMove(tiers);
    Path mark = StoreNames.segment(hdd, SEGMENT.key()).resolve(StoreNames.MOVING);
    assertThat(mark).isEmptyFile();
    Path unusedToo = Files.writeString(mark, store.directories().get(0).identity().directoryId());
    SegmentStore after = twoLevels();
    refreshAll(after);
    assertThat(after.known.entries().get(0).copies()).anyMatch(StoredCopy::moving);
    assertThat(new MoveConfirmation(after).settle()).isEmpty();
    assertThat(mark).doesNotExist();
  }

  private static void copyTree(Path from, Path to) throws IOException {
    try (Stream<Path> all = Files.walk(from)) {
      for (Path path : (Iterable<Path>) all::iterator) {
        Path unused = Files.copy(path, to.resolve(from.relativize(path).toString()));
      }
    }
  }

  /** A crash before the confirmation, and the first copy has lost its manifest. */
  @Test
  void anUnconfirmedCopyIsKeptWhenTheFirstOneCannotBeRead() throws Exception {
    SegmentStore store = twoLevels();
    StoreTiers tiers = new StoreTiers(store, List.of("ssd", "hdd"));
    SegmentStore.Copied unused = Stores.copy(store, local, SEGMENT);
    long id = only(tiers).id();
    hook =
        stage -> {
          if (stage == StoreStage.MOVE_PUBLISHED) {
            throw new IllegalStateException("killed");
          }
        };
    assertThatThrownBy(() -> tiers.destage(id, 1, MoveControl.UNLIMITED))
        .isInstanceOf(IllegalStateException.class);
    hook = StoreStage.Hook.NONE;
    Files.delete(StoreNames.segment(ssd, SEGMENT.key()).resolve(StoreNames.MANIFEST));
    SegmentStore after = twoLevels();
    for (StoreDirectory directory : after.directories()) {
      List<String> unusedHere = after.known.refresh(directory, () -> {});
    }
    assertThat(new MoveConfirmation(after).settle()).isEmpty();
    assertThat(read(after, SEGMENT.key())).isEqualTo(Stores.bytes(0, 200_000));
    // The first copy is there, and so was not deleted: nothing is left to wait for.
    assertThat(StoreNames.segment(hdd, SEGMENT.key()).resolve(StoreNames.MOVING)).doesNotExist();
  }

  /** While a move runs: the first copy is not deleted, it has lost its manifest. */
  @Test
  void aMoveKeepsItsCopyWhenTheFirstOneHasLostItsManifest() throws Exception {
    SegmentStore store = twoLevels();
    StoreTiers tiers = new StoreTiers(store, List.of("ssd", "hdd"));
    SegmentStore.Copied unused = Stores.copy(store, local, SEGMENT);
    hook =
        stage -> {
          if (stage == StoreStage.MOVE_PUBLISHED) {
            try {
              Files.delete(StoreNames.segment(ssd, SEGMENT.key()).resolve(StoreNames.MANIFEST));
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
          }
        };
    assertThat(tiers.destage(only(tiers).id(), 1, MoveControl.UNLIMITED).outcome())
        .isEqualTo(MoveResult.Outcome.DONE);
    assertThat(read(store, SEGMENT.key())).isEqualTo(Stores.bytes(0, 200_000));
  }

  /** A process died in a deletion, or in an eviction, hours ago. */
  @Test
  void aMarkThatADeadProcessLeftKeepsNothingFromTheColdManager() throws Exception {
    SegmentStore store = withCold();
    StoreTiers tiers = new StoreTiers(store, List.of("ssd", "cold"));
    SegmentStore.Copied unused = Stores.copy(store, local, SEGMENT);
    long id = only(tiers).id();
    Path going = StoreNames.segment(ssd, SEGMENT.key()).resolve(StoreNames.GOING);
    Path unusedPath = Files.createFile(going);
    assertThat(tiers.destage(id, 1, MoveControl.UNLIMITED).outcome())
        .isEqualTo(MoveResult.Outcome.CANCELLED);
    assertThat(cold.segments).isEmpty();

    FileTime hoursAgo = FileTime.from(Instant.now().minus(Duration.ofHours(2)));
    Path unusedToo = Files.setLastModifiedTime(going, hoursAgo);
    // A deletion takes it over.
    CopyMarks.going(Disk.parent(going));
    assertThat(tiers.destage(id, 1, MoveControl.UNLIMITED).outcome())
        .isEqualTo(MoveResult.Outcome.CANCELLED);
    assertThat(cold.segments).isEmpty();

    Path unusedThree = Files.setLastModifiedTime(going, hoursAgo);
    assertThat(tiers.destage(id, 1, MoveControl.UNLIMITED).outcome())
        .isEqualTo(MoveResult.Outcome.DONE);
    assertThat(going).doesNotExist();
    assertThat(cold.segments).hasSize(1);
  }

  /** Something has appended to it: what is behind the segment's length is not the segment's. */
  @Test
  void anObjectThatHasGrownMovesToTheColdManager() throws Exception {
    SegmentStore store = withCold();
    StoreTiers tiers = new StoreTiers(store, List.of("ssd", "cold"));
    SegmentStore.Copied copied = Stores.copy(store, local, SEGMENT);
    Path log =
        copied.directory().segment(SEGMENT.key()).resolve(ObjectType.LOG.fileName(SEGMENT.key()));
    // By another name too: the process that has written behind the end may go on with its own file.
    Path other = Files.createLink(top.resolve("other"), log);
    Path unused = Files.write(log, new byte[100], StandardOpenOption.APPEND);
    assertThat(tiers.destage(only(tiers).id(), 1, MoveControl.UNLIMITED).outcome())
        .isEqualTo(MoveResult.Outcome.DONE);
    assertThat(cold.segments.get(SEGMENT.key().id())).isEqualTo(Stores.bytes(0, 200_000));
    assertThat(other).hasSize(200_100);
    assertThat(Stores.scrub(store, copied.directory())).isEmpty();
  }

  /** The copy that has the bytes is in a directory that is not there now. */
  @Test
  void whatIsReadIsUnavailableAndNotWithTheColdManager() throws Exception {
    SegmentStore store = threeLevels();
    StoreTiers tiers = new StoreTiers(store, List.of("ssd", "hdd", "cold"));
    SegmentStore.Copied unused = Stores.copy(store, local, SEGMENT);
    long id = only(tiers).id();
    cold.duringCopy =
        () -> {
          throw new IllegalStateException("the cold manager fails");
        };
    assertThatThrownBy(() -> tiers.destage(id, 2, MoveControl.UNLIMITED))
        .isInstanceOf(IllegalStateException.class);
    assertThat(tiers.destage(id, 1, MoveControl.UNLIMITED).outcome())
        .isEqualTo(MoveResult.Outcome.DONE);
    assertThat(tiers.evict(id).outcome()).isEqualTo(MoveResult.Outcome.DONE);
    assertThat(read(store, SEGMENT.key())).isEqualTo(Stores.bytes(0, 200_000));

    Path away = Files.move(hdd, top.resolve("away"));
    assertThatThrownBy(() -> read(store, SEGMENT.key()))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining(hdd.toString());

    Path unusedPath = Files.move(away, hdd);
    Disk.removeTree(StoreNames.segment(hdd, SEGMENT.key()));
    assertThatThrownBy(() -> read(store, SEGMENT.key()))
        .isInstanceOf(NoSuchFileException.class)
        .hasMessageContaining(ObjectType.LOG.fileName(SEGMENT.key()))
        .hasMessageContaining("no other copy");
  }

  /** What Kafka says of the segment is all that the cold manager needs. */
  @Test
  void aDeletionNeedsNeitherManifestNorMark() throws Exception {
    for (String name : List.of(StoreNames.MANIFEST, StoreNames.COLD)) {
      SegmentStore store = withCold();
      StoreTiers tiers = new StoreTiers(store, List.of("ssd", "cold"));
      SegmentStore.Copied unused = Stores.copy(store, local, SEGMENT);
      assertThat(tiers.destage(only(tiers).id(), 1, MoveControl.UNLIMITED).outcome())
          .isEqualTo(MoveResult.Outcome.DONE);
      assertThat(cold.segments).hasSize(1);
      Path file = StoreNames.segment(ssd, SEGMENT.key()).resolve(name);
      byte[] bytes = Files.readAllBytes(file);
      bytes[30] ^= 1;
      Path unusedPath = Files.write(file, bytes);

      assertThat(store.delete(SEGMENT)).as(name).hasSize(1);

      assertThat(cold.segments).as(name).isEmpty();
      assertThat(store.lookup.locate(SEGMENT.key())).as(name).isEmpty();
    }
  }

  @Test
  void aDamagedSegmentIsCopiedNowhere() throws Exception {
    SegmentStore store = twoLevels();
    StoreTiers tiers = new StoreTiers(store, List.of("ssd", "hdd"));
    SegmentStore.Copied unused = Stores.copy(store, local, SEGMENT);
    Path log = store.lookup.locate(SEGMENT.key()).orElseThrow().file(ObjectType.LOG);
    byte[] bytes = Files.readAllBytes(log);
    bytes[150_000] ^= 1;
    Path unusedToo = Files.write(log, bytes);
    assertThatThrownBy(() -> tiers.destage(only(tiers).id(), 1, MoveControl.UNLIMITED))
        .isInstanceOf(CorruptSegmentException.class)
        .hasMessageContaining(log.toString());
    assertThat(Stores.tree(hdd)).allMatch(p -> p.matches("staging/[^/]*"));
  }

  @Test
  void theOnlyCopyIsNeverEvicted() throws Exception {
    SegmentStore store = twoLevels();
    StoreTiers tiers = new StoreTiers(store, List.of("ssd", "hdd"));
    SegmentStore.Copied unused = Stores.copy(store, local, SEGMENT);
    long id = only(tiers).id();
    assertThat(tiers.evict(id).outcome()).isEqualTo(MoveResult.Outcome.CANCELLED);
    assertThat(tiers.destage(id, 1, MoveControl.UNLIMITED).outcome())
        .isEqualTo(MoveResult.Outcome.DONE);
    // The lower copy goes without the inventory's knowledge: the upper one stays.
    Disk.removeTree(StoreNames.segment(hdd, SEGMENT.key()));
    assertThat(tiers.evict(id).outcome()).isEqualTo(MoveResult.Outcome.CANCELLED);
    assertThat(read(store, SEGMENT.key())).isEqualTo(Stores.bytes(0, 200_000));
  }

  @Test
  void aFullLevelEvictsWhatTheNextHasToo() throws Exception {
    copiesToAFullLevel(0, (tiers, id) -> tiers.evictionOrder(List.of(id)));
  }

  /** One broker of a cluster has an engine; the others copy too. */
  @Test
  void aFullLevelEvictsWhatTheNextHasTooWhereNoEngineRuns() throws Exception {
    copiesToAFullLevel(0, (tiers, id) -> tiers.evictOldest());
  }

  /** Another broker may not use the next level: it would not find the segment. */
  @Test
  void nothingIsEvictedUntilItIsKnownWhetherAllBrokersFindIt() throws Exception {
    copiesToAFullLevel(1, (tiers, id) -> {});
  }

  @Test
  void nothingIsEvictedWhenBrokersDisagree() throws Exception {
    copiesToAFullLevel(
        1,
        (tiers, id) -> {
          tiers.evictOldest();
          tiers.evictionOrder(List.of());
        });
  }

  /** A copy goes to {@code level} then; what was there is in both. */
  private void copiesToAFullLevel(int level, BiConsumer<StoreTiers, Long> engine) throws Exception {
    SegmentStore store =
        Stores.open(
            1,
            Stores.level("ssd", OptionalLong.of(40_000), ssd),
            Stores.level("hdd", OptionalLong.of(300_000), hdd));
    StoreTiers tiers = new StoreTiers(store, List.of("ssd", "hdd"));
    SegmentInfo old = Stores.info("t", 0, 0, 1, 2000);
    SegmentStore.Copied unused = Stores.copy(store, local, old);
    long id = only(tiers).id();
    assertThat(tiers.destage(id, 1, MoveControl.UNLIMITED).outcome())
        .isEqualTo(MoveResult.Outcome.DONE);
    engine.accept(tiers, id);
    SegmentStore.Copied next = Stores.copy(store, local, Stores.info("t", 0, 100, 2, 2000));
    assertThat(next.directory().level()).isEqualTo(level);
    assertThat(store.lookup.locate(old.key()).orElseThrow().directory().level())
        .isEqualTo(1 - level);
    store.close();
  }

  /** Its capacity was lowered, say, or other brokers and moves under way have exceeded it. */
  @Test
  void aLevelAboveItsCapacityEvictsAsMuchAsACopyNeeds() throws Exception {
    StoreOptions.LevelOptions lower = Stores.level("hdd", OptionalLong.of(3_000_000), hdd);
    SegmentStore before = Stores.open(1, Stores.level("ssd", OptionalLong.of(1 << 20), ssd), lower);
    StoreTiers moves = new StoreTiers(before, List.of("ssd", "hdd"));
    for (int i = 0; i < 6; i++) {
      SegmentStore.Copied unused =
          Stores.copy(before, local, Stores.info("t", 0, 100L * i, i + 1, 2000));
    }
    for (var entry : before.known.entries()) {
      assertThat(moves.destage(entry.number(), 1, MoveControl.UNLIMITED).outcome())
          .isEqualTo(MoveResult.Outcome.DONE);
    }
    before.close();

    SegmentStore store = Stores.open(1, Stores.level("ssd", OptionalLong.of(40_000), ssd), lower);
    for (StoreDirectory directory : store.directories()) {
      assertThat(store.known.refresh(directory, () -> {})).isEmpty();
    }
    new StoreTiers(store, List.of("ssd", "hdd")).evictOldest();
    SegmentStore.Copied next = Stores.copy(store, local, Stores.info("t", 0, 900, 9, 2000));

    assertThat(next.directory().level()).isEqualTo(0);
    store.close();
  }

  /** Nothing moves it away: an engine that took it for free space would fetch logs for ever. */
  @Test
  void whatEvictedLogsLeaveBehindIsNoSpaceForMoves() throws Exception {
    long capacity = 100_000;
    SegmentStore store =
        Stores.open(
            Stores.options(
                1,
                List.of(),
                StoreStage.Hook.NONE,
                Stores.level("ssd", OptionalLong.of(capacity), ssd)),
            Optional.of(cold));
    StoreTiers tiers = new StoreTiers(store, List.of("ssd", "cold"));
    StoreDirectory directory = store.directories().get(0);
    long id = 0;
    while (store.known.usedBytes(directory) < capacity - 30_000) {
      id++;
      SegmentStore.Copied unused =
          Stores.copy(store, local, Stores.info("t", 0, 100 * id, id, 10_000));
      long copied = onTop(tiers).findFirst().orElseThrow().id();
      assertThat(tiers.destage(copied, 1, MoveControl.UNLIMITED).outcome())
          .isEqualTo(MoveResult.Outcome.DONE);
      assertThat(tiers.evict(copied).outcome()).isEqualTo(MoveResult.Outcome.DONE);
      assertThat(onTop(tiers)).isEmpty();
    }
    TierUsage usage = tiers.usages().get(0);
    assertThat(usage.usedBytes()).isZero();
    assertThat(usage.capacityBytes()).isEqualTo(capacity - store.known.usedBytes(directory));

    MoveResult.Outcome outcome = MoveResult.Outcome.DONE;
    for (SegmentView segment : tiers.state().segments()) {
      outcome = tiers.promote(segment.id(), 0, MoveControl.UNLIMITED).outcome();
      assertThat(store.known.usedBytes(directory)).isLessThanOrEqualTo(capacity);
    }
    assertThat(outcome).isEqualTo(MoveResult.Outcome.CANCELLED);
    assertThat(onTop(tiers)).isNotEmpty();
    store.close();
  }

  private static Stream<SegmentView> onTop(StoreTiers tiers) {
    return tiers.state().segments().stream().filter(segment -> segment.tier() == 0);
  }

  /** The planner may see space that no directory has: one is away, or its disk is fuller. */
  @Test
  void aCopyUpEvictsNothing() throws Exception {
    SegmentStore store =
        Stores.open(
            1,
            Stores.level("ssd", OptionalLong.of(40_000), ssd),
            Stores.level("hdd", OptionalLong.of(3_000_000), hdd));
    StoreTiers tiers = new StoreTiers(store, List.of("ssd", "hdd"));
    SegmentStore.Copied unused = Stores.copy(store, local, Stores.info("t", 0, 0, 1, 2000));
    long first = only(tiers).id();
    assertThat(tiers.destage(first, 1, MoveControl.UNLIMITED).outcome())
        .isEqualTo(MoveResult.Outcome.DONE);
    assertThat(tiers.evict(first).outcome()).isEqualTo(MoveResult.Outcome.DONE);
    SegmentStore.Copied other = Stores.copy(store, local, Stores.info("t", 0, 100, 2, 2000));
    assertThat(other.directory().level()).isZero();
    long second = onTop(tiers).findFirst().orElseThrow().id();
    assertThat(tiers.destage(second, 1, MoveControl.UNLIMITED).outcome())
        .isEqualTo(MoveResult.Outcome.DONE);
    tiers.evictionOrder(List.of(second));
    assertThat(tiers.promote(first, 0, MoveControl.UNLIMITED).outcome())
        .isEqualTo(MoveResult.Outcome.TARGET_FULL);
    assertThat(onTop(tiers).map(SegmentView::id)).containsExactly(second);
    assertThat(tiers.evict(second).outcome()).isEqualTo(MoveResult.Outcome.DONE);
    assertThat(tiers.promote(first, 0, MoveControl.UNLIMITED).outcome())
        .isEqualTo(MoveResult.Outcome.DONE);
    store.close();
  }

  @Test
  void aMoveThatFindsNoSpaceSaysSo() throws Exception {
    SegmentStore store =
        Stores.open(
            1,
            Stores.level("ssd", OptionalLong.of(1 << 20), ssd),
            Stores.level("hdd", OptionalLong.of(1000), hdd));
    StoreTiers tiers = new StoreTiers(store, List.of("ssd", "hdd"));
    SegmentStore.Copied unused = Stores.copy(store, local, SEGMENT);
    assertThat(tiers.destage(only(tiers).id(), 1, MoveControl.UNLIMITED).outcome())
        .isEqualTo(MoveResult.Outcome.TARGET_FULL);
  }

  @Test
  void oneBrokerMoves() throws Exception {
    SegmentStore first = twoLevels();
    SegmentStore second = twoLevels();
    try (MoverLock two = new MoverLock(second.directories())) {
      try (MoverLock one = new MoverLock(first.directories())) {
        assertThat(one.tryHold()).isTrue();
        assertThat(two.tryHold()).isFalse();
        assertThat(one.tryHold()).isTrue();
      }
      assertThat(two.tryHold()).isTrue();
      try (MoverLock one = new MoverLock(first.directories())) {
        assertThat(one.tryHold()).isFalse();
      }
      assertThat(two.tryHold()).isTrue();
    }
  }

  /** The upkeep saw the mark of a move; when it looks, the move has ended, and more than that. */
  @Test
  void settlingWithAnOldViewNeverTakesTheOnlyCopy() throws Exception {
    SegmentStore store = twoLevels();
    StoreTiers tiers = new StoreTiers(store, List.of("ssd", "hdd"));
    SegmentStore.Copied unused = Stores.copy(store, local, SEGMENT);
    SegmentStore other = twoLevels();
    hook =
        reached -> {
          if (reached == StoreStage.MOVE_PUBLISHED) {
            hook = StoreStage.Hook.NONE;
            refreshAll(other);
          }
        };
    long id = only(tiers).id();
    assertThat(tiers.destage(id, 1, MoveControl.UNLIMITED).outcome())
        .isEqualTo(MoveResult.Outcome.DONE);
    assertThat(tiers.evict(id).outcome()).isEqualTo(MoveResult.Outcome.DONE);
    assertThat(other.known.entries().get(0).copies()).anyMatch(StoredCopy::moving);
    assertThat(new MoveConfirmation(other).settle()).isEmpty();
    assertThat(read(store, SEGMENT.key())).isEqualTo(Stores.bytes(0, 200_000));
    assertThat(other.known.entries().get(0).copies()).noneMatch(StoredCopy::moving);
  }

  /**
   * Its process was paused, or the thread hung in a mount that was replaced: what it left was
   * settled, and its source evicted, before it goes on.
   */
  @Test
  void aMoveThatGoesOnLateLeavesWhatAnotherHasConfirmed() throws Exception {
    SegmentStore store = twoLevels();
    StoreTiers tiers = new StoreTiers(store, List.of("ssd", "hdd"));
    SegmentStore.Copied unused = Stores.copy(store, local, SEGMENT);
    SegmentStore other = twoLevels();
    StoreTiers others = new StoreTiers(other, List.of("ssd", "hdd"));
    hook =
        reached -> {
          if (reached == StoreStage.MOVE_PUBLISHED) {
            hook = StoreStage.Hook.NONE;
            refreshAll(other);
            try {
              assertThat(new MoveConfirmation(other).settle()).isEmpty();
              assertThat(others.evict(only(others).id()).outcome())
                  .isEqualTo(MoveResult.Outcome.DONE);
            } catch (IOException | InterruptedException e) {
              throw new AssertionError(e);
            }
          }
        };

    assertThat(tiers.destage(only(tiers).id(), 1, MoveControl.UNLIMITED).outcome())
        .isEqualTo(MoveResult.Outcome.DONE);

    assertThat(read(other, SEGMENT.key())).isEqualTo(Stores.bytes(0, 200_000));
  }

  /** A manager whose copy fails may remove what it finds of the segment, another's copy too. */
  @Test
  void aBrokerThatTakesOverLeavesACopyToTheColdManagerThatIsUnderWay() throws Exception {
    SegmentStore first = withCold();
    StoreTiers tiers = new StoreTiers(first, List.of("ssd", "cold"));
    SegmentStore.Copied unused = Stores.copy(first, local, SEGMENT);
    SegmentStore second = withCold(2);
    refreshAll(second);
    StoreTiers seconds = new StoreTiers(second, List.of("ssd", "cold"));
    cold.duringCopy =
        () -> {
          cold.duringCopy = () -> {};
          try {
            assertThat(seconds.destage(only(seconds).id(), 1, MoveControl.UNLIMITED).reason())
                .contains("broker 1 began to copy it within the last day");
          } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
          }
          cold.segments.clear();
          throw new IllegalStateException("the connection was lost");
        };
    assertThatThrownBy(() -> tiers.destage(only(tiers).id(), 1, MoveControl.UNLIMITED))
        .hasMessageContaining("the connection was lost");

    // A process of the same broker, or an hour: no process copies it any more.
    Path mark = second.directories().get(0).segment(SEGMENT.key()).resolve(StoreNames.COLD);
    Files.setLastModifiedTime(mark, FileTime.from(Instant.now().minus(Duration.ofHours(25))));
    assertThat(seconds.destage(only(seconds).id(), 1, MoveControl.UNLIMITED).outcome())
        .isEqualTo(MoveResult.Outcome.DONE);
    assertThat(cold.segments).hasSize(1);
  }

  /** The second broker has the segment in another level, and evicts the copy with the mark. */
  @Test
  void aCopyToTheColdManagerFromAnotherLevelWaitsForOneThatIsUnderWay() throws Exception {
    SegmentStore first = threeLevels(1);
    StoreTiers tiers = new StoreTiers(first, List.of("ssd", "hdd", "cold"));
    SegmentStore.Copied unused = Stores.copy(first, local, SEGMENT);
    SegmentStore second = threeLevels(2);
    refreshAll(second);
    StoreTiers seconds = new StoreTiers(second, List.of("ssd", "hdd", "cold"));
    cold.duringCopy =
        () -> {
          cold.duringCopy = () -> {};
          long id = only(seconds).id();
          try {
            assertThat(seconds.destage(id, 1, MoveControl.UNLIMITED).outcome())
                .isEqualTo(MoveResult.Outcome.DONE);
            assertThat(seconds.evict(id).outcome()).isEqualTo(MoveResult.Outcome.DONE);
            assertThat(seconds.destage(id, 2, MoveControl.UNLIMITED).reason())
                .contains("broker 1 began to copy it within the last day");
            assertThat(seconds.evict(id).outcome()).isEqualTo(MoveResult.Outcome.CANCELLED);
          } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
          }
          cold.segments.clear();
          throw new IllegalStateException("the connection was lost");
        };
    assertThatThrownBy(() -> tiers.destage(only(tiers).id(), 2, MoveControl.UNLIMITED))
        .hasMessageContaining("the connection was lost");

    assertThat(read(second, SEGMENT.key())).isEqualTo(Stores.bytes(0, 200_000));
  }

  /** What the broker that found the damage knew is gone. */
  @Test
  void aCopyWithoutARightManifestIsRepairedByABrokerThatStartsLater() throws Exception {
    SegmentStore store = inBothLevels();
    Path manifest = store.directories().get(1).segment(SEGMENT.key()).resolve(StoreNames.MANIFEST);
    byte[] right = Files.readAllBytes(manifest);
    for (boolean there : List.of(true, false)) {
      Files.delete(manifest);
      if (there) {
        Path damaged = Files.writeString(manifest, "{");
        assertThat(damaged).exists();
      }
      SegmentStore later = twoLevels();
      for (StoreDirectory directory : later.directories()) {
        List<String> unusedProblems = later.known.refresh(directory, () -> {});
      }
      CopyRepair repair = new CopyRepair(later);
      assertThat(repair.known()).hasSize(1);
      assertThat(repair.repair(repair.known().get(0), bytes -> {})).containsExactly(manifest);
      assertThat(manifest).hasBinaryContent(right);
      assertThat(repair.known()).isEmpty();
    }
  }

  /** Found when the other copy is to go: the weekly scrub is not the first to say so. */
  @Test
  void aFileThatIsMissingWhereTheOtherCopyIsToGoIsNotedAsDamage() throws Exception {
    SegmentStore store = inBothLevels();
    StoreTiers tiers = new StoreTiers(store, List.of("ssd", "hdd"));
    Files.delete(
        store
            .directories()
            .get(1)
            .segment(SEGMENT.key())
            .resolve(ObjectType.TIME_INDEX.fileName(SEGMENT.key())));

    assertThat(tiers.evict(only(tiers).id()).outcome()).isNotEqualTo(MoveResult.Outcome.DONE);

    assertThat(new CopyRepair(store).known()).hasSize(1);
    assertThat(read(store, SEGMENT.key())).isEqualTo(Stores.bytes(0, 200_000));
  }

  /** The clock of the file system dates what brokers write. */
  @Test
  void aBrokerWhoseClockIsBehindSeesThatAnotherUsesOtherDirectories() throws Exception {
    SegmentStore behind =
        Stores.open(
            new StoreOptions(
                List.of(Stores.level("ssd", ssd), Stores.level("hdd", hdd)),
                1,
                Stores.CLUSTER,
                List.of(),
                () -> Instant.now().minus(Duration.ofMinutes(10)),
                StoreStage.Hook.NONE,
                StoreIdentity::read,
                DirectoryAccess.Threads.NONE),
            Optional.empty());
    SegmentStore other = Stores.open(2, Stores.level("hdd", hdd), Stores.level("ssd", ssd));
    StoreUpkeep upkeep = new StoreUpkeep(behind);
    StoreUpkeep others = new StoreUpkeep(other);
    for (StoreDirectory directory : behind.directories()) {
      upkeep.signIn(directory);
    }
    for (StoreDirectory directory : other.directories()) {
      others.signIn(directory);
    }
    StoreDirectory shared = behind.directories().get(0);
    assertThat(upkeep.disagreeing(shared, Duration.ofMinutes(5), damage -> {})).hasSize(1);
  }

  private static void refreshAll(SegmentStore store) {
    for (StoreDirectory directory : store.directories()) {
      try {
        assertThat(store.known.refresh(directory, () -> {})).isEmpty();
      } catch (IOException e) {
        throw new AssertionError(e);
      }
    }
  }

  /** A rolling change of the order of levels: two brokers that would each keep "the other" copy. */
  @Test
  void brokersWithAnotherOrderOfLevelsDoNotBothMoveNorBothEvict() throws Exception {
    SegmentStore one = twoLevels();
    SegmentStore two = Stores.open(2, Stores.level("hdd", hdd), Stores.level("ssd", ssd));
    try (MoverLock first = new MoverLock(one.directories());
        MoverLock second = new MoverLock(two.directories())) {
      assertThat(first.tryHold()).isTrue();
      assertThat(second.tryHold()).isFalse();
    }
    StoreDirectory shared = two.directories().get(0);
    new StoreUpkeep(two).signIn(shared);
    assertThat(new StoreUpkeep(one).disagreeing(shared, Duration.ofHours(1), damage -> {}))
        .hasSize(1);
    for (StoreStage stage : List.of(StoreStage.EVICT_MARKED, StoreStage.EVICT_TRASHED)) {
      StoreTiers tiers = new StoreTiers(one, List.of("ssd", "hdd"));
      StoreTiers reversed = new StoreTiers(two, List.of("hdd", "ssd"));
      SegmentStore.Copied unused = Stores.copy(one, local, SEGMENT);
      assertThat(tiers.destage(only(tiers).id(), 1, MoveControl.UNLIMITED).outcome())
          .isEqualTo(MoveResult.Outcome.DONE);
      refreshAll(two);
      hook =
          reached -> {
            if (reached == stage) {
              hook = StoreStage.Hook.NONE;
              try {
                assertThat(reversed.evict(only(reversed).id()).outcome())
                    .isEqualTo(MoveResult.Outcome.CANCELLED);
              } catch (IOException e) {
                throw new AssertionError(e);
              }
            }
          };
      assertThat(tiers.evict(only(tiers).id()).outcome()).isEqualTo(MoveResult.Outcome.DONE);
      assertThat(read(one, SEGMENT.key())).isEqualTo(Stores.bytes(0, 200_000));
      assertThat(one.delete(SEGMENT)).hasSize(1);
    }
  }

  @Test
  void aColdCopyThatIsDoneIsNotBegunAgain() throws Exception {
    SegmentStore store = withCold();
    StoreTiers tiers = new StoreTiers(store, List.of("ssd", "cold"));
    SegmentStore.Copied unused = Stores.copy(store, local, SEGMENT);
    SegmentStore other = withCold();
    refreshAll(other);
    StoreTiers second = new StoreTiers(other, List.of("ssd", "cold"));
    long id = only(tiers).id();
    assertThat(tiers.destage(id, 1, MoveControl.UNLIMITED).outcome())
        .isEqualTo(MoveResult.Outcome.DONE);
    assertThat(second.destage(only(second).id(), 1, MoveControl.UNLIMITED).outcome())
        .isEqualTo(MoveResult.Outcome.CANCELLED);
    assertThat(tiers.evict(id).outcome()).isEqualTo(MoveResult.Outcome.DONE);
    assertThat(read(store, SEGMENT.key())).isEqualTo(Stores.bytes(0, 200_000));
  }

  /** A deletion has looked at the upper level when the promotion publishes there. */
  @Test
  void aPromotionDuringADeletionDoesNotComeBack() throws Exception {
    Path low = Files.createDirectory(top.resolve("low"));
    SegmentStore store =
        Stores.open(
            Stores.options(
                1,
                List.of(),
                stage -> hook.reached(stage),
                Stores.level("ssd", ssd),
                Stores.level("hdd", hdd),
                Stores.level("low", low)),
            Optional.empty());
    StoreTiers tiers = new StoreTiers(store, List.of("ssd", "hdd", "low"));
    SegmentStore.Copied unused = Stores.copy(store, local, SEGMENT);
    long id = only(tiers).id();
    for (int level = 1; level <= 2; level++) {
      assertThat(tiers.destage(id, level, MoveControl.UNLIMITED).outcome())
          .isEqualTo(MoveResult.Outcome.DONE);
    }
    assertThat(tiers.evict(id).outcome()).isEqualTo(MoveResult.Outcome.DONE);
    hook =
        reached -> {
          if (reached == StoreStage.DELETE_TRASHED) {
            hook = StoreStage.Hook.NONE;
            try {
              assertThat(tiers.promote(id, 0, MoveControl.UNLIMITED).outcome())
                  .isEqualTo(MoveResult.Outcome.DONE);
            } catch (IOException | InterruptedException e) {
              throw new AssertionError(e);
            }
          }
        };
    assertThat(store.delete(SEGMENT)).hasSize(3);
    assertThat(store.lookup.locate(SEGMENT.key())).isEmpty();
  }

  /** What the mover before has done is not known yet; its copy is the only one by then. */
  @Test
  void aMoveNeverReplacesACopyThatItDidNotKnow() throws Exception {
    SegmentStore store = twoLevels();
    StoreTiers tiers = new StoreTiers(store, List.of("ssd", "hdd"));
    SegmentStore.Copied unused = Stores.copy(store, local, SEGMENT);
    SegmentStore other = twoLevels();
    refreshAll(other);
    StoreTiers before = new StoreTiers(other, List.of("ssd", "hdd"));
    hook =
        reached -> {
          if (reached == StoreStage.MOVE_STAGED) {
            hook = StoreStage.Hook.NONE;
            try {
              long id = only(before).id();
              assertThat(before.destage(id, 1, MoveControl.UNLIMITED).outcome())
                  .isEqualTo(MoveResult.Outcome.DONE);
              assertThat(before.evict(id).outcome()).isEqualTo(MoveResult.Outcome.DONE);
            } catch (IOException | InterruptedException e) {
              throw new AssertionError(e);
            }
          }
        };
    assertThat(tiers.destage(only(tiers).id(), 1, MoveControl.UNLIMITED).outcome())
        .isEqualTo(MoveResult.Outcome.CANCELLED);
    assertThat(read(store, SEGMENT.key())).isEqualTo(Stores.bytes(0, 200_000));
    // And not copied again to learn the same.
    hook =
        reached -> {
          throw new AssertionError(reached);
        };
    assertThat(tiers.destage(only(tiers).id(), 1, MoveControl.UNLIMITED).outcome())
        .isEqualTo(MoveResult.Outcome.CANCELLED);
  }

  /** A disk is lost during a move, and taken out of the configuration, as the store advises. */
  @Test
  void aMovesCopyIsKeptWhenItsSourceIsNotConfiguredAnyMore() throws Exception {
    Path fresh = Files.createDirectory(top.resolve("new"));
    for (Path instead : List.of(fresh, hdd)) {
      SegmentStore store = twoLevels();
      StoreTiers tiers = new StoreTiers(store, List.of("ssd", "hdd"));
      SegmentStore.Copied unused = Stores.copy(store, local, SEGMENT);
      hook =
          reached -> {
            if (reached == StoreStage.MOVE_PUBLISHED) {
              throw new IllegalStateException("the process dies");
            }
          };
      assertThatThrownBy(() -> tiers.destage(only(tiers).id(), 1, MoveControl.UNLIMITED))
          .hasMessage("the process dies");
      hook = StoreStage.Hook.NONE;
      SegmentStore later =
          instead.equals(hdd)
              ? Stores.open(1, Stores.level("hdd", hdd))
              : Stores.open(1, Stores.level("ssd", instead), Stores.level("hdd", hdd));
      refreshAll(later);
      assertThat(later.known.entries().get(0).copies()).allMatch(StoredCopy::moving);

      assertThat(new MoveConfirmation(later).settle()).isEmpty();

      assertThat(read(later, SEGMENT.key())).isEqualTo(Stores.bytes(0, 200_000));
      assertThat(later.known.entries().get(0).copies()).noneMatch(StoredCopy::moving);
      assertThat(later.delete(SEGMENT)).hasSize(1);
      assertThat(later.lookup.locate(SEGMENT.key())).isEmpty();
      SegmentStore all = Stores.open(1, Stores.level("a", ssd, fresh), Stores.level("hdd", hdd));
      assertThat(all.delete(SEGMENT)).hasSize(1);
    }
  }

  /** The lower copy was seen, and cannot be any more when the upper one is out of sight. */
  @Test
  void anEvictionThatCannotLookAgainIsUndone() throws Exception {
    SegmentStore store = twoLevels();
    StoreTiers tiers = new StoreTiers(store, List.of("ssd", "hdd"));
    long id = destaged(store, tiers);
    hook =
        reached -> {
          if (reached == StoreStage.EVICT_MARKED) {
            store.directories().get(1).suspend("the disk does not answer");
          }
        };
    assertThatThrownBy(() -> tiers.evict(id)).hasMessageContaining("does not answer");
    assertThat(read(store, SEGMENT.key())).isEqualTo(Stores.bytes(0, 200_000));
    assertThat(Stores.tree(ssd))
        .noneMatch(path -> path.startsWith("trash/") || path.endsWith("/going"));
  }

  @Test
  void anEvictionLooksOnceMore() throws Exception {
    SegmentStore store = twoLevels();
    StoreTiers tiers = new StoreTiers(store, List.of("ssd", "hdd"));
    long id = destaged(store, tiers);
    hook =
        reached -> {
          if (reached == StoreStage.EVICT_MARKED) {
            try {
              Disk.removeTree(StoreNames.segment(hdd, SEGMENT.key()));
            } catch (IOException e) {
              throw new AssertionError(e);
            }
          }
        };
    assertThat(tiers.evict(id).outcome()).isEqualTo(MoveResult.Outcome.CANCELLED);
    assertThat(read(store, SEGMENT.key())).isEqualTo(Stores.bytes(0, 200_000));
    assertThat(Stores.tree(ssd)).noneMatch(path -> path.endsWith("/going"));
  }

  @Test
  void whatAnEarlierProcessHasLeftInTheTrashIsClearedAway() throws Exception {
    SegmentStore store = twoLevels();
    Path left =
        Files.createDirectory(ssd.resolve("trash").resolve("x-1-" + StoreNames.randomId() + "-7"));
    assertThat(
            new StoreUpkeep(store).clear(store.directories().get(0), Duration.ofDays(1)).removed())
        .containsExactly(left);
  }

  /** It died between the mark and the trash; the mark hinders no broker for ever. */
  @Test
  void theMarkOfAnEvictionThatDiedIsTakenOver() throws Exception {
    SegmentStore store = twoLevels();
    StoreTiers tiers = new StoreTiers(store, List.of("ssd", "hdd"));
    SegmentStore.Copied unused = Stores.copy(store, local, SEGMENT);
    long id = only(tiers).id();
    Path going = Files.createFile(StoreNames.segment(ssd, SEGMENT.key()).resolve("going"));
    assertThat(tiers.destage(id, 1, MoveControl.UNLIMITED).outcome())
        .isEqualTo(MoveResult.Outcome.DONE);
    assertThat(Stores.scrub(store, store.directories().get(0))).isEmpty();
    FileTime old = FileTime.fromMillis(System.currentTimeMillis() - Duration.ofDays(2).toMillis());
    Path unusedPath = Files.setLastModifiedTime(going, old);
    assertThat(Stores.scrub(store, store.directories().get(0)))
        .extracting(Finding::kind)
        .containsExactly(Finding.Kind.ORPHAN);
    assertThat(tiers.evict(id).outcome()).isEqualTo(MoveResult.Outcome.DONE);
    assertThat(read(store, SEGMENT.key())).isEqualTo(Stores.bytes(0, 200_000));
  }

  /** It died between the mark and the trash, and now the other copy is to go. */
  @Test
  void aMarkThatADeadProcessLeftKeepsNoOtherCopyFromEviction() throws Exception {
    SegmentStore store = twoLevels();
    StoreTiers tiers = new StoreTiers(store, List.of("ssd", "hdd"));
    long id = destaged(store, tiers);
    Path going = Files.createFile(StoreNames.segment(hdd, SEGMENT.key()).resolve("going"));
    assertThat(tiers.evict(id).outcome()).isEqualTo(MoveResult.Outcome.CANCELLED);
    assertThat(going).exists();

    FileTime hoursAgo = FileTime.from(Instant.now().minus(Duration.ofHours(2)));
    Path unusedPath = Files.setLastModifiedTime(going, hoursAgo);
    assertThat(tiers.evict(id).outcome()).isEqualTo(MoveResult.Outcome.DONE);
    assertThat(only(tiers).tier()).isEqualTo(1);
    assertThat(Stores.tree(hdd)).noneMatch(path -> path.endsWith("/going"));
    assertThat(Stores.tree(hdd)).noneMatch(path -> path.endsWith(StoreNames.PART));
    assertThat(read(store, SEGMENT.key())).isEqualTo(Stores.bytes(0, 200_000));
  }

  /** The operator has taken another cold manager: what the one before has is no copy. */
  @Test
  void whatAnotherColdManagerHasDoesNotCount() throws Exception {
    SegmentStore first = withCold();
    StoreTiers tiers = new StoreTiers(first, List.of("ssd", "cold"));
    SegmentStore.Copied unused = Stores.copy(first, local, SEGMENT);
    assertThat(tiers.destage(only(tiers).id(), 1, MoveControl.UNLIMITED).outcome())
        .isEqualTo(MoveResult.Outcome.DONE);
    FakeCold next = new FakeCold();
    next.className = "com.example.Next";
    SegmentStore store =
        Stores.open(
            Stores.options(1, List.of(), StoreStage.Hook.NONE, Stores.level("ssd", ssd)),
            Optional.of(next));
    refreshAll(store);
    StoreTiers changed = new StoreTiers(store, List.of("ssd", "cold"));
    assertThat(only(changed).cleanTier()).isEmpty();
    assertThat(changed.evict(only(changed).id()).outcome()).isEqualTo(MoveResult.Outcome.CANCELLED);
    assertThat(read(store, SEGMENT.key())).isEqualTo(Stores.bytes(0, 200_000));
    // Nor is it forgotten: a deletion has to tell that one.
    MoveResult refused = changed.destage(only(changed).id(), 1, MoveControl.UNLIMITED);
    assertThat(refused.outcome()).isEqualTo(MoveResult.Outcome.CANCELLED);
    assertThat(refused.reason()).contains("com.example.Cold");
    assertThat(next.segments).isEmpty();
    assertThat(first.delete(SEGMENT)).hasSize(1);
    assertThat(cold.segments).isEmpty();
  }

  /** It stands still between its look for a mark and its own one. */
  @Test
  void aBrokerThatStoodStillReplacesNoMarkOfTheNextMover() throws Exception {
    theNextMoverIsFaster(segment -> {});
  }

  /** Both may replace the mark of one that died over a day ago. */
  @Test
  void aBrokerThatStoodStillAtAnOldMarkReplacesNoneOfTheNextMover() throws Exception {
    theNextMoverIsFaster(
        segment -> {
          Path mark = segment.resolve(StoreNames.COLD);
          Path unused = Files.write(mark, ColdMark.begun(cold.className, 3).print());
          FileTime old = FileTime.from(Instant.now().minus(Duration.ofDays(2)));
          Path unusedToo = Files.setLastModifiedTime(mark, old);
        });
  }

  @FunctionalInterface
  private interface Before {
    void at(Path segment) throws IOException;
  }

  private void theNextMoverIsFaster(Before before) throws Exception {
    FaultyFileSystem files = new FaultyFileSystem();
    SegmentStore store =
        Stores.open(
            Stores.options(
                1, List.of(), StoreStage.Hook.NONE, Stores.level("ssd", files.wrap(ssd))),
            Optional.of(cold));
    StoreTiers tiers = new StoreTiers(store, List.of("ssd", "cold"));
    SegmentStore.Copied unused = Stores.copy(store, local, SEGMENT);
    Path segment = StoreNames.segment(ssd, SEGMENT.key());
    before.at(segment);
    SegmentStore next = withCold(2);
    refreshAll(next);
    StoreTiers nextTiers = new StoreTiers(next, List.of("ssd", "cold"));
    AtomicBoolean moved = new AtomicBoolean();
    Runnable unusedToo =
        files.hang(
            (operation, path) -> {
              if (operation == FaultyFileSystem.Operation.WRITE
                  && path.getFileName().toString().matches("cold[.]json[.].*")
                  && !moved.getAndSet(true)) {
                moveToCold(nextTiers);
              }
              return false;
            });

    MoveResult result = tiers.destage(only(tiers).id(), 1, MoveControl.UNLIMITED);

    assertThat(moved).isTrue();
    assertThat(result.outcome()).isEqualTo(MoveResult.Outcome.CANCELLED);
    assertThat(segment.resolve(ObjectType.LOG.fileName(SEGMENT.key()))).doesNotExist();
    assertThat(ColdMark.read(segment).done()).isTrue();
    assertThat(read(next, SEGMENT.key())).isEqualTo(Stores.bytes(0, 200_000));
  }

  private static void moveToCold(StoreTiers tiers) {
    try {
      assertThat(tiers.destage(only(tiers).id(), 1, MoveControl.UNLIMITED).outcome())
          .isEqualTo(MoveResult.Outcome.DONE);
      assertThat(tiers.evict(only(tiers).id()).outcome()).isEqualTo(MoveResult.Outcome.DONE);
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** Its stub is above, a whole copy between, and the cold manager has it too. */
  @Test
  void whatComesBackToItsStubIsTakenFromWhereverItIs() throws Exception {
    SegmentStore store = threeLevels();
    StoreTiers tiers = new StoreTiers(store, List.of("ssd", "hdd", "cold"));
    SegmentStore.Copied unused = Stores.copy(store, local, SEGMENT);
    long id = only(tiers).id();
    assertThat(tiers.destage(id, 2, MoveControl.UNLIMITED).outcome())
        .isEqualTo(MoveResult.Outcome.DONE);
    assertThat(tiers.evict(id).outcome()).isEqualTo(MoveResult.Outcome.DONE);
    assertThat(tiers.promote(id, 1, MoveControl.UNLIMITED).outcome())
        .isEqualTo(MoveResult.Outcome.DONE);
    assertThat(tiers.promote(id, 0, MoveControl.UNLIMITED).outcome())
        .isEqualTo(MoveResult.Outcome.DONE);
    SegmentStore.Located found = store.lookup.locate(SEGMENT.key()).orElseThrow();
    assertThat(found.directory().level()).isEqualTo(0);
    assertThat(Files.readAllBytes(found.file(ObjectType.LOG))).isEqualTo(Stores.bytes(0, 200_000));
    assertThat(store.delete(SEGMENT)).hasSize(2);
    assertThat(cold.segments).isEmpty();
  }

  private SegmentStore threeLevels() {
    return threeLevels(1);
  }

  private SegmentStore threeLevels(int broker) {
    return Stores.open(
        Stores.options(
            broker,
            List.of(),
            StoreStage.Hook.NONE,
            Stores.level("ssd", ssd),
            Stores.level("hdd", hdd)),
        Optional.of(cold));
  }

  /** A copy to the cold manager failed from one level, and was made from the next. */
  @Test
  void theMarkOfAFailedColdCopyDoesNotHideTheOther() throws Exception {
    SegmentStore store = threeLevels();
    StoreTiers tiers = new StoreTiers(store, List.of("ssd", "hdd", "cold"));
    SegmentStore.Copied unused = Stores.copy(store, local, SEGMENT);
    long id = only(tiers).id();
    cold.failing = true;
    assertThatThrownBy(() -> tiers.destage(id, 2, MoveControl.UNLIMITED))
        .isInstanceOf(IOException.class);
    cold.failing = false;
    assertThat(tiers.destage(id, 1, MoveControl.UNLIMITED).outcome())
        .isEqualTo(MoveResult.Outcome.DONE);
    assertThat(tiers.evict(id).outcome()).isEqualTo(MoveResult.Outcome.DONE);
    assertThat(Stores.scrub(store, store.directories().get(0)))
        .as("the log was evicted here, and is not missing")
        .isEmpty();
    assertThat(tiers.destage(id, 2, MoveControl.UNLIMITED).outcome())
        .isEqualTo(MoveResult.Outcome.DONE);
    assertThat(tiers.evict(id).outcome()).isEqualTo(MoveResult.Outcome.DONE);

    assertThat(read(store, SEGMENT.key())).isEqualTo(Stores.bytes(0, 200_000));
    assertThat(tiers.promote(id, 0, MoveControl.UNLIMITED).outcome())
        .isEqualTo(MoveResult.Outcome.DONE);
    Path log = store.lookup.locate(SEGMENT.key()).orElseThrow().file(ObjectType.LOG);
    assertThat(Files.readAllBytes(log)).isEqualTo(Stores.bytes(0, 200_000));
    assertThat(Stores.scrub(store, store.directories().get(0))).isEmpty();
    Files.move(log, log.resolveSibling("away"));
    assertThat(Stores.scrub(store, store.directories().get(0)))
        .extracting(Finding::kind)
        .contains(Finding.Kind.MISSING);
    Files.move(log.resolveSibling("away"), log);
    assertThat(store.delete(SEGMENT)).hasSize(2);
    assertThat(cold.segments).isEmpty();
  }

  /** A directory comes back whose lock another broker has: moves may be under way still. */
  @Test
  void theMoversLockIsKeptUntilItIsReleased() throws Exception {
    SegmentStore one = twoLevels();
    SegmentStore two = twoLevels();
    MoverLock first = new MoverLock(one.directories());
    try (MoverLock second = new MoverLock(two.directories())) {
      one.directories().get(1).suspend("does not answer");
      two.directories().get(0).suspend("does not answer");
      assertThat(first.tryHold()).isTrue();
      assertThat(second.tryHold()).isTrue();
      one.directories().get(1).resume();
      assertThat(first.tryHold()).isFalse();
      two.directories().get(0).resume();
      assertThat(second.tryHold()).isFalse();
      first.close();
      assertThat(second.tryHold()).isTrue();
      assertThat(first.tryHold()).isFalse();
    }
  }

  /** The thread of a copy that frees space is interrupted when it runs out of its time. */
  @Test
  void anEvictionOfAnInterruptedThreadIsUndoneAllTheSame() throws Exception {
    SegmentStore store = twoLevels();
    StoreTiers tiers = new StoreTiers(store, List.of("ssd", "hdd"));
    long id = destaged(store, tiers);
    hook =
        reached -> {
          if (reached == StoreStage.EVICT_MARKED) {
            Thread.currentThread().interrupt();
          }
        };
    assertThatThrownBy(() -> tiers.evict(id)).isInstanceOf(IOException.class);
    assertThat(Thread.interrupted()).isTrue();
    assertThat(store.lookup.locate(SEGMENT.key()).orElseThrow().directory().level()).isEqualTo(0);
  }
}
