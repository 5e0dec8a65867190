package io.strata.kafka.tier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.memory.Reflink;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the store is given by shared blocks: whole log files, and nothing that lacks a byte. */
class BlockSharingTest {

  private static final int LOG_DIRS = 1;
  private static final long MIB = 1 << 20;
  private static final byte[] BYTES = Batches.of(300_000, 1);

  @TempDir private Path temp;
  private TierFixture fixture;
  private Path file;
  private Path object;

  @BeforeEach
  void open() throws IOException {
    use(new TierFixture(temp).pool("strata.pool", 16 * MIB));
  }

  private void use(TierFixture opened) throws IOException {
    fixture = opened;
    // The blocks of this test's file system need not be shareable.
    fixture.cloning = BlockSharingTest::copy;
    fixture.open();
    file = fixture.segment("orders-0", 0);
    fixture.append(file, BYTES);
    fixture.append(fixture.segment("orders-0", 1000), Batches.of(1000, 2));
    object = Files.createDirectories(fixture.root.resolve("store/a")).resolve("0.log");
  }

  @AfterEach
  void close() throws IOException {
    fixture.close();
  }

  private static boolean copy(Path source, Path target) throws IOException {
    Path unused = Files.copy(source, target);
    return true;
  }

  private boolean share() throws IOException {
    return fixture.tier().share(file, object);
  }

  private void assertShared() throws IOException {
    assertThat(share()).isTrue();
    assertThat(object).hasBinaryContent(BYTES);
    assertThat(fixture.read(file)).isEqualTo(BYTES);
  }

  private void assertNotShared(String why) throws IOException {
    assertThat(share()).as(why).isFalse();
    assertThat(object).as(why).doesNotExist();
  }

  @Test
  void aCleanSegment() throws Exception {
    TierFixture.assertDone(fixture.destage(file, LOG_DIRS));
    assertShared();
  }

  @Test
  void anEvictedSegment() throws Exception {
    try (FileChannel channel = fixture.tier().open(file, TierFixture.KAFKA).orElseThrow()) {
      TierFixture.assertDone(fixture.destage(file, LOG_DIRS));
      TierFixture.assertDone(fixture.evict(file));
      assertShared();
      assertThat(TierFixture.content(channel)).isEqualTo(BYTES);
    }
  }

  @Test
  void aSegmentThatNobodyHasOpen() throws Exception {
    TierFixture.assertDone(fixture.destage(file, LOG_DIRS));
    TierFixture.assertDone(fixture.evict(file));
    assertShared();
  }

  @Test
  void notADirtySegment() throws Exception {
    assertNotShared("never copied down");
    TierFixture.assertDone(fixture.destage(file, LOG_DIRS));
    fixture.append(file, Batches.of(100, 3));
    assertNotShared("appended to since");
  }

  @Test
  void notASegmentWhoseCopyBelowIsInAPool() throws Exception {
    fixture.close();
    use(TierFixture.twoTiers(Files.createDirectory(temp.resolve("two")), 16 * MIB));
    TierFixture.assertDone(fixture.destage(file, 1));
    assertNotShared("the log file has nothing");
  }

  @Test
  void notAnEmptyFileNorOneThatIsNotThere() throws Exception {
    file = Files.createFile(fixture.partition("orders-7").resolve(file.getFileName()));
    assertNotShared("empty");
    Files.delete(file);
    assertThatThrownBy(this::share).isInstanceOf(NoSuchFileException.class);
  }

  @Test
  void notOverAFile() throws Exception {
    TierFixture.assertDone(fixture.destage(file, LOG_DIRS));
    Files.write(object, new byte[] {1});
    assertThatThrownBy(this::share).isInstanceOf(FileAlreadyExistsException.class);
    assertThat(object).hasSize(1);
  }

  /** Kafka and other tools write to log files past any provider: the store's file is another. */
  @Test
  void theStoresFileIsItsOwn() throws Exception {
    fixture.close();
    fixture.cloning = Reflink::make;
    fixture.open();
    TierFixture.assertDone(fixture.destage(file, LOG_DIRS));
    if (share()) {
      assertThat(Optional.of(Files.getAttribute(object, "unix:ino")))
          .isNotEqualTo(Optional.of(Files.getAttribute(file, "unix:ino")));
    } else {
      assertThat(object).doesNotExist();
    }
    assertThat(Files.getAttribute(file, "unix:nlink")).isEqualTo(1);
  }
}
