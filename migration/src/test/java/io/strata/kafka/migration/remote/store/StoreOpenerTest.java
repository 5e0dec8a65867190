package io.strata.kafka.migration.remote.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.migration.remote.store.SegmentStore.StoreRefusedException;
import io.strata.kafka.migration.remote.store.disk.DirectoryAccess;
import io.strata.kafka.migration.remote.store.disk.DirectoryAccess.StoreUnavailableException;
import io.strata.kafka.migration.remote.store.disk.Disk;
import io.strata.kafka.migration.remote.store.disk.StoreDirectory;
import io.strata.kafka.migration.remote.store.disk.StoreListing;
import io.strata.kafka.migration.remote.store.disk.StoreMemory;
import io.strata.kafka.migration.remote.store.disk.StoreOptions;
import io.strata.kafka.migration.remote.store.disk.StoreOptions.LevelOptions;
import io.strata.kafka.migration.remote.store.disk.StoreOptions.StoreStage;
import io.strata.kafka.migration.remote.store.layout.JsonFile;
import io.strata.kafka.migration.remote.store.layout.StoreIdentity;
import io.strata.kafka.migration.remote.store.layout.StoreNames;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Phaser;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a broker finds when it opens the store. */
class StoreOpenerTest {

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

  private SegmentStore open(LevelOptions... levels) throws Exception {
    return new SegmentStore(
        Stores.options(1, List.of(logs), StoreStage.Hook.NONE, levels), Optional.empty());
  }

  @Test
  void allDirectoriesBecomeOneStore() throws Exception {
    SegmentStore store = open(Stores.level("ssd", ssd), Stores.level("hdd", hdd));
    StoreIdentity first = StoreIdentity.read(ssd);
    StoreIdentity second = StoreIdentity.read(hdd);
    assertThat(first.storeId()).isEqualTo(second.storeId()).isEqualTo(store.storeId());
    assertThat(first.clusterId()).isEqualTo(Stores.CLUSTER);
    assertThat(first.directoryId()).isNotEqualTo(second.directoryId());
    assertThat(store.firstUses).hasSize(2).allMatch(made -> made.contains("for the first time"));
    SegmentStore again = open(Stores.level("ssd", ssd), Stores.level("hdd", hdd));
    assertThat(again.storeId()).isEqualTo(store.storeId());
    assertThat(again.firstUses).isEmpty();
  }

  @Test
  void brokersThatComeAtOnceMakeOneStore() throws Exception {
    int brokers = 8;
    try (var closing = new AutoCloseableExecutor(brokers)) {
      CyclicBarrier start = new CyclicBarrier(brokers);
      List<Future<String>> ids = new ArrayList<>();
      for (int i = 0; i < brokers; i++) {
        int broker = i;
        ids.add(
            closing.executor.submit(
                () -> {
                  int unused = start.await();
                  return new SegmentStore(
                          Stores.options(
                              broker,
                              List.of(),
                              StoreStage.Hook.NONE,
                              Stores.level("ssd", ssd),
                              Stores.level("hdd", hdd)),
                          Optional.empty())
                      .storeId();
                }));
      }
      Set<String> distinct = new HashSet<>();
      for (Future<String> id : ids) {
        distinct.add(id.get());
      }
      assertThat(distinct).hasSize(1);
    }
  }

