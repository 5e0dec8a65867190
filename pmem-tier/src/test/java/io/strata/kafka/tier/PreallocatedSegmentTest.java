package io.strata.kafka.tier;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.api.SegmentView;
import io.strata.kafka.migration.plan.TieredSegments;
import io.strata.kafka.migration.plan.TieredSegments.MoveControl;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Segments of a topic with {@code preallocate=true}: Kafka's {@code FileRecords} makes the file,
 * and writes and truncates it, through a {@code RandomAccessFile}, past the provider. Other readers
 * come by its path.
 */
class PreallocatedSegmentTest {

  private static final byte[] BYTES = Batches.of(300_000, 1);
  private static final int PREALLOCATED = 1 << 20;

  @TempDir private Path root;
  private TierFixture fixture;
  private Path file;

  @BeforeEach
  void open() throws IOException {
    fixture = new TierFixture(root).pool("a.pool", 8 << 20);
    fixture.open();
    file = fixture.partition("orders-0").resolve("00000000000000000000.log");
  }

  @AfterEach
  void close() throws IOException {
    fixture.close();
  }

  /** As {@code FileRecords.open} with {@code preallocate}. */
  private static FileChannel preallocated(Path path) throws IOException {
    RandomAccessFile made = new RandomAccessFile(new File(path.toString()), "rw");
    made.setLength(PREALLOCATED);
    return made.getChannel();
  }

  private static void append(FileChannel channel, byte[] bytes) throws IOException {
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    while (buffer.hasRemaining()) {
      int unused = channel.write(buffer);
    }
  }

  private Optional<FileChannel> reader() throws IOException {
    return fixture.tier().open(file, Set.of(StandardOpenOption.READ));
  }

  private void promoteAll() throws Exception {
    TieredSegments tiers = fixture.tier().tieredSegments();
    for (SegmentView view : tiers.state().segments()) {
      var unused = tiers.promote(view.id(), 0, MoveControl.UNLIMITED);
    }
  }

  @Test
  void whatKafkaTruncatesPastTheTierStaysTruncated() throws Exception {
    try (FileChannel kafka = preallocated(file)) {
      append(kafka, BYTES);
      kafka.truncate(BYTES.length);
      fixture.append(fixture.segment("orders-0", 1000), new byte[] {1}); // and so it is sealed
      // What copies it to the remote tier, for one.
      Optional<FileChannel> reader = reader();
      promoteAll();
      // A change of leader: only Kafka knows of it.
      kafka.truncate(1000);
      if (reader.isPresent()) {
        reader.get().close();
      }
    }
    fixture.reopen();
    assertThat(fixture.read(file)).isEqualTo(Arrays.copyOf(BYTES, 1000));
  }

  @Test
  void itIsTheTiersWhenKafkaOpensItAgain() throws Exception {
    try (FileChannel kafka = preallocated(file)) {
      append(kafka, BYTES);
      kafka.truncate(BYTES.length);
    }
    fixture.reopen();
    try (FileChannel kafka = fixture.tier().open(file, TierFixture.KAFKA).orElseThrow();
        FileChannel reader = reader().orElseThrow()) {
      fixture.append(fixture.segment("orders-0", 1000), new byte[] {1});
      TierFixture.assertDone(fixture.promote(file, 0));
      kafka.truncate(1000);
      assertThat(reader.size()).isEqualTo(1000);
    }
    fixture.reopen();
    assertThat(fixture.read(file)).isEqualTo(Arrays.copyOf(BYTES, 1000));
  }

  @Test
  void itIsRenamedAndDeletedAsAFile() throws Exception {
    try (FileChannel kafka = preallocated(file)) {
      append(kafka, BYTES);
      Path deleted = file.resolveSibling(file.getFileName() + ".deleted");
      assertThat(fixture.tier().move(file, deleted, StandardCopyOption.ATOMIC_MOVE)).isTrue();
      assertThat(file).doesNotExist();
      assertThat(fixture.tier().delete(deleted)).isFalse();
      assertThat(kafka.size()).isEqualTo(PREALLOCATED);
    }
  }
}
