package io.strata.kafka.tier.start;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.Slot;
import io.strata.kafka.pool.words.PoolException;
import io.strata.kafka.pool.words.SlotFlag;
import io.strata.kafka.segment.view.SegmentTag;
import io.strata.kafka.tier.Batches;
import io.strata.kafka.tier.TierFixture;
import io.strata.kafka.tier.directory.LogDirectory;
import io.strata.kafka.tier.offline.AcceptedLoss;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.UserPrincipal;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What an operator, a disk or a crash makes of a segment, as starts see it. */
class RecoveryTest {

  private static final long MIB = 1 << 20;

  @TempDir private Path temp;
  private TierFixture fixture;
  private Path file;
  private byte[] bytes;

  @BeforeEach
  void open() throws IOException {
    fixture = new TierFixture(temp).pool("strata.pool", 16 * MIB);
    fixture.open();
    file = fixture.segment("orders-0", 0);
    bytes = TierFixture.bytes(200_000, 1);
    fixture.append(file, bytes);
  }

  @AfterEach
  void close() throws IOException {
    fixture.close();
  }

  private interface OnPool {
    void run(Pool pool) throws IOException;
  }

  /** Closes the tier and changes the pool as a crash would have left it. */
  private void crash(OnPool change) throws IOException {
    Awaitility.await().untilAsserted(() -> assertThat(logFileDurable()).isTrue());
    fixture.close();
    try (Pool pool = Pool.open(fixture.pools.get(0), MemoryType.MAPPED, TierFixture.OWNER)) {
      change.run(pool);
    }
  }

  private boolean logFileDurable() {
    return fixture.tier().pools().get(0).slots().stream()
        .allMatch(slot -> slot.has(SlotFlag.NAME_DURABLE));
  }

  private static Slot only(Pool pool) {
    return pool.slots().get(0);
  }

  @Test
  void aLogFileThatThePowerTookIsRestored() throws IOException {
    crash(pool -> only(pool).clear(SlotFlag.NAME_DURABLE));
    Files.delete(file);
    Files.delete(file.getParent());
    fixture.open();
    assertThat(fixture.tier().recoveryReport().restored()).containsExactly(file.toString());
    assertThat(fixture.read(file)).isEqualTo(bytes);
  }

  /** As when root drains: the broker opens the file for writing. */
  @Test
  void aRestoredLogFileIsTheLogDirectorysOwners() throws IOException {
    assumeThat(System.getProperty("user.name")).isEqualTo("root");
    UserPrincipal nobody =
        file.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName("nobody");
    crash(pool -> only(pool).clear(SlotFlag.NAME_DURABLE));
    Files.delete(file);
    Files.delete(file.getParent());
    Path logs = requireNonNull(requireNonNull(file.getParent()).getParent());
    Path unused = Files.setOwner(logs, nobody);
    fixture.open();
    assertThat(Files.getOwner(file)).isEqualTo(nobody);
    assertThat(Files.getOwner(requireNonNull(file.getParent()))).isEqualTo(nobody);
  }

  @Test
  void aLogFileWhoseTagThePowerTookIsTaggedAgain() throws IOException {
    crash(pool -> only(pool).clear(SlotFlag.NAME_DURABLE));
    SegmentTag.remove(file);
    fixture.open();
    assertThat(fixture.read(file)).isEqualTo(bytes);
  }

  @Test
  void anotherFileInPlaceOfALostLogFileIsNotOverwritten() throws IOException {
    crash(pool -> only(pool).clear(SlotFlag.NAME_DURABLE));
    Files.delete(file);
    Files.write(file, new byte[5]);
    assertThatThrownBy(() -> fixture.open())
        .isInstanceOf(FileSystemException.class)
        .hasMessageContainingAll(file.toString(), "bytes, is in its place");
    assertThat(Files.size(file)).isEqualTo(5);
    Files.delete(file);
    fixture.open();
    assertThat(fixture.read(file)).isEqualTo(bytes);
  }