  /** Each sees the two directories under the other's paths, and all they do meets step by step. */
  @Test
  void brokersThatSeeTheDirectoriesInAnotherOrderMakeOneStore() throws Exception {
    Path one = Files.createDirectory(top.resolve("one"));
    Path two = Files.createDirectory(top.resolve("two"));
    Path unused = Files.createSymbolicLink(one.resolve("x"), ssd);
    Path unusedToo = Files.createSymbolicLink(one.resolve("y"), hdd);
    Path unusedThree = Files.createSymbolicLink(two.resolve("x"), hdd);
    Path unusedFour = Files.createSymbolicLink(two.resolve("y"), ssd);
    Phaser steps = new Phaser(2);
    try (var closing = new AutoCloseableExecutor(2)) {
      Future<String> first =
          closing.executor.submit(
              () ->
                  stepByStep(
                      1,
                      steps,
                      Stores.level("ssd", one.resolve("x")),
                      Stores.level("hdd", one.resolve("y"))));
      Future<String> second =
          closing.executor.submit(
              () ->
                  stepByStep(
                      2,
                      steps,
                      Stores.level("ssd", two.resolve("y")),
                      Stores.level("hdd", two.resolve("x"))));
      assertThat(first.get()).isEqualTo(second.get());
    }
    assertThat(StoreIdentity.read(ssd).storeId()).isEqualTo(StoreIdentity.read(hdd).storeId());
  }

  /** At each identity that is read, and each that is made, the other one is waited for. */
  private static String stepByStep(int broker, Phaser steps, LevelOptions... levels)
      throws Exception {
    try {
      StoreOptions options =
          new StoreOptions(
              List.of(levels),
              broker,
              Stores.CLUSTER,
              List.of(),
              () -> {
                meet(steps);
                return Instant.ofEpochMilli(1_700_000_000_000L);
              },
              StoreStage.Hook.NONE,
              directory -> {
                meet(steps);
                return StoreIdentity.read(directory);
              },
              DirectoryAccess.Threads.NONE);
      return new SegmentStore(options, Optional.empty()).storeId();
    } finally {
      int unused = steps.arriveAndDeregister();
    }
  }

  /** Directories are read by threads of their own: one may come while the two before it leave. */
  private static void meet(Phaser steps) {
    while (true) {
      try {
        int unused = steps.arriveAndAwaitAdvance();
        return;
      } catch (IllegalStateException betweenTwoSteps) {
        Thread.onSpinWait();
      }
    }
  }

  private static final class AutoCloseableExecutor implements AutoCloseable {
    private final java.util.concurrent.ExecutorService executor;

    AutoCloseableExecutor(int threads) {
      executor = Executors.newFixedThreadPool(threads);
    }

    @Override
    public void close() {
      var unused = executor.shutdownNow();
    }
  }

  /** Whatever its id was made of. */
  @Test
  void aFreshDirectoryJoinsTheStoreThatIsThere() throws Exception {
    StoreIdentity made = open(Stores.level("ssd", ssd)).directories().get(0).identity();
    StoreIdentity other =
        new StoreIdentity(
            StoreNames.randomId(), made.clusterId(), made.directoryId(), made.createdMillis());
    Disk.replace(ssd.resolve(StoreNames.IDENTITY), other.print());

    SegmentStore store = open(Stores.level("hdd", hdd), Stores.level("ssd", ssd));

    assertThat(store.directories())
        .extracting(directory -> directory.identity().storeId())
        .containsExactly(other.storeId(), other.storeId());
  }

  @Test
  void aStoreOfAnotherClusterIsRefused() throws Exception {
    SegmentStore unused = open(Stores.level("ssd", ssd));
    StoreOptions other =
        new StoreOptions(
            List.of(Stores.level("ssd", ssd)),
            1,
            "another-cluster",
            List.of(),
            InstantSource.system(),
            StoreStage.Hook.NONE,
            StoreIdentity::read,
            DirectoryAccess.Threads.NONE);
    assertThatThrownBy(() -> new SegmentStore(other, Optional.empty()))
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageContaining(ssd.toString())
        .hasMessageContaining("found a remote store of cluster " + Stores.CLUSTER)
        .hasMessageContaining("another-cluster");
  }

  @Test
  void oneDirectoryUnderTwoNamesIsRefused() throws Exception {
    Path link = Files.createSymbolicLink(top.resolve("link"), ssd);
    assertThatThrownBy(() -> open(Stores.level("ssd", ssd), Stores.level("hdd", link)))
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageContaining("found the same directory as");
  }

