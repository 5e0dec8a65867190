package io.strata.kafka.tier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.memory.ProgressListener;
import io.strata.kafka.migration.remote.LocalSegments.Sharing;
import io.strata.kafka.pool.SlotFlag;
import io.strata.kafka.segment.StoreLink;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** On a file system without reflinks, as ext4 and tmpfs are. */
class HomeSharingTest {

  private static final int HOME = 1;
  private static final long MIB = 1 << 20;

  @TempDir private Path temp;
  private TierFixture fixture;
  private Path file;
  private Path object;
  private byte[] bytes;

  @BeforeEach
  void open() throws IOException {
    fixture = new TierFixture(temp).pool("strata.pool", 16 * MIB);
    fixture.open();
    bytes = Batches.of(300_000, 1);
    file = sealed("orders-0", bytes);
    object = Files.createDirectories(fixture.root.resolve("store/a")).resolve(name(0));
  }

  @AfterEach
  void close() throws IOException {
    fixture.close();
  }

  private static String name(long offset) {
    return String.format("%020d.log", offset);
  }

  private Path sealed(String partition, byte[] content) throws IOException {
    Path sealed = fixture.segment(partition, 0);
    fixture.append(sealed, content);
    fixture.append(fixture.segment(partition, 1000), Batches.of(1000, 2));
    return sealed;
  }

  private void destage() throws Exception {
    TierFixture.assertDone(fixture.destage(file, HOME));
  }

  /** An evicted segment is known as long as a channel is open on it, as Kafka has one. */
  private FileChannel evicted() throws Exception {
    FileChannel channel = fixture.tier().open(file, TierFixture.KAFKA).orElseThrow();
    destage();
    TierFixture.assertDone(fixture.evict(file));
    return channel;
  }

  private Sharing share() throws IOException {
    return fixture.tier().share(file, object, object);
  }

  private static Object inode(Path path) throws IOException {
    return Files.getAttribute(path, "unix:ino", LinkOption.NOFOLLOW_LINKS);
  }

  private boolean linked() throws IOException {
    return inode(file).equals(inode(object));
  }

  /** The store has what it had, in a file of its own. */
  private void assertBroken() throws IOException {
    assertThat(object).hasBinaryContent(bytes);
    assertThat(linked()).as("linked").isFalse();
    assertThat(object.resolveSibling(object.getFileName() + StoreLink.UNSHARED_SUFFIX))
        .doesNotExist();
    assertThat(StoreLink.of(file)).isEmpty();
  }

  @Test
  void aCleanSegmentIsSharedAsALink() throws Exception {
    destage();
    assertThat(share()).isEqualTo(Sharing.HARD_LINK);
    assertThat(linked()).isTrue();
    assertThat(object).hasBinaryContent(bytes);
    assertThat(fixture.read(file)).isEqualTo(bytes);
    assertThat(StoreLink.of(file).orElseThrow().published()).isEqualTo(object);
  }

  @Test
  void anEvictedSegmentIsSharedAsALink() throws Exception {
    try (FileChannel channel = evicted()) {
      assertThat(share()).isEqualTo(Sharing.HARD_LINK);
      assertThat(TierFixture.content(channel)).isEqualTo(bytes);
    }
    assertThat(linked()).isTrue();
  }

  @Test
  void aSegmentAtHomeThatNobodyHasOpenIsSharedAsALink() throws Exception {
    evicted().close();
    assertThat(share()).isEqualTo(Sharing.HARD_LINK);
    fixture.append(file, new byte[] {1});
    assertBroken();
  }

  @Test
  void aSegmentThatNeverWasHotIsSharedAsALink() throws Exception {
    Path old = fixture.partition("orders-5").resolve(name(0));
    Files.write(old, bytes);
    Files.createFile(old.resolveSibling(name(7)));
    assertThat(fixture.tier().share(old, object, object)).isEqualTo(Sharing.HARD_LINK);
    try (FileChannel channel = fixture.tier().open(old, TierFixture.KAFKA).orElseThrow()) {
      channel.truncate(10);
    }
    assertThat(old).hasSize(10);
    assertThat(object).hasBinaryContent(bytes);
  }

