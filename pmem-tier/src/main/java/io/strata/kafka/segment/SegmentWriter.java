package io.strata.kafka.segment;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.strata.kafka.memory.calls.Interrupts.IoSupplier;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.Slot;
import io.strata.kafka.pool.space.Extent;
import io.strata.kafka.pool.space.ExtentBytes;
import io.strata.kafka.pool.space.ExtentList;
import io.strata.kafka.pool.words.SlotFlag;
import io.strata.kafka.segment.Segment.LogFileForce;
import io.strata.kafka.segment.view.HotView;
import io.strata.kafka.segment.view.ReaderGate;
import io.strata.kafka.segment.view.Residence;
import io.strata.kafka.segment.view.SegmentBytes;
import io.strata.kafka.segment.view.SpilledTail;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Everything that changes a segment's bytes, and the order in which it becomes durable and visible.
 *
 * <p>An append: bytes, persist, committed length, persist, visible. When the pool has no space,
 * what fits goes as above, then the slot is flagged spilled, and the rest goes to the log file;
 * from then on the committed length is the spill offset and stays until the segment is unspilled. A
 * truncation below the spill offset, or below where the pool's extents begin, truncates the log
 * file first. An append that spills to a full disk gets the log file's exception.
 *
 * <p>Whatever fails leaves the view at what can be read: a caller that gets an exception finds the
 * segment as before, or longer by the part of its bytes that its source's position shows. Any other
 * throwable than an {@link IOException} leaves a segment that can be read, and not changed before a
 * restart.
 *
 * <p>Thread safety: all methods may be called by any number of threads; those that change anything
 * take one lock, which no reader ever takes. No method gives way to an interrupt half way: the log
 * file's channel may (it is then closed), and its exception comes through when the state is right.
 */
final class SegmentWriter {

  /**
   * The longest gap, in bytes, that is filled with zeros in the pool when a write begins beyond the
   * end. A longer one is left to the log file, where a hole costs nothing.
   */
  static final long LONGEST_GAP_IN_POOL = 1 << 20;

  /** Returned by a write that has to be announced again. */
  static final int MOVED = -1;

  private final Segment segment;
  private final ReaderGate gate;
  private final SegmentSettings settings;
  private final SegmentEvents events;

  private final ReentrantLock lock = new ReentrantLock();

  /** Written under the lock while the slot is not free, read by anyone. */
  private volatile HotView view;

  @GuardedBy("lock")
  private final SpilledTail tail;

  private final SegmentForcer forcer;

  private final ChangeGuard guard = new ChangeGuard();

  /** The place of the pool's bytes; null when all are in the log file. Written under the lock. */
  private volatile @Nullable Residence pooled;

  /** Counts how often that has changed. Written under the lock. */
  private final AtomicInteger moves = new AtomicInteger();

  @GuardedBy("lock")
  private boolean deleted;

  /** Moves into the pool with readers of before, who look for bytes in the log file. */
  private volatile int readingLogFile;

  /** Why the segment must not be changed any more, though it can be read. */
  @GuardedBy("lock")
  private Optional<IOException> broken = Optional.empty();

  /**
   * Set when a change was ended by something that no change expects: want of memory, or a bug. It
   * may have come between a store to the slot and what this object knows of it, so the segment must
   * not be changed any more. A field of its own, since there may be no memory for an exception.
   * Written under the lock.
   */
  private volatile boolean inDoubt;

  SegmentWriter(
      Segment segment,
      Optional<Residence> residence,
      long logFileSize,
      ReaderGate gate,
      SegmentSettings settings,
      SegmentEvents events) {
    this.segment = segment;
    this.pooled = residence.orElse(null);
    this.gate = gate;
    this.settings = settings;
    this.events = events;
    boolean tailInLogFile = residence.map(in -> in.slot().has(SlotFlag.SPILLED)).orElse(true);
    this.view = firstView(residence, logFileSize);
    this.tail = new SpilledTail(settings.forcesAppends(), tailInLogFile, logFileSize);
    this.forcer = new SegmentForcer(residence.map(Residence::slot).orElse(null), tail, lock);
  }

