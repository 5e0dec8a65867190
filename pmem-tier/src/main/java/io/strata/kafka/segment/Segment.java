package io.strata.kafka.segment;

import io.strata.kafka.memory.ProgressListener;
import io.strata.kafka.pool.Extent;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.Slot;
import io.strata.kafka.pool.SlotFlag;
import io.strata.kafka.pool.SlotState;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.OpenOption;
import java.util.List;
import java.util.Set;

/**
 * One hot segment: a slot of a pool, shared by all channels that this process has open on it. There
 * must be one object per slot and process.
 *
 * <p>The bytes are in the pool as long as it has room. The first append that finds none <em>
 * spills</em> the segment: its bytes up to there stay in the pool, all others go home, at their own
 * offsets, and home is a sparse file with the segment's length. A spilled segment stays spilled
 * until it is truncated below the seam.
 *
 * <p>What an append in the pool promises when it returns is what the pool's durability says; what
 * one at home promises is what any file does, or survival of a power cut if {@link
 * SegmentSettings#spillForce} is set.
 *
 * <p>The end of a segment takes three steps, so that a crash between them leaves something to
 * finish and nothing to doubt: {@link #markDeleting}, the caller unlinks home, {@link #free}.
 *
 * <p>Thread safety: all methods may be called by any number of threads.
 */
public final class Segment {

  private static final int COPY_LENGTH = 1 << 20;

  private final Slot slot;
  private final Pool pool;
  private final SegmentSettings settings;
  private final SegmentEvents events;
  private final ReaderGate gate = new ReaderGate();
  private final Lifetime lifetime = new Lifetime();
  private final SegmentReader reader;
  private final SegmentWriter writer;
  private final HotBytes bytes;

  private volatile long lastChangeMillis;

  /**
   * A segment over a live slot.
   *
   * @param slot live; nobody else changes it from now on
   * @param pool the slot's pool, open for writing
   * @param homeSize the length of the home file in bytes; 0 for a new one
   */
  public Segment(
      Slot slot, Pool pool, long homeSize, SegmentSettings settings, SegmentEvents events) {
    if (slot.state() != SlotState.LIVE) {
      throw new IllegalArgumentException(slot + " is " + slot.state() + ", expected LIVE");
    }
    this.slot = slot;
    this.pool = pool;
    this.settings = settings;
    this.events = events;
    ExtentBytes pooled = new ExtentBytes(pool.memory());
    this.reader = new SegmentReader(pooled);
    this.writer =
        new SegmentWriter(this, slot, pool, pooled, homeSize, gate, settings.spillForce(), events);
    this.bytes = new HotBytes(this, reader, writer, gate, events);
    this.lastChangeMillis = slot.createdAtMillis();
  }

  /** For messages: the slot, the path that it was created with, and the pool. */
  public String name() {
    return "segment in " + slot + " of pool " + pool.info().path();
  }

  /** What ties home to this segment. */
  public SegmentTag tag() {
    return new SegmentTag(pool.info().id(), slot.index(), slot.generation());
  }

  /**
   * The slot, to be looked at: all changes to it go through this object.
   *
   * @return the slot's handle; do not call what changes it
   */
  public Slot slot() {
    return slot;
  }

  /**
   * Opens a channel, with the contract of {@link FileChannel#open} and the JDK's behaviour on
   * Linux, asynchronous close and interrupts included. Differences: {@link FileChannel#map} works
   * only when no byte is in the pool; {@link FileChannel#transferTo} may stop early, where the
   * bytes stop lying together.
   *
   * <p>After {@link #markDeleting} the channel can be read and not written; its bytes stay until it
   * is closed.
   *
   * @param home a channel of the JDK's own provider on the home file, for this channel alone, which
   *     closes it in the end, and now when this method throws. Opened with READ, and WRITE if the
   *     options want to write; never with APPEND or TRUNCATE_EXISTING, which are done here
   * @param options as in {@link FileChannel#open}. CREATE, CREATE_NEW, DELETE_ON_CLOSE and SPARSE
   *     are the caller's business and have no effect
   * @throws IOException when the segment has been deleted, or cannot be truncated
   */
  public FileChannel open(FileChannel home, Set<? extends OpenOption> options) throws IOException {
    boolean done = false;
    try {
      OpenMode mode = OpenMode.of(options);
      if (mode.truncate()) {
        bytes.truncate(0, home);
        touch();
      }
      lifetime.channelOpened(name());
      FileChannel channel =
          new SegmentChannel(bytes, home, mode, this::touch, this::closed, events);
      done = true;
      return channel;
    } finally {
      if (!done) {
        home.close();
      }
    }
  }