  @Test
  void aMissingPoolIsRefusedWithThePartitionsThatHadBytesInIt() throws IOException {
    fixture.segment("empty-0", 0);
    crash(pool -> {});
    Path pool = fixture.pools.get(0);
    Path elsewhere = Files.move(pool, pool.resolveSibling("elsewhere"));
    assertThatThrownBy(() -> fixture.open())
        .isInstanceOf(FileSystemException.class)
        .hasMessageContaining(pool + ": found no such file, expected a pool; 1 segment has bytes")
        .hasMessageContaining("1 partition (orders-0)")
        .hasMessageContaining("strata accept-loss");
    Files.move(elsewhere, pool);
    fixture.open();
    assertThat(fixture.read(file)).isEqualTo(bytes);
  }

  @Test
  void aMissingPoolThatHeldNothingIsToBeCreated() throws IOException {
    fixture.tier().delete(file);
    fixture.close();
    Files.delete(fixture.pools.get(0));
    assertThatThrownBy(() -> fixture.open())
        .isInstanceOf(PoolException.class)
        .hasMessageContaining("strata pool create");
  }

  @Test
  void aLogFileThatWasRemovedFreesTheSlotAtTheSecondStart() throws IOException {
    crash(pool -> {});
    Files.delete(file);
    fixture.open();
    assertThat(fixture.tier().recoveryReport().orphaned()).containsExactly(file.toString());
    assertThat(fixture.tier().pools().get(0).usage().liveSlots()).isEqualTo(1);
    fixture.reopen();
    assertThat(fixture.tier().recoveryReport().freed()).containsExactly(file.toString());
    assertThat(fixture.tier().pools().get(0).usage().liveSlots()).isZero();
  }

  /** As the documentation has it: the partition's directory is removed, and Kafka replicates. */
  @Test
  void aNewSegmentInThePlaceOfARemovedOneIsNoneThatLostItsTag() throws IOException {
    crash(pool -> {});
    Files.delete(file);
    fixture.open();
    assertThat(fixture.tier().recoveryReport().orphaned()).containsExactly(file.toString());
    Path again = fixture.segment("orders-0", 0);
    assertThat(again).isEqualTo(file);
    byte[] replicated = new byte[70_000];
    new Random(7).nextBytes(replicated);
    fixture.append(again, replicated);
    fixture.reopen();
    assertThat(fixture.tier().recoveryReport().freed()).containsExactly(file.toString());
    assertThat(fixture.read(file)).isEqualTo(replicated);
  }

  /**
   * As above, and the new segment has begun in the log directory: its topic is excluded now. Or it
   * is the old file, put back without its attributes: only the operator knows.
   */
  @Test
  void anEmptyFileInThePlaceOfOneThatAStartHasMissedIsRefused() throws IOException {
    crash(pool -> {});
    SegmentTag tag = SegmentTag.read(file).orElseThrow();
    Files.delete(file);
    fixture.open();
    assertThat(fixture.tier().recoveryReport().orphaned()).containsExactly(file.toString());
    fixture.close();
    Files.createFile(file);
    for (int i = 0; i < 2; i++) {
      assertThatThrownBy(() -> fixture.open())
          .isInstanceOf(FileSystemException.class)
          .hasMessageContaining(file.toString())
          .hasMessageContaining("strata pool forget --directory")
          .hasMessageContaining("setfattr -n user.strata.segment");
    }
    // A copy: with its attribute, as the message says, all is there.
    tag.write(file);
    fixture.open();
    assertThat(fixture.read(file)).isEqualTo(bytes);
    assertThat(fixture.tier().recoveryReport().freed()).isEmpty();
  }

