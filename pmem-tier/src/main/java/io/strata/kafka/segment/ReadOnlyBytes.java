package io.strata.kafka.segment;

import io.strata.kafka.pool.PoolReader;
import io.strata.kafka.pool.SlotFlag;
import io.strata.kafka.pool.SlotSnapshot;
import io.strata.kafka.pool.SlotState;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.NonWritableChannelException;
import java.nio.channels.WritableByteChannel;

/**
 * The bytes of a hot segment in a process that does not write the pool: read, then ask whether what
 * was read was the segment's.
 *
 * <p>Thread safety: as {@link SegmentBytes} asks.
 */
final class ReadOnlyBytes implements SegmentBytes {

  /** How often a segment that changes while it is read is read again. */
  private static final int ATTEMPTS = 1000;

  private static final int TRANSFER_LENGTH = 256 << 10;

  private final PoolReader pool;
  private final SegmentTag tag;
  private final ExtentBytes pooled;
  private final SegmentReader reader = new SegmentReader();

  ReadOnlyBytes(PoolReader pool, SegmentTag tag) {
    this.pool = pool;
    this.tag = tag;
    this.pooled = new ExtentBytes(pool.memory());
  }

  @Override
  public String name() {
    return "segment in slot "
        + tag.slot()
        + " generation "
        + tag.generation()
        + " of pool "
        + pool.info().path();
  }

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
      int read = position < size ? reader.read(view, size, target, position, logFile) : -1;
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
   * Whether the bytes were the segment's. Of a spilled one the spill offset must have been the
   * right one, too: a slot that was read while it spilled may show the flag with an earlier length.
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
