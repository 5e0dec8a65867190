package io.strata.kafka.segment;

import io.strata.kafka.pool.Slot;
import io.strata.kafka.pool.space.Extent;
import io.strata.kafka.segment.view.Residence;
import io.strata.kafka.turns.Play;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;

/**
 * Two segments in a pool that is too small for them. The first one is written, read and moved, each
 * by a thread of its own; the second one takes what the first has left, and is deleted.
 */
public final class SegmentPlay implements Play {

  private static final int LENGTH = 60 << 10;
  private static final int SIZE = 4 << 20;
  private static final int FREE_BLOCKS = 4;
  private static final int CHANGES = 5;
  private static final int READS = 30;
  private static final int MOVES = 4;
  private static final byte OTHER = 100;
  private static final int OTHERS_THREAD = 3;
  private static final Set<StandardOpenOption> OPTIONS =
      Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE);
  private static final SparseMemory FORMATTED = formatted();

  private final SplittableRandom random;
  private final TinyPool pool;
  private final HeapFile logFile = new HeapFile();
  private final HeapFile otherLogFile = new HeapFile();
  private final Segment segment;
  private final Segment other;
  private final FileChannel writer;
  private final FileChannel reader;
  private final FileChannel otherWriter;
  private final long freeBefore;
  private final boolean truncates;

  /** What has been appended and not truncated. */
  private final List<Byte> marks = new ArrayList<>();

  /** How many of them are there for certain. */
  private int certain;

  /** Made by its name. */
  public SegmentPlay(long seed) throws IOException {
    random = new SplittableRandom(seed);
    truncates = random.nextBoolean();
    pool = TinyPool.open(new SparseMemory(FORMATTED));
    freeBefore = pool.pool().usage().freeBytes();
    segment = segment("one");
    other = segment("other");
    writer = segment.open(logFile.open(), OPTIONS);
    reader = segment.open(logFile.open(), OPTIONS);
    otherWriter = other.open(otherLogFile.open(), OPTIONS);
    for (int i = 1 + random.nextInt(2); i > 0; i--) {
      append();
    }
  }

  private static SparseMemory formatted() {
    try {
      SparseMemory memory = new SparseMemory(SIZE);
      TinyPool pool = TinyPool.format(memory);
      pool.leaveFree(FREE_BLOCKS);
      pool.close();
      return memory;
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private Segment segment(String name) throws IOException {
    return new Segment(
        pool.allocate(name), pool.pool(), 0, SegmentSettings.defaults(), SegmentEvents.NONE);
  }

  @Override
  public List<Callable<?>> parts() {
    return List.of(this::write, this::read, this::move, this::useTheSpace);
  }

  /** What comes after a truncation is written where a reader may still be; it is not looked at. */
  @Override
  public boolean mayRace(int one, int other) {
    return truncates && one != OTHERS_THREAD && other != OTHERS_THREAD;
  }

  private static void write(FileChannel channel, long position, byte mark) throws IOException {
    byte[] bytes = new byte[LENGTH];
    Arrays.fill(bytes, mark);
    ByteBuffer source = ByteBuffer.wrap(bytes);
    while (source.hasRemaining()) {
      int unused = channel.write(source, position + source.position());
    }
  }

  private void append() throws IOException {
    byte mark = (byte) (1 + marks.size());
    write(writer, (long) marks.size() * LENGTH, mark);
    marks.add(mark);
    certain = marks.size();
  }

  private boolean write() throws IOException {
    // What does not change is moved, all of it.
    for (int i = random.nextInt(CHANGES + 1); i > 0; i--) {
      if (truncates && random.nextInt(3) == 0) {
        int kept = random.nextInt(marks.size() + 1);
        certain = Math.min(certain, kept);
        FileChannel unused = writer.truncate((long) kept * LENGTH);
        marks.subList(kept, marks.size()).clear();
      } else {
        append();
      }
    }
    return true;
  }

  private boolean read() throws IOException {
    for (int i = 0; i < READS; i++) {
      int number = random.nextInt((truncates ? marks.size() : certain) + 1);
      boolean there = !truncates && number < certain;
      ByteBuffer target = ByteBuffer.allocate(LENGTH);
      long position = (long) number * LENGTH;
      int read = 1;
      while (target.hasRemaining() && read > 0) {
        read = reader.read(target, position + target.position());
      }
      if (there && target.hasRemaining()) {
        throw new AssertionError("found " + target.position() + " bytes of append " + number);
      }
      for (int at = 0; at < target.position(); at++) {
        byte found = target.get(at);
        if (found != number + 1) {
          throw new AssertionError("found " + found + " in append " + number + " at " + at);
        }
      }
    }
    return true;
  }

  private boolean move() throws Exception {
    for (int i = 0; i < MOVES; i++) {
      if (segment.residence().isPresent()) {
        evict();
      } else {
        promote();
      }
    }
    return true;
  }

  /** It may be clean from before, or not at all. */
  private void evict() throws IOException {
    if (random.nextBoolean()) {
      try (FileChannel file = logFile.open()) {
        CopyResult copied = segment.copyToLogFileAsItIs(file);
        boolean unused = segment.markClean(copied);
      }
    }
    int dice = random.nextInt(6);
    if (dice < 2) {
      long unused = segment.evictPart(random.nextBoolean());
    } else if (dice < 4) {
      try (FileChannel file = logFile.open()) {
        boolean unused = segment.unspill(file, () -> file.force(true));
      }
    } else {
      Optional<Residence> unused = segment.evict(random.nextBoolean());
    }
  }

  private void promote() throws IOException, InterruptedException {
    Slot slot = pool.allocate("copy");
    Residence copy = new Residence(slot, pool.pool());
    boolean done = false;
    try (FileChannel file = logFile.open()) {
      CopyResult copied = segment.copying().copyInto(copy, file, CopyPace.FREE, true);
      if (copied.outcome() == CopyResult.Outcome.COPIED) {
        slot.setCleanLength(slot.committedLength());
        done = segment.relocate(copied, copy, PlainLink.NONE);
      }
    }
    if (!done) {
      List<Extent> extents = slot.extents().toList();
      slot.free();
      pool.pool().release(extents);
    }
  }

  /** What the first segment's readers must never see. */
  private boolean useTheSpace() throws IOException {
    for (int i = 0; i < CHANGES; i++) {
      if (random.nextInt(3) == 0) {
        FileChannel unused = otherWriter.truncate(0);
      } else {
        write(otherWriter, other.size(), OTHER);
      }
    }
    other.markDeleting();
    other.free();
    readDeleted();
    otherWriter.close();
    return true;
  }

  /** Its bytes stay until its last channel is closed. */
  private void readDeleted() throws IOException {
    ByteBuffer target = ByteBuffer.allocate((int) other.size());
    int read = 1;
    while (target.hasRemaining() && read > 0) {
      read = otherWriter.read(target, target.position());
    }
    for (byte found : target.array()) {
      if (found != OTHER) {
        throw new AssertionError("found " + found + " in the deleted segment");
      }
    }
  }

  @Override
  public void end() throws IOException {
    if (segment.size() != (long) marks.size() * LENGTH) {
      throw new AssertionError("found " + segment.size() + " bytes, expected " + marks);
    }
    for (int number = 0; number < marks.size(); number++) {
      ByteBuffer target = ByteBuffer.allocate(LENGTH);
      while (target.hasRemaining()) {
        int unused = reader.read(target, (long) number * LENGTH + target.position());
      }
      for (byte found : target.array()) {
        if (found != marks.get(number)) {
          throw new AssertionError("found " + found + " in the end, expected " + marks);
        }
      }
    }
    segment.markDeleting();
    segment.free();
    writer.close();
    reader.close();
    long free = pool.pool().usage().freeBytes();
    if (free != freeBefore) {
      throw new AssertionError(free + " bytes are free, expected " + freeBefore);
    }
  }
}