  /** As the message says. */
  @Test
  void aNewFileStaysWhenThePoolsBytesAreForgotten() throws IOException {
    UUID[] directoryId = new UUID[1];
    crash(pool -> directoryId[0] = only(pool).directoryId());
    Files.delete(file);
    fixture.open();
    fixture.close();
    byte[] begun = Arrays.copyOf(bytes, 70_000);
    Files.write(file, begun);
    assertThatThrownBy(() -> fixture.open())
        .isInstanceOf(FileSystemException.class)
        .hasMessageContaining(
            "strata pool forget --directory %s --segment %s --config <server.properties> %s"
                .formatted(
                    directoryId[0], "orders-0/00000000000000000000.log", fixture.pools.get(0)));
    AcceptedLoss.GivenUp others =
        AcceptedLoss.GivenUp.of(directoryId[0], Optional.empty(), fixture.logDirectories)
            .only(List.of("orders-1/00000000000000000000.log"));
    assertThat(AcceptedLoss.forget(fixture.pools.get(0), others, true)).isEmpty();
    AcceptedLoss.GivenUp missing =
        AcceptedLoss.GivenUp.of(directoryId[0], Optional.empty(), fixture.logDirectories)
            .only(List.of("orders-0/00000000000000000000.log"));
    assertThat(AcceptedLoss.forget(fixture.pools.get(0), missing, true)).hasSize(1);
    fixture.open();
    assertThat(fixture.tier().pools().get(0).usage().liveSlots()).isZero();
    assertThat(fixture.read(file)).isEqualTo(begun);
  }

  /** Another replica's segments end elsewhere. Kafka keeps such a one after a move by half. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aFileWhoseRecordsReachTheNextOneLacksNone(boolean missedBefore) throws IOException {
    Path replicated = fixture.segment("replica-0", 0);
    byte[] batches = Batches.of(200_000, 1);
    fixture.append(replicated, batches);
    crash(pool -> {});
    Files.delete(replicated);
    if (missedBefore) {
      fixture.open();
      fixture.close();
    }
    int end = 0;
    int count = 0;
    while (end < 100_000) {
      end += 12 + ByteBuffer.wrap(batches).getInt(end + 8);
      count++;
    }
    byte[] shorter = Arrays.copyOf(batches, end);
    Files.write(replicated, shorter);
    Path next = replicated.resolveSibling("%020d.log".formatted(count));
    Files.write(next, new byte[0]);
    fixture.open();
    assertThat(fixture.read(replicated)).isEqualTo(shorter);
    fixture.reopen();
    assertThat(fixture.read(replicated)).isEqualTo(shorter);
    assertThat(fixture.tier().pools().get(0).usage().liveSlots()).isEqualTo(1);
  }

  /** By a supervisor, of a broker that something else ends; the file may come back. */
  @Test
  void restartsAtOnceFreeNothing() throws IOException {
    crash(pool -> {});
    Path away = Files.move(file, fixture.root.resolve("away"));
    fixture.endsAtOnce = true;
    for (int start = 0; start < 4; start++) {
      fixture.open();
      assertThat(fixture.tier().recoveryReport().orphaned()).containsExactly(file.toString());
      fixture.close();
    }
    Files.move(away, file);
    fixture.open();
    assertThat(fixture.read(file)).isEqualTo(bytes);
  }

  /** Kafka deletes the files a minute after a start, too. */
  @Test
  void aReplicaThatIsBeingDeletedNeedsNoLogDirectoryAfterMoreStarts() throws IOException {
    Path deleted = fixture.logs().resolve("orders-0.0123456789abcdef0123456789abcdef-delete");
    assertThat(
            fixture
                .tier()
                .move(fixture.partition("orders-0"), deleted, StandardCopyOption.ATOMIC_MOVE))
        .isTrue();
    fixture.reopen();
    assertThat(fixture.tier().pools().get(0).usage().liveSlots()).isEqualTo(1);
    fixture.close();
    Path other = Files.createDirectory(fixture.root.resolve("other"));
    fixture.logDirectories.set(0, other);
    fixture.open();
    assertThat(fixture.tier().recoveryReport().kept()).hasSize(1);
  }