  @Test
  void aDirectoryWithOtherThingsIsRefusedAndLeftAlone() throws Exception {
    Path file = Files.writeString(ssd.resolve("precious"), "x");
    assertThatThrownBy(() -> open(Stores.level("ssd", ssd)))
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageContaining("found precious and no ")
        .hasMessageContaining("expected a directory of a remote store, or an empty one");
    assertThat(StoreListing.entries(ssd)).containsExactly(file);
  }

  @Test
  void aDirectoryInWhichNothingCanBeMadeIsRefused() throws Exception {
    Path unused = Files.createFile(ssd.resolve(StoreNames.TOPICS));
    assertThatThrownBy(() -> open(Stores.level("ssd", ssd)))
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageContaining(ssd + ": cannot be made a directory of the remote store: ");
  }

  @Test
  void aNewFileSystemIsTaken() throws Exception {
    Path unused = Files.createDirectory(ssd.resolve("lost+found"));
    assertThat(open(Stores.level("ssd", ssd)).warnings).isEmpty();
  }

  @Test
  void aMissingDirectoryIsRefused() {
    assertThatThrownBy(() -> open(Stores.level("ssd", top.resolve("nowhere"))))
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageContaining("nowhere")
        .hasMessageContaining("is no directory, expected one: create it");
  }

  @Test
  void anEmptyMountPointIsNotTakenForANewDirectory() throws Exception {
    SegmentStore before = open(Stores.level("ssd", ssd), Stores.level("hdd", hdd));
    Path away = Files.move(hdd, top.resolve("away"));
    Path unused = Files.createDirectory(hdd);
    SegmentStore after = open(Stores.level("ssd", ssd), Stores.level("hdd", hdd));
    assertThat(after.warnings).singleElement().asString().contains("mounted");
    assertThat(StoreListing.entries(hdd)).isEmpty();
    StoreDirectory unavailable = after.directories().get(1);
    assertThatThrownBy(unavailable::checkAvailable)
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining(hdd.toString());
    Files.delete(hdd);
    Path unusedToo = Files.move(away, hdd);
    unavailable.checkAvailable();
    assertThat(after.storeId()).isEqualTo(before.storeId());
  }

  @Test
  void aDamagedIdentityIsWrittenAgainByABrokerThatRemembersIt() throws Exception {
    SegmentStore before = open(Stores.level("ssd", ssd));
    Path identity = damagedIdentity();
    SegmentStore after = open(Stores.level("ssd", ssd));
    assertThat(after.warnings)
        .singleElement()
        .asString()
        .contains(identity.toString())
        .contains("written again");
    assertThat(StoreIdentity.read(ssd)).isEqualTo(before.directories().get(0).identity());
    after.directories().get(0).checkAvailable();
  }

  /** It is sound, and another version's: this one must not write over it. */
  @Test
  void anIdentityOfANewerVersionIsRefusedByABrokerThatRemembersIt() throws Exception {
    SegmentStore unused = open(Stores.level("ssd", ssd));
    Path identity = ssd.resolve(StoreNames.IDENTITY);
    byte[] newer = JsonFile.print(JsonFile.object(99).put("storeId", "x"));
    Path unusedToo = Files.write(identity, newer);
    assertThatThrownBy(() -> open(Stores.level("ssd", ssd)))
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageContaining("it was written by a newer Strata");
    assertThat(identity).hasBinaryContent(newer);
  }

  private Path damagedIdentity() throws Exception {
    Path identity = ssd.resolve(StoreNames.IDENTITY);
    byte[] bytes = Files.readAllBytes(identity);
    bytes[20] ^= 1;
    return Files.write(identity, bytes);
  }

  @Test
  void aDamagedIdentityThatNobodyRemembersIsRefused() throws Exception {
    SegmentStore unused = open(Stores.level("ssd", ssd));
    Path identity = damagedIdentity();
    Files.delete(logs.resolve(StoreMemory.FILE));
    assertThatThrownBy(() -> open(Stores.level("ssd", ssd)))
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageContaining(identity.toString())
        .hasMessageContaining("Restore the file from a backup of this directory");
  }

