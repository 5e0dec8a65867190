package io.strata.kafka.tier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.strata.kafka.memory.Durability;
import io.strata.kafka.pool.PoolUsage;
import io.strata.kafka.segment.view.SegmentTag;
import io.strata.kafka.tier.files.TieredSegment;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

@ParameterizedClass
@EnumSource(names = {"JDK", "LUCENE"})
class HotTierTest {

  private static final long MIB = 1 << 20;

  @Parameter FileSystemKind kind = FileSystemKind.JDK;
  @TempDir private Path temp;
  private TierFixture fixture;

  @BeforeEach
  void open() throws IOException {
    fixture = new TierFixture(temp, kind).pool("strata.pool", 16 * MIB);
    fixture.open();
  }

  @AfterEach
  void close() throws IOException {
    fixture.close();
  }

  @Test
  void aNewSegmentIsInThePoolAndItsLogFileIsEmpty() throws IOException {
    Path file = fixture.segment("orders-0", 0);
    byte[] bytes = TierFixture.bytes(300_000, 1);
    fixture.append(file, bytes);

    assertThat(fixture.read(file)).isEqualTo(bytes);
    assertThat(Files.size(file)).isZero();
    assertThat(fixture.tier().size(file)).hasValue(300_000);
    assertThat(SegmentTag.read(file)).isPresent();
    assertThat(fixture.tier().figures().hot()).isEqualTo(1);
  }

  /** Otherwise all appends wait for the log disk at once when it is full. */
  @Test
  void aPoolThatIsNearlyFullOfDirtySegmentsTakesOnlySomeOfTheNewOnes() throws IOException {
    PoolUsage usage = fixture.tier().pools().get(0).usage();
    int placed = 0;
    int passedOn = 0;
    while (passedOn == 0) {
      assertThat(usage.freeBytes()).isGreaterThan(MIB);
      Path file = fixture.segment("orders-" + placed, 0);
      fixture.append(file, TierFixture.bytes(200_000, 1));
      boolean hot = SegmentTag.read(file).isPresent();
      placed += hot ? 1 : 0;
      passedOn += hot ? 0 : 1;
      assertThat(Files.size(file)).isEqualTo(hot ? 0 : 200_000);
      if (!hot) {
        assertThat(usage.freeBytes()).isLessThan(usage.capacityBytes() / 4);
      }
      usage = fixture.tier().pools().get(0).usage();
    }
    Path next = fixture.segment("orders-" + (placed + 1), 0);
    fixture.append(next, TierFixture.bytes(200_000, 1));
    assertThat(SegmentTag.read(next)).as("the next one is placed again").isPresent();
  }

  @Test
  void aLogFileThatWasAwayForAMomentGetsItsTimeAfterwards() throws Exception {
    fixture.close();
    fixture.openWithoutBackground();
    Path file = fixture.segment("orders-0", 0);
    fixture.append(file, TierFixture.bytes(100, 1));
    // An append in the millisecond of the file's creation changes no time.
    TimeUnit.MILLISECONDS.sleep(2);
    fixture.append(file, TierFixture.bytes(100, 1));
    Files.setLastModifiedTime(file, FileTime.fromMillis(1000));
    Path away = Files.move(file, file.resolveSibling("away"));
    fixture.refreshModificationTimesHere();
    Path unused = Files.move(away, file);
    assertThat(fixture.tier().lastModified(file).orElseThrow().toMillis()).isGreaterThan(1000);
  }

  @Test
  void whatThePoolHoldsIsForcedInTheBackground() throws IOException {
    fixture.append(fixture.segment("orders-0", 0), TierFixture.bytes(300_000, 1));
    TieredSegment hot = fixture.tier().segments().iterator().next();
    assumeThat(hot.pool().memory().durability()).isEqualTo(Durability.FORCE);
    assertThat(hot.slot().isForced()).isFalse();
    fixture.tier().poolForcer().run();
    assertThat(hot.slot().isForced()).isTrue();
  }

  @Test
  void whatIsNotToBeHotIsLeftToTheJdk() throws IOException {
    fixture.extra = Map.of("strata.topics.exclude", "cold.*");
    fixture.reopen();
    for (Path file :
        new Path[] {
          fixture.segment("cold-0", 0),
          fixture.segment("__cluster_metadata-0", 0),
          fixture.partition("orders-1").resolve("00000000000000000000.index"),
          fixture.root.resolve("00000000000000000000.log")
        }) {
      assertThat(fixture.tier().open(file, TierFixture.KAFKA)).as(file.toString()).isEmpty();
    }
    for (Path later :
        new Path[] {
          fixture.segment("orders-0.1f2e-future", 0),
          fixture.partition("orders-1").resolve("00000000000000000000.log.cleaned")
        }) {
      // Known, since it will be a segment by a rename; in the log file until then.
      fixture.append(later, new byte[5]);
      assertThat(SegmentTag.read(later)).isEmpty();
      assertThat(later).hasSize(5);
    }
    Path full = fixture.segment("orders-2", 0);
    Files.write(full, new byte[10]);
    fixture.append(full, new byte[5]);
    assertThat(SegmentTag.read(full)).isEmpty();
    assertThat(full).hasSize(15);
    Path absent = fixture.segment("orders-3", 0);
    assertThat(fixture.tier().open(absent, Set.of(StandardOpenOption.READ))).isEmpty();
    assertThat(fixture.tier().size(absent)).isEmpty();
    assertThat(fixture.tier().delete(absent)).isFalse();
    assertThat(absent).doesNotExist();
  }