  private static HotView firstView(Optional<Residence> residence, long logFileSize) {
    if (residence.isEmpty()) {
      return HotView.inLogFile(logFileSize);
    }
    long committed = residence.get().slot().committedLength();
    boolean spilled = residence.get().slot().has(SlotFlag.SPILLED);
    return viewOf(residence.get(), spilled, committed, Math.max(committed, logFileSize));
  }

  /** Returns where the pool's bytes are at this moment; empty when all are in the log file. */
  Optional<Residence> residence() {
    return Optional.ofNullable(pooled);
  }

  /** Returns whether {@link #residence} has a place. */
  boolean inPool() {
    return pooled != null;
  }

  /**
   * Returns how often the segment has moved. A change passes on what this was before the change was
   * announced: what the announcement did was for the place of then.
   */
  int moves() {
    return moves.get();
  }

  /** Returns what readers see now. A reader calls this inside the gate. */
  HotView view() {
    return view;
  }

  /**
   * See {@link SegmentBytes#write}.
   *
   * @param announced {@link #moves} before the change was announced
   * @return {@link #MOVED}, with nothing done, if the segment has moved since: a log file has a
   *     slot's tag now, which is to go before the change, or a pool would get ahead of renames
   */
  int write(ByteBuffer source, long position, FileChannel logFile, int announced)
      throws IOException {
    return write(source, false, position, logFile, announced);
  }

  /** As {@link #write(ByteBuffer, long, FileChannel, int)}; see {@link SegmentBytes#append}. */
  int append(ByteBuffer source, FileChannel logFile, int announced) throws IOException {
    return write(source, true, 0, logFile, announced);
  }

  /**
   * Writes.
   *
   * @param atEnd where to: to the end, which only the lock's holder knows, or to {@code position}
   */
  private int write(
      ByteBuffer source, boolean atEnd, long position, FileChannel logFile, int announced)
      throws IOException {
    int written;
    lock.lock();
    try {
      if (moves.get() != announced) {
        return MOVED;
      }
      written = writeWithoutLocking(source, atEnd ? view.size() : position, logFile);
    } catch (RuntimeException | Error e) {
      inDoubt = true;
      throw e;
    } finally {
      lock.unlock();
    }
    forceAppend(written, logFile);
    return written;
  }

  @GuardedBy("lock")
  private int writeWithoutLocking(ByteBuffer source, long position, FileChannel logFile)
      throws IOException {
    int length = source.remaining();
    if (length == 0) {
      return 0;
    }
    requireChangeable();
    if (position < view.size()) {
      replacing(position);
    }
    if (position > Long.MAX_VALUE - length) {
      throw new IOException(
          "%s: a write of %s bytes at %s ends beyond the largest file offset"
              .formatted(segment.name(), length, position));
    }
    int start = source.position();
    try {
      writeBelowPool(source, position, logFile);
      writeToPool(source, position + (source.position() - start));
      int done = source.position() - start;
      if (done < length) {
        boolean first = spill(logFile);
        writeToLogFile(source, position + done, logFile, first);
      }
    } catch (ClosedChannelException e) {
      throw e;
    } catch (IOException e) {
      // As a file on a full disk: what was written counts, and the next call gets the exception.
      if (source.position() == start) {
        throw e;
      }
    }
    return source.position() - start;
  }

  /**
   * Forces an append before it is acknowledged, if {@code forcesAppends} says so: in any pool that
   * needs a force, and the name of a log file, which may be new. {@code SpilledTail} has forced the
   * bytes in the log file. Without the writer lock, which a force under way takes.
   */
  private void forceAppend(int written, FileChannel logFile) throws IOException {
    if (written > 0 && settings.forcesAppends().getAsBoolean()) {
      Optional<Residence> in = residence();
      if (in.isPresent() && !in.get().durableOnPersist()) {
        forcer.force(() -> logFile.force(false));
      }
      if (view.spilled()) {
        events.forcedInLogFile();
      }
    }
  }

