package io.strata.kafka.segment;

import static io.strata.kafka.segment.TinyPool.BLOCK;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.layout.SlotLayout;
import io.strata.kafka.memory.Durability;
import io.strata.kafka.memory.RecordingMemory;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.Slot;
import io.strata.kafka.pool.space.Extent;
import io.strata.kafka.pool.words.PoolOwner;
import io.strata.kafka.pool.words.PoolSpec;
import io.strata.kafka.segment.view.ReaderGate;
import io.strata.kafka.segment.view.Residence;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An append that makes space of its own segment's clean bytes, in the middle of itself. */
final class EvictedPartTest {

  private static final int FIRST = 100_000;

  private final HeapFile logFile = new HeapFile();
  private TinyPool pool;
  private Slot slot;
  private SpaceMaker spaceMaker = (of, wanted) -> {};
  private Segment segment;
  private FileChannel channel;

  @BeforeEach
  void open() throws IOException {
    pool = TinyPool.format(new RecordingMemory(4 << 20, Durability.POWER));
    slot = pool.allocate("segment");
    segment =
        new Segment(
            slot,
            pool.pool(),
            0,
            new SegmentSettings(() -> false, InstantSource.system(), this::makeSpace),
            SegmentEvents.NONE);
    channel = segment.open(logFile.open(), Set.of(READ, WRITE));
  }

  private void makeSpace(Pool of, long wanted) {
    spaceMaker.makeSpace(of, wanted);
  }

