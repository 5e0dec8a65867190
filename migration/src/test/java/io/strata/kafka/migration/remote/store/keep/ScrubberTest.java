package io.strata.kafka.migration.remote.store.keep;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.migration.remote.faults.FaultyFileSystem;
import io.strata.kafka.migration.remote.faults.FaultyFileSystem.Operation;
import io.strata.kafka.migration.remote.store.SegmentStore;
import io.strata.kafka.migration.remote.store.Stores;
import io.strata.kafka.migration.remote.store.disk.DirectoryAccess;
import io.strata.kafka.migration.remote.store.disk.Disk;
import io.strata.kafka.migration.remote.store.disk.StoreOptions;
import io.strata.kafka.migration.remote.store.disk.StoreOptions.StoreStage;
import io.strata.kafka.migration.remote.store.keep.Scrubber.Finding;
import io.strata.kafka.migration.remote.store.layout.SegmentInfo;
import io.strata.kafka.migration.remote.store.layout.SegmentKey;
import io.strata.kafka.migration.remote.store.layout.StoreIdentity;
import io.strata.kafka.migration.remote.store.layout.StoreNames;
import io.strata.kafka.migration.remote.store.layout.StoredObject.ObjectType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a scrub finds and removes. */
class ScrubberTest {

  private static final SegmentInfo SEGMENT = Stores.info("t", 0, 0, 1, 200_000);

  @TempDir private Path top = Path.of("");
  private Path ssd = Path.of("");
  private Path segment = Path.of("");

  @BeforeEach
  void aStoreWithOneSegment() throws Exception {
    ssd = Files.createDirectory(top.resolve("ssd"));
    SegmentStore store = Stores.open(1, Stores.level("ssd", ssd));
    SegmentStore.Copied unused = Stores.copy(store, top.resolve("local"), SEGMENT);
    segment = store.lookup.locate(SEGMENT.key()).orElseThrow().path();
  }

  private static final class Report implements Scrubber.Listener {
    private final List<Finding> findings = new ArrayList<>();
    private final List<Path> removed = new ArrayList<>();
    private int objects;
    private long bytes;

    @Override
    public void before(int count) {}

    @Override
    public void checked(SegmentKey key, Path directory, int checkedObjects, long checkedBytes) {
      objects += checkedObjects;
      bytes += checkedBytes;
    }

    @Override
    public void found(Finding finding) {
      findings.add(finding);
    }

    @Override
    public void removed(Path orphan) {
      removed.add(orphan);
    }
  }

  private Report scrub(Scrubber.Depth depth, boolean remove) throws Exception {
    Report report = new Report();
    Scrubber.scrub(
        ssd,
        Scrubber.Options.all(depth, remove, Duration.ofHours(1)),
        InstantSource.system(),
        "",
        report);
    return report;
  }

  private Path file(ObjectType type) {
    return segment.resolve(type.fileName(SEGMENT.key()));
  }

  private static void flip(Path file, int at) throws Exception {
    byte[] bytes = Files.readAllBytes(file);
    bytes[at] ^= 4;
    Path unused = Files.write(file, bytes);
  }

  @Test
  void aGoodStoreHasNoFindings() throws Exception {
    Report report = scrub(Scrubber.Depth.READ, false);
    assertThat(report.findings).isEmpty();
    assertThat(report.objects).isEqualTo(5);
    assertThat(report.bytes).isEqualTo(200_000 + 3 * 120 + 20);
    assertThat(scrub(Scrubber.Depth.LOOK, false).bytes).isZero();
  }

  @Test
  void aFlippedBitIsFoundInAnyFileWithItsPath() throws Exception {
    for (ObjectType type :
        List.of(
            ObjectType.LOG,
            ObjectType.OFFSET_INDEX,
            ObjectType.TIME_INDEX,
            ObjectType.PRODUCER_SNAPSHOT,
            ObjectType.LEADER_EPOCHS)) {
      flip(file(type), 11);
      assertThat(scrub(Scrubber.Depth.LOOK, false).findings).as("%s", type).isEmpty();
      assertThat(scrub(Scrubber.Depth.READ, false).findings)
          .as("%s", type)
          .singleElement()
          .satisfies(
              f -> {
                assertThat(f.kind()).isEqualTo(Finding.Kind.CORRUPT);
                assertThat(f.path()).isEqualTo(file(type));
                assertThat(f.message()).contains(file(type).toString());
              });
      flip(file(type), 11);
    }
  }