  @GuardedBy("lock")
  private void requireChangeable() throws IOException {
    if (deleted) {
      throw new IOException(segment.name() + " has been deleted: it can be read, not changed");
    }
    if (inDoubt) {
      throw new IOException(
          """
          %s cannot be changed any more: an error came in the middle of a change, and what the pool \
          has of it is not known; restart the broker\
          """
              .formatted(segment.name()));
    }
    if (broken.isPresent()) {
      throw new IOException(
          """
          %s cannot be changed any more, since a change of where it is has failed: %s; look at the \
          device, then restart the broker\
          """
              .formatted(segment.name(), broken.get().getMessage()),
          broken.get());
    }
  }

  /**
   * Bytes are about to be replaced from {@code position} on, which Kafka never does: ends a copy
   * that has read them. The log file counts as having none of the pool's bytes from then on, since
   * it has the ones before.
   */
  @GuardedBy("lock")
  private void replacing(long position) throws IOException {
    guard.changing();
    Optional<Residence> in = residence();
    if (in.isPresent() && position < in.get().slot().cleanLength()) {
      in.get().slot().setCleanLength(in.get().slot().extents().start());
      tail.mayBeLonger();
    }
  }

  /** Replaces bytes that are in the log file alone, since they have been evicted. */
  @GuardedBy("lock")
  private void writeBelowPool(ByteBuffer source, long position, FileChannel logFile)
      throws IOException {
    long end = Math.min(position + source.remaining(), view.poolStart());
    if (position < Math.min(end, view.size())) {
      int limit = source.limit();
      source.limit(source.position() + (int) (end - position));
      try {
        tail.replace(source, position, logFile);
      } finally {
        source.limit(limit);
      }
    }
  }

  /** Ends a copy that is being made. */
  void cancelMoves() {
    lock.lock();
    try {
      guard.changing();
    } finally {
      lock.unlock();
    }
  }

  /**
   * A copy to the log file has not come to its end: drops what it has written, unless bytes that
   * have spilled lie behind it.
   */
  void dropCopied(FileChannel logFile) throws IOException {
    lock.lock();
    try {
      Optional<Residence> in = residence();
      if (in.isPresent() && !deleted && !view.spilled() && readingLogFile == 0) {
        if (truncateFile(logFile, in.get().slot().cleanLength())) {
          tail.dirty(true);
        }
      }
    } finally {
      lock.unlock();
    }
  }

  private static boolean truncateFile(FileChannel logFile, long length) throws IOException {
    boolean longer = logFile.size() > length;
    if (longer) {
      logFile.truncate(length);
    }
    return longer;
  }

  /** The pool's part of a segment that has one. */
  Residence pooled() {
    // An append comes by here: no lambda, which would be an object for each.
    Residence in = pooled;
    if (in == null) {
      throw new IllegalStateException(segment.name() + " has nothing in a pool");
    }
    return in;
  }

  /** Writes as much as belongs into the pool and fits there; on an exception, nothing. */
  @GuardedBy("lock")
  private void writeToPool(ByteBuffer source, long position) throws IOException {
    long size = view.size();
    long end = position + source.remaining();
    if (!view.spilled()) {
      if (position - size > LONGEST_GAP_IN_POOL) {
        return;
      }
      boolean unused = extentsForLocked(end);
    }
    // Clean bytes of this very segment may just have been evicted.
    HotView before = view;
    ExtentList extents = before.spilled() ? before.extents() : pooled().slot().extents();
    long poolEnd = Math.min(end, before.spilled() ? before.poolEnd(size) : extents.end());
    if (poolEnd <= Math.min(position, size)) {
      return;
    }
    int start = source.position();
    try {
      if (position > size) {
        // Extents may hold what earlier segments left there: no reader may see that in a gap.
        pooled().bytes().zeroAndPersist(extents, size, Math.min(position, poolEnd));
      }
      if (position < poolEnd) {
        ExtentBytes bytes = before.pooled();
        bytes.storeAndPersist(extents, position, source, (int) (poolEnd - position));
      }
      if (!before.spilled() && poolEnd > size) {
        if (settings.forcesAppends().getAsBoolean()) {
          pooled().slot().zeroAhead(poolEnd, (int) (poolEnd - Math.max(position, size)));
        }
        pooled().slot().commit(poolEnd);
        publish(before, extents, poolEnd);
      }
    } catch (IOException e) {
      source.position(start);
      throw e;
    } finally {
      forcer.writtenLocked(Math.min(position, size));
    }
  }

