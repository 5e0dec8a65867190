package io.strata.kafka.segment;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.memory.CrashError;
import io.strata.kafka.memory.Durability;
import io.strata.kafka.memory.RecordingMemory;
import io.strata.kafka.pool.Slot;
import io.strata.kafka.pool.words.SlotFlag;
import io.strata.kafka.pool.words.SlotState;
import io.strata.kafka.segment.view.Residence;
import io.strata.kafka.segment.view.SegmentTag;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A seeded workload on a few segments, cut at each persist point of the pool and at each change of
 * the log file. After a power cut (a pool that survives one, each spill forced) and after the mere
 * end of the process (any pool) each segment is what was acknowledged, or that with the interrupted
 * operation done in part; and it goes on from there.
 *
 * <p>{@code -Dstrata.segment.crash.seeds=n} runs n seeds of each kind.
 */
final class SegmentCrashTest {

  private static final int SEEDS = Integer.getInteger("strata.segment.crash.seeds", 1);
  private static final int OPERATIONS = 30;

  private static final int SEGMENTS = 3;
  private static final Set<StandardOpenOption> READ_WRITE =
      Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE);

  private static final LongAdder UNSPILLED = new LongAdder();

  @AfterAll
  static void someAreUnspilled() {
    assertThat(UNSPILLED.sum()).isPositive();
  }

  static LongStream seeds() {
    return LongStream.rangeClosed(1, SEEDS);
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void powerCutInADaxPool(long seed) throws IOException {
    cutEverywhere(seed, Durability.POWER, true);
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void killInADaxPool(long seed) throws IOException {
    cutEverywhere(seed, Durability.POWER, false);
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void killInAnOrdinaryPool(long seed) throws IOException {
    cutEverywhere(seed, Durability.FORCE, false);
  }

  /**
   * What has been forced is there, and what has not been is the segment's own, zeros or not there.
   */
  @ParameterizedTest
  @MethodSource("seeds")
  void powerCutInAPoolThatNeedsAForce(long seed) throws IOException {
    cutEverywhere(seed, Durability.FORCE, true);
  }

  private static void cutEverywhere(long seed, Durability durability, boolean power)
      throws IOException {
    Workload whole = new Workload(seed, durability, power);
    whole.format();
    long first = whole.memory.persistPoints() + 1;
    whole.run();
    UNSPILLED.add(whole.unspilled);
    long persists = whole.memory.persistPoints();
    long changes = whole.changes();
    whole.closeAll();
    assertThat(changes).as("the workload of seed %s reaches the log file", seed).isGreaterThan(4);
    for (long point = first; point <= persists; point++) {
      cut(new Workload(seed, durability, power), point, Long.MAX_VALUE);
    }
    for (long change = 1; change <= changes; change++) {
      cut(new Workload(seed, durability, power), Long.MAX_VALUE, change);
    }
  }

  private static void cut(Workload workload, long persistPoint, long change) throws IOException {
    try {
      workload.format();
      if (persistPoint != Long.MAX_VALUE) {
        workload.memory.crashBefore(persistPoint);
      }
      workload.crashAtChange = change;
      workload.run();
      throw new AssertionError("no crash");
    } catch (CrashError | HeapFile.Crash e) {
      workload.recover();
    } catch (AssertionError | RuntimeException | IOException e) {
      throw new AssertionError(workload + ", cut at " + persistPoint + "/" + change, e);
    }
    try {
      workload.checkAll();
      workload.goOn();
    } catch (AssertionError | RuntimeException | IOException e) {
      throw new AssertionError(workload + ", cut at " + persistPoint + "/" + change, e);
    }
  }

  /** What one segment must be, and may be while an operation is under way. */
  private static final class Expected {
    final int number;
    HeapFile logFile = new HeapFile();
    byte[] acknowledged = new byte[0];

    /** The longest that it may be: with the append under way; starts with what is acknowledged. */
    byte[] longest = acknowledged;

    /** The shortest that it may be: with the truncation under way. */
    int shortest;

    /** How much of what is acknowledged has been forced too. */
    int forced;

    /**
     * Whether it has been evicted, or may have been: without its slot, the log file is the segment.
     */
    boolean mayBeInLogFile;

    /** Whether it is being made or deleted. */
    boolean uncertain;

    Optional<SegmentTag> tag = Optional.empty();
    Optional<Segment> segment = Optional.empty();
    Optional<FileChannel> channel = Optional.empty();

    Expected(int number) {
      this.number = number;
    }

    /** As recovery does before the segment is opened. */
    void dropWhatIsNotClean(Slot slot) throws IOException {
      if (logFile.size() < slot.cleanLength()) {
        slot.setCleanLength(logFile.size());
      }
      if (!slot.has(SlotFlag.SPILLED)) {
        try (FileChannel channel = logFile.open()) {
          channel.truncate(slot.cleanLength());
          channel.force(true);
        }
      }
    }

    void acknowledge(byte[] content) {
      acknowledged = content;
      longest = content;
      shortest = content.length;
    }
  }

  private static final class Workload {

    private final long seed;
    private final Random random;
    private final Durability durability;
    private final boolean power;
    private final List<Expected> segments = new ArrayList<>();
    private RecordingMemory memory;
    private TinyPool pool;
    private int numbers;
    private long crashAtChange = Long.MAX_VALUE;
    private long changesOfTheDeleted;
    private int unspilled;

    Workload(long seed, Durability durability, boolean power) throws IOException {
      this.seed = seed;
      this.random = new Random(seed);
      this.durability = durability;
      this.power = power;
      this.memory = new RecordingMemory(4 << 20, durability);
      this.pool = TinyPool.format(memory);
    }

    void format() throws IOException {
      // Extents hold what others left: nothing of that may ever be seen.
      pool.leaveFree(32);
      Slot dirt = pool.allocate("dirt");
      while (dirt.grow()) {
        for (int i = 0; i < dirt.extents().count(); i++) {
          byte[] others = new byte[(int) dirt.extents().length(i)];
          Arrays.fill(others, (byte) 0xEE);
          memory.storeAndPersist(dirt.extents().position(i), ByteBuffer.wrap(others));
        }
      }
      var extents = dirt.extents().toList();
      dirt.free();
      pool.pool().release(extents);
      pool.leaveFree(2);
    }

    void run() throws IOException {
      for (int i = 0; i < OPERATIONS; i++) {
        step();
        passOnTheCrash();
      }
    }

    /** The log files count their changes each; the crash is at the sum. */
    private void passOnTheCrash() {
      for (Expected one : segments) {
        if (crashAtChange != Long.MAX_VALUE) {
          one.logFile.crashAt(crashAtChange - (changes() - one.logFile.changes()));
        }
      }
    }

    long changes() {
      return changesOfTheDeleted + segments.stream().mapToLong(one -> one.logFile.changes()).sum();
    }

    private void step() throws IOException {
      int dice = random.nextInt(100);
      if (segments.size() < SEGMENTS && (segments.isEmpty() || dice < 15)) {
        create();
        return;
      }
      Expected one = segments.get(random.nextInt(segments.size()));
      if (dice < 58) {
        append(one);
      } else if (dice < 68) {
        truncate(one);
      } else if (dice < 73) {
        one.channel.orElseThrow().force(true);
        one.forced = one.acknowledged.length;
      } else if (dice < 78) {
        reopen(one);
      } else if (dice < 96) {
        move(one);
      } else {
        delete(one);
      }
    }

    private void move(Expected one) throws IOException {
      Segment segment = one.segment.orElseThrow();
      switch (random.nextInt(8)) {
        case 6, 7 -> unspill(one);
        case 0 -> copy(one);
        case 1 -> destage(one);
        case 4 -> {
          destage(one);
          long unused = segment.evictPart(true);
          assertThat(content(one)).isEqualTo(one.acknowledged);
        }
        case 2 -> {
          destage(one);
          if (segment.residence().isPresent() && one.acknowledged.length > 0) {
            evict(one);
          }
        }
        case 3 -> {
          boolean clean = segment.residence().map(Residence::isClean).orElse(false);
          if (clean && one.acknowledged.length > 0) {
            evict(one);
          }
        }
        default -> {
          pool.leaveFree(8);
          if (segment.residence().isEmpty() || segment.spilled()) {
            promote(one);
          }
          pool.leaveFree(2);
        }
      }
    }

    private void destage(Expected one) throws IOException {
      Segment segment = one.segment.orElseThrow();
      try (FileChannel logFile = one.logFile.open()) {
        if (segment.markClean(segment.copyToLogFileAsItIs(logFile))) {
          one.forced = one.acknowledged.length;
        }
      }
    }

    /** It spills first, if it has not. */
    private void unspill(Expected one) throws IOException {
      Segment segment = one.segment.orElseThrow();
      if (segment.residence().isEmpty()) {
        return;
      }
      pool.leaveFree(0);
      while (!segment.spilled()) {
        append(one);
      }
      destage(one);
      pool.leaveFree(random.nextInt(3));
      try (FileChannel logFile = one.logFile.open()) {
        int forced = one.acknowledged.length;
        if (random.nextBoolean()) {
          one.logFile.afterForce(() -> appendMore(one));
        }
        if (segment.unspill(logFile, () -> logFile.force(true))) {
          one.forced = forced;
          unspilled++;
        }
        one.logFile.afterForce(() -> {});
      }
      pool.leaveFree(2);
      assertThat(content(one)).isEqualTo(one.acknowledged);
    }

    /** The log file's tag stays as it is: that it follows is not what anything depends on. */
    private void evict(Expected one) throws IOException {
      one.mayBeInLogFile = true;
      Segment segment = one.segment.orElseThrow();
      Optional<Residence> left = segment.evict(true);
      if (left.isEmpty() && segment.spilled()) {
        try (FileChannel logFile = one.logFile.open()) {
          segment.force(() -> logFile.force(true));
          one.forced = one.acknowledged.length;
        }
        left = segment.evict(true);
      }
      assertThat(left).isPresent();
    }

    private void promote(Expected one) throws IOException {
      Slot slot = pool.allocate("copy");
      slot.set(SlotFlag.COPY);
      Residence copy = new Residence(slot, pool.pool());
      Optional<Residence> left = one.segment.orElseThrow().residence();
      boolean done = false;
      try (FileChannel logFile = one.logFile.open()) {
        logFile.force(true);
        Segment segment = one.segment.orElseThrow();
        CopyResult copied = segment.copying().copyInto(copy, logFile, CopyPace.FREE, true);
        if (copied.outcome() == CopyResult.Outcome.COPIED) {
          // The log file has no more than before.
          boolean clean = left.map(Residence::isClean).orElse(true);
          slot.setCleanLength(clean ? copied.end() : left.orElseThrow().slot().cleanLength());
          done =
              segment.relocate(
                  copied,
                  copy,
                  new PlainLink(
                      () -> {
                        if (left.isPresent()) {
                          left.get().slot().set(SlotFlag.COPY);
                        }
                        one.tag = Optional.of(copy.tag());
                      }));
          assertThat(done).isTrue();
          one.forced = one.acknowledged.length;
          if (left.isPresent()) {
            segment.freeCopy(left.get());
          }
          segment.clear(SlotFlag.COPY);
        }
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
      if (!done) {
        free(slot);
      }
    }

    private void free(Slot slot) throws IOException {
      var extents = slot.extents().toList();
      slot.free();
      pool.pool().release(extents);
    }

    private void create() throws IOException {
      Expected one = new Expected(numbers++);
      one.uncertain = true;
      segments.add(one);
      passOnTheCrash();
      Slot slot = pool.allocate("segment" + one.number);
      open(one, slot, 0);
      one.uncertain = false;
    }

    private void open(Expected one, Slot slot, long logFileSize) throws IOException {
      Segment segment =
          new Segment(
              slot,
              pool.pool(),
              logFileSize,
              new SegmentSettings(power && !needsForce(), InstantSource.system()),
              SegmentEvents.NONE);
      one.tag = Optional.of(segment.tag());
      one.segment = Optional.of(segment);
      one.channel = Optional.of(segment.open(one.logFile.open(), READ_WRITE));
    }

    private void openInLogFile(Expected one) throws IOException {
      Segment segment =
          Segment.inLogFile(
              "segment" + one.number,
              one.logFile.size(),
              0,
              new SegmentSettings(power && !needsForce(), InstantSource.system()),
              SegmentEvents.NONE);
      one.segment = Optional.of(segment);
      one.channel = Optional.of(segment.open(one.logFile.open(), READ_WRITE));
    }

    private void reopen(Expected one) throws IOException {
      Segment segment = one.segment.orElseThrow();
      one.channel.orElseThrow().close();
      if (segment.residence().isPresent()) {
        open(one, segment.slot(), one.logFile.size());
      } else {
        openInLogFile(one);
      }
      assertThat(content(one)).isEqualTo(one.acknowledged);
    }

    /** Leaves bytes in the log file that are no part of the segment as soon as it is truncated. */
    private void copy(Expected one) throws IOException {
      try (FileChannel copy = one.logFile.open()) {
        one.segment.orElseThrow().copyToLogFileAsItIs(copy);
      }
    }

    private void append(Expected one) throws IOException {
      byte[] bytes = new byte[1 + random.nextInt(random.nextInt(3) == 0 ? 100_000 : 9000)];
      random.nextBytes(bytes);
      int before = one.acknowledged.length;
      one.longest = Arrays.copyOf(one.acknowledged, before + bytes.length);
      System.arraycopy(bytes, 0, one.longest, before, bytes.length);
      int written = one.channel.orElseThrow().write(ByteBuffer.wrap(bytes), before);
      assertThat(written).isEqualTo(bytes.length);
      one.acknowledge(one.longest);
    }

    private void appendMore(Expected one) {
      try {
        append(one);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private void truncate(Expected one) throws IOException {
      one.shortest = random.nextInt(one.acknowledged.length + 1);
      one.forced = Math.min(one.forced, one.shortest);
      one.channel.orElseThrow().truncate(one.shortest);
      one.acknowledge(Arrays.copyOf(one.acknowledged, one.shortest));
    }

    private void delete(Expected one) throws IOException {
      one.uncertain = true;
      Segment segment = one.segment.orElseThrow();
      segment.markDeleting();
      segment.releaseBytes();
      if (random.nextInt(4) > 0) {
        segment.free();
      }
      one.channel.orElseThrow().close();
      changesOfTheDeleted += one.logFile.changes();
      segments.remove(one);
    }

    void recover() throws IOException {
      Random chance = new Random(seed + memory.persistPoints() + changes());
      memory = power ? memory.crash(chance) : memory.kill();
      pool = power ? TinyPool.openAfterPowerCut(memory) : TinyPool.open(memory);
      for (Iterator<Expected> each = segments.iterator(); each.hasNext(); ) {
        Expected one = each.next();
        one.logFile = power ? one.logFile.crash(chance) : one.logFile.kill();
        Optional<Slot> slot = slotOf(one).filter(found -> found.state() == SlotState.LIVE);
        if (slot.isEmpty() && one.uncertain) {
          each.remove();
        } else if (slot.isEmpty() && one.mayBeInLogFile) {
          openInLogFile(one);
        } else {
          one.dropWhatIsNotClean(slot.orElseThrow());
          open(one, slot.orElseThrow(), one.logFile.size());
        }
      }
      assertThat(pool.pool().report()).isNotNull();
      for (Expected one : segments) {
        checkCleanBytes(one);
      }
      for (Slot slot : pool.pool().slots()) {
        boolean tagged = segments.stream().anyMatch(one -> isTagged(one, slot));
        if (slot.has(SlotFlag.COPY) && !tagged) {
          free(slot);
        }
      }
    }

    /** Of clean bytes the slot may be freed, or lost, at any time. */
    private void checkCleanBytes(Expected one) {
      byte[] logFile = one.logFile.content();
      Optional<Residence> in = one.segment.orElseThrow().residence();
      long clean = in.map(residence -> residence.slot().cleanLength()).orElse(0L);
      assertThat(clean).as("segment %s", one.number).isLessThanOrEqualTo(logFile.length);
      for (int i = 0; i < clean; i++) {
        assertThat(logFile[i]).as("log file of %s at %s", one.number, i).isEqualTo(one.longest[i]);
      }
    }

    private boolean isTagged(Expected one, Slot slot) {
      return one.segment.orElseThrow().residence().map(in -> in.slot() == slot).orElse(false);
    }

    private Optional<Slot> slotOf(Expected one) {
      return one.tag.isPresent()
          ? one.tag.flatMap(tag -> pool.pool().slot(tag.slot(), tag.generation()))
          : pool.pool().slots().stream()
              .filter(slot -> slot.relativePath().equals("segment" + one.number))
              .findAny();
    }

    private static byte[] content(Expected one) throws IOException {
      try (FileChannel reader =
          one.segment.orElseThrow().open(one.logFile.open(), Set.of(StandardOpenOption.READ))) {
        return Channels.newInputStream(new Positional(reader)).readAllBytes();
      }
    }

    void checkAll() throws IOException {
      for (Expected one : segments) {
        byte[] found = content(one);
        if (power && needsForce()) {
          checkForced(one, found);
        } else {
          assertThat(found.length)
              .as("length of segment %s", one.number)
              .isBetween(one.shortest, one.longest.length);
          checkBytes(one, found);
        }
        one.acknowledge(found);
        one.forced = 0;
        one.uncertain = false;
      }
    }

    private boolean needsForce() {
      return durability.needsForce();
    }

    /**
     * Behind what was forced, the log file may have anything that it ever had; the pool may have
     * zeros.
     */
    private void checkForced(Expected one, byte[] found) {
      assertThat(found.length).as("segment %s", one.number).isGreaterThanOrEqualTo(one.forced);
      long inPool = one.segment.orElseThrow().bytesInPool();
      long checked = Math.min(found.length, Math.max(one.forced, inPool));
      assertThat(checked).as("segment %s", one.number).isLessThanOrEqualTo(one.longest.length);
      for (int i = 0; i < checked; i++) {
        // As in a file, the length may have reached the medium and the bytes not.
        boolean lost = i >= one.forced && found[i] == 0;
        if (found[i] != one.longest[i] && !lost) {
          throw new AssertionError(
              "segment %s at %s: found %s, expected %s; length %s, forced %s, in pool %s"
                  .formatted(
                      one.number, i, found[i], one.longest[i], found.length, one.forced, inPool));
        }
      }
    }

    private void checkBytes(Expected one, byte[] found) {
      long inLogFile = one.segment.orElseThrow().bytesInPool();
      int certain = Math.min(one.acknowledged.length, one.shortest);
      for (int i = 0; i < found.length; i++) {
        // Of an append in the log file that was never acknowledged, a power cut may leave any
        // pages.
        boolean tornInLogFile = power && i >= certain && i >= inLogFile && found[i] == 0;
        if (found[i] != one.longest[i] && !tornInLogFile) {
          throw new AssertionError(
              "segment %s at %s: found %s, expected %s; length %s, acknowledged %s, in pool %s"
                  .formatted(
                      one.number,
                      i,
                      found[i],
                      one.longest[i],
                      found.length,
                      one.acknowledged.length,
                      inLogFile));
        }
      }
    }

    /** What was recovered is whole enough to be worked with. */
    void goOn() throws IOException {
      crashAtChange = Long.MAX_VALUE;
      for (int i = 0; i < 10; i++) {
        step();
      }
      checkAll();
      closeAll();
    }

    void closeAll() throws IOException {
      for (Expected one : segments) {
        one.channel.orElseThrow().close();
      }
      pool.close();
    }

    @Override
    public String toString() {
      return "seed " + seed + ", " + durability + (power ? ", power cut" : ", killed");
    }
  }

  /** Reads by position alone, which is all that a log file on the heap can do. */
  private static final class Positional implements java.nio.channels.ReadableByteChannel {
    private final FileChannel channel;
    private long position;

    Positional(FileChannel channel) {
      this.channel = channel;
    }

    @Override
    public int read(ByteBuffer target) throws IOException {
      int read = channel.read(target, position);
      position += Math.max(0, read);
      return read;
    }

    @Override
    public boolean isOpen() {
      return channel.isOpen();
    }

    @Override
    public void close() throws IOException {
      channel.close();
    }
  }
}