  /** Nothing distinguishes it from a copy made without attributes: only the operator knows. */
  @Test
  void anEmptyFileInThePlaceOfOneThatNoStartHasMissedIsRefused() throws IOException {
    crash(pool -> {});
    Files.delete(file);
    Files.createFile(file);
    for (int i = 0; i < 2; i++) {
      assertThatThrownBy(() -> fixture.open())
          .isInstanceOf(FileSystemException.class)
          .hasMessageContaining(file.toString())
          .hasMessageContaining("strata pool forget --directory")
          .hasMessageContaining("setfattr -n user.strata.segment");
    }
    Files.delete(file);
    fixture.open();
    assertThat(fixture.tier().recoveryReport().orphaned()).containsExactly(file.toString());
  }

  /** It may have been moved there by hand. */
  @Test
  void aMissingFileIsNotDiscardedWhileALogDirectoryCannotBeLookedAt() throws IOException {
    Path second = Files.createDirectory(fixture.root.resolve("second"));
    fixture.logDirectories.add(second);
    crash(pool -> {});
    Files.delete(file);
    Path unmounted = Files.move(second, fixture.root.resolve("unmounted"));
    for (int i = 0; i < 3; i++) {
      fixture.open();
      assertThat(fixture.tier().recoveryReport().orphaned()).isEmpty();
      assertThat(fixture.tier().recoveryReport().kept()).hasSize(1);
      assertThat(fixture.tier().pools().get(0).usage().liveSlots()).isEqualTo(1);
      fixture.close();
    }
    Files.move(unmounted, second);
    fixture.open();
    assertThat(fixture.tier().recoveryReport().orphaned()).containsExactly(file.toString());
  }

  @Test
  void aPartitionMovedAwayForOneStartKeepsItsBytes() throws IOException {
    crash(pool -> {});
    Path away = fixture.root.resolve("away");
    Files.move(file.getParent(), away);
    fixture.open();
    fixture.close();
    Files.move(away, file.getParent());
    fixture.open();
    assertThat(fixture.read(file)).isEqualTo(bytes);
    fixture.reopen();
    assertThat(fixture.read(file)).isEqualTo(bytes);
  }

  @Test
  void aRestoredLogFileDoesNotTakeTheNameOfAnotherSegment() throws IOException {
    crash(pool -> only(pool).clear(SlotFlag.NAME_DURABLE));
    SegmentTag first = SegmentTag.read(file).orElseThrow();
    Files.delete(file);
    Path other = fixture.segment("orders-0", 0);
    Files.createFile(other);
    new SegmentTag(first.pool(), first.slot() + 1, 0).write(other);
    assertThatThrownBy(() -> fixture.open()).isInstanceOf(IOException.class);
    assertThat(SegmentTag.read(other).orElseThrow().slot()).isEqualTo(first.slot() + 1);
    Files.delete(other);
    fixture.open();
    assertThat(fixture.read(file)).isEqualTo(bytes);
  }

  @Test
  void aSlotWhoseLogDirectoryIsOfflineIsKept() throws IOException {
    crash(pool -> {});
    Path away = fixture.root.resolve("unmounted");
    Files.move(fixture.logs(), away);
    fixture.open();
    assertThat(fixture.tier().recoveryReport().kept()).hasSize(1);
    assertThat(fixture.tier().pools().get(0).usage().liveSlots()).isEqualTo(1);
    fixture.close();
    Files.move(away, fixture.logs());
    fixture.open();
    assertThat(fixture.read(file)).isEqualTo(bytes);
  }

  @Test
  void aLogDirectoryMountedElsewhereKeepsItsSegments() throws IOException {
    crash(pool -> {});
    Path elsewhere = fixture.root.resolve("elsewhere");
    Files.move(fixture.logs(), elsewhere);
    fixture.logDirectories.set(0, elsewhere);
    fixture.open();
    assertThat(fixture.read(elsewhere.resolve("orders-0").resolve(file.getFileName())))
        .isEqualTo(bytes);
  }