  /**
   * Grows the slot's extents to hold {@code end} bytes, as far as the pool has space for that. The
   * caller holds the writer lock.
   */
  @SuppressWarnings("GuardedBy") // the caller holds it
  boolean extentsForLocked(long end) throws IOException {
    assert lock.isHeldByCurrentThread();
    Residence in = pooled();
    boolean grown = true;
    while (grown && in.slot().extents().end() < end) {
      grown = growOrMakeSpace(in);
    }
    return grown;
  }

  /** Frees space first where there is none in one piece: a fragmented pool serves no append. */
  @GuardedBy("lock")
  private boolean growOrMakeSpace(Residence in) throws IOException {
    long wanted = in.slot().nextExtentLength();
    if (wanted == 0) {
      // No entry is left for another extent.
      long unused = evictPartNow(true);
      wanted = in.slot().nextExtentLength();
    }
    if (wanted > in.pool().largestFreeExtent()) {
      settings.spaceMaker().makeSpace(in.pool(), wanted);
    }
    return in.slot().grow();
  }

  /** See {@link Segment#evictPart}; also in an append, which goes on in the extents that stay. */
  private long evictPartNow(boolean atOnce) throws IOException {
    lock.lock();
    try {
      if (residence().isEmpty() || !movable()) {
        return 0;
      }
      Residence in = residence().get();
      return releaseEvicted(in.pool(), dropClean(in.slot()), atOnce);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Gives extents back that the log file has the bytes of, when no reader can see them any more.
   */
  long releaseEvicted(Pool pool, List<Extent> extents, boolean atOnce) {
    long bytes = extents.stream().mapToLong(Extent::length).sum();
    if (bytes > 0) {
      events.evicted(bytes, atOnce);
      boolean unused = gate.retire(() -> release(pool, extents));
    }
    return bytes;
  }

  @GuardedBy("lock")
  private List<Extent> dropClean(Slot slot) throws IOException {
    HotView before = view;
    try {
      return slot.evict(Math.min(slot.cleanLength(), before.poolEnd(before.size())));
    } finally {
      // Extents that the slot has dropped are not read any more, also if that was not made durable.
      if (!slot.extents().equals(before.extents())) {
        view = before.withExtents(slot.extents());
      }
    }
  }

  /** See {@link Segment#evictPart}. */
  long evictPart(boolean wait) throws IOException {
    return wait
        ? exclusively(() -> evictPartNow(false))
        : exclusivelyOrInAppend(() -> evictPartNow(true)).orElse(0L);
  }

  @GuardedBy("lock")
  @SuppressWarnings("ReferenceEquality") // the same list, not an equal one: nothing to compare
  private void publish(HotView before, ExtentList extents, long size) {
    if (before.extents() == extents) {
      before.extendTo(size);
    } else {
      view = HotView.inPool(before.pooled(), extents, size);
    }
  }

  /**
   * Sends all bytes beyond the segment's present end to the log file, from now on and durably so.
   */
  @GuardedBy("lock")
  private boolean spill(FileChannel logFile) throws IOException {
    HotView before = view;
    if (before.spilled()) {
      return false;
    }
    // Once the flag is set, what the log file has beyond the spill offset is part of the segment.
    tail.truncate(logFile, before.size(), true);
    if (!pooled().slot().has(SlotFlag.NAME_DURABLE)) {
      // Bytes without the tag that comes with them would be another file's.
      logFile.force(true);
    }
    pooled().slot().set(SlotFlag.SPILLED);
    view = HotView.spilled(before.pooled(), before.extents(), before.size(), before.size());
    return true;
  }

  @GuardedBy("lock")
  private void writeToLogFile(ByteBuffer source, long position, FileChannel logFile, boolean first)
      throws IOException {
    HotView current = view;
    int start = source.position();
    try {
      tail.write(source, position, logFile, current.size());
    } finally {
      int written = source.position() - start;
      if (written > 0) {
        current.extendTo(position + written);
      }
      events.spilled(written, first);
    }
  }

  /**
   * See {@link SegmentBytes#truncate}.
   *
   * @param announced as of {@link #write(ByteBuffer, long, FileChannel, int)}
   * @return false, with nothing done, if the segment has moved since
   */
  boolean truncate(long length, FileChannel logFile, int announced) throws IOException {
    lock.lock();
    try {
      if (moves.get() != announced) {
        return false;
      }
      if (length < view.size()) {
        requireChangeable();
        guard.changing();
        if (length < view.poolStart()) {
          truncateBelowPool(length, logFile);
        } else {
          boolean unused = truncateWithoutLocking(length, logFile);
        }
      }
      return true;
    } catch (RuntimeException | Error e) {
      inDoubt = true;
      throw e;
    } finally {
      lock.unlock();
    }
  }

  /** Some of the bytes that are evicted go too, and all of the pool's. */
  @GuardedBy("lock")
  private void truncateBelowPool(long length, FileChannel logFile) throws IOException {
    // For the readers, who may find the log file short from here on.
    view = view.withSize(length);
    try {
      if (!truncateWithoutLocking(length, logFile) && !view.spilled()) {
        // While a reader has the old view, the log file gets what comes next: in the pool it would
        // leave a hole where that reader still looks.
        pooled().slot().set(SlotFlag.SPILLED);
        view = viewOf(pooled(), true, length, length);
      }
    } catch (IOException e) {
      // The slot may say that the segment ends there, and the log file that it does not.
      markBroken(e);
      throw e;
    }
  }

  /** Returns whether no reader uses the former view any more. */
  @GuardedBy("lock")
  private boolean truncateWithoutLocking(long length, FileChannel logFile) throws IOException {
    HotView before = view;
    boolean spilled = before.spilled();
    long spillOffset = before.poolEnd(before.size());
    if (residence().isPresent() && length < pooled().slot().cleanLength()) {
      // First of all: the log file may be shorter from here on, or longer, whatever fails.
      pooled().slot().setCleanLength(length);
    }
    if (spilled) {
      truncateLogFile(before, length, logFile);
    }
    if (residence().isEmpty() || (spilled && length > spillOffset)) {
      return true;
    }
    return truncatePool(before, length, logFile);
  }

  @GuardedBy("lock")
  private boolean truncatePool(HotView before, long length, FileChannel logFile)
      throws IOException {
    boolean spilled = before.spilled();
    forcer.truncatingLocked(length);
    Residence in = pooled();
    boolean shorter = !spilled && truncateFile(logFile, length);
    if (shorter) {
      // Truncated bytes must not be there when the slot is evicted, or the pool is lost.
      logFile.force(true);
    }
    List<Extent> dropped = dropFromPool(in, before, length);
    view = viewOf(in, spilled, length, length);
    boolean logFileUnread = gate.retire(() -> release(in.pool(), dropped));
    // While a reader has the old view, the log file gets what comes next: in the pool it would
    // leave a hole where that reader still looks.
    if (shorter && readingLogFile > 0) {
      in.slot().set(SlotFlag.SPILLED);
      view = viewOf(in, true, length, length);
    } else if (spilled && logFileUnread) {
      in.slot().clear(SlotFlag.SPILLED);
      tail.mayBeLonger();
      view = viewOf(in, false, length, length);
    }
    return logFileUnread;
  }

  /** A view of the slot's extents up to {@code inPool}; a spilled one has {@code size} bytes. */
  private static HotView viewOf(Residence in, boolean spilled, long inPool, long size) {
    ExtentList extents = in.slot().extents();
    return spilled
        ? HotView.spilled(in.bytes(), extents, inPool, size)
        : HotView.inPool(in.bytes(), extents, inPool);
  }

  /**
   * Truncates the log file, durably if bytes of the pool go too: with the shorter pool part and the
   * old log file, a power cut would leave a hole between them.
   */
  @GuardedBy("lock")
  private void truncateLogFile(HotView before, long length, FileChannel logFile)
      throws IOException {
    // First for the readers, who may find the log file short from here on.
    view = before.withSize(length);
    tail.mayBeLonger();
    boolean done = false;
    try {
      tail.truncate(logFile, length, length <= before.poolEnd(before.size()));
      done = true;
    } finally {
      if (!done) {
        view = before.withSize(sizeAfterFailedTruncation(before, length, logFile));
      }
    }
  }

  @GuardedBy("lock")
  private List<Extent> dropFromPool(Residence in, HotView before, long length) throws IOException {
    boolean done = false;
    try {
      List<Extent> dropped = in.slot().truncate(length);
      done = true;
      return dropped;
    } finally {
      if (!done) {
        // The tail is gone; the head is what the slot says.
        long committed = in.slot().committedLength();
        view = viewOf(in, before.spilled(), committed, committed);
      }
    }
  }

  /**
   * Returns what can be read of a segment whose log file may or may not have been truncated to
   * {@code length}.
   */
  @GuardedBy("lock")
  private long sizeAfterFailedTruncation(HotView before, long length, FileChannel logFile) {
    long shortest = Math.max(length, before.poolEnd(before.size()));
    try {
      return Math.min(before.size(), Math.max(shortest, logFile.size()));
    } catch (IOException e) {
      // Closed by an interrupt, most likely. The next write to the log file truncates it first.
      return shortest;
    }
  }

  /** See {@link SegmentBytes#force}. */
  void force(boolean metaData, FileChannel logFile) throws IOException {
    forcer.force(() -> logFile.force(metaData));
  }

  /** See {@link Segment#force(LogFileForce)}. */
  void force(LogFileForce logFile) throws IOException {
    forcer.force(logFile);
  }

  /** See {@link Segment#isForced}. */
  boolean isForced() {
    Optional<Residence> in = residence();
    boolean poolNeedsNone = in.map(Residence::durableOnPersist).orElse(true);
    return (in.isPresent() && poolNeedsNone && !view.spilled()) || forcer.isForced(poolNeedsNone);
  }

  /** Returns whether no byte that has spilled is waiting for a force of the log file. */
  boolean tailIsForced() {
    return !view.spilled() || forcer.isForced(true);
  }

  /** The log file was forced past this object when the segment had this size. */
  void logFileIsForced(long size, long changes) {
    lock.lock();
    try {
      if (view.size() == size && guard.changes() == changes) {
        tail.dirty(false);
      }
    } finally {
      lock.unlock();
    }
  }

  /** The log file may have grown past this object; a spilled segment's size follows. */
  void logFileMayHaveGrown(FileChannel logFile) throws IOException {
    lock.lock();
    try {
      HotView current = view;
      if (current.spilled()) {
        current.extendTo(logFile.size());
        tail.dirty(true);
      }
    } finally {
      lock.unlock();
    }
  }

  /** See {@link Segment#whileWhole}. */
  boolean whileWhole(Segment.WhileWhole action) throws IOException {
    return exclusively(
        () -> {
          boolean whole = residence().map(Residence::isClean).orElse(true);
          return movable() && whole && action.run(view.size());
        });
  }

  /** Returns what moves hold on to; see {@link ChangeGuard}. */
  ChangeGuard guard() {
    return guard;
  }

  /** Lets {@code change} happen when no other thread changes the segment: a move that publishes. */
  <T> T exclusively(IoSupplier<T> change) throws IOException {
    lock.lock();
    try {
      return runWithoutLocking(change);
    } finally {
      lock.unlock();
    }
  }

  @GuardedBy("lock")
  private <T> T runWithoutLocking(IoSupplier<T> change) throws IOException {
    try {
      return change.get();
    } catch (RuntimeException | Error e) {
      inDoubt = true;
      throw e;
    }
  }

  /**
   * As {@link #exclusively}; empty, and nothing done, when the segment is being changed: by this
   * thread, perhaps, in an append that makes space.
   */
  <T> Optional<T> exclusivelyOrNot(IoSupplier<T> change) throws IOException {
    return lock.isHeldByCurrentThread() ? Optional.empty() : exclusivelyOrInAppend(change);
  }

  /**
   * As {@link #exclusivelyOrNot}, and done in an append of this thread too, that makes space: for
   * what an append goes on with.
   */
  private <T> Optional<T> exclusivelyOrInAppend(IoSupplier<T> change) throws IOException {
    if (!lock.tryLock()) {
      return Optional.empty();
    }
    try {
      return Optional.of(runWithoutLocking(change));
    } finally {
      lock.unlock();
    }
  }

  /** Shows the segment in another place: in {@link #exclusively}. */
  void publish(Optional<Residence> to, HotView newView) {
    lock.lock();
    try {
      boolean logFileBefore = view.spilled() && !newView.spilled();
      if (!newView.spilled()) {
        tail.mayBeLonger();
      }
      forcer.movedToLocked(to.map(Residence::slot).orElse(null));
      pooled = to.orElse(null);
      int unusedMoves = moves.incrementAndGet();
      view = newView;
      if (logFileBefore) {
        readingLogFile(1);
        boolean unused = gate.retire(() -> readingLogFile(-1));
      }
    } finally {
      lock.unlock();
    }
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // here alone
  private synchronized void readingLogFile(int more) {
    readingLogFile += more;
  }

  /** A copy to the log file begins: what is there beyond the clean bytes does not count. */
  void logFileIsWritten() {
    lock.lock();
    try {
      if (!view.spilled()) {
        tail.mayBeLonger();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Returns whether the segment may still be moved. */
  boolean movable() {
    lock.lock();
    try {
      return !deleted && !inDoubt && broken.isEmpty();
    } finally {
      lock.unlock();
    }
  }

  /** The segment must not be changed any more: what its pool holds of it is not known. */
  void markBroken(IOException cause) {
    lock.lock();
    try {
      broken = Optional.of(cause);
    } finally {
      lock.unlock();
    }
  }

  /** Sets a flag of the slot, durably; without effect on a deleted segment. */
  void set(SlotFlag flag) throws IOException {
    ifLive(slot -> slot.set(flag));
  }

  /** Clears a flag of the slot, durably; without effect on a deleted segment. */
  void clear(SlotFlag flag) throws IOException {
    ifLive(slot -> slot.clear(flag));
  }

  /** See {@link Segment#orphan}. */
  void orphan() throws IOException {
    ifLive(Slot::orphan);
  }

  /** Changes a slot. */
  interface SlotChange {
    void run(Slot slot) throws IOException;
  }

  private void ifLive(SlotChange change) throws IOException {
    lock.lock();
    try {
      if (!deleted && residence().isPresent()) {
        change.run(residence().get().slot());
      }
    } catch (RuntimeException | Error e) {
      inDoubt = true;
      throw e;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Ends all changes to the bytes, and declares durably that the log file is about to be unlinked.
   */
  void markDeleting() throws IOException {
    lock.lock();
    try {
      if (!deleted) {
        if (residence().isPresent()) {
          residence().get().slot().markDeleting();
        }
        deleted = true;
        guard.changing();
      }
    } catch (RuntimeException | Error e) {
      inDoubt = true;
      throw e;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Takes the extents of a deleted segment from its slot. The view stays as it is.
   *
   * @return the extents, which the caller must release when they can no longer be read
   */
  List<Extent> takeExtents() {
    lock.lock();
    try {
      return requireDeleted().map(Residence::takeExtents).orElse(List.of());
    } finally {
      lock.unlock();
    }
  }

  /**
   * Frees the slot of a deleted segment, durably. The view stays as it is.
   *
   * @return the extents, which the caller must release when they can no longer be read; empty when
   *     the slot had been freed before
   */
  List<Extent> free() throws IOException {
    lock.lock();
    try {
      Optional<Residence> in = requireDeleted();
      return in.isPresent() ? in.get().free() : List.of();
    } finally {
      lock.unlock();
    }
  }

  @GuardedBy("lock")
  private Optional<Residence> requireDeleted() {
    if (!deleted) {
      throw new IllegalStateException(segment.name() + " is to be freed and was not deleted");
    }
    return residence();
  }

  /**
   * Shows an empty segment from now on: the freed one's bytes are about to be another's. Takes no
   * lock, since an interrupt may close the last channel in a thread that must not wait; after
   * {@link #markDeleting} no other thread changes the view.
   */
  void forgetBytes() {
    view = HotView.inPool(ExtentBytes.NONE, ExtentList.EMPTY, 0);
  }

  /** Gives extents back to the pool that no reader can see any more. */
  void release(Pool pool, List<Extent> extents) {
    try {
      pool.release(extents);
    } catch (IOException e) {
      long bytes = extents.stream().mapToLong(Extent::length).sum();
      events.releaseFailed(segment, bytes, e);
    }
  }
}