  @Test
  void whatIsNotWholeAtHomeIsNotShared() throws Exception {
    assertThat(share()).as("dirty").isEqualTo(Sharing.NONE);
    destage();
    fixture.append(file, Batches.of(100, 3));
    assertThat(share()).as("changed").isEqualTo(Sharing.NONE);
    assertThat(object).doesNotExist();
  }

  @Test
  void aSegmentWhoseCopyBelowIsInAPoolIsNotShared() throws Exception {
    fixture.close();
    fixture = TierFixture.twoTiers(Files.createDirectory(fixture.root.resolve("two")), 16 * MIB);
    fixture.open();
    file = sealed("orders-0", bytes);
    TierFixture.assertDone(fixture.destage(file, 1));
    assertThat(share()).isEqualTo(Sharing.NONE);
    assertThat(object).doesNotExist();
  }

  @Test
  void theSegmentThatIsAppendedToIsNotShared() throws Exception {
    Path active = fixture.segment("orders-0", 1000);
    assertThat(fixture.tier().share(active, object, object)).isEqualTo(Sharing.NONE);
    Path alone = fixture.partition("orders-6").resolve(name(0));
    Files.write(alone, bytes);
    assertThat(fixture.tier().share(alone, object, object)).isEqualTo(Sharing.NONE);
    Files.createFile(alone.resolveSibling(name(9) + ".deleted"));
    assertThat(fixture.tier().share(alone, object, object)).isEqualTo(Sharing.NONE);
  }

  @Test
  void otherFilesAreNotShared() throws Exception {
    Path outside = Files.createDirectories(fixture.root.resolve("other/orders-0")).resolve(name(0));
    Files.write(outside, bytes);
    Files.createFile(outside.resolveSibling(name(9)));
    assertThat(fixture.tier().share(outside, object, object)).isEqualTo(Sharing.NONE);
    Path future = fixture.partition("orders-0.1f2e-future").resolve(name(0));
    Files.write(future, bytes);
    Files.createFile(future.resolveSibling(name(9)));
    assertThat(fixture.tier().share(future, object, object)).isEqualTo(Sharing.NONE);
    Path empty = fixture.partition("orders-7").resolve(name(0));
    Files.createFile(empty);
    Files.createFile(empty.resolveSibling(name(9)));
    assertThat(fixture.tier().share(empty, object, object)).isEqualTo(Sharing.NONE);
  }

  @Test
  void anExistingTargetIsAnErrorAndAMissingSegment() throws Exception {
    destage();
    Files.write(object, new byte[] {1});
    assertThatThrownBy(this::share).isInstanceOf(FileAlreadyExistsException.class);
    assertThat(object).hasSize(1);
    Files.delete(object);
    assertThatThrownBy(() -> fixture.tier().share(file.resolveSibling(name(5)), object, object))
        .isInstanceOf(NoSuchFileException.class);
  }

  @Test
  void aFileGetsOneLinkOnly() throws Exception {
    destage();
    assertThat(share()).isEqualTo(Sharing.HARD_LINK);
    Path second = object.resolveSibling("second");
    assertThat(fixture.tier().share(file, second, second)).isEqualTo(Sharing.NONE);
    assertThat(second).doesNotExist();
    Files.delete(object);
    assertThat(fixture.tier().share(file, second, second)).isEqualTo(Sharing.HARD_LINK);
    fixture.append(file, Batches.of(100, 3));
    assertThat(second).hasBinaryContent(bytes);
  }

  @Test
  void ofATopicThatIsNeverHotNoLinkIsMade() throws Exception {
    fixture.extra = Map.of("strata.topics.exclude", "cold.*");
    fixture.reopen();
    Path cold = fixture.partition("cold-0").resolve(name(0));
    Files.write(cold, bytes);
    Files.createFile(cold.resolveSibling(name(9)));
    // The JDK's channels on it would write through the link.
    assertThat(fixture.tier().share(cold, object, object)).isEqualTo(Sharing.NONE);
    assertThat(object).doesNotExist();
  }

