package io.strata.kafka.segment;

import io.strata.kafka.pool.Slot;
import io.strata.kafka.segment.view.Residence;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.Validate;
import org.jspecify.annotations.Nullable;

/**
 * One segment, to be appended to, read, truncated, moved to the log file and up, opened, closed and
 * deleted by many threads. What each sees is as if one at a time did all this, and moves were
 * nothing at all.
 *
 * <p>A file promises less to a reader that is overtaken by a truncation and a later append: it may
 * see bytes of both. So does a segment, and Kafka asks no more; hence reads and truncations are one
 * group, which one thread does. Moves are another, as they are in the tier: one at a time.
 */
@Param(name = "mark", gen = IntGen.class, conf = "1:9")
@Param(name = "number", gen = IntGen.class, conf = "0:4")
public final class SegmentOperations {

  /** Three do not fit two blocks: an append ends in the middle of an extent or of the space. */
  private static final int LENGTH = 24 << 10;

  private static final int SIZE = 4 << 20;
  private static final Set<StandardOpenOption> OPTIONS =
      Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE);
  private static final Set<StandardOpenOption> APPEND =
      Set.of(StandardOpenOption.WRITE, StandardOpenOption.APPEND);
  private static final SparseMemory FORMATTED = formatted();

  private final TinyPool pool;
  private final HeapFile logFile = new HeapFile();
  private final Segment segment;
  private final FileChannel channel;
  private final FileChannel appender;
  private final long freeBefore;

  /** A new segment in a pool that has space for two appends and a half, and for one copy. */
  public SegmentOperations() throws IOException {
    this.pool = TinyPool.open(new SparseMemory(FORMATTED));
    this.freeBefore = pool.pool().usage().freeBytes();
    this.segment =
        new Segment(
            pool.allocate("s"), pool.pool(), 0, SegmentSettings.defaults(), SegmentEvents.NONE);
    this.channel = segment.open(logFile.open(), OPTIONS);
    this.appender = segment.open(logFile.open(), APPEND);
  }

  private static SparseMemory formatted() {
    try {
      SparseMemory memory = new SparseMemory(SIZE);
      TinyPool pool = TinyPool.format(memory);
      pool.leaveFree(4);
      pool.close();
      return memory;
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Appends bytes that are all the same. */
  @Operation
  public String append(@Param(name = "mark") int mark) {
    byte[] bytes = new byte[LENGTH];
    Arrays.fill(bytes, (byte) mark);
    ByteBuffer source = ByteBuffer.wrap(bytes);
    try {
      while (source.hasRemaining()) {
        int written = appender.write(source);
        if (written != LENGTH) {
          throw new IllegalStateException(written + " written, expected " + LENGTH);
        }
      }
      return "appended";
    } catch (IOException e) {
      return refusal(e);
    }
  }

  private static String refusal(IOException e) {
    String message = String.valueOf(e.getMessage());
    if (message.contains("has been deleted")) {
      return "deleted";
    }
    throw new IllegalStateException(e);
  }

  /** Reads what one append wrote: its mark, whole. */
  @Operation(nonParallelGroup = "reader")
  public int read(@Param(name = "number") int number) throws IOException {
    ByteBuffer target = ByteBuffer.allocate(LENGTH);
    long position = (long) number * LENGTH;
    while (target.hasRemaining()) {
      int read = channel.read(target, position + target.position());
      if (read < 0) {
        if (target.position() > 0) {
          throw new IllegalStateException("ends after " + target.position() + " bytes");
        }
        return -1;
      }
    }
    byte[] bytes = target.array();
    for (byte b : bytes) {
      if (b != bytes[0]) {
        throw new IllegalStateException("found " + b + " after " + bytes[0]);
      }
    }
    return bytes[0];
  }

  /** The length, in appends. */
  @Operation
  public long size() throws IOException {
    long size = channel.size();
    return size % LENGTH == 0 ? size / LENGTH : -size;
  }

  /** Keeps so many appends. */
  @Operation(nonParallelGroup = "reader")
  public String truncate(@Param(name = "number") int number) {
    try {
      channel.truncate((long) number * LENGTH);
      return "truncated";
    } catch (IOException e) {
      return refusal(e);
    }
  }

  /** Forces what there is. */
  @Operation
  public void force() throws IOException {
    channel.force(true);
  }

  /** Copies the segment to the log file and frees its space, if it does not change meanwhile. */
  @Operation(nonParallelGroup = "moves")
  public void evict() throws IOException {
    try (FileChannel file = logFile.open()) {
      CopyResult copied = segment.copyToLogFileAsItIs(file);
      if (copied.outcome() == CopyResult.Outcome.COPIED && segment.markClean(copied)) {
        Optional<Residence> unused = segment.evict(true);
      }
    }
  }

  /** Copies the segment to the log file and frees the extents that are full. */
  @Operation(nonParallelGroup = "moves")
  public void evictPart() throws IOException {
    try (FileChannel file = logFile.open()) {
      boolean unused = segment.markClean(segment.copyToLogFileAsItIs(file));
      long unusedBytes = segment.evictPart(true);
    }
  }

  /**
   * Copies the segment to the log file and has new appends go to the pool again, if it has spilled.
   */
  @Operation(nonParallelGroup = "moves")
  public void unspill() throws IOException {
    try (FileChannel file = logFile.open()) {
      boolean unused = segment.markClean(segment.copyToLogFileAsItIs(file));
      boolean unusedDone = segment.unspill(file, () -> file.force(true));
    }
  }

  /** Moves the segment up, into a slot of its own, from wherever it is. */
  @Operation(nonParallelGroup = "moves")
  public void promote() throws IOException, InterruptedException {
    if (segment.residence().isPresent()) {
      return;
    }
    Slot slot = pool.allocate("copy");
    Residence copy = new Residence(slot, pool.pool());
    boolean done = false;
    try (FileChannel file = logFile.open()) {
      CopyResult copied = segment.copying().copyInto(copy, file, CopyPace.FREE, true);
      if (copied.outcome() == CopyResult.Outcome.COPIED) {
        slot.setCleanLength(copied.end());
        done = segment.relocate(copied, copy, PlainLink.NONE);
      }
    }
    if (!done) {
      List<io.strata.kafka.pool.space.Extent> extents = slot.extents().toList();
      slot.free();
      pool.pool().release(extents);
    }
  }

  /** The end: channels that are open can read on, and change nothing. */
  @Operation(nonParallelGroup = "moves")
  public void delete() throws IOException {
    segment.markDeleting();
    segment.free();
  }

  /**
   * Opens another channel, and closes it. Not while the segment is deleted: that takes two steps,
   * and a tier does both under the lock of the file's name.
   */
  @Operation(nonParallelGroup = "moves")
  public String open() {
    try (FileChannel another = segment.open(logFile.open(), OPTIONS)) {
      return another.isOpen() ? "opened" : "closed";
    } catch (IOException e) {
      return refusal(e);
    }
  }

  /** When the last channel is closed all space is back. */
  @Validate
  public void validate() throws IOException {
    segment.markDeleting();
    segment.free();
    channel.close();
    appender.close();
    long free = pool.pool().usage().freeBytes();
    if (free != freeBefore) {
      throw new IllegalStateException(free + " bytes are free, expected " + freeBefore);
    }
  }

  /** The same, one at a time, without a pool; equal to another that is in the same state. */
  public static final class Specification {
    private final List<Integer> appends = new ArrayList<>();
    private boolean deleted;

    /** As above. */
    public String append(int mark) {
      if (deleted) {
        return "deleted";
      }
      appends.add(mark);
      return "appended";
    }

    /** As above. */
    public int read(int number) {
      return number < appends.size() ? appends.get(number) : -1;
    }

    /** As above. */
    public long size() {
      return appends.size();
    }

    /** As above; a truncation that cuts nothing changes nothing. */
    public String truncate(int number) {
      if (number >= appends.size()) {
        return "truncated";
      }
      if (deleted) {
        return "deleted";
      }
      appends.subList(number, appends.size()).clear();
      return "truncated";
    }

    /** Nothing to see. */
    public void force() {}

    /** Nothing to see. */
    public void evict() {}

    /** Nothing to see. */
    public void evictPart() {}

    /** Nothing to see. */
    public void unspill() {}

    /** Nothing to see. */
    public void promote() {}

    /** As above. */
    public void delete() {
      deleted = true;
    }

    /** As above. */
    public String open() {
      return deleted ? "deleted" : "opened";
    }

    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Specification that
          && deleted == that.deleted
          && appends.equals(that.appends);
    }

    @Override
    public int hashCode() {
      return Objects.hash(appends, deleted);
    }
  }
}