  @Test
  void aLostPoolIsRefusedByTheNamesOfItsPartitions() throws IOException {
    crash(pool -> {});
    new SegmentTag(UUID.randomUUID(), 3, 9).write(file);
    assertThatThrownBy(() -> fixture.open())
        .isInstanceOf(IOException.class)
        .hasMessageContaining("orders-0")
        .hasMessageContaining("Add the missing pool's file to strata.pools")
        .hasMessageContaining("strata accept-loss");
  }

  @Test
  void aPoolThatIsOlderThanTheLogFilesIsRefused() throws IOException {
    crash(pool -> {});
    SegmentTag tag = SegmentTag.read(file).orElseThrow();
    new SegmentTag(tag.pool(), tag.slot(), tag.generation() + 1).write(file);
    assertThatThrownBy(() -> fixture.open())
        .isInstanceOf(IOException.class)
        .hasMessageContaining("older than the log directory");
    tag.write(file);
    fixture.open();
    assertThat(fixture.read(file)).isEqualTo(bytes);
  }

  @Test
  void twoFilesOfOnePoolAreRefused() throws IOException {
    crash(pool -> {});
    fixture.pools.add(Files.copy(fixture.pools.get(0), fixture.root.resolve("copy.pool")));
    assertThatThrownBy(() -> fixture.open())
        .isInstanceOf(IOException.class)
        .hasMessageContaining("both files hold pool");
  }

  @Test
  void twoDirectoriesOfOneIdentityAreRefused() throws IOException {
    crash(pool -> {});
    Path copy = Files.createDirectories(fixture.root.resolve("copy"));
    for (String each : TierFixture.attributes(fixture.logs()).keySet()) {
      byte[] value = (byte[]) Files.getAttribute(fixture.logs(), "user:" + each);
      Files.setAttribute(copy, "user:" + each, ByteBuffer.wrap(value));
    }
    fixture.logDirectories.add(copy);
    assertThatThrownBy(() -> fixture.open())
        .isInstanceOf(FileSystemException.class)
        .hasMessageContaining("two log directories have the identity ");
  }

  /** Only something else than a broker can have written it. */
  @Test
  void aSlotThatLeadsOutOfItsLogDirectoryIsRefused() throws IOException {
    crash(
        pool ->
            assertThat(
                    pool.allocateSlot(
                        only(pool).directoryId(), "../orders-0/" + file.getFileName()))
                .isPresent());
    assertThatThrownBy(() -> fixture.open())
        .isInstanceOf(FileSystemException.class)
        .hasMessageContaining("names a path outside its log directory");
  }

  @Test
  void aLogDirectoryCopiedWithoutAttributesIsRefused() throws IOException {
    crash(pool -> {});
    Path original = fixture.logs();
    Path copy = Files.createDirectories(fixture.root.resolve("copy"));
    fixture.logDirectories.set(0, copy);
    Files.copy(file, fixture.segment("orders-0", 0));
    assertThatThrownBy(() -> fixture.open())
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith(fixture.pools.get(0) + " (")
        .hasMessageContaining("): found 1 segments (orders-0/")
        .hasMessageContaining("and none of log.dirs is that one (" + copy + " is ");
    fixture.logDirectories.set(0, original);
    fixture.open();
    assertThat(fixture.read(file)).isEqualTo(bytes);
  }

  /** As within file.delete.delay.ms after the last replica has left the log directory. */
  @Test
  void deletedReplicasOfALogDirectoryThatIsTakenOutAreNoReasonToRefuse() throws IOException {
    Path partition = fixture.partition("orders-0");
    Path deleted = partition.resolveSibling("orders-0.0123456789abcdef0123456789abcdef-delete");
    assertThat(fixture.tier().move(partition, deleted, StandardCopyOption.ATOMIC_MOVE)).isTrue();
    fixture.close();
    Path original = fixture.logs();
    fixture.logDirectories.set(0, Files.createDirectories(fixture.root.resolve("other")));

    assertThat(fixture.open().recoveryReport().kept()).hasSize(1);

    fixture.close();
    fixture.logDirectories.set(0, original);
    fixture.open();
    assertThat(fixture.read(deleted.resolve(file.getFileName()))).isEqualTo(bytes);
  }

