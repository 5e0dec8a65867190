package io.strata.kafka.segment;

import static io.strata.kafka.segment.TinyPool.BLOCK;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.memory.Durability;
import io.strata.kafka.memory.RecordingMemory;
import io.strata.kafka.pool.Slot;
import io.strata.kafka.pool.words.SlotFlag;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a flush promises on a pool whose bytes must be forced to survive a power cut. */
final class FlushTest {

  private static final Set<StandardOpenOption> READ_WRITE =
      Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE);

  private RecordingMemory memory = new RecordingMemory(4 << 20, Durability.FORCE);
  private HeapFile logFile = new HeapFile();
  private TinyPool pool;

  @BeforeEach
  void format() throws IOException {
    pool = TinyPool.format(memory);
  }

  private FileChannel open(Slot slot) throws IOException {
    return new Segment(
            slot,
            pool.pool(),
            logFile.size(),
            new SegmentSettings(false, InstantSource.system()),
            SegmentEvents.NONE)
        .open(logFile.open(), READ_WRITE);
  }

  private static byte[] bytes(long seed, int length) {
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  private static void append(FileChannel channel, byte[] bytes) throws IOException {
    assertThat(channel.write(ByteBuffer.wrap(bytes), channel.size())).isEqualTo(bytes.length);
  }

  /** What the next start finds after a power cut. */
  private byte[] cutThePower(long seed) throws IOException {
    Random random = new Random(seed);
    memory = memory.crash(random);
    logFile = logFile.crash(random);
    pool = TinyPool.open(memory);
    Slot slot =
        pool.pool().slots().stream()
            .filter(found -> found.relativePath().equals("segment"))
            .findAny()
            .orElseThrow();
    // As recovery does: what the log file has behind the pool's end belongs to a spilled segment
    // alone.
    if (!slot.has(SlotFlag.SPILLED) && logFile.size() > slot.committedLength()) {
      try (FileChannel channel = logFile.open()) {
        assertThat(channel.truncate(slot.committedLength())).isNotNull();
      }
    }
    try (FileChannel channel = open(slot)) {
      return Channels.newInputStream(channel).readAllBytes();
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void aTailInLogFileBehindAFullAndFlushedPoolPartIsFlushed(long seed) throws IOException {
    pool.leaveFree(1);
    byte[] whole = bytes(seed, BLOCK + 5000);
    FileChannel channel = open(pool.allocate("segment"));
    append(channel, Arrays.copyOf(whole, BLOCK));
    channel.force(true);
    append(channel, Arrays.copyOfRange(whole, BLOCK, whole.length));
    channel.force(true);
    assertThat(cutThePower(seed)).isEqualTo(whole);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void aTruncationDuringAFlushVoidsNoLaterFlush(long seed) throws IOException {
    pool.leaveFree(8);
    byte[] first = bytes(seed, 100_000);
    byte[] second = bytes(-seed, 50_000);
    Slot slot = pool.allocate("segment");
    FileChannel channel = open(slot);
    append(channel, first);
    memory.beforeForce(
        slot.extents().position(0), () -> assertThat(channel.truncate(30_000)).isNotNull());
    channel.force(true);
    assertThat(channel.size()).isEqualTo(30_000);
    append(channel, second);
    channel.force(true);
    byte[] expected = Arrays.copyOf(first, 80_000);
    System.arraycopy(second, 0, expected, 30_000, 50_000);
    assertThat(cutThePower(seed)).isEqualTo(expected);
  }
}
