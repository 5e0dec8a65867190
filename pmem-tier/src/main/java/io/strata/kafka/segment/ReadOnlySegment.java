package io.strata.kafka.segment;

import io.strata.kafka.pool.PoolReader;
import io.strata.kafka.pool.space.ExtentBytes;
import io.strata.kafka.pool.words.SlotFlag;
import io.strata.kafka.pool.words.SlotSnapshot;
import io.strata.kafka.pool.words.SlotState;
import io.strata.kafka.segment.view.HotView;
import io.strata.kafka.segment.view.SegmentBytes;
import io.strata.kafka.segment.view.SegmentTag;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.NonWritableChannelException;
import java.nio.channels.WritableByteChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.OpenOption;
import java.util.Optional;
import java.util.Set;

/**
 * A hot segment as a process sees it that does not write the pool, such as one of Kafka's tools,
 * while the broker may be appending to the segment, truncating or deleting it.
 *
 * <p>Each read takes a snapshot of the slot and asks after it whether that still holds: bytes of
 * another segment are never returned. When the broker has deleted the segment or moved it out of
 * the pool, a read fails and says so.
 *
 * <p>Thread safety: all methods may be called by any number of threads.
 */
public final class ReadOnlySegment implements SegmentBytes {

  /** How often a segment that changes while it is read is read again. */
  private static final int ATTEMPTS = 1000;

  private static final int TRANSFER_LENGTH = 256 << 10;

  private final PoolReader pool;
  private final SegmentTag tag;
  private final ExtentBytes pooled;

  /**
   * The segment that a log file's tag names.
   *
   * @param pool the tag's pool; stays open while channels on the segment are used
   */
  public ReadOnlySegment(PoolReader pool, SegmentTag tag) {
    if (!pool.info().id().equals(tag.pool())) {
      throw new IllegalArgumentException(
          "The tag names pool " + tag.pool() + ", found " + pool.info().id());
    }
    this.pool = pool;
    this.tag = tag;
    this.pooled = new ExtentBytes(pool.memory());
  }

  /** The tag. */
  public SegmentTag tag() {
    return tag;
  }

  /** The slot at this moment; empty when it has gone on to another segment or to none. */
  public Optional<SlotSnapshot> slot() throws IOException {
    return pool.read(tag.slot(), tag.generation());
  }

  /**
   * Opens a channel for reading, as {@link Segment#open} does.
   *
   * @param logFile as there, opened with READ
   * @throws AccessDeniedException when the options want to write
   */
  public FileChannel open(FileChannel logFile, Set<? extends OpenOption> options)
      throws IOException {
    boolean done = false;
    try {
      OpenMode mode = OpenMode.of(options);
      if (mode.writable()) {
        throw new AccessDeniedException(
            name(), null, "only the broker that owns the pool may write to its segments");
      }
      Lifetime lifetime = new Lifetime(SegmentEvents.NONE);
      lifetime.channelOpened(name(), logFile);
      FileChannel channel = new SegmentChannel(this, logFile, mode, lifetime);
      done = true;
      return channel;
    } finally {
      if (!done) {
        logFile.close();
      }
    }
  }

  @Override
  public String name() {
    return "segment in slot %s generation %s of pool %s"
        .formatted(tag.slot(), tag.generation(), pool.info().path());
  }

  /**
   * The segment's length in bytes at this moment, wherever they are.
   *
   * @param logFile open for reading
   * @throws IOException when the segment is not in the pool any more
   */
  @Override
  public long size(FileChannel logFile) throws IOException {
    return viewOf(snapshot(), logFile).size();
  }

  private SlotSnapshot snapshot() throws IOException {
    return pool.read(tag.slot(), tag.generation())
        .filter(slot -> slot.state() == SlotState.LIVE)
        .orElseThrow(
            () ->
                new IOException(
                    name()
                        + ": the broker has deleted it or moved it out of the pool; open the file"
                        + " again"));
  }

  private HotView viewOf(SlotSnapshot slot, FileChannel logFile) throws IOException {
    long inPool = slot.committedLength();
    return slot.has(SlotFlag.SPILLED)
        ? HotView.spilled(pooled, slot.extents(), inPool, Math.max(inPool, logFile.size()))
        : HotView.inPool(pooled, slot.extents(), inPool);
  }

  @Override
  public int read(ByteBuffer target, long position, FileChannel logFile) throws IOException {
    int start = target.position();
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      SlotSnapshot slot = snapshot();
      HotView view = viewOf(slot, logFile);
      long size = view.size();
      int read = position < size ? view.read(size, target, position, logFile) : -1;
      if (read != 0 && stillHolds(slot)) {
        return read;
      }
      target.position(start);
      Thread.onSpinWait();
    }
    throw new IOException(
        name() + " changed each of the " + ATTEMPTS + " times it was read; try again");
  }

  /**
   * Returns whether the bytes were the segment's. The spill offset of a spilled one must have been
   * right too: a slot that was read while it spilled may show the flag with an earlier length.
   */
  private boolean stillHolds(SlotSnapshot slot) throws IOException {
    return slot.has(SlotFlag.SPILLED) ? snapshot().equals(slot) : pool.valid(slot);
  }

  @Override
  public long transferTo(long position, long count, WritableByteChannel target, FileChannel logFile)
      throws IOException {
    // Through a buffer: what has been written to the target cannot be taken back.
    ByteBuffer buffer = ByteBuffer.allocate((int) Math.min(count, TRANSFER_LENGTH));
    if (!buffer.hasRemaining() || read(buffer, position, logFile) < 0) {
      return 0;
    }
    return target.write(buffer.flip());
  }

  @Override
  public int write(ByteBuffer source, long position, FileChannel logFile) {
    throw new NonWritableChannelException();
  }

  @Override
  public int append(ByteBuffer source, FileChannel logFile) {
    throw new NonWritableChannelException();
  }

  @Override
  public void truncate(long length, FileChannel logFile) {
    throw new NonWritableChannelException();
  }

  /** Nothing: what is forced is the writer's business, and it has written everything. */
  @Override
  public void force(boolean metaData, FileChannel logFile) {}

  @Override
  public boolean whollyInLogFile() {
    return false;
  }

  @Override
  public void logFileMayHaveGrown(FileChannel logFile) {}
}