  @Test
  void anAppendToACleanSegmentBreaksTheLink() throws Exception {
    destage();
    share();
    fixture.append(file, Batches.of(100, 3));
    assertBroken();
  }

  @Test
  void aTruncationOfACleanSegmentBreaksTheLink() throws Exception {
    destage();
    share();
    try (FileChannel channel = fixture.tier().open(file, TierFixture.KAFKA).orElseThrow()) {
      channel.truncate(1000);
    }
    assertBroken();
    assertThat(fixture.read(file)).isEqualTo(Arrays.copyOf(bytes, 1000));
  }

  @Test
  void aTruncationThatCutsNothingKeepsTheLink() throws Exception {
    destage();
    share();
    try (FileChannel channel = fixture.tier().open(file, TierFixture.KAFKA).orElseThrow()) {
      channel.truncate(bytes.length);
    }
    assertThat(linked()).isTrue();
  }

  @Test
  void changesOfAnEvictedSegmentBreakTheLink() throws Exception {
    try (FileChannel channel = evicted()) {
      share();
      channel.truncate(1000);
      assertBroken();
      assertThat(file).hasSize(1000);
    }
  }

  @Test
  void aWriteIntoAnEvictedSegmentBreaksTheLink() throws Exception {
    try (FileChannel channel = evicted()) {
      share();
      int written = channel.write(ByteBuffer.wrap(new byte[] {1, 2, 3}), 17);
      assertThat(written).isEqualTo(3);
    }
    assertBroken();
    assertThat(Files.readAllBytes(file)[17]).isEqualTo((byte) 1);
  }

  @Test
  void anOpeningThatTruncatesBreaksTheLink() throws Exception {
    evicted().close();
    share();
    fixture
        .tier()
        .open(
            file,
            Set.of(
                StandardOpenOption.READ,
                StandardOpenOption.WRITE,
                StandardOpenOption.TRUNCATE_EXISTING))
        .orElseThrow()
        .close();
    assertBroken();
    assertThat(file).isEmptyFile();
  }

  @Test
  void aMappingForWritingBreaksTheLinkAndPreventsAnother() throws Exception {
    try (FileChannel channel = evicted()) {
      share();
      channel.map(FileChannel.MapMode.READ_ONLY, 0, 10);
      assertThat(linked()).isTrue();
      channel.map(FileChannel.MapMode.READ_WRITE, 0, 10).put(0, (byte) 99);
      assertBroken();
      Path second = object.resolveSibling("second");
      assertThat(fixture.tier().share(file, second, second)).isEqualTo(Sharing.NONE);
    }
  }

  @Test
  void aLinkIsKnownAfterARestart() throws Exception {
    destage();
    share();
    fixture.reopen();
    fixture.append(file, Batches.of(100, 3));
    assertBroken();
  }

  @Test
  void aLinkOfASegmentAtHomeIsKnownAfterARestart() throws Exception {
    evicted().close();
    share();
    fixture.reopen();
    fixture.append(file, Batches.of(100, 3));
    assertBroken();
  }

  @Test
  void aLinkOutlivesPromotionAndEviction() throws Exception {
    try (FileChannel channel = evicted()) {
      share();
      TierFixture.assertDone(fixture.promote(file, 0));
      assertThat(linked()).isTrue();
      TierFixture.assertDone(fixture.evict(file));
      assertThat(linked()).isTrue();
      TierFixture.assertDone(fixture.promote(file, 0));
      channel.truncate(1000);
    }
    assertBroken();
  }