  /** Its log disks are new, so that it remembers nothing; another broker has signed in. */
  @Test
  void aNewBrokerLearnsOfAnUnmountedDirectoryFromOthers() throws Exception {
    SegmentStore first = open(Stores.level("ssd", ssd), Stores.level("hdd", hdd));
    StoreUpkeep upkeep = new StoreUpkeep(first);
    for (StoreDirectory directory : first.directories()) {
      upkeep.signIn(directory);
    }
    Path unused = Files.move(hdd, top.resolve("away"));
    Path unusedToo = Files.createDirectory(hdd);
    SegmentStore second =
        new SegmentStore(
            Stores.options(
                2,
                List.of(),
                StoreStage.Hook.NONE,
                Stores.level("ssd", ssd),
                Stores.level("hdd", hdd)),
            Optional.empty());
    assertThat(StoreListing.entries(hdd)).isEmpty();
    assertThat(second.warnings).singleElement().asString().contains("broker 1 uses");
    assertThat(second.directories().get(1).identity().directoryId())
        .isEqualTo(first.directories().get(1).identity().directoryId());
  }

  @Test
  void aFailedLogDirectoryIsNoReasonNotToStart() throws Exception {
    Path second = Files.createDirectory(top.resolve("logs2"));
    StoreOptions options =
        Stores.options(1, List.of(logs, second), StoreStage.Hook.NONE, Stores.level("ssd", ssd));
    SegmentStore unused = new SegmentStore(options, Optional.empty());
    Path memory = second.resolve("strata-remote-store.json");
    assertThat(memory).exists();
    Path unusedToo = Files.writeString(memory, "damaged");
    assertThat(new SegmentStore(options, Optional.empty()).warnings).isEmpty();
    Disk.removeTree(second);
    assertThat(new SegmentStore(options, Optional.empty()).warnings).isEmpty();
  }

  @Test
  void damagedMemoryIsWrittenAnewWhereEveryDirectorySaysWhatItIs() throws Exception {
    SegmentStore unused = open(Stores.level("ssd", ssd));
    Path memory = logs.resolve("strata-remote-store.json");
    byte[] right = Files.readAllBytes(memory);
    Path unusedToo = Files.writeString(memory, "damaged");

    assertThatThrownBy(() -> open(Stores.level("ssd", ssd), Stores.level("hdd", hdd)))
        .isInstanceOf(StoreRefusedException.class)
        .hasMessageContaining(memory.toString())
        .hasMessageContaining(
            "Only by that file an empty mount point is known from a new directory")
        .hasMessageContaining("delete the file");
    assertThat(StoreListing.entries(hdd)).isEmpty();
    assertThat(open(Stores.level("ssd", ssd)).warnings)
        .singleElement()
        .asString()
        .contains("it is written anew");
    assertThat(memory).hasBinaryContent(right);
  }

  /** A broker that is gone for good has signed in with a path that is another directory's now. */
  @Test
  void aPathThatABrokerOfBeforeUsedForADirectoryThatIsElsewhereNowMayBeNew() throws Exception {
    SegmentStore gone = Stores.open(7, Stores.level("ssd", ssd));
    new StoreUpkeep(gone).signIn(gone.directories().get(0));
    Path moved = Files.move(ssd, top.resolve("moved"));
    Path empty = Files.createDirectory(ssd);

    SegmentStore store = open(Stores.level("ssd", moved, empty));

    assertThat(store.warnings).isEmpty();
    assertThat(store.firstUses).singleElement().asString().contains(empty.toString());
  }

