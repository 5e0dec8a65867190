package io.strata.kafka.segment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.layout.SlotLayout;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.pool.Slot;
import io.strata.kafka.pool.SlotFlag;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A segment in a pool of type cache, whose log file or pool fails. */
final class WrittenThroughTest implements SegmentEvents {

  private static final Set<StandardOpenOption> READ_WRITE =
      Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE);
  private static final byte[] BYTES = bytes(300_000);

  @TempDir(factory = MemoryBackedDirectory.class)
  private Path directory;

  private final HeapFile logFile = new HeapFile();
  private final List<IOException> left = new ArrayList<>();
  private TinyPool pool;
  private Slot slot;
  private Segment segment;
  private FileChannel channel;
  private boolean failing;

  @BeforeEach
  void open() throws IOException {
    pool = TinyPool.create(directory.resolve("pool"), MemoryType.CACHE);
    slot = pool.allocate("segment");
    segment = new Segment(slot, pool.pool(), 0, SegmentSettings.defaults(), this);
    channel = segment.open(logFile.open(), READ_WRITE);
  }

  @AfterEach
  void close() throws IOException {
    channel.close();
    if (!failing) {
      pool.close();
    }
  }

  private void failPool() throws IOException {
    failing = true;
    pool.close();
  }

  @Override
  public void leftCache(Segment of, IOException cause) {
    left.add(cause);
  }

  private static byte[] bytes(int length) {
    byte[] bytes = new byte[length];
    new Random(length).nextBytes(bytes);
    return bytes;
  }

  private void assertContent(int length) throws IOException {
    byte[] expected = Arrays.copyOf(BYTES, length);
    ByteBuffer read = ByteBuffer.allocate(length + 1);
    while (read.hasRemaining() && channel.read(read, read.position()) > 0) {
      // Short reads are allowed.
    }
    assertThat(Arrays.copyOf(read.array(), read.position())).isEqualTo(expected);
    assertThat(logFile.content()).isEqualTo(expected);
    assertThat(segment.size()).isEqualTo(length);
    assertThat(segment.dirtyBytes()).isZero();
  }

  private int append(int from, int to) throws IOException {
    return channel.write(ByteBuffer.wrap(BYTES, from, to - from));
  }

  @Test
  void whatTheLogFileHasNoSpaceForDoesNotCount() throws IOException {
    assertThat(append(0, 100_000)).isEqualTo(100_000);
    logFile.limit(120_000);

    assertThat(append(100_000, 200_000)).isEqualTo(20_000);
    assertContent(120_000);
    assertThatThrownBy(() -> append(120_000, 200_000)).isInstanceOf(IOException.class);
    assertContent(120_000);

    logFile.limit(Long.MAX_VALUE);
    assertThat(append(120_000, 300_000)).isEqualTo(180_000);
    assertContent(300_000);
    assertThat(segment.bytesInPool()).isEqualTo(300_000);
  }

  @Test
  void noAppendFailsWithThePool() throws IOException {
    assertThat(append(0, 100_000)).isEqualTo(100_000);
    failPool();

    assertThat(append(100_000, 200_000)).isEqualTo(100_000);

    assertThat(left).hasSize(1);
    assertThat(segment.residence()).isEmpty();
    assertContent(200_000);
    assertThat(append(200_000, 300_000)).isEqualTo(100_000);
    assertContent(300_000);
  }

  @Test
  void noReadFailsWithThePool() throws IOException {
    assertThat(append(0, 100_000)).isEqualTo(100_000);
    failPool();

    assertContent(100_000);

    assertThat(left).hasSize(1);
    assertThat(segment.residence()).isEmpty();
    assertThat(append(100_000, 200_000)).isEqualTo(100_000);
    assertContent(200_000);
  }

  @Test
  void aReadThatTheLogFileFailsLeavesThePoolAlone() throws IOException {
    assertThat(append(0, 40_000)).isEqualTo(40_000);
    pool.leaveFree(0);
    assertThat(append(40_000, 100_000)).isEqualTo(60_000);
    channel.close();

    assertThatThrownBy(() -> channel.read(ByteBuffer.allocate(10), 90_000))
        .isInstanceOf(ClosedChannelException.class);

    channel = segment.open(logFile.open(), READ_WRITE);
    assertThat(left).isEmpty();
    assertThat(segment.residence()).isPresent();
    assertContent(100_000);
  }

  @Test
  void aTransferThatFailsWithThePoolFailsOnce() throws IOException {
    assertThat(append(0, 100_000)).isEqualTo(100_000);
    failPool();
    try (FileChannel target =
        FileChannel.open(
            directory.resolve("target"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      assertThatThrownBy(() -> channel.transferTo(0, 100_000, target))
          .isInstanceOf(IOException.class);

      assertThat(left).hasSize(1);
      assertThat(channel.transferTo(0, 100_000, target)).isEqualTo(100_000);
    }
  }

  @Test
  void aTransferThatItsTargetFailsLeavesThePoolAlone() throws IOException {
    assertThat(append(0, 100_000)).isEqualTo(100_000);
    WritableByteChannel broken =
        Channels.newChannel(
            new OutputStream() {
              @Override
              public void write(int b) throws IOException {
                throw new IOException("broken pipe");
              }
            });

    assertThatThrownBy(() -> channel.transferTo(0, 100_000, broken))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("broken pipe");

    assertThat(left).isEmpty();
    assertContent(100_000);
    assertThat(segment.bytesInPool()).isEqualTo(100_000);
  }

  @Test
  void noTruncationFailsWithThePool() throws IOException {
    assertThat(append(0, 100_000)).isEqualTo(100_000);
    failPool();

    assertThat(channel.truncate(50_000)).isSameAs(channel);

    assertContent(50_000);
    assertThat(segment.residence()).isEmpty();
  }

  @Test
  void noDeletionFailsWithThePool() throws IOException {
    assertThat(append(0, 100_000)).isEqualTo(100_000);
    failPool();

    segment.markDeleting();

    assertThat(left).hasSize(1);
    segment.free();
    assertThat(segment.residence()).isEmpty();
    assertContent(100_000);
  }

  @Test
  void aCopyDoesNotTakeBackWhatHasBeenAppendedSince() throws Exception {
    assertThat(append(0, 100_000)).isEqualTo(100_000);
    try (FileChannel forThis = logFile.open()) {
      CopyResult copied = segment.copyToLogFile(forThis, CopyPace.FREE);
      assertThat(append(100_000, 200_000)).isEqualTo(100_000);
      assertThat(segment.markClean(copied)).isTrue();
    }
    assertThat(slot.cleanLength()).isEqualTo(200_000);
    assertContent(200_000);
  }

  @Test
  void aTruncationThatTheLogFileRefusesIsTheCallersFailure() throws IOException {
    assertThat(append(0, 100_000)).isEqualTo(100_000);
    logFile.failTruncates(1);

    assertThatThrownBy(() -> channel.truncate(50_000)).isInstanceOf(IOException.class);

    assertThat(segment.size()).isEqualTo(logFile.content().length);
    assertThat(channel.truncate(50_000)).isSameAs(channel);
    assertContent(50_000);
  }

  @Test
  void aFlushForcesTheLogFile() throws IOException {
    assertThat(append(0, 100_000)).isEqualTo(100_000);

    channel.force(true);

    assertThat(logFile.forced()).isEqualTo(Arrays.copyOf(BYTES, 100_000));
  }

  @Test
  void withoutSpaceTheLogFileGoesOnAloneAndThePoolAgainLater() throws IOException {
    assertThat(append(0, 40_000)).isEqualTo(40_000);
    pool.leaveFree(0);

    assertThat(append(40_000, 100_000)).isEqualTo(60_000);
    assertThat(segment.spilled()).isTrue();
    assertContent(100_000);

    pool.leaveFree(8);
    try (FileChannel forThis = logFile.open()) {
      assertThat(segment.unspill(forThis, () -> forThis.force(true))).isTrue();
    }
    assertThat(append(100_000, 200_000)).isEqualTo(100_000);
    assertContent(200_000);
    assertThat(segment.spilled()).isFalse();
    assertThat(segment.bytesInPool()).isEqualTo(100_000);
  }

  @Test
  void theSlotSaysSoAndNothingOfItIsDirty() throws IOException {
    assertThat(append(0, 100_000)).isEqualTo(100_000);

    assertThat(slot.has(SlotFlag.CACHED)).isTrue();
    assertThat(slot.cleanLength()).isEqualTo(slot.committedLength()).isEqualTo(100_000);
    assertThat(SlotLayout.FLAG_CACHED & SlotLayout.ALL_FLAGS).isEqualTo(SlotLayout.FLAG_CACHED);
  }
}