  @Test
  void aCopyHomeBreaksTheLink() throws Exception {
    destage();
    share();
    TieredSegment segment = fixture.tier().segments().iterator().next();
    for (TieredSegment each : fixture.tier().segments()) {
      segment = each.home().equals(file) ? each : segment;
    }
    // No segment is linked and dirty; whatever brings one there, the store's bytes stay.
    segment.segment().clear(SlotFlag.CLEAN);
    Files.write(object, new byte[] {1}, StandardOpenOption.WRITE);
    bytes = Files.readAllBytes(object);
    destage();
    assertThat(object).hasBinaryContent(bytes);
    assertThat(linked()).isFalse();
  }

  @Test
  void recoveryBreaksTheLinkOfAHomeThatItMakesHollow() throws Exception {
    destage();
    share();
    for (TieredSegment each : fixture.tier().segments()) {
      each.segment().clear(SlotFlag.CLEAN);
    }
    fixture.reopen();
    assertThat(HollowHome.test(file)).isTrue();
    assertThat(object).hasBinaryContent(bytes);
  }

  @Test
  void recoveryBreaksTheLinkOfAHomeThatItCuts() throws Exception {
    destage();
    fixture.close();
    Files.write(file, new byte[10], StandardOpenOption.APPEND);
    bytes = Files.readAllBytes(file);
    StoreLink.record(file, object, object);
    Files.createLink(object, file);
    fixture.open();
    assertThat(file).hasSize(bytes.length - 10);
    assertBroken();
  }

  @Test
  void aLinkOfATopicThatIsNoLongerHotIsStillBroken() throws Exception {
    evicted().close();
    share();
    fixture.extra = Map.of("strata.topics.exclude", "orders");
    fixture.reopen();
    try (FileChannel channel = fixture.tier().open(file, TierFixture.KAFKA).orElseThrow()) {
      channel.truncate(5);
    }
    assertBroken();
  }

  @Test
  void whatOpensAFilePastTheTierBreaksTheLinkFirst() throws Exception {
    evicted().close();
    share();
    fixture.tier().passedBy(file);
    assertBroken();
    Files.delete(object);
    share();
    Set<StandardOpenOption> unknown =
        Set.of(StandardOpenOption.WRITE, StandardOpenOption.DELETE_ON_CLOSE);
    assertThat(fixture.tier().open(file, unknown)).isEmpty();
    assertBroken();
    Files.delete(object);
    share();
    new ReadOnlyTier().open(file, Set.of(StandardOpenOption.WRITE));
    assertBroken();
  }

  @Test
  void anObjectIsFollowedFromStagingToItsPlace() throws Exception {
    destage();
    Path staging = Files.createDirectories(fixture.root.resolve("store/staging/1"));
    Path staged = staging.resolve(name(0));
    Path place = fixture.root.resolve("store/topics-1");
    Path published = place.resolve(name(0));
    assertThat(fixture.tier().share(file, staged, published)).isEqualTo(Sharing.HARD_LINK);
    fixture.reopen();
    Files.move(staging, place, StandardCopyOption.ATOMIC_MOVE);
    fixture.append(file, Batches.of(100, 3));
    object = published;
    assertBroken();
  }

  @Test
  void anObjectThatIsStillStagedGetsItsOwnFile() throws Exception {
    destage();
    Path staging = Files.createDirectories(fixture.root.resolve("store/staging/1"));
    Path staged = staging.resolve(name(0));
    Path place = fixture.root.resolve("store/topics-1");
    fixture.tier().share(file, staged, place.resolve(name(0)));
    fixture.append(file, Batches.of(100, 3));
    Files.move(staging, place, StandardCopyOption.ATOMIC_MOVE);
    object = place.resolve(name(0));
    assertBroken();
  }

  @Test
  void anObjectThatIsGoneOrAnotherFileNeedsNothing() throws Exception {
    destage();
    share();
    Files.delete(object);
    Files.write(object, new byte[] {1, 2});
    Object before = inode(object);
    fixture.append(file, Batches.of(100, 3));
    assertThat(object).hasBinaryContent(new byte[] {1, 2});
    assertThat(inode(object)).isEqualTo(before);
  }

