package io.strata.kafka.segment;

import static io.strata.kafka.segment.TinyPool.BLOCK;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.memory.Durability;
import io.strata.kafka.memory.RecordingMemory;
import io.strata.kafka.pool.Slot;
import io.strata.kafka.pool.words.SlotFlag;
import io.strata.kafka.pool.words.SlotState;
import io.strata.kafka.segment.view.Residence;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Spill offset, spill, failures of the log file and of the medium, and a segment's end. */
final class SegmentTest {

  private static final Set<StandardOpenOption> READ_WRITE =
      Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE);

  private final RecordingMemory memory = new RecordingMemory(4 << 20);
  private final HeapFile logFile = new HeapFile();
  private TinyPool pool;
  private Segment segment;
  private FileChannel channel;

  @BeforeEach
  void open() throws IOException {
    pool = TinyPool.format(memory);
    segment = newSegment("topic-0/00000000000000000000.log", false);
    channel = segment.open(logFile.open(), READ_WRITE);
  }

  @AfterEach
  void close() throws IOException {
    memory.heal();
    channel.close();
    pool.close();
  }

  private Segment newSegment(String path, boolean spillForce) throws IOException {
    return new Segment(
        pool.allocate(path),
        pool.pool(),
        0,
        new SegmentSettings(spillForce, InstantSource.system()),
        SegmentEvents.NONE);
  }

  private static byte[] bytes(long seed, int length) {
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  private byte[] content() throws IOException {
    try (FileChannel reader = segment.open(logFile.open(), Set.of(StandardOpenOption.READ))) {
      return Channels.newInputStream(reader).readAllBytes();
    }
  }

  private static byte[] concat(byte[] a, byte[] b) {
    byte[] both = Arrays.copyOf(a, a.length + b.length);
    System.arraycopy(b, 0, both, a.length, b.length);
    return both;
  }

  private void append(byte[] bytes) throws IOException {
    assertThat(channel.write(ByteBuffer.wrap(bytes), segment.size())).isEqualTo(bytes.length);
  }

  @Test
  void oneWriteStraddlesTheSeam() throws IOException {
    pool.leaveFree(2);
    byte[] bytes = bytes(1, 3 * BLOCK);
    append(bytes);
    assertThat(content()).isEqualTo(bytes);
    assertThat(segment.spilled()).isTrue();
    assertThat(segment.bytesInPool()).isEqualTo(2 * BLOCK);
    assertThat(segment.size() - segment.bytesInPool()).isEqualTo(BLOCK);
    assertThat(logFile.size()).isEqualTo(3 * BLOCK);
    assertThat(Arrays.copyOfRange(logFile.content(), 0, 2 * BLOCK)).containsOnly(0);
  }

  @Test
  void withoutAnySpaceEverythingIsInLogFile() throws IOException {
    pool.leaveFree(0);
    byte[] bytes = bytes(1, 1000);
    append(bytes);
    assertThat(content()).isEqualTo(bytes);
    assertThat(logFile.content()).isEqualTo(bytes);
    assertThat(segment.bytesInPool()).isZero();
  }

  @Test
  void staysSpilledWhenThereIsSpaceAgain() throws IOException {
    pool.leaveFree(1);
    append(bytes(1, BLOCK + 1));
    pool.leaveFree(8);
    append(bytes(2, 10));
    assertThat(segment.bytesInPool()).isEqualTo(BLOCK);
    assertThat(segment.size() - segment.bytesInPool()).isEqualTo(11);
  }

  @Test
  void truncationBelowTheSeamBringsItBackToThePool() throws IOException {
    pool.leaveFree(1);
    byte[] bytes = bytes(1, BLOCK + 5000);
    append(bytes);
    channel.truncate(BLOCK - 10);
    assertThat(segment.spilled()).isFalse();
    assertThat(logFile.size()).isLessThanOrEqualTo(BLOCK - 10);
    pool.leaveFree(2);
    byte[] more = bytes(2, BLOCK);
    append(more);
    assertThat(segment.size() - segment.bytesInPool()).isZero();
    assertThat(content()).isEqualTo(concat(Arrays.copyOf(bytes, BLOCK - 10), more));
  }

  @Test
  void truncationAboveTheSeamLeavesItSpilled() throws IOException {
    pool.leaveFree(1);
    byte[] bytes = bytes(1, BLOCK + 5000);
    append(bytes);
    channel.truncate(BLOCK + 100);
    assertThat(segment.spilled()).isTrue();
    assertThat(content()).isEqualTo(Arrays.copyOf(bytes, BLOCK + 100));
    assertThat(logFile.size()).isEqualTo(BLOCK + 100);
  }

  @Test
  void whinLogFileHeldBeforeTheSpillIsNotPartOfTheSegment() throws IOException {
    pool.leaveFree(1);
    byte[] bytes = bytes(1, BLOCK);
    append(bytes);
    try (FileChannel copy = logFile.open()) {
      segment.copyToLogFileAsItIs(copy);
    }
    channel.truncate(1000);
    pool.leaveFree(0);
    byte[] more = bytes(2, BLOCK - 1000 + 10);
    append(more);
    byte[] all = concat(Arrays.copyOf(bytes, 1000), more);
    assertThat(content()).isEqualTo(all);
    // And again at 2000 bytes, in the middle of what the log file has.
    channel.truncate(2000);
    channel.close();
    Slot slot = pool.pool().slot(segment.tag().slot(), segment.tag().generation()).orElseThrow();
    assertThat(slot.has(SlotFlag.SPILLED)).isFalse();
    assertThat(content()).isEqualTo(Arrays.copyOf(all, 2000));
  }

  @Test
  void slotIsNotFlaggedBeforeLogFileIsCut() throws IOException {
    byte[] bytes = bytes(1, 2 * BLOCK);
    append(Arrays.copyOf(bytes, 1000));
    try (FileChannel other = logFile.open()) {
      assertThat(other.write(ByteBuffer.wrap(bytes(2, 2 * BLOCK)), 0)).isEqualTo(2 * BLOCK);
    }
    pool.leaveFree(0);
    logFile.failTruncates(1);
    assertThat(channel.write(ByteBuffer.wrap(bytes, 1000, BLOCK), 1000)).isEqualTo(BLOCK - 1000);
    // As a process that ends here leaves it: of the log file nothing counts.
    assertThat(logFile.size()).isEqualTo(2 * BLOCK);
    Slot slot = pool.pool().slot(segment.tag().slot(), segment.tag().generation()).orElseThrow();
    segment =
        new Segment(
            slot, pool.pool(), logFile.size(), SegmentSettings.defaults(), SegmentEvents.NONE);
    assertThat(content()).isEqualTo(Arrays.copyOf(bytes, BLOCK));
  }

  @Test
  void gapIsZerosAndNotWhatTheExtentHeld() throws IOException {
    append(bytes(1, 2 * BLOCK));
    channel.truncate(0);
    byte[] bytes = bytes(2, 10);
    channel.write(ByteBuffer.wrap(bytes), BLOCK + 100);
    assertThat(content()).isEqualTo(concat(new byte[BLOCK + 100], bytes));
  }

  @Test
  void gapAcrossTheSeamIsZeros() throws IOException {
    pool.leaveFree(1);
    append(bytes(1, 100));
    byte[] bytes = bytes(2, 10);
    channel.write(ByteBuffer.wrap(bytes), BLOCK + 100);
    byte[] expected = Arrays.copyOf(bytes(1, 100), BLOCK + 100);
    assertThat(content()).isEqualTo(concat(expected, bytes));
    assertThat(segment.bytesInPool()).isEqualTo(BLOCK);
  }

  @Test
  void longGapCostsNoPool() throws IOException {
    append(bytes(1, 100));
    long used = pool.pool().usage().usedBytes();
    byte[] bytes = bytes(2, 10);
    channel.write(ByteBuffer.wrap(bytes), 100 + SegmentWriter.LONGEST_GAP_IN_POOL + 1);
    assertThat(pool.pool().usage().usedBytes()).isEqualTo(used);
    assertThat(segment.bytesInPool()).isEqualTo(100);
    byte[] expected =
        Arrays.copyOf(bytes(1, 100), (int) (100 + SegmentWriter.LONGEST_GAP_IN_POOL + 1));
    assertThat(content()).isEqualTo(concat(expected, bytes));
  }

  @Test
  void fullLogFileTakesWhatFitsAndThrowsTheNextTime() throws IOException {
    pool.leaveFree(1);
    logFile.limit(BLOCK + 300);
    byte[] bytes = bytes(1, BLOCK + 1000);
    ByteBuffer source = ByteBuffer.wrap(bytes);
    assertThat(channel.write(source, 0)).isEqualTo(BLOCK + 300);
    assertThat(source.position()).isEqualTo(BLOCK + 300);
    assertThatThrownBy(() -> channel.write(source, BLOCK + 300))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("No space left");
    assertThat(source.position()).isEqualTo(BLOCK + 300);
    assertThat(channel.isOpen()).isTrue();
    assertThat(content()).isEqualTo(Arrays.copyOf(bytes, BLOCK + 300));
    logFile.limit(Long.MAX_VALUE);
    assertThat(channel.write(source, BLOCK + 300)).isEqualTo(700);
    assertThat(content()).isEqualTo(bytes);
  }

  @Test
  void fullLogFileFromTheStartLosesNothingOfThePool() throws IOException {
    pool.leaveFree(1);
    byte[] bytes = bytes(1, BLOCK);
    append(bytes);
    logFile.limit(0);
    ByteBuffer source = ByteBuffer.wrap(bytes(2, 10));
    assertThatThrownBy(() -> channel.write(source, BLOCK)).isInstanceOf(IOException.class);
    assertThat(source.position()).isZero();
    assertThat(content()).isEqualTo(bytes);
    logFile.limit(Long.MAX_VALUE);
    append(bytes(2, 10));
    assertThat(content()).isEqualTo(concat(bytes, bytes(2, 10)));
  }

  @Test
  void spillIsForcedWhenAsked() throws IOException {
    segment = newSegment("topic-0/1.log", true);
    HeapFile other = new HeapFile();
    pool.leaveFree(1);
    try (FileChannel forced = segment.open(other.open(), READ_WRITE)) {
      byte[] bytes = bytes(1, BLOCK + 10);
      forced.write(ByteBuffer.wrap(bytes));
      for (int seed = 0; seed < 10; seed++) {
        assertThat(other.crash(new Random(seed)).content()).isEqualTo(other.content());
      }
    }
  }

  @Test
  void appendThatCouldNotBeForcedIsNotThere() throws IOException {
    segment = newSegment("topic-0/1.log", true);
    HeapFile other = new HeapFile();
    pool.leaveFree(1);
    try (FileChannel forced = segment.open(other.open(), READ_WRITE)) {
      byte[] head = bytes(1, BLOCK + 10);
      forced.write(ByteBuffer.wrap(head));
      other.failForces(1);
      ByteBuffer source = ByteBuffer.wrap(bytes(2, 5000));
      assertThatThrownBy(() -> forced.write(source))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("Force staged");
      assertThat(source.position()).isZero();
      assertThat(forced.size()).isEqualTo(head.length);
      assertThat(forced.position()).isEqualTo(head.length);
      byte[] tail = bytes(3, 10);
      forced.write(ByteBuffer.wrap(tail));
      assertThat(other.size()).as("nothing is left of what was refused").isEqualTo(BLOCK + 20);
      assertThat(Arrays.copyOfRange(other.content(), BLOCK + 10, BLOCK + 20)).isEqualTo(tail);
      for (int seed = 0; seed < 10; seed++) {
        assertThat(other.crash(new Random(seed)).content()).isEqualTo(other.content());
      }
    }
  }

  /** The JDK would return what was written before; here it would hide that a force has failed. */
  @Test
  void gatheredBytesThatCouldNotBeForcedAreAnException() throws IOException {
    segment = newSegment("topic-0/1.log", true);
    HeapFile other = new HeapFile();
    pool.leaveFree(1);
    try (FileChannel forced = segment.open(other.open(), READ_WRITE)) {
      byte[] head = bytes(1, BLOCK + 10);
      forced.write(ByteBuffer.wrap(head));
      ByteBuffer first = ByteBuffer.wrap(bytes(2, 5000));
      ByteBuffer second = ByteBuffer.wrap(bytes(3, 5000));
      other.afterForce(() -> other.failForces(1));
      assertThatThrownBy(() -> forced.write(new ByteBuffer[] {first, second}))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("Force staged");
      assertThat(first.hasRemaining()).isFalse();
      assertThat(second.position()).isZero();
      assertThat(forced.size()).isEqualTo(head.length + 5000);
      assertThat(forced.position()).isEqualTo(head.length + 5000);
    }
  }

  @Test
  void transferredBytesThatCouldNotBeForcedAreAnException() throws IOException {
    segment = newSegment("topic-0/1.log", true);
    HeapFile other = new HeapFile();
    pool.leaveFree(0);
    try (FileChannel forced = segment.open(other.open(), READ_WRITE)) {
      forced.write(ByteBuffer.wrap(bytes(1, 10)));
      other.afterForce(() -> other.failForces(1));
      ReadableByteChannel source =
          Channels.newChannel(new ByteArrayInputStream(bytes(2, 3 * BLOCK)));
      assertThatThrownBy(() -> forced.transferFrom(source, 10, 3 * BLOCK))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("Force staged");
    }
  }

  /** The bytes are there, and what counts them must look again. */
  @Test
  void anAppendThatCouldNotBeForcedIsAChange() throws IOException {
    RecordingMemory forced = new RecordingMemory(4 << 20, Durability.FORCE);
    AtomicLong clock = new AtomicLong(Long.MAX_VALUE / 2);
    try (TinyPool files = TinyPool.format(forced)) {
      Segment onFiles =
          new Segment(
              files.allocate("topic-0/1.log"),
              files.pool(),
              0,
              new SegmentSettings(true, () -> Instant.ofEpochMilli(clock.incrementAndGet())),
              SegmentEvents.NONE);
      try (FileChannel opened = onFiles.open(new HeapFile().open(), READ_WRITE)) {
        opened.write(ByteBuffer.wrap(bytes(1, 10)));
        long before = onFiles.lastChangeMillis();
        forced.beforeForce(
            onFiles.slot().extents().position(0) + 15,
            () -> {
              throw new IOException("Force staged");
            });
        assertThatThrownBy(() -> opened.write(ByteBuffer.wrap(bytes(2, 10))))
            .hasMessageContaining("Force staged");
        assertThat(opened.size()).isEqualTo(20);
        assertThat(onFiles.lastChangeMillis()).isGreaterThan(before);
      }
    }
  }

  @Test
  void failedTruncationOfLogFileLeavesAPrefix() throws IOException {
    pool.leaveFree(1);
    byte[] bytes = bytes(1, BLOCK + 1000);
    append(bytes);
    logFile.failTruncates(1);
    assertThatThrownBy(() -> channel.truncate(10)).isInstanceOf(IOException.class);
    assertThat(content()).isEqualTo(bytes);
    logFile.failForces(1);
    assertThatThrownBy(() -> channel.truncate(10)).isInstanceOf(IOException.class);
    assertThat(content()).isEqualTo(Arrays.copyOf(bytes, BLOCK));
    append(bytes(2, 20));
    assertThat(content()).isEqualTo(concat(Arrays.copyOf(bytes, BLOCK), bytes(2, 20)));
    channel.truncate(10);
    assertThat(content()).isEqualTo(Arrays.copyOf(bytes, 10));
  }

  @Test
  void badBlockIsAnIoExceptionAndLeavesTheSegmentAsItWas() throws IOException {
    byte[] bytes = bytes(1, 1000);
    append(bytes);
    long extent = segment.slot().extents().position(0);
    memory.fail(extent + 2000, 64);
    ByteBuffer source = ByteBuffer.wrap(bytes(2, 3000));
    assertThatThrownBy(() -> channel.write(source, 1000)).isInstanceOf(IOException.class);
    assertThat(source.position()).isZero();
    assertThat(content()).isEqualTo(bytes);
    append(bytes(2, 500));
    memory.fail(extent, 64);
    ByteBuffer target = ByteBuffer.allocate(100);
    assertThatThrownBy(() -> channel.read(target, 0)).isInstanceOf(IOException.class);
    assertThat(target.position()).isZero();
    assertThat(channel.isOpen()).isTrue();
    memory.heal();
    assertThat(content()).isEqualTo(concat(bytes, bytes(2, 500)));
  }

  @Test
  void deletedSegmentIsReadableUntilItsLastChannelIsClosed() throws IOException {
    byte[] bytes = bytes(1, BLOCK);
    append(bytes);
    long free = pool.pool().usage().freeBytes();
    segment.markDeleting();
    assertThat(segment.slot().state()).isEqualTo(SlotState.DELETING);
    segment.free();
    assertThat(segment.slot().state()).isEqualTo(SlotState.FREE);
    // Another segment takes the slot and as many extents as there are.
    Segment other = newSegment("topic-1/00000000000000000000.log", false);
    try (FileChannel writer = other.open(new HeapFile().open(), READ_WRITE)) {
      writer.write(ByteBuffer.wrap(bytes(2, 31 * BLOCK)));
    }
    ByteBuffer target = ByteBuffer.allocate(BLOCK);
    assertThat(channel.read(target, 0)).isEqualTo(BLOCK);
    assertThat(target.array()).isEqualTo(bytes);
    assertThatThrownBy(() -> channel.write(ByteBuffer.wrap(bytes)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("deleted");
    assertThatThrownBy(() -> channel.truncate(0)).isInstanceOf(IOException.class);
    channel.force(true);
    assertThatThrownBy(() -> segment.open(logFile.open(), READ_WRITE))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("deleted");
    other.markDeleting();
    other.free();
    assertThat(pool.pool().usage().freeBytes()).isEqualTo(free);
    channel.close();
    assertThat(pool.pool().usage().freeBytes()).isEqualTo(free + BLOCK);
    segment.free();
    assertThat(pool.pool().usage().freeBytes()).isEqualTo(free + BLOCK);
  }

  @Test
  void theBytesOfADeletedSegmentAreFreeBeforeItsSlotIs() throws IOException {
    append(bytes(1, 2 * BLOCK));
    channel.close();
    long free = pool.pool().usage().freeBytes();
    segment.markDeleting();
    assertThat(pool.pool().usage().freeBytes()).as("it may still be read").isEqualTo(free);
    segment.releaseBytes();
    segment.releaseBytes();
    assertThat(pool.pool().usage().freeBytes()).isEqualTo(free + 2 * BLOCK);
    assertThat(segment.slot().state()).isEqualTo(SlotState.DELETING);

    Segment other = newSegment("topic-1/00000000000000000000.log", false);
    byte[] all = bytes(2, 32 * BLOCK);
    try (FileChannel writer = other.open(new HeapFile().open(), READ_WRITE)) {
      writer.write(ByteBuffer.wrap(all));
    }
    assertThat(pool.pool().usage().freeBytes()).isZero();
    segment.free();
    assertThat(pool.pool().usage().freeBytes()).as("they are released once").isZero();
  }

  @Test
  void freeingNeedsTheMark() {
    assertThatThrownBy(() -> segment.releaseBytes()).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> segment.free()).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void bytesStayCleanUntilTheyAreTruncatedOrReplaced() throws IOException {
    append(bytes(1, 100));
    segment.slot().setCleanLength(100);
    append(bytes(2, 1));
    assertThat(segment.slot().cleanLength()).isEqualTo(100);
    assertThat(segment.evict(true)).isEmpty();
    channel.truncate(50);
    assertThat(segment.slot().cleanLength()).isEqualTo(50);
    assertThat(channel.write(ByteBuffer.wrap(bytes(3, 1)), 49)).isEqualTo(1);
    assertThat(segment.slot().cleanLength()).isZero();
  }

  @Test
  void copyMakesLogFileWhole() throws IOException {
    pool.leaveFree(2);
    byte[] bytes = bytes(1, 3 * BLOCK + 17);
    append(bytes);
    try (FileChannel copy = logFile.open()) {
      segment.copyToLogFileAsItIs(copy);
    }
    assertThat(logFile.content()).isEqualTo(bytes);
    assertThat(logFile.crash(new Random(1)).content()).isEqualTo(bytes);
  }

  @Test
  void logFileCutShortByOthersIsAnErrorAndNoEndlessZero() throws IOException {
    pool.leaveFree(1);
    append(bytes(1, BLOCK + 1000));
    try (FileChannel other = logFile.open()) {
      other.truncate(BLOCK + 10);
    }
    assertThat(channel.read(ByteBuffer.allocate(100), BLOCK)).isEqualTo(10);
    assertThatThrownBy(() -> channel.read(ByteBuffer.allocate(100), BLOCK + 10))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("the log file ends at " + (BLOCK + 10));
  }

  @Test
  void appendsAreInOneLine() throws IOException {
    append(bytes(1, 10));
    long before = memory.persistPoints();
    append(bytes(2, 100));
    assertThat(memory.persistPoints() - before).as("persists of one append").isEqualTo(2);
    assertThat(segment.tag().slot()).isEqualTo(segment.slot().index());
    assertThat(segment.name()).contains("topic-0/00000000000000000000.log");
  }

  @Test
  void clockTellsTheLastChange() throws IOException {
    Segment timed =
        new Segment(
            pool.allocate("x"),
            pool.pool(),
            0,
            new SegmentSettings(false, () -> java.time.Instant.ofEpochMilli(1234)),
            SegmentEvents.NONE);
    assertThat(timed.lastChangeMillis()).isEqualTo(timed.slot().createdAtMillis());
    try (FileChannel writer = timed.open(new HeapFile().open(), READ_WRITE)) {
      writer.write(ByteBuffer.wrap(new byte[1]));
    }
    assertThat(timed.lastChangeMillis()).isEqualTo(1234);
  }

  /** Whether spills are forced may change on a running broker. */
  @Test
  void aSpillIsForcedFromTheAppendOnThatIsToBe() throws IOException {
    AtomicBoolean force = new AtomicBoolean();
    HeapFile file = new HeapFile();
    Segment live =
        new Segment(
            pool.allocate("live-0/00000000000000000000.log"),
            pool.pool(),
            0,
            new SegmentSettings(force::get, InstantSource.system(), SpaceMaker.NONE),
            SegmentEvents.NONE);
    pool.leaveFree(0);
    try (FileChannel writer = live.open(file.open(), READ_WRITE)) {
      writer.write(ByteBuffer.wrap(bytes(1, 100)));
      int before = file.forced().length;
      force.set(true);
      writer.write(ByteBuffer.wrap(bytes(2, 100)));
      assertThat(before).as("forced before").isLessThan(100);
      assertThat(file.forced()).as("forced since").hasSize(200);
      force.set(false);
      writer.write(ByteBuffer.wrap(bytes(3, 100)));
      assertThat(file.forced()).as("forced until then").hasSize(200);
    }
  }

  /** A truncation in the middle of a force must not keep later forces from counting. */
  @Test
  void forceCountsThoughTruncationsComeBetween() throws Exception {
    for (int round = 0; round < 40; round++) {
      RecordingMemory ordinary = new RecordingMemory(4 << 20, Durability.FORCE);
      TinyPool itsPool = TinyPool.format(ordinary);
      Segment forced =
          new Segment(
              itsPool.allocate("x"),
              itsPool.pool(),
              0,
              SegmentSettings.defaults(),
              SegmentEvents.NONE);
      byte[] bytes = bytes(round, 5 * BLOCK);
      try (FileChannel writer = forced.open(new HeapFile().open(), READ_WRITE)) {
        writer.write(ByteBuffer.wrap(bytes));
        AtomicReference<Throwable> failure = new AtomicReference<>();
        Thread forcing =
            new Thread(
                () -> {
                  try {
                    writer.force(true);
                  } catch (IOException e) {
                    failure.set(e);
                  }
                });
        forcing.start();
        for (int cut = 4 * BLOCK; cut > 0; cut -= BLOCK) {
          writer.truncate(cut);
        }
        forcing.join();
        assertThat(failure.get()).isNull();
        writer.write(ByteBuffer.wrap(bytes, BLOCK, 100), BLOCK);
        writer.force(true);
      }
      TinyPool left = TinyPool.openAfterPowerCut(ordinary.crash(new Random(round)));
      Slot slot = left.pool().slot(forced.tag().slot(), forced.tag().generation()).orElseThrow();
      assertThat(slot.committedLength()).as("round %s", round).isEqualTo(BLOCK + 100);
    }
  }

  /** Kafka flushes a segment at any time. */
  @Test
  void aForceOfBytesInThePoolHoldsUpNoEviction() throws IOException {
    RecordingMemory ordinary = new RecordingMemory(4 << 20, Durability.FORCE);
    TinyPool itsPool = TinyPool.format(ordinary);
    Segment clean =
        new Segment(
            itsPool.allocate("x"),
            itsPool.pool(),
            0,
            SegmentSettings.defaults(),
            SegmentEvents.NONE);
    itsPool.leaveFree(1);
    HeapFile log = new HeapFile();
    byte[] bytes = bytes(1, BLOCK + 1000);
    try (FileChannel appending = clean.open(log.open(), READ_WRITE);
        FileChannel copy = log.open()) {
      assertThat(appending.write(ByteBuffer.wrap(bytes))).isEqualTo(bytes.length);
      assertThat(clean.spilled()).isTrue();
      assertThat(clean.markClean(clean.copyToLogFileAsItIs(copy))).isTrue();
      List<Optional<Residence>> left = new ArrayList<>();
      ordinary.beforeForce(clean.slot().extents().position(0), () -> left.add(clean.evict(false)));
      appending.force(true);
      assertThat(left).hasSize(1);
      assertThat(left.get(0)).isPresent();
      assertThat(log.content()).isEqualTo(bytes);
    }
    itsPool.close();
  }

  /** It is clean until it has been appended to, and may be the next to be evicted. */
  @Test
  void anAppendThatNeedsSpaceDoesNotEvictItsOwnSegment() throws IOException {
    List<Segment> appended = new ArrayList<>();
    SpaceMaker evictsIt =
        (in, wanted) -> {
          try {
            assertThat(appended.get(0).evict(false)).isEmpty();
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        };
    appended.add(
        new Segment(
            pool.allocate("topic-1/00000000000000000000.log"),
            pool.pool(),
            0,
            new SegmentSettings(() -> false, InstantSource.system(), evictsIt),
            SegmentEvents.NONE));
    pool.leaveFree(1);
    HeapFile log = new HeapFile();
    try (FileChannel appending = appended.get(0).open(log.open(), READ_WRITE)) {
      byte[] bytes = bytes(1, BLOCK);
      assertThat(appending.write(ByteBuffer.wrap(bytes))).isEqualTo(BLOCK);
      try (FileChannel copy = log.open()) {
        Segment clean = appended.get(0);
        assertThat(clean.markClean(clean.copyToLogFileAsItIs(copy))).isTrue();
      }
      byte[] more = bytes(2, 1000);
      assertThat(appending.write(ByteBuffer.wrap(more))).isEqualTo(more.length);
      assertThat(appended.get(0).spilled()).isTrue();
      ByteBuffer found = ByteBuffer.allocate(BLOCK + more.length);
      assertThat(appending.read(found, 0)).isEqualTo(found.capacity());
      assertThat(found.array()).isEqualTo(concat(bytes, more));
    }
  }
}