  private void closed() {
    lifetime.channelClosed();
  }

  private void touch() {
    lastChangeMillis = settings.clock().millis();
  }

  /** Length in bytes, wherever they are. */
  public long size() {
    return writer.view().size();
  }

  /** Bytes of the segment in the pool. */
  public long bytesInPool() {
    SegmentView view = writer.view();
    return view.poolEnd(view.size());
  }

  /** Bytes of the segment at home and not in the pool. */
  public long bytesAtHome() {
    SegmentView view = writer.view();
    long size = view.size();
    return size - view.poolEnd(size);
  }

  /** Whether new bytes go home. */
  public boolean spilled() {
    return writer.view().spilled();
  }

  /** Channels open now. */
  public int openChannels() {
    return lifetime.channels();
  }

  /**
   * When the segment's bytes last changed, in milliseconds since the epoch; the slot's creation if
   * they have not since this object was made. Home's own modification time does not follow appends
   * to the pool.
   */
  public long lastChangeMillis() {
    return lastChangeMillis;
  }

  /**
   * Sets a fact about the slot, durably; without effect on a deleted segment. A later change of the
   * bytes withdraws {@link SlotFlag#CLEAN}.
   *
   * @param flag HOME_DURABLE or CLEAN
   */
  public void set(SlotFlag flag) throws IOException {
    writer.set(flag);
  }

  /**
   * Copies the pool's bytes to home at their own offsets and makes home durable. Home is then byte
   * for byte what a stock broker would have written, provided that nothing is written meanwhile.
   *
   * @param home open for writing; stays open
   * @throws IOException when home has no room, for one; the segment is as before
   */
  public void copyTo(FileChannel home, ProgressListener progress) throws IOException {
    int token = gate.enter();
    try {
      SegmentView view = writer.view();
      long size = view.size();
      long total = view.poolEnd(size);
      ByteBuffer buffer = ByteBuffer.allocateDirect((int) Math.min(COPY_LENGTH, total));
      long done = 0;
      while (done < total) {
        buffer.clear().limit((int) Math.min(buffer.capacity(), total - done));
        reader.read(view, total, buffer, done, home);
        buffer.flip();
        while (buffer.hasRemaining()) {
          done += home.write(buffer, done);
        }
        progress.progress(done, total);
      }
      if (home.size() > size) {
        home.truncate(size);
      }
      home.force(true);
      progress.progress(total, total);
    } finally {
      gate.exit(token);
    }
  }

  /**
   * Declares, durably, that home is about to be unlinked. From now on no channel can be opened, and
   * those that are open cannot write. Without effect the second time.
   */
  public void markDeleting() throws IOException {
    writer.markDeleting();
    lifetime.close();
  }

  /**
   * Frees the slot, durably; its extents are free for others when no channel is open and no reader
   * is about. Without effect the second time.
   *
   * @throws IllegalStateException without {@link #markDeleting}
   */
  public void free() throws IOException {
    List<Extent> extents = writer.free();
    if (!extents.isEmpty()) {
      lifetime.whenUnused(
          () -> {
            // A read that began before its channel was closed may look only now.
            writer.forgetBytes();
            gate.retire(() -> writer.release(extents));
          });
    }
  }

  @Override
  public String toString() {
    return name();
  }
}