  @Test
  void whereTheObjectCannotBeCopiedNothingIsChanged() throws Exception {
    destage();
    share();
    Path inTheWay = object.resolveSibling(name(0) + StoreLink.UNSHARED_SUFFIX);
    Files.createDirectories(inTheWay.resolve("full"));
    try (FileChannel channel = fixture.tier().open(file, TierFixture.KAFKA).orElseThrow()) {
      assertThatThrownBy(() -> channel.truncate(1000))
          .isInstanceOf(FileSystemException.class)
          .hasMessageContaining(object.toString())
          .hasMessageContaining("could not be given a copy");
      assertThatThrownBy(() -> channel.write(ByteBuffer.allocate(10), bytes.length))
          .isInstanceOf(FileSystemException.class);
      assertThat(TierFixture.content(channel)).isEqualTo(bytes);
      assertThat(linked()).isTrue();
      assertThat(file).hasBinaryContent(bytes);
      assertThat(fixture.view(file).clean()).isTrue();
      Files.delete(inTheWay.resolve("full"));
      Files.delete(inTheWay);
      channel.truncate(1000);
    }
    assertBroken();
  }

  @Test
  void aFullDiskFailsTheChangeAndKeepsTheObject() throws Exception {
    fixture.close();
    try (LoopMount mount = LoopMount.of(temp, "ext4", 48)) {
      fixture =
          new TierFixture(Files.createDirectory(mount.directory().resolve("broker")))
              .pool("strata.pool", 16 * MIB);
      fixture.open();
      bytes = Batches.of(4 << 20, 1);
      file = sealed("orders-0", bytes);
      destage();
      object = mount.directory().resolve("object");
      assertThat(share()).isEqualTo(Sharing.HARD_LINK);
      Path filler = mount.directory().resolve("filler");
      long room = Files.getFileStore(filler.getParent()).getUsableSpace() - MIB;
      Files.write(filler, new byte[(int) room]);
      try (FileChannel channel = fixture.tier().open(file, TierFixture.KAFKA).orElseThrow()) {
        assertThatThrownBy(() -> channel.truncate(1000))
            .isInstanceOf(FileSystemException.class)
            .hasMessageContaining("No space left")
            .hasMessageContaining("nothing has been changed");
        assertThat(TierFixture.content(channel)).isEqualTo(bytes);
        assertThat(linked()).isTrue();
        assertThat(object).hasBinaryContent(bytes);
        Files.delete(filler);
        channel.truncate(1000);
      }
      assertBroken();
      fixture.close();
    }
  }

  @Test
  void anotherFileSystemIsNotLinkedTo() throws Exception {
    destage();
    try (LoopMount mount = LoopMount.of(fixture.root, "ext4", 8)) {
      Path there = mount.directory().resolve("object");
      assertThat(fixture.tier().share(file, there, there)).isEqualTo(Sharing.NONE);
      assertThat(there).doesNotExist();
      assertThat(StoreLink.names(file)).isEqualTo(1);
    }
  }

  @Test
  void aFileSystemWithReflinksSharesBlocks() throws Exception {
    for (String type : new String[] {"xfs", "btrfs"}) {
      fixture.close();
      try (LoopMount mount = LoopMount.of(temp, type, 320)) {
        fixture =
            new TierFixture(Files.createDirectory(mount.directory().resolve("broker")))
                .pool("strata.pool", 16 * MIB);
        fixture.open();
        file = sealed("orders-0", bytes);
        object = mount.directory().resolve("object");
        assertThat(share()).as("dirty").isEqualTo(Sharing.NONE);
        destage();
        assertThat(share()).as(type).isEqualTo(Sharing.REFLINK);
        assertThat(linked()).isFalse();
        assertThat(object).hasBinaryContent(bytes);
        assertThatThrownBy(this::share).isInstanceOf(FileAlreadyExistsException.class);
        fixture.append(file, Batches.of(100, 3));
        assertThat(object).hasBinaryContent(bytes);
        fixture.close();
      }
    }
  }