  @Test
  void aLogDirectoryThatIsGoneForGoodCanBeForgotten() throws IOException {
    crash(pool -> {});
    UUID gone = LogDirectory.find(fixture.logs()).orElseThrow().id();
    fixture.logDirectories.set(0, Files.createDirectories(fixture.root.resolve("new")));
    Path pool = fixture.pools.get(0);
    AcceptedLoss.GivenUp givenUp =
        AcceptedLoss.GivenUp.of(gone, Optional.empty(), fixture.logDirectories);
    assertThat(AcceptedLoss.forget(pool, givenUp, false)).hasSize(1);
    assertThat(AcceptedLoss.forget(pool, givenUp, true)).hasSize(1);
    fixture.open();
    assertThat(fixture.tier().pools().get(0).usage().usedBytes()).isZero();
  }

  @Test
  void aLogFileThatLostItsTagIsRefusedAndCanBeTaggedAgain() throws IOException {
    crash(pool -> {});
    SegmentTag tag = SegmentTag.read(file).orElseThrow();
    SegmentTag.remove(file);
    assertThatThrownBy(() -> fixture.open())
        .isInstanceOf(IOException.class)
        .hasMessageContaining("'" + tag.encode() + "'");
    tag.write(file);
    fixture.open();
    assertThat(fixture.read(file)).isEqualTo(bytes);
  }

  @Test
  void aFileWhoseSlotWasDiscardedIsRefusedAndNotServedAsEmpty() throws IOException {
    crash(pool -> only(pool).discard());
    assertThatThrownBy(() -> fixture.open())
        .isInstanceOf(IOException.class)
        .hasMessageContaining("strata accept-loss");
    assertThat(SegmentTag.read(file)).isPresent();
  }

  @Test
  void aPartitionBehindASymbolicLinkIsFound() throws IOException {
    crash(pool -> {});
    Path elsewhere = fixture.root.resolve("other-disk");
    Files.move(file.getParent(), elsewhere);
    Files.createSymbolicLink(file.getParent(), elsewhere);
    fixture.open();
    assertThat(fixture.tier().recoveryReport().freed()).isEmpty();
    assertThat(fixture.read(file)).isEqualTo(bytes);
  }

  @Test
  void aSegmentRenamedPastTheProviderIsFoundByItsTag() throws IOException {
    crash(pool -> {});
    Path renamed = fixture.segment("orders-7", 12);
    Files.move(file, renamed);
    fixture.open();
    assertThat(fixture.read(renamed)).isEqualTo(bytes);
  }

  @Test
  void aFileThatTurnsUpAfterItsRecordsWereDiscardedIsRefused() throws IOException {
    crash(pool -> only(pool).set(SlotFlag.NAME_DURABLE));
    Path away = fixture.root.resolve("away");
    Files.move(file.getParent(), away);
    fixture.open();
    fixture.close();
    fixture.open();
    assertThat(fixture.tier().recoveryReport().freed()).containsExactly(file.toString());
    fixture.close();
    Files.move(away, file.getParent());
    assertThatThrownBy(() -> fixture.open())
        .isInstanceOf(IOException.class)
        .hasMessageContainingAll(
            file.toString(), "its newest records were in", ", which has been discarded");
  }

  @Test
  void nothingIsChangedBeforeARefusal() throws IOException {
    Path other = fixture.segment("orders-7", 0);
    fixture.append(other, bytes);
    crash(pool -> {});
    Files.write(file, new byte[10]); // What a start truncates.
    SegmentTag.remove(other);
    assertThatThrownBy(() -> fixture.open())
        .isInstanceOf(IOException.class)
        .hasMessageContaining(other.toString());
    assertThat(Files.size(file)).isEqualTo(10);
  }
}