  @Test
  void theDamagedChunksAreNamed() throws Exception {
    flip(file(ObjectType.LOG), 70_000);
    assertThat(scrub(Scrubber.Depth.READ, false).findings.get(0).message())
        .contains("1 damaged chunks")
        .contains("65536 to 131071");
  }

  @Test
  void whatIsMissingOrCutIsFound() throws Exception {
    Files.delete(file(ObjectType.OFFSET_INDEX));
    Path unused = Files.write(file(ObjectType.LOG), new byte[7]);
    assertThat(scrub(Scrubber.Depth.LOOK, false).findings)
        .extracting(Finding::kind)
        .containsExactlyInAnyOrder(Finding.Kind.MISSING, Finding.Kind.CORRUPT);
    Files.delete(segment.resolve(StoreNames.MANIFEST));
    assertThat(scrub(Scrubber.Depth.LOOK, false).findings)
        .singleElement()
        .satisfies(f -> assertThat(f.path()).isEqualTo(segment.resolve(StoreNames.MANIFEST)));
  }

  @Test
  void aDamagedManifestIsFound() throws Exception {
    flip(segment.resolve(StoreNames.MANIFEST), 50);
    assertThat(scrub(Scrubber.Depth.LOOK, false).findings)
        .singleElement()
        .satisfies(f -> assertThat(f.kind()).isEqualTo(Finding.Kind.UNREADABLE));
  }

  @Test
  void leftoversAreRemovedWhenTheyAreOldAndOnlyOnRequest() throws Exception {
    Path staged = Files.createDirectories(ssd.resolve("staging/7-x/00000-y"));
    Path part = Files.write(staged.resolve("00.log"), new byte[9]);
    Path trashed = Files.createDirectories(ssd.resolve("trash/0-y-7-x"));
    Path beside = Files.write(segment.resolve("0.log" + StoreNames.PART), new byte[3]);
    assertThat(scrub(Scrubber.Depth.LOOK, true).removed).isEmpty();
    FileTime old = FileTime.fromMillis(System.currentTimeMillis() - 7_200_000);
    for (Path path : List.of(part, staged, Disk.parent(staged), trashed, beside)) {
      Path unused = Files.setLastModifiedTime(path, old);
    }
    assertThat(scrub(Scrubber.Depth.LOOK, false).findings)
        .hasSize(3)
        .allMatch(f -> f.kind() == Finding.Kind.ORPHAN);
    Report removing = scrub(Scrubber.Depth.LOOK, true);
    assertThat(removing.removed).hasSize(3);
    assertThat(removing.findings).isEmpty();
    assertThat(Stores.tree(ssd))
        .noneMatch(p -> p.startsWith("staging/7") || p.startsWith("trash/"));
    assertThat(scrub(Scrubber.Depth.READ, false).findings).isEmpty();
  }

  @Test
  void strangersAreReportedAndLeftAlone() throws Exception {
    Path inSegment = Files.writeString(segment.resolve("notes.txt"), "x");
    Path inTopics = Files.writeString(ssd.resolve("topics/t/readme"), "x");
    Path link =
        Files.createSymbolicLink(
            ssd.resolve("topics/t").resolve(Stores.TOPIC_ID).resolve("1"), Path.of("/etc"));
    Report report = scrub(Scrubber.Depth.READ, true);
    assertThat(report.findings)
        .extracting(Finding::path)
        .containsExactlyInAnyOrder(inSegment, inTopics, link);
    assertThat(report.removed).isEmpty();
    assertThat(inSegment).exists();
  }

