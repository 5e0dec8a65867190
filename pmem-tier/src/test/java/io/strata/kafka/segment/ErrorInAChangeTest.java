package io.strata.kafka.segment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.layout.SlotLayout;
import io.strata.kafka.memory.Durability;
import io.strata.kafka.memory.RecordingMemory;
import io.strata.kafka.pool.Slot;
import io.strata.kafka.segment.view.Residence;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.time.InstantSource;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * Memory runs out between a store to the slot and what the segment knows of it. Nothing may be
 * acknowledged from there on that a restart would not find.
 */
final class ErrorInAChangeTest {

  private static final Set<StandardOpenOption> READ_WRITE =
      Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE);

  private final RecordingMemory memory = new RecordingMemory(4 << 20, Durability.POWER);
  private final TinyPool pool = newPool(memory);
  private final HeapFile logFile = new HeapFile();
  private final Slot slot = newSlot(pool);
  private final Segment segment =
      new Segment(
          slot,
          pool.pool(),
          0,
          new SegmentSettings(true, InstantSource.system()),
          SegmentEvents.NONE);

  private static TinyPool newPool(RecordingMemory memory) {
    try {
      return TinyPool.format(memory);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static Slot newSlot(TinyPool pool) {
    try {
      return pool.allocate("segment");
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static byte[] bytes(int length) {
    byte[] bytes = new byte[length];
    new Random(length).nextBytes(bytes);
    return bytes;
  }

  private void outOfMemoryAfterStoring(int offset) {
    memory.afterStoreLong(
        SlotLayout.slotPosition(slot.index()) + offset,
        () -> {
          throw new OutOfMemoryError("staged");
        });
  }

  private void errorAfterStoring(int offset) {
    memory.afterStoreLong(
        SlotLayout.slotPosition(slot.index()) + offset,
        () -> {
          throw new IOException("staged");
        });
  }

  private void assertThatNothingIsAcknowledged(FileChannel channel) {
    assertThat(segment.size()).isPositive();
    assertThatThrownBy(() -> channel.write(ByteBuffer.wrap(bytes(10_000)), segment.size()))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("segment")
        .hasMessageContaining("restart the broker");
    assertThatThrownBy(() -> channel.truncate(10)).isInstanceOf(IOException.class);
  }

  @Test
  void truncationThatBringsATailBackIntoThePool() throws Exception {
    pool.leaveFree(2);
    FileChannel channel = segment.open(logFile.open(), READ_WRITE);
    assertThat(channel.write(ByteBuffer.wrap(bytes(200_000)), 0)).isEqualTo(200_000);
    assertThat(segment.spilled()).isTrue();
    outOfMemoryAfterStoring(SlotLayout.FLAGS_OFFSET);
    assertThatThrownBy(() -> channel.truncate(50_000)).isInstanceOf(OutOfMemoryError.class);
    assertThatNothingIsAcknowledged(channel);
  }

  @Test
  void append() throws Exception {
    FileChannel channel = segment.open(logFile.open(), READ_WRITE);
    assertThat(channel.write(ByteBuffer.wrap(bytes(200)), 0)).isEqualTo(200);
    outOfMemoryAfterStoring(SlotLayout.COMMITTED_LENGTH_OFFSET);
    assertThatThrownBy(() -> channel.write(ByteBuffer.wrap(bytes(300)), 200))
        .isInstanceOf(OutOfMemoryError.class);
    assertThatNothingIsAcknowledged(channel);
  }

  @Test
  void eviction() throws Exception {
    FileChannel channel = segment.open(logFile.open(), READ_WRITE);
    assertThat(channel.write(ByteBuffer.wrap(bytes(100_000)), 0)).isEqualTo(100_000);
    markClean();
    outOfMemoryAfterStoring(SlotLayout.STATE_OFFSET);
    assertThatThrownBy(() -> segment.evict(true)).isInstanceOf(OutOfMemoryError.class);
    assertThatNothingIsAcknowledged(channel);
  }

  @Test
  void lengthThatIsClean() throws Exception {
    FileChannel channel = segment.open(logFile.open(), READ_WRITE);
    assertThat(channel.write(ByteBuffer.wrap(bytes(100_000)), 0)).isEqualTo(100_000);
    outOfMemoryAfterStoring(SlotLayout.CLEAN_LENGTH_OFFSET);
    assertThatThrownBy(this::markClean).isInstanceOf(OutOfMemoryError.class);
    assertThatNothingIsAcknowledged(channel);
  }

  /** A device error there: the next change would not take back what the slot may say. */
  @Test
  void lengthThatIsCleanAndCannotBeForced() throws Exception {
    FileChannel channel = segment.open(logFile.open(), READ_WRITE);
    assertThat(channel.write(ByteBuffer.wrap(bytes(100_000)), 0)).isEqualTo(100_000);
    errorAfterStoring(SlotLayout.CLEAN_LENGTH_OFFSET);
    assertThatThrownBy(this::markClean).isInstanceOf(IOException.class).hasMessage("staged");
    assertThatNothingIsAcknowledged(channel);
  }

  /** The log file may name either slot: a change would be lost in one of them. */
  @Test
  void tieThatCanNeitherBeMadeNorUndone() throws Exception {
    FileChannel channel = segment.open(logFile.open(), READ_WRITE);
    assertThat(channel.write(ByteBuffer.wrap(bytes(100_000)), 0)).isEqualTo(100_000);
    TinyPool other = TinyPool.format(new RecordingMemory(4 << 20, Durability.POWER));
    Residence to = new Residence(other.allocate("copy"), other.pool());
    CopyResult copied;
    try (FileChannel copy = logFile.open()) {
      copied = segment.copying().copyInto(to, copy, CopyPace.FREE, true);
    }
    Segment.Link failing =
        new Segment.Link() {
          @Override
          public void link() throws IOException {
            throw new IOException("staged");
          }

          @Override
          public void unlink() throws IOException {
            throw new IOException("staged, too");
          }
        };
    assertThatThrownBy(() -> segment.relocate(copied, to, failing)).hasMessage("staged");
    assertThat(segment.residence().map(Residence::slot)).isNotEqualTo(Optional.of(to.slot()));
    assertThatNothingIsAcknowledged(channel);
  }

  private void markClean() throws IOException {
    try (FileChannel copy = logFile.open()) {
      assertThat(segment.markClean(segment.copyToLogFileAsItIs(copy))).isTrue();
    }
  }
}
