package io.strata.kafka.tier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.segment.view.SegmentTag;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Files that are put beside the segments while the broker runs: copies with their attributes, tags
 * that name another's slot, hard links. What is done to them is not done to the segment.
 */
class PlantedFilesTest {

  private static final byte[] BYTES = Batches.of(100_000, 1);

  @TempDir private Path root;
  private TierFixture fixture;
  private Path victim;
  private Path planted;

  @BeforeEach
  void open() throws IOException {
    fixture = new TierFixture(root).pool("a.pool", 8 << 20);
    fixture.open();
    victim = fixture.segment("orders-0", 0);
    planted = fixture.segment("planted-0", 0);
    fixture.append(victim, BYTES);
  }

  @AfterEach
  void close() throws IOException {
    fixture.close();
  }

  private void assertVictimIsWhole() throws IOException {
    assertThat(fixture.read(victim)).isEqualTo(BYTES);
    fixture.append(victim, new byte[] {1, 2, 3});
    fixture.reopen();
    assertThat(fixture.read(victim)).hasSize(BYTES.length + 3).startsWith(BYTES);
  }

  private void assertIsNotTheSegment() {
    for (Step step :
        new Step[] {
          () -> fixture.read(planted),
          () -> fixture.append(planted, new byte[] {9}),
          () -> fixture.tier().size(planted),
          () -> fixture.tier().move(planted, fixture.segment("elsewhere-0", 0))
        }) {
      assertThatThrownBy(step::run)
          .isInstanceOf(FileSystemException.class)
          .hasMessageContaining("both files carry the tag")
          .hasMessageContaining(planted.toString())
          .hasMessageContaining(victim.toString());
    }
  }

  private interface Step {
    void run() throws IOException;
  }

  /** As Kafka deletes a partition: through the provider, which asks the tier first. */
  private void delete(Path file) throws IOException {
    if (!fixture.tier().delete(file)) {
      Files.delete(file);
    }
  }

  @Test
  void aCopyWithItsAttributes() throws IOException {
    Files.copy(victim, planted, StandardCopyOption.COPY_ATTRIBUTES);
    assertThat(SegmentTag.read(planted)).isEqualTo(SegmentTag.read(victim)).isPresent();
    assertIsNotTheSegment();
    delete(planted);
    assertThat(planted).doesNotExist();
    assertVictimIsWhole();
  }

  @Test
  void aTagThatNamesTheSlotOfAnother() throws IOException {
    Files.write(planted, new byte[] {7, 7, 7});
    SegmentTag.read(victim).orElseThrow().write(planted);
    assertIsNotTheSegment();
    delete(planted);
    assertVictimIsWhole();
  }

  @Test
  void aTagThatNamesNothing() throws IOException {
    SegmentTag tag = SegmentTag.read(victim).orElseThrow();
    for (SegmentTag wrong :
        new SegmentTag[] {
          new SegmentTag(tag.pool(), tag.slot() + 1, 1),
          new SegmentTag(tag.pool(), Integer.MAX_VALUE, Long.MAX_VALUE),
          new SegmentTag(tag.pool(), tag.slot(), tag.generation() + 1),
          new SegmentTag(new UUID(1, 2), 0, 1)
        }) {
      Files.deleteIfExists(planted);
      Files.createFile(planted);
      wrong.write(planted);
      assertThatThrownBy(() -> fixture.read(planted))
          .isInstanceOf(FileSystemException.class)
          .hasMessageContaining(planted.toString())
          .hasMessageContaining("no open pool has them");
    }
    Files.delete(planted);
    assertVictimIsWhole();
  }

  @Test
  void aSecondNameOfAHotSegment() throws IOException {
    Files.createLink(planted, victim);
    assertThat(fixture.read(planted)).isEqualTo(BYTES);
    delete(planted);
    assertThat(planted).doesNotExist();
    assertVictimIsWhole();
  }

  @Test
  void aSecondNameOfASegmentInLogFile() throws IOException, InterruptedException {
    fixture.append(fixture.segment("orders-0", 1_000), new byte[] {1}); // and so it is sealed
    TierFixture.assertDone(fixture.destage(victim, 1));
    TierFixture.assertDone(fixture.evict(victim));
    assertThat(fixture.read(victim)).isEqualTo(BYTES);
    Files.createLink(planted, victim);
    try (var open = fixture.tier().open(victim, TierFixture.KAFKA).orElseThrow()) {
      delete(planted);
      assertThat(open.size()).isEqualTo(BYTES.length);
      open.position(open.size());
      assertThat(open.write(ByteBuffer.wrap(new byte[] {1}))).isEqualTo(1);
    }
    assertThat(Files.size(victim)).isEqualTo(BYTES.length + 1);
  }
}