  @Test
  void createNewOnAHotSegmentIsRefusedAsTheJdkRefusesIt() throws IOException {
    Path file = fixture.segment("orders-0", 0);
    fixture.append(file, new byte[10]);
    assertThatThrownBy(
            () ->
                fixture
                    .tier()
                    .open(file, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)))
        .isInstanceOf(FileAlreadyExistsException.class);
  }

  @Test
  void bytesAreThereAfterReopening() throws IOException {
    Path file = fixture.segment("orders-0", 42);
    byte[] bytes = TierFixture.bytes(3_000_000, 2);
    fixture.append(file, bytes);
    fixture.reopen();
    assertThat(fixture.tier().recoveryReport().hot()).isEqualTo(1);
    assertThat(fixture.read(file)).isEqualTo(bytes);
  }

  @Test
  void deletionUnlinksLogFileAndGivesTheSpaceBack() throws IOException {
    Path file = fixture.segment("orders-0", 0);
    long free = fixture.tier().pools().get(0).usage().freeBytes();
    fixture.append(file, new byte[1_000_000]);
    assertThat(fixture.tier().pools().get(0).usage().freeBytes()).isLessThan(free);
    assertThat(fixture.tier().delete(file)).isTrue();
    assertThat(file).doesNotExist();
    Awaitility.await()
        .untilAsserted(
            () -> assertThat(fixture.tier().pools().get(0).usage().freeBytes()).isEqualTo(free));
    assertThat(fixture.tier().figures().hot()).isZero();
  }

  @Test
  void aDeletedSegmentStaysReadableForWhoHasItOpen() throws IOException {
    Path file = fixture.segment("orders-0", 0);
    byte[] bytes = TierFixture.bytes(200_000, 3);
    fixture.append(file, bytes);
    try (FileChannel channel =
        fixture.tier().open(file, Set.of(StandardOpenOption.READ)).orElseThrow()) {
      assertThat(fixture.tier().delete(file)).isTrue();
      java.nio.ByteBuffer read = java.nio.ByteBuffer.allocate(bytes.length);
      channel.read(read, 0);
      assertThat(Arrays.copyOf(read.array(), read.position()))
          .isEqualTo(Arrays.copyOf(bytes, read.position()));
    }
  }

  @Test
  void aRenamedFileAndARenamedDirectoryStayHot() throws IOException {
    Path file = fixture.segment("orders-0", 0);
    byte[] bytes = TierFixture.bytes(100_000, 4);
    fixture.append(file, bytes);
    Path deleted = file.resolveSibling("00000000000000000000.log.deleted");
    assertThat(fixture.tier().move(file, deleted, StandardCopyOption.ATOMIC_MOVE)).isTrue();
    assertThat(fixture.read(deleted)).isEqualTo(bytes);

    Path directory = fixture.logs().resolve("orders-0");
    Path renamed = fixture.logs().resolve("orders-0.0123-delete");
    assertThat(fixture.tier().move(directory, renamed, StandardCopyOption.ATOMIC_MOVE)).isTrue();
    Path moved = renamed.resolve(deleted.getFileName());
    assertThat(fixture.read(moved)).isEqualTo(bytes);

    fixture.reopen();
    assertThat(fixture.read(moved)).isEqualTo(bytes);
  }

  @Test
  void aReplacedHotSegmentIsFreed() throws IOException {
    Path target = fixture.segment("orders-0", 0);
    long free = fixture.tier().pools().get(0).usage().freeBytes();
    fixture.append(target, new byte[500_000]);
    Path swap = target.resolveSibling("00000000000000000000.log.swap");
    Files.write(swap, TierFixture.bytes(1000, 5));
    assertThat(fixture.tier().move(swap, target, StandardCopyOption.ATOMIC_MOVE)).isTrue();
    assertThat(Files.readAllBytes(target)).isEqualTo(TierFixture.bytes(1000, 5));
    assertThat(fixture.read(target)).isEqualTo(TierFixture.bytes(1000, 5));
    assertThat(SegmentTag.read(target)).isEmpty();
    Awaitility.await()
        .untilAsserted(
            () -> assertThat(fixture.tier().pools().get(0).usage().freeBytes()).isEqualTo(free));
  }

  @Test
  void anAppendThatFindsNoSpaceSpillsLogFile() throws IOException {
    Path file = fixture.segment("orders-0", 0);
    byte[] bytes = TierFixture.bytes((int) (20 * MIB), 6);
    fixture.append(file, bytes);
    assertThat(fixture.read(file)).isEqualTo(bytes);
    assertThat(fixture.tier().figures().spilled()).isEqualTo(1);
    assertThat(Files.size(file)).isEqualTo(bytes.length);
    fixture.reopen();
    assertThat(fixture.read(file)).isEqualTo(bytes);
    assertThat(fixture.tier().size(file)).hasValue(bytes.length);
  }

  @Test
  void withoutAFreeSlotASegmentGoesLogFile() throws IOException {
    for (int i = 0; i < 64; i++) {
      fixture.append(fixture.segment("many-" + i, 0), new byte[1]);
    }
    Path file = fixture.segment("many-64", 0);
    byte[] bytes = TierFixture.bytes(100_000, 9);
    fixture.append(file, bytes);
    assertThat(SegmentTag.read(file)).isEmpty();
    assertThat(Files.readAllBytes(file)).isEqualTo(bytes);
    assertThat(fixture.read(file)).isEqualTo(bytes);
    assertThat(fixture.tier().figures().hot()).isEqualTo(64);
  }

  @Test
  void eachAppendIsSeenInTheLogFilesModificationTimeAfterAWhile() throws IOException {
    Path file = fixture.segment("orders-0", 0);
    for (int i = 0; i < 3; i++) {
      FileTime old = FileTime.fromMillis(i);
      fixture.append(file, TierFixture.bytes(100, i));
      Files.setLastModifiedTime(file, old);
      awaitLaterMillis();
      fixture.append(file, TierFixture.bytes(100, i));
      Awaitility.await()
          .atMost(Duration.ofMinutes(2))
          .until(() -> Files.getLastModifiedTime(file).compareTo(old) > 0);
    }
  }

  @Test
  void logFilesModificationTimeFollowsAppendsAndWhatIsSet() throws IOException {
    Path file = fixture.segment("orders-0", 0);
    fixture.append(file, new byte[10]);
    Files.setLastModifiedTime(file, FileTime.fromMillis(1_000_000));
    awaitLaterMillis();
    fixture.append(file, new byte[10]);
    fixture.tier().refreshModificationTimes();
    assertThat(Files.getLastModifiedTime(file).toMillis())
        .isGreaterThan(System.currentTimeMillis() - 60_000);

    fixture.append(file, new byte[10]);
    assertThat(fixture.tier().setLastModified(file, FileTime.fromMillis(5_000_000))).isTrue();
    fixture.tier().refreshModificationTimes();
    assertThat(Files.getLastModifiedTime(file).toMillis()).isEqualTo(5_000_000);
    awaitLaterMillis();
    fixture.append(file, new byte[10]);
    assertThat(fixture.tier().lastModified(file).orElseThrow().toMillis())
        .isGreaterThan(System.currentTimeMillis() - 60_000);
  }

  /** Two changes in the same millisecond are one to the times of a file. */
  private static void awaitLaterMillis() {
    long now = System.currentTimeMillis();
    Awaitility.await().until(() -> System.currentTimeMillis() > now);
  }

  @Test
  void twoPoolsShareTheSegments() throws IOException {
    fixture.close();
    fixture.pool("second.pool", 32 * MIB);
    fixture.open();
    for (int i = 0; i < 20; i++) {
      fixture.append(fixture.segment("orders-" + i, 0), TierFixture.bytes(1_000_000, i));
    }
    assertThat(fixture.tier().pools())
        .allSatisfy(pool -> assertThat(pool.usage().liveSlots()).isPositive());
    fixture.reopen();
    for (int i = 0; i < 20; i++) {
      assertThat(fixture.read(fixture.segment("orders-" + i, 0)))
          .isEqualTo(TierFixture.bytes(1_000_000, i));
    }
  }

  @Test
  void requireDaxRefusesAPoolThatAPowerCutEmpties() throws IOException {
    fixture.close();
    fixture.extra = Map.of("strata.require.dax", "true");
    assertThatThrownBy(() -> fixture.open())
        .isInstanceOf(IOException.class)
        .hasMessageContaining("strata.require.dax=true, and the pool's durability is ")
        .hasMessageContaining(fixture.pools.get(0).toString());
    fixture.extra = Map.of();
    fixture.open();
  }

  @Test
  void aSymbolicLinkToTheLogDirectoryLeadsToTheSameSegments() throws IOException {
    Path file = fixture.segment("orders-0", 0);
    fixture.append(file, new byte[77]);
    Path link = Files.createSymbolicLink(fixture.logs().resolveSibling("link"), fixture.logs());
    Path throughLink = link.resolve("orders-0").resolve(file.getFileName());
    assertThat(fixture.tier().size(throughLink)).hasValue(77);
    fixture.append(throughLink, new byte[23]);
    assertThat(fixture.tier().size(file)).hasValue(100);
  }
}