  /** This broker remembers it by its path of before. */
  @Test
  void aPathOfADirectoryThatIsElsewhereNowMayBeNew() throws Exception {
    SegmentStore unused = open(Stores.level("ssd", ssd), Stores.level("hdd", hdd));
    Path moved = Files.move(hdd, top.resolve("moved"));
    Path empty = Files.createDirectory(hdd);

    SegmentStore store = open(Stores.level("ssd", ssd), Stores.level("hdd", moved, empty));

    assertThat(store.warnings).isEmpty();
    assertThat(store.firstUses).singleElement().asString().contains(empty.toString());
  }

  /** The new path may be a mount point without the directory's file system. */
  @Test
  void aDirectoryThatIsConfiguredNoMoreIsNamedOnce() throws Exception {
    SegmentStore before = open(Stores.level("ssd", ssd), Stores.level("hdd", hdd));
    String id = before.directories().get(1).identity().directoryId();
    Path empty = Files.createDirectory(top.resolve("empty"));

    SegmentStore store = open(Stores.level("ssd", ssd), Stores.level("hdd", empty));

    assertThat(store.firstUses).singleElement().asString().contains(empty.toString());
    assertThat(store.warnings)
        .singleElement()
        .asString()
        .contains("the directory " + id, "which was at " + hdd, "mount it");
    assertThat(open(Stores.level("ssd", ssd), Stores.level("hdd", empty)).warnings).isEmpty();
  }

  /** Devices have changed their names, and one of them is not mounted. */
  @Test
  void anEmptyMountPointIsKnownThoughAnotherDirectoryWasThere() throws Exception {
    SegmentStore before = open(Stores.level("ssd", ssd), Stores.level("hdd", hdd));
    Path away = Files.move(ssd, top.resolve("away"));
    Path other = Files.move(hdd, ssd);
    Path empty = Files.createDirectory(hdd);

    SegmentStore store = open(Stores.level("ssd", other), Stores.level("hdd", empty));

    assertThat(store.warnings).singleElement().asString().contains("is its file system mounted?");
    assertThat(store.firstUses).isEmpty();
    assertThat(empty).isEmptyDirectory();
    assertThat(store.directories().get(1).identity())
        .isEqualTo(before.directories().get(0).identity());
    Files.delete(empty);
    Path back = Files.move(away, hdd);
    assertThat(StoreIdentity.read(back)).isEqualTo(store.directories().get(1).identity());
    store.directories().get(1).checkAvailable();
  }

  /** An outage of the store fills it: the broker is to start again all the same. */
  @Test
  void aFullLogDirectoryIsNoReasonNotToStart() throws Exception {
    var files = new io.strata.kafka.migration.remote.faults.FaultyFileSystem();
    StoreOptions options =
        Stores.options(
            1,
            List.of(files.wrap(logs)),
            StoreStage.Hook.NONE,
            Stores.level("ssd", ssd),
            Stores.level("hdd", hdd));
    StoreOptions one =
        Stores.options(
            1, List.of(files.wrap(logs)), StoreStage.Hook.NONE, Stores.level("ssd", ssd));
    SegmentStore unused = new SegmentStore(options, Optional.empty());
    Runnable over =
        files.fail(
            "No space left on device",
            (operation, path) ->
                operation
                        == io.strata.kafka.migration.remote.faults.FaultyFileSystem.Operation.WRITE
                    && path.startsWith(logs));
    assertThat(new SegmentStore(options, Optional.empty()).warnings).isEmpty();
    // Its level is taken out: that it is forgotten can wait.
    assertThat(new SegmentStore(one, Optional.empty()).warnings)
        .anyMatch(warning -> warning.contains("No space left on device"));
    Path away = Files.move(ssd, top.resolve("away"));
    Path mountPoint = Files.createDirectory(ssd);
    assertThat(new SegmentStore(options, Optional.empty()).warnings)
        .singleElement()
        .asString()
        .contains("is its file system mounted?");
    // A new directory must be remembered: its empty mount point would be taken for a new one, too.
    StoreOptions more =
        Stores.options(
            1,
            List.of(files.wrap(logs)),
            StoreStage.Hook.NONE,
            Stores.level("hdd", hdd, Files.createDirectory(top.resolve("new"))));
    assertThatThrownBy(() -> new SegmentStore(more, Optional.empty()))
        .hasMessageContaining("No space left on device");
    assertThat(mountPoint).isEmptyDirectory();
    assertThat(away).exists();
    over.run();
  }