  @Test
  void aSegmentIsKnownByAnyPathThatLeadsToIt() throws Exception {
    destage();
    share();
    Path alias = fixture.root.resolve("alias");
    Files.createSymbolicLink(alias, fixture.logs());
    Path byAlias = alias.resolve("orders-0").resolve(name(0));
    Files.write(file, new byte[0], StandardOpenOption.TRUNCATE_EXISTING);
    // Home is not what counts for a clean segment.
    assertThat(fixture.tier().size(byAlias)).hasValue(bytes.length);
    assertThat(fixture.tier().lastModified(byAlias)).isPresent();
    assertThat(fixture.read(byAlias)).isEqualTo(bytes);
  }

  @Test
  void kafkasDeletionLeavesTheObject() throws Exception {
    destage();
    share();
    Path deleted = file.resolveSibling(name(0) + ".deleted");
    assertThat(fixture.tier().move(file, deleted, StandardCopyOption.ATOMIC_MOVE)).isTrue();
    assertThat(fixture.tier().delete(deleted)).isTrue();
    assertThat(object).hasBinaryContent(bytes);
    // It has home's tag, which leads nowhere any more.
    assertThat(fixture.tier().open(object, Set.of(StandardOpenOption.READ))).isEmpty();
    assertThat(fixture.tier().size(object)).isEmpty();
    assertThat(fixture.tier().delete(object)).isFalse();
    fixture.reopen();
    assertThat(object).hasBinaryContent(bytes);
  }

  @Test
  void theObjectIsNoSegment() throws Exception {
    destage();
    share();
    assertThat(fixture.tier().open(object, TierFixture.KAFKA)).isEmpty();
    assertThat(fixture.tier().size(object)).isEmpty();
    Path moved = object.resolveSibling(name(7));
    assertThat(fixture.tier().move(object, moved, StandardCopyOption.ATOMIC_MOVE)).isFalse();
    assertThat(fixture.tier().delete(object)).isFalse();
    assertThat(new ReadOnlyTier().size(object)).isEmpty();
    assertThat(fixture.tier().hotSegments()).isEqualTo(2);
    assertThat(fixture.read(file)).isEqualTo(bytes);
    Files.delete(object);
    fixture.append(file, Batches.of(100, 3));
  }

  @Test
  void theObjectOfAnEvictedSegmentIsNoSegment() throws Exception {
    try (FileChannel channel = evicted()) {
      share();
      assertThat(fixture.tier().delete(object)).isFalse();
      Path moved = object.resolveSibling(name(7));
      assertThat(fixture.tier().move(object, moved, StandardCopyOption.ATOMIC_MOVE)).isFalse();
      assertThat(fixture.tier().open(object, Set.of(StandardOpenOption.READ))).isEmpty();
      channel.truncate(10);
    }
    assertBroken();
  }

  @Test
  void aRenamedSegmentKeepsItsLink() throws Exception {
    destage();
    share();
    Path partition = Files.move(file.getParent(), fixture.logs().resolve("orders-3"));
    file = partition.resolve(name(0));
    assertThat(fixture.read(file)).isEqualTo(bytes);
    fixture.append(file, Batches.of(100, 3));
    assertBroken();
  }

  @Test
  void aDrainBreaksAllLinks() throws Exception {
    evicted().close();
    share();
    Path hot = sealed("orders-1", bytes);
    TierFixture.assertDone(fixture.destage(hot, HOME));
    Path second = object.resolveSibling("second");
    assertThat(fixture.tier().share(hot, second, second)).isEqualTo(Sharing.HARD_LINK);
    fixture.close();
    Drain.Report report = Drain.run(fixture.spec(), TierEvents.NONE, ProgressListener.NONE);
    assertThat(report.unshared()).isEqualTo(2);
    Files.write(file, new byte[] {0}, StandardOpenOption.WRITE);
    Files.write(hot, new byte[] {0}, StandardOpenOption.WRITE);
    assertBroken();
    assertThat(second).hasBinaryContent(bytes);
  }
}