  @Test
  void aSegmentOfAnotherStoreIsFound() throws Exception {
    Path other = Files.createDirectory(top.resolve("other"));
    SegmentStore store =
        Stores.open(
            new StoreOptions(
                List.of(Stores.level("x", other)),
                1,
                "another-cluster",
                List.of(),
                InstantSource.system(),
                StoreStage.Hook.NONE,
                StoreIdentity::read,
                DirectoryAccess.Threads.NONE),
            Optional.empty());
    SegmentInfo foreign = Stores.info("t", 0, 100, 2, 100);
    SegmentStore.Copied unused = Stores.copy(store, top.resolve("local"), foreign);
    Path unusedToo =
        Files.move(
            StoreNames.segment(other, foreign.key()), StoreNames.segment(ssd, foreign.key()));
    assertThat(scrub(Scrubber.Depth.LOOK, false).findings)
        .singleElement()
        .satisfies(f -> assertThat(f.kind()).isEqualTo(Finding.Kind.FOREIGN));
  }

  @Test
  void aDirectoryThatIsNoStoresIsRefused() {
    assertThatThrownBy(
            () ->
                Scrubber.scrub(
                    top.resolve("nowhere"),
                    Scrubber.Options.all(Scrubber.Depth.LOOK, false, Duration.ZERO),
                    InstantSource.system(),
                    "",
                    new Report()))
        .isInstanceOf(java.nio.file.NoSuchFileException.class);
  }

  /** As when the broker stops, or its directory is suspended. */
  @Test
  void anInterruptIsNoDamage() throws Exception {
    List<Finding> damage = new java.util.ArrayList<>();
    Scrubber.Listener listener =
        new Scrubber.Listener() {
          @Override
          public void before(int bytes) {
            Thread.currentThread().interrupt();
          }

          @Override
          public void checked(SegmentKey key, Path at, int objects, long bytes) {}

          @Override
          public void found(Finding finding) {
            damage.add(finding);
          }

          @Override
          public void removed(Path orphan) {}
        };
    try {
      Scrubber.scrub(
          ssd,
          Scrubber.Options.all(Scrubber.Depth.READ, false, java.time.Duration.ofDays(1)),
          java.time.InstantSource.system(),
          "",
          listener);
    } catch (java.io.IOException | InterruptedException e) {
      // It was stopped.
    } finally {
      boolean unused = Thread.interrupted();
    }
    assertThat(damage).isEmpty();
  }

  /** As on NFS, where the list of a directory that has just been removed fails with "stale". */
  @Test
  void aPartitionThatIsRemovedDuringItsListIsNoFinding() throws Exception {
    FaultyFileSystem files = new FaultyFileSystem();
    Path partition = Disk.parent(segment);
    Path empty = Files.createDirectory(partition.resolveSibling("7"));
    Runnable over =
        files.fail(
            "Stale file handle",
            (operation, path) ->
                operation == Operation.LIST && path.equals(empty) && isRemoved(path));
    Report report = new Report();
    assertThat(scrub(files, report)).isTrue();
    assertThat(report.findings).isEmpty();
    assertThat(report.objects).isEqualTo(5);
    over.run();
  }

  private boolean scrub(FaultyFileSystem files, Report report) throws Exception {
    return Scrubber.scrub(
        files.wrap(ssd),
        Scrubber.Options.all(Scrubber.Depth.READ, false, Duration.ofHours(1)),
        InstantSource.system(),
        "",
        report);
  }

  private static boolean isRemoved(Path path) {
    try {
      return Files.deleteIfExists(path);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void aPartitionThatCannotBeListedIsAFinding() throws Exception {
    FaultyFileSystem files = new FaultyFileSystem();
    Path partition = Disk.parent(segment);
    Runnable over =
        files.fail(
            "Input/output error",
            (operation, path) -> operation == Operation.LIST && path.equals(partition));
    Report report = new Report();
    assertThat(scrub(files, report)).as("all could be listed").isFalse();
    assertThat(report.findings).extracting(Finding::kind).containsExactly(Finding.Kind.UNREADABLE);
    over.run();
  }
}