  private long evictPart() {
    try {
      return segment.evictPart(false);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static byte[] bytes(int length, int value) {
    byte[] bytes = new byte[length];
    Arrays.fill(bytes, (byte) value);
    return bytes;
  }

  private void append(int length, int value) throws IOException {
    long at = segment.size();
    assertThat(channel.write(ByteBuffer.wrap(bytes(length, value)), at)).isEqualTo(length);
  }

  private void destage() throws IOException {
    try (FileChannel file = logFile.open()) {
      assertThat(segment.markClean(segment.copyToLogFileAsItIs(file))).isTrue();
    }
  }

  private void assertContent(int second) throws IOException {
    ByteBuffer found = ByteBuffer.allocate((int) segment.size());
    int read = 1;
    while (found.hasRemaining() && read > 0) {
      read = channel.read(found, found.position());
    }
    byte[] expected = Arrays.copyOf(bytes(FIRST, 1), FIRST + second);
    Arrays.fill(expected, FIRST, expected.length, (byte) 2);
    assertThat(Arrays.mismatch(found.array(), expected)).isEqualTo(-1);
  }

  /** The second extent has space for a part of what is appended. */
  @Test
  void nothingOfItIsClean() throws IOException {
    pool.leaveFree(2);
    append(FIRST, 1);
    spaceMaker = (of, wanted) -> assertThat(evictPart()).isZero();
    append(60_000, 2);
    assertThat(segment.spilled()).isTrue();
    assertContent(60_000);
  }

  @Test
  void whatIsEvictedIsStillRead() throws Exception {
    pool.leaveFree(2);
    append(FIRST, 1);
    destage();
    spaceMaker = (of, wanted) -> evictPart();
    ReaderGate gate = segment.gate();
    int token = gate.enter();
    try {
      append(60_000, 2);
      assertThat(segment.spilled()).isTrue();
      assertThat(slot.extents().start()).isEqualTo(BLOCK);
      assertContent(60_000);
    } finally {
      gate.exit(token);
    }
  }

  @Test
  void itsOwnExtentIsWhatItGoesOnIn() throws Exception {
    pool.leaveFree(2);
    append(FIRST, 1);
    destage();
    spaceMaker = (of, wanted) -> evictPart();
    append(60_000, 2);
    assertThat(segment.spilled()).isFalse();
    assertContent(60_000);
  }

  /** A drain takes as long as what the pools have, and not as all that was evicted from them. */
  @Test
  void aDrainCopiesWhatIsDirtyAlone() throws Exception {
    append(FIRST, 1);
    destage();
    assertThat(evictPart()).isEqualTo(BLOCK);
    append(30_000, 2);
    try (FileChannel file = logFile.open()) {
      assertThat(segment.copyToLogFileAsItIs(file).bytes()).isEqualTo(30_000);
    }
    assertContent(30_000);
  }

  @Test
  void anotherSegmentTakesWhatWasEvicted() throws Exception {
    pool.leaveFree(3);
    Residence other = new Residence(pool.allocate("other"), pool.pool());
    append(FIRST, 1);
    destage();
    int[] calls = {0};
    spaceMaker =
        (of, wanted) -> {
          if (++calls[0] == 2) {
            assertThat(evictPart()).isPositive();
            takeAll(other);
          }
        };
    append(200_000, 2);
    assertThat(segment.spilled()).isTrue();
    assertContent(200_000);
  }

  private static void takeAll(Residence other) {
    try {
      while (other.slot().grow()) {
        long from = other.slot().extents().end() - BLOCK;
        other
            .bytes()
            .storeAndPersist(other.slot().extents(), from, ByteBuffer.wrap(bytes(BLOCK, 9)), BLOCK);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Evicted, clean, dirty and spilled bytes in one segment. */
  @Test
  void aReadMayBeginAnywhere() throws Exception {
    pool.leaveFree(2);
    byte[] expected = new byte[260_000];
    new Random(1).nextBytes(expected);
    int unused = channel.write(ByteBuffer.wrap(expected, 0, FIRST), 0);
    destage();
    assertThat(evictPart()).isEqualTo(BLOCK);
    for (int end : new int[] {160_000, 230_000, 260_000}) {
      int at = (int) segment.size();
      assertThat(channel.write(ByteBuffer.wrap(expected, at, end - at), at)).isEqualTo(end - at);
    }
    assertThat(segment.spilled()).isTrue();
    int[] ranges = {
      (int) slot.extents().start(), (int) slot.cleanLength(), (int) slot.committedLength()
    };
    assertThat(ranges).containsExactly(BLOCK, FIRST, 3 * BLOCK);
    for (int at = 0; at < expected.length; at++) {
      assertRead(expected, at, 3);
    }
    for (int boundary : ranges) {
      for (int at = boundary - 20; at < boundary + 20; at++) {
        assertRead(expected, at, 10);
        assertRead(expected, at, expected.length);
        assertRead(expected, at - 60_000, 130_000);
      }
    }
    assertThat(channel.read(ByteBuffer.allocate(1), expected.length)).isEqualTo(-1);
  }

  /** One read may end where a range does; what it has is right, and the next one goes on. */
  private void assertRead(byte[] expected, int from, int length) throws IOException {
    int begin = Math.max(0, from);
    int end = Math.min(expected.length, begin + length);
    ByteBuffer found = ByteBuffer.allocate(end - begin);
    while (found.hasRemaining()) {
      assertThat(channel.read(found, begin + found.position())).isPositive();
    }
    assertThat(Arrays.mismatch(found.array(), 0, end - begin, expected, begin, end))
        .as("bytes %d to %d", begin, end)
        .isEqualTo(-1);
  }

  /** The reader has looked up the bytes below the extents, which the truncation takes. */
  @Test
  void truncationBelowThePoolsBytesWithAReaderAbout() throws Exception {
    pool.leaveFree(8);
    append(FIRST, 1);
    destage();
    assertThat(evictPart()).isPositive();
    ReaderGate gate = segment.gate();
    int token = gate.enter();
    try {
      FileChannel unused = channel.truncate(1000);
      append(5000, 3);
      assertThat(logFile.size()).as("no hole where that reader looks").isEqualTo(6000);
    } finally {
      gate.exit(token);
    }
    FileChannel unused = channel.truncate(0);
    append(FIRST, 1);
    assertThat(segment.spilled()).isFalse();
    assertContent(0);
  }

  /** Its own clean extents cannot be used while a reader has them: others have to leave theirs. */
  @Test
  void aSegmentWithoutAFreeEntryAsksOthersForSpace() throws Exception {
    RecordingMemory memory = new RecordingMemory(16 << 20, Durability.POWER);
    Pool.format(
        memory, PoolSpec.of(memory.path(), memory.type(), memory.size()).withSlotCount(300));
    Pool fragmented = Pool.open(memory, PoolOwner.ANY);
    List<Slot> blocks = new ArrayList<>();
    for (Slot next = oneBlock(fragmented); next.extents().count() > 0; ) {
      blocks.add(next);
      next = oneBlock(fragmented);
    }
    for (int i = 0; i < blocks.size(); i += 2) {
      free(fragmented, blocks.get(i));
    }
    Slot ballast = blocks.get(1);
    slot = fragmented.allocateSlot(TinyPool.DIRECTORY, "fragmented").orElseThrow();
    segment =
        new Segment(
            slot,
            fragmented,
            0,
            new SegmentSettings(() -> false, InstantSource.system(), this::makeSpace),
            SegmentEvents.NONE);
    channel = segment.open(logFile.open(), Set.of(READ, WRITE));
    append(SlotLayout.MAX_EXTENTS * BLOCK, 1);
    assertThat(slot.extents().count()).isEqualTo(SlotLayout.MAX_EXTENTS);
    for (Slot next = oneBlock(fragmented); next.extents().count() > 0; ) {
      next = oneBlock(fragmented);
    }
    destage();
    spaceMaker =
        (of, wanted) -> {
          if (ballast.extents().count() > 0) {
            free(of, ballast);
          }
        };
    ReaderGate gate = segment.gate();
    int token = gate.enter();
    try {
      append(BLOCK, 2);
      assertThat(segment.spilled()).isFalse();
    } finally {
      gate.exit(token);
    }
  }

  private static Slot oneBlock(Pool of) throws IOException {
    Slot taken = of.allocateSlot(TinyPool.DIRECTORY, "ballast").orElseThrow();
    boolean unused = taken.grow();
    return taken;
  }

  private static void free(Pool of, Slot taken) {
    try {
      List<Extent> extents = taken.extents().toList();
      taken.markDeleting();
      taken.free();
      of.release(extents);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