  @Test
  void aDirectoryThatHangsIsFoundLater() throws Exception {
    SegmentStore unused = open(Stores.level("ssd", ssd), Stores.level("hdd", hdd));
    StoreOptions options =
        new StoreOptions(
            List.of(Stores.level("ssd", ssd), Stores.level("hdd", hdd)),
            1,
            Stores.CLUSTER,
            List.of(logs),
            InstantSource.system(),
            StoreStage.Hook.NONE,
            directory -> {
              if (directory.equals(hdd)) {
                throw new io.strata.kafka.migration.remote.store.disk.Deadlines.TimeLimitException(
                    "it hangs");
              }
              return StoreIdentity.read(directory);
            },
            DirectoryAccess.Threads.NONE);
    assertThat(new SegmentStore(options, Optional.empty()).warnings)
        .singleElement()
        .asString()
        .contains("it hangs");
  }

  /** One after the other they would take longer than Kafka's start waits. */
  @Test
  void directoriesThatHangAreAskedAtOnce() throws Exception {
    Path[] directories = new Path[12];
    for (int i = 0; i < directories.length; i++) {
      directories[i] = Files.createDirectory(top.resolve("nas" + i));
    }
    SegmentStore unused = open(Stores.level("nas", directories));
    CountDownLatch asked = new CountDownLatch(directories.length);
    AtomicBoolean together = new AtomicBoolean(true);
    StoreOptions options =
        new StoreOptions(
            List.of(Stores.level("nas", directories)),
            1,
            Stores.CLUSTER,
            List.of(logs),
            InstantSource.system(),
            StoreStage.Hook.NONE,
            directory -> {
              asked.countDown();
              try {
                boolean all = asked.await(100, TimeUnit.SECONDS);
                boolean unusedToo = together.compareAndSet(true, all);
              } catch (InterruptedException e) {
                throw new java.io.InterruptedIOException();
              }
              throw new io.strata.kafka.migration.remote.store.disk.Deadlines.TimeLimitException(
                  "it hangs");
            },
            DirectoryAccess.Threads.NONE);
    assertThat(new SegmentStore(options, Optional.empty()).warnings).hasSize(directories.length);
    assertThat(together).isTrue();
  }

  /** All of it, and not its identity alone. */
  @Test
  void aFileSystemThatHangsKeepsNoBrokerFromStarting() throws Exception {
    var files = new io.strata.kafka.migration.remote.faults.FaultyFileSystem();
    Path wrapped = files.wrap(hdd);
    SegmentStore unused = open(Stores.level("ssd", ssd), Stores.level("hdd", wrapped));
    Runnable over = files.hang((operation, path) -> path.startsWith(hdd));
    StoreOptions options =
        new StoreOptions(
            List.of(Stores.level("ssd", ssd), Stores.level("hdd", wrapped)),
            1,
            Stores.CLUSTER,
            List.of(logs),
            InstantSource.system(),
            StoreStage.Hook.NONE,
            directory -> {
              if (directory.equals(wrapped)) {
                throw new io.strata.kafka.migration.remote.store.disk.Deadlines.TimeLimitException(
                    "it hangs");
              }
              return StoreIdentity.read(directory);
            },
            DirectoryAccess.Threads.NONE);
    var opening =
        new java.util.concurrent.FutureTask<>(() -> new SegmentStore(options, Optional.empty()));
    new Thread(opening).start();
    try {
      assertThat(opening.get(20, java.util.concurrent.TimeUnit.SECONDS).warnings).isNotEmpty();
    } finally {
      over.run();
    }
  }
}
