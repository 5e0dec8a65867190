package io.strata.kafka.segment;

import io.strata.kafka.migration.Reads;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.Slot;
import io.strata.kafka.pool.space.Extent;
import io.strata.kafka.pool.words.SlotFlag;
import io.strata.kafka.pool.words.SlotState;
import io.strata.kafka.segment.CopyResult.Outcome;
import io.strata.kafka.segment.view.HotView;
import io.strata.kafka.segment.view.ReaderGate;
import io.strata.kafka.segment.view.Residence;
import io.strata.kafka.segment.view.SegmentBytes;
import io.strata.kafka.segment.view.SegmentTag;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.OpenOption;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * One segment, in a slot of a pool or in the log file, shared by all channels that this process has
 * open on it. There must be one object per segment and process.
 *
 * <p>The bytes are in the pool while it has space. The first append that finds none <em>
 * spills</em> the segment: its bytes up to there stay in the pool, all others go to the log file,
 * at their own offsets, and the log file is a sparse file with the segment's length. A spilled
 * segment stays spilled until it is truncated below the spill offset, goes on in the pool ({@link
 * #unspill}), or is moved whole into another slot.
 *
 * <p>A segment moves in two halves, copying and publishing ({@link #copyToLogFile}, {@link
 * #markClean} and so on), and may end up wholly in the log file, without a slot. Its channels stay
 * open all the while.
 *
 * <p>An append in the pool promises, when it returns, what the pool's durability says; one in the
 * log file promises what any file does, or survival of a power cut if {@link
 * SegmentSettings#forcesAppends} is set.
 *
 * <p>The end of a segment takes four steps, so that a crash between them leaves something to finish
 * and nothing to doubt: {@link #markDeleting}, the caller unlinks the log file and calls {@link
 * #releaseBytes}, and {@link #free} when the unlinking is durable.
 *
 * <p>Thread safety: all methods may be called by any number of threads.
 */
public final class Segment implements SegmentBytes {

  private final String createdAs;
  private final SegmentSettings settings;
  private final SegmentEvents events;
  private final ReaderGate gate = new ReaderGate();
  private final Lifetime lifetime;
  private final SegmentWriter writer;
  private final Reads reads;

  private volatile long lastChangeMillis;

  /**
   * A segment over a live slot.
   *
   * @param slot live; this segment alone changes it from now on
   * @param pool the slot's pool, open for writing
   * @param logFileSize the length of the log file in bytes; 0 for a new one
   */
  public Segment(
      Slot slot, Pool pool, long logFileSize, SegmentSettings settings, SegmentEvents events) {
    this(new Residence(slot, pool), logFileSize, slot.createdAtMillis(), settings, events);
  }

  /**
   * As {@link #Segment(Slot, Pool, long, SegmentSettings, SegmentEvents)}, of which it is known
   * when it last changed, in milliseconds since the epoch.
   */
  public Segment(
      Residence residence,
      long logFileSize,
      long lastChangeMillis,
      SegmentSettings settings,
      SegmentEvents events) {
    this(
        Optional.of(residence),
        residence.slot().relativePath(),
        logFileSize,
        lastChangeMillis,
        settings,
        events);
    if (slot().state() != SlotState.LIVE) {
      throw new IllegalArgumentException(slot() + " is " + slot().state() + ", expected LIVE");
    }
  }

  private Segment(
      Optional<Residence> residence,
      String createdAs,
      long logFileSize,
      long createdAtMillis,
      SegmentSettings settings,
      SegmentEvents events) {
    this.createdAs = createdAs;
    this.settings = settings;
    this.events = events;
    this.reads = new Reads(createdAtMillis);
    this.lifetime = new Lifetime(events);
    this.writer = new SegmentWriter(this, residence, logFileSize, gate, settings, events);
    this.lastChangeMillis = createdAtMillis;
  }

  /**
   * A segment that is wholly in its log file, and may be moved up from there.
   *
   * @param logFile for messages: the file
   * @param createdAtMillis what is known of its age, in milliseconds since the epoch
   */
  public static Segment inLogFile(
      String logFile,
      long logFileSize,
      long createdAtMillis,
      SegmentSettings settings,
      SegmentEvents events) {
    return new Segment(Optional.empty(), logFile, logFileSize, createdAtMillis, settings, events);
  }

  /** For messages: the slot, the path that it was created with, and the pool; or the log file. */
  @Override
  public String name() {
    return writer
        .residence()
        .map(in -> "segment in " + in)
        .orElseGet(() -> "segment without a slot " + createdAs);
  }

  /** The path of the log file, or its end, by which the segment was created, or found. */
  public String createdAs() {
    return createdAs;
  }

  /** Returns where the copy is that is read; empty when all bytes are in the log file. */
  public Optional<Residence> residence() {
    return writer.residence();
  }

  /**
   * Returns what ties the log file to this segment.
   *
   * @throws IllegalStateException when all bytes are in the log file
   */
  public SegmentTag tag() {
    return writer.pooled().tag();
  }

  /**
   * The slot, to be looked at: all changes to it go through this object.
   *
   * @throws IllegalStateException when all bytes are in the log file
   */
  public Slot slot() {
    return writer.pooled().slot();
  }

  /**
   * Opens a channel, with the contract of {@link FileChannel#open} and the JDK's behaviour on
   * Linux, asynchronous close and interrupts included. Differences: {@link FileChannel#map} works
   * only when no byte is in the pool; {@link FileChannel#transferTo} may stop early, where the
   * bytes stop lying together.
   *
   * @param logFile a channel of the JDK's own provider on the log file, for this channel alone,
   *     which closes it in the end, and now when this method throws. Opened with READ, and WRITE if
   *     the options want to write; never with APPEND or TRUNCATE_EXISTING, which are done here
   * @param options as in {@link FileChannel#open}. CREATE, CREATE_NEW, DELETE_ON_CLOSE and SPARSE
   *     are the caller's business and have no effect
   * @throws IOException when the segment has been deleted, or cannot be truncated
   */
  public FileChannel open(FileChannel logFile, Set<? extends OpenOption> options)
      throws IOException {
    boolean counted = false;
    boolean done = false;
    try {
      OpenMode mode = OpenMode.of(options);
      lifetime.channelOpened(name(), logFile);
      counted = true;
      if (mode.truncate()) {
        truncate(0, logFile);
        changed();
      }
      FileChannel channel = new SegmentChannel(this, logFile, mode, lifetime);
      done = true;
      return channel;
    } finally {
      if (!done) {
        if (counted) {
          lifetime.channelCloses(logFile);
        }
        logFile.close();
        if (counted) {
          lifetime.channelClosed();
        }
      }
    }
  }

  /** Length in bytes, wherever they are. */
  public long size() {
    return writer.view().size();
  }

  /** Returns whether a pool has a part of the segment. */
  public boolean inPool() {
    return writer.inPool();
  }

  /** Bytes of the segment in the pool. */
  public long bytesInPool() {
    HotView view = writer.view();
    return Math.max(0, view.poolEnd(view.size()) - view.poolStart());
  }

  /** Bytes of the segment that only the pool has. */
  public long dirtyBytes() {
    return writer
        .residence()
        .filter(in -> !in.isClean())
        .map(in -> Math.max(0, in.slot().committedLength() - in.slot().cleanLength()))
        .orElse(0L);
  }

  /** Returns whether new bytes go to the log file. */
  public boolean spilled() {
    return writer.view().spilled();
  }

  /** Returns whether the whole segment survives a power failure; false while a force runs. */
  public boolean isForced() {
    return writer.isForced();
  }

  /** All that the log file has is durable, as its tag says: nothing of it waits for a force. */
  public void logFileIsForced() {
    writer.logFileIsForced(size(), writer.guard().changes());
  }

  /**
   * Forces the segment, in a pool that needs it and in its log file.
   *
   * @param logFile forces the log file, if bytes of it wait for that
   */
  public void force(LogFileForce logFile) throws IOException {
    writer.force(logFile);
  }

  /** Channels open now. */
  public int openChannels() {
    return lifetime.channels();
  }

  /**
   * Returns whether a channel holds the log file's descriptor open, so that its inode is no
   * other's.
   */
  public boolean holdsFile() {
    return lifetime.holdsFile();
  }

  /**
   * Returns when the segment's bytes last changed, in milliseconds since the epoch; the slot's
   * creation if they have not since this object was made. The log file's own modification time does
   * not follow appends to the pool.
   */
  public long lastChangeMillis() {
    return lastChangeMillis;
  }

  /** Sets a fact about the slot, durably; without effect on a deleted segment. */
  public void set(SlotFlag flag) throws IOException {
    writer.set(flag);
  }

  /** As {@link Slot#orphan}; without effect on a deleted segment. */
  public void orphan() throws IOException {
    writer.orphan();
  }

  /** For tests, which stand in it as a reader does. */
  ReaderGate gate() {
    return gate;
  }

  /** Makes the first half of a move; also for tests, whose bytes are no batches. */
  Copying copying() {
    return new Copying(this, writer, gate);
  }

  /** Withdraws a fact about the slot, durably; without effect on a deleted segment. */
  public void clear(SlotFlag flag) throws IOException {
    writer.clear(flag);
  }

  /** Returns what has been read from it. */
  public Reads reads() {
    return reads;
  }

  /**
   * Destage, first half: checks the pool's bytes that the log file has not got yet, copies them
   * there at their own offsets, forces them, reads them back and compares. Readers and appends go
   * on; a truncation ends the copy.
   *
   * @param logFile open for reading and writing, for this call alone
   * @param force of the log file: when it returns, what has spilled counts as forced, too
   * @return {@link CopyResult.Outcome#COPIED} for {@link #markClean}
   * @throws IOException when the log file has no space, for one; the segment is as before
   */
  public CopyResult copyToLogFile(FileChannel logFile, CopyPace pace, LogFileForce force)
      throws IOException, InterruptedException {
    return copying().copyToLogFile(logFile, pace, false, force);
  }

  /**
   * As {@link #copyToLogFile}, for a segment that is not in use, at full speed, and whatever its
   * bytes are: a corrupt segment goes to the log file as it is, as a stock broker would have it
   * there. Clean bytes are left alone, if they are good in the log file.
   *
   * @throws IOException when the log file has no space, for one; the segment is as before
   */
  public CopyResult copyToLogFileAsItIs(FileChannel logFile) throws IOException {
    try {
      return copying().copyToLogFile(logFile, CopyPace.FREE, true, () -> logFile.force(true));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException(name() + ": interrupted on the way to the log file");
    }
  }

  /**
   * Copies all bytes, wherever they are, into a fresh slot of another pool; checks, forces and
   * compares as {@link #copyToLogFile}. The slot's length is committed then; nothing else refers to
   * it.
   *
   * @param target a live slot of length 0 that the caller alone knows, and keeps
   * @param logFile open for reading, for this call alone
   * @return {@link CopyResult.Outcome#COPIED} for {@link #relocate}; else the slot is the caller's
   *     to free
   */
  public CopyResult copyInto(Residence target, FileChannel logFile, CopyPace pace)
      throws IOException, InterruptedException {
    return copying().copyInto(target, logFile, pace, false);
  }

  /**
   * Destage, second half: the log file has what was copied, durably so.
   *
   * @return false when bytes were truncated or replaced since; no more is clean then
   */
  public boolean markClean(CopyResult copied) throws IOException {
    return writer.exclusively(
        () -> {
          if (stale(copied) || writer.residence().isEmpty()) {
            return false;
          }
          try {
            writer.residence().get().slot().setCleanLength(copied.end());
          } catch (IOException e) {
            // The next change would not withdraw what the slot may say.
            writer.markBroken(e);
            throw e;
          }
          return true;
        });
  }

  /** Ties the log file to a copy; see {@link #relocate}. */
  public interface Link {
    /** Ties the log file to the copy, durably. */
    void link() throws IOException;

    /** Ties the log file to what it was tied to before, after {@link #link} has failed. */
    void unlink() throws IOException;
  }

  /**
   * Relocation, second half: readers see the copy in {@code to} from now on. The source of the copy
   * stays as it is; its slot is the caller's to free ({@link #freeCopy}).
   *
   * @param link ties the log file to it; called under the writer lock, so that no change comes
   *     between
   * @return false when the segment was changed or appended to since; it is where it was then
   * @throws IOException when the log file could not be tied to the copy. If it could not be tied to
   *     what it was tied to before either, the segment cannot be changed any more
   */
  public boolean relocate(CopyResult copied, Residence to, Link link) throws IOException {
    return writer.exclusively(
        () -> {
          if (stale(copied) || size() != copied.end()) {
            return false;
          }
          tie(link);
          writer.publish(Optional.of(to), HotView.inPool(to.bytes(), to.slot().extents(), size()));
          return true;
        });
  }

  /**
   * Takes a segment without bytes out of its pool: its first ones go to the log file, which is
   * empty. The slot is the caller's to free ({@link #freeCopy}).
   *
   * @param link removes what ties the log file to the slot, durably; called under the writer lock,
   *     so that no append comes between
   * @return where the segment was; empty when it has bytes, or is deleted
   * @throws IOException as {@link #relocate} does
   */
  public Optional<Residence> leave(Link link) throws IOException {
    return writer.exclusively(
        () -> {
          Optional<Residence> in = writer.residence();
          if (!writer.movable() || in.isEmpty() || size() > 0) {
            return Optional.empty();
          }
          tie(link);
          writer.publish(Optional.empty(), HotView.inLogFile(0));
          return in;
        });
  }

  private void tie(Link link) throws IOException {
    try {
      link.link();
    } catch (IOException | RuntimeException | Error e) {
      try {
        link.unlink();
      } catch (IOException | RuntimeException | Error f) {
        // Which of the two slots a start finds is not known: a change would be lost in one of them.
        e.addSuppressed(f);
        writer.markBroken(new IOException("its log file's tag is not known", f));
      }
      throw e;
    }
  }

  /** Returns whether a copy does not count: it was not made, or not of the bytes of now. */
  private boolean stale(CopyResult copied) {
    return copied.outcome() != Outcome.COPIED
        || !writer.movable()
        || writer.guard().changes() != copied.changes();
  }

  /**
   * Evicts a clean segment: frees its slot, durably, and shows readers the log file. The extents
   * are free for others when the last reader has left them.
   *
   * @param wait whether to wait for a change that is under way, or to return at once
   * @return where the segment was; empty when it is not clean, deleted, or busy, or when bytes that
   *     have spilled are not forced
   * @throws IOException when the pool fails; the segment can be read, and not changed any more
   */
  public Optional<Residence> evict(boolean wait) throws IOException {
    return wait
        ? writer.exclusively(this::evict)
        : writer.exclusivelyOrNot(this::evict).flatMap(evicted -> evicted);
  }

  private Optional<Residence> evict() throws IOException {
    Optional<Residence> in = writer.residence();
    if (!writer.movable()
        || in.isEmpty()
        || !in.get().isClean()
        // Without its slot a start would take a log file with a torn end for an older copy.
        || !writer.tailIsForced()) {
      return Optional.empty();
    }
    List<Extent> extents;
    try {
      extents = in.get().free();
    } catch (IOException e) {
      // Freed or not: a change would be lost in the pool or in the log file.
      writer.markBroken(e);
      throw e;
    }
    events.left(in.get());
    writer.publish(Optional.empty(), HotView.inLogFile(size()));
    retire(in.get().pool(), extents);
    return in;
  }

  /** Gives extents back when the last reader that may see them has left. */
  private void retire(Pool pool, List<Extent> extents) {
    boolean unused = gate.retire(() -> writer.release(pool, extents));
  }

  /**
   * Evicts the extents whose bytes the log file has all of: readers see the log file there, and new
   * bytes go on behind those that stay in the pool. The extents are free for others when the last
   * reader has left them.
   *
   * @param wait as in {@link #evict}
   * @return how many bytes of space that freed; 0 when there was nothing to evict, or it is busy
   * @throws IOException when the pool fails; the segment is as before
   */
  public long evictPart(boolean wait) throws IOException {
    return writer.evictPart(wait);
  }

  /**
   * Sends new bytes of a spilled segment to its pool again, if the log file has all bytes that the
   * pool has: forces the log file, and has the pool's part begin where it ends. Readers and appends
   * go on; appends wait while what they have added meanwhile is copied, 1 MiB at most.
   *
   * @param logFile open for reading and writing, for this call alone
   * @param force forces it, with its attributes
   * @return whether new bytes go to the pool now; not if the segment is dirty, has not spilled, was
   *     changed meanwhile, or the pool has no space
   * @throws IOException when the log file cannot be forced or read; the segment is as before. When
   *     the pool fails, the segment can be read, and not changed any more
   */
  public boolean unspill(FileChannel logFile, LogFileForce force) throws IOException {
    return new Unspilling(this, writer).run(logFile, force);
  }

  /** Forces a log file, whatever asks for it. */
  @FunctionalInterface
  public interface LogFileForce {
    /** Does it. */
    void run() throws IOException;
  }

  /**
   * Gives a segment that is wholly in its log file a slot that has none of its bytes, as if it had
   * spilled there: for {@link #unspill}.
   *
   * @param to a live slot of length 0, flagged COPY, that the caller alone knows; the caller's to
   *     free if this does not return true
   * @param link ties the log file to it, and forces the file; called without the writer lock
   * @return whether it has the slot now; not if it has one already, or was truncated meanwhile
   * @throws IOException when the log file cannot be tied, or the pool fails; the segment is as
   *     before
   */
  public boolean enter(Residence to, Link link) throws IOException {
    return new Unspilling(this, writer).enter(to, link);
  }

  /** Does something with a log file that has the whole segment; see {@link #whileWhole}. */
  @FunctionalInterface
  public interface WhileWhole {
    /**
     * Does it.
     *
     * @param size how many bytes the log file must have
     * @return whether it was done
     */
    boolean run(long size) throws IOException;
  }

  /**
   * Runs {@code action} while the log file's bytes cannot change, if it has all of them.
   *
   * @return false if the log file has not got the whole segment; else what {@code action} returned
   */
  public boolean whileWhole(WhileWhole action) throws IOException {
    return writer.whileWhole(action);
  }

  /** Ends a copy that is being made, as a change would: it is not worth making any more. */
  public void cancelMoves() {
    writer.cancelMoves();
  }

  /**
   * Frees a copy of this segment that readers are not shown any more, durably; its extents are free
   * for others when the last one has left them. Without effect when it is free.
   */
  public void freeCopy(Residence copy) throws IOException {
    retire(copy.pool(), copy.free());
  }

  /**
   * Declares, durably, that the log file is about to be unlinked. From now on no channel can be
   * opened, and those that are open cannot write. Without effect the second time.
   */
  public void markDeleting() throws IOException {
    writer.markDeleting();
    lifetime.close();
  }

  /**
   * Releases the extents of a segment whose log file has been unlinked: they are free for others
   * when no channel is open and no reader is about. The unlinking need not be durable. Without
   * effect the second time.
   *
   * @throws IllegalStateException without {@link #markDeleting}
   */
  public void releaseBytes() {
    release(writer.takeExtents());
  }

  /**
   * Frees the slot, durably, and what {@link #releaseBytes} has not released, when the unlinking of
   * the log file is durable. Without effect the second time.
   *
   * @throws IllegalStateException without {@link #markDeleting}
   */
  public void free() throws IOException {
    release(writer.free());
  }

  private void release(List<Extent> extents) {
    if (!extents.isEmpty()) {
      Pool pool = writer.residence().orElseThrow().pool();
      lifetime.whenUnused(
          () -> {
            // A read that began before its channel was closed may look only now.
            writer.forgetBytes();
            retire(pool, extents);
          });
    }
  }

  // As a channel needs it

  @Override
  public long size(FileChannel logFile) {
    return writer.view().size();
  }

  @Override
  public int read(ByteBuffer target, long position, FileChannel logFile) throws IOException {
    int token = gate.enter();
    try {
      return readInsideGate(target, position, logFile);
    } finally {
      gate.exit(token);
    }
  }

  private int readInsideGate(ByteBuffer target, long position, FileChannel logFile)
      throws IOException {
    while (true) {
      HotView view = writer.view();
      long size = view.size();
      if (position >= size) {
        return -1;
      }
      int read = view.read(size, target, position, logFile);
      if (read > 0) {
        countLogFileRead(view, size, position, read);
        return read;
      }
      checkLogFileWasTruncated(view, position, logFile);
    }
  }

  private void countLogFileRead(HotView view, long size, long position, long length) {
    long end = position + length;
    long before = Math.min(end, view.poolStart()) - position;
    long behind = end - Math.max(position, Math.max(view.poolStart(), view.poolEnd(size)));
    long inLogFile = Math.max(0, before) + Math.max(0, behind);
    if (inLogFile > 0) {
      events.readInLogFile(inLogFile);
    }
  }

  /**
   * The log file has no byte at a position where the view has one: is that a truncation under way?
   */
  private void checkLogFileWasTruncated(HotView view, long position, FileChannel logFile)
      throws IOException {
    if (writer.view() == view) {
      throw new IOException(
          """
          %s: the log file ends at %s, expected a byte at %s of %s: the file was truncated by \
          something else than this broker; its tail is lost\
          """
              .formatted(name(), logFile.size(), position, view.size()));
    }
  }

  @Override
  public long transferTo(long position, long count, WritableByteChannel target, FileChannel logFile)
      throws IOException {
    int token = gate.enter();
    try {
      HotView view = writer.view();
      long size = view.size();
      if (position >= size) {
        return 0;
      }
      long written = view.transferTo(size, position, count, target, logFile);
      boolean inLogFile = position < view.poolStart() || position >= view.poolEnd(size);
      if (written == 0 && inLogFile && logFile.size() <= position) {
        checkLogFileWasTruncated(view, position, logFile);
      }
      countLogFileRead(view, size, position, written);
      return written;
    } finally {
      gate.exit(token);
    }
  }

  @Override
  public int write(ByteBuffer source, long position, FileChannel logFile) throws IOException {
    int written;
    do {
      int moves = writer.moves();
      events.appending();
      written = writer.write(source, position, logFile, moves);
    } while (written == SegmentWriter.MOVED);
    return written;
  }

  @Override
  public int append(ByteBuffer source, FileChannel logFile) throws IOException {
    int written;
    do {
      int moves = writer.moves();
      events.appending();
      written = writer.append(source, logFile, moves);
    } while (written == SegmentWriter.MOVED);
    return written;
  }

  @Override
  public void truncate(long length, FileChannel logFile) throws IOException {
    int moves;
    do {
      moves = writer.moves();
      events.truncating();
    } while (!writer.truncate(length, logFile, moves));
  }

  @Override
  public void force(boolean metaData, FileChannel logFile) throws IOException {
    writer.force(metaData, logFile);
  }

  @Override
  public boolean whollyInLogFile() {
    HotView view = writer.view();
    return view.spilled() && view.poolEnd(view.size()) == 0;
  }

  @Override
  public void logFileMayHaveGrown(FileChannel logFile) throws IOException {
    writer.logFileMayHaveGrown(logFile);
  }

  @Override
  public void noteRead(long count, long nanos) {
    reads.add(count, settings.clock().millis());
    events.read(count, nanos);
  }

  @Override
  public void appended(long count, long nanos, long ended) {
    events.appended(count, nanos, ended);
  }

  @Override
  public void changed() {
    lastChangeMillis = settings.clock().millis();
    events.changed();
  }

  @Override
  public String toString() {
    return name();
  }
}
