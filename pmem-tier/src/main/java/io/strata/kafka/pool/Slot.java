package io.strata.kafka.pool;

import static io.strata.kafka.layout.SlotLayout.*;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.strata.kafka.layout.CheckedWord;
import io.strata.kafka.layout.SlotLayout;
import io.strata.kafka.layout.SuperblockLayout;
import io.strata.kafka.memory.Durability;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.memory.calls.Printable;
import io.strata.kafka.pool.space.BuddyAllocator;
import io.strata.kafka.pool.space.Extent;
import io.strata.kafka.pool.space.ExtentList;
import io.strata.kafka.pool.words.SlotFlag;
import io.strata.kafka.pool.words.SlotSnapshot;
import io.strata.kafka.pool.words.SlotState;
import io.strata.kafka.pool.words.SlotWords;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * The writing process's handle on one segment's durable record.
 *
 * <p>Each change is persisted when its method returns. When a method throws an {@link IOException}
 * the handle is as before; the pool holds the old or the new value, and calling the method again is
 * allowed. ({@link #truncate} says what it does instead.) On a slot that is free such a method
 * throws an {@link IllegalStateException}, and on a length or offset out of the range that it says
 * an {@link IllegalArgumentException}.
 *
 * <p>Extents that a method returns as dropped are not free yet: a reader may be using them. Give
 * them to {@link Pool#release} when none is.
 *
 * <p>On a pool of {@link Durability#FORCE} an extent holds zeros and its segment's own bytes,
 * whatever a power failure leaves of what was stored, as a file's new blocks do.
 *
 * <p>Thread safety: the methods that change the slot must be called by one thread at a time (the
 * segment's lock sees to that); {@link #force} and the getters may be called by any thread at any
 * time, after {@link #free} too.
 */
public final class Slot {
  private final Pool pool;

  private final int index;
  private final long generation;
  private final UUID directoryId;
  private final String relativePath;
  private final long createdAtMillis;

  private volatile SlotState state;
  private volatile long committedLength;
  private volatile long cleanLength;
  private volatile int flags;
  private volatile ExtentList extents;

  /** A force may race with a truncation: what is known to have been forced counts with this. */
  @GuardedBy("this")
  private long truncations;

  /** Bytes known to survive a power failure, where that takes a force; not kept in the pool. */
  @GuardedBy("this")
  private long forcedLength;

  /** Set when a truncation has failed: bytes behind the committed length may not be zeros. */
  private boolean stale;

  /** The offset up to which {@link #zeroAhead} has stored; not kept in the pool. */
  private long zeroedTo;

  /** A handle on a slot as it is in the pool. */
  Slot(Pool pool, SlotSnapshot image) {
    this.pool = pool;
    this.index = image.index();
    this.generation = image.generation();
    this.directoryId = image.directoryId();
    this.relativePath = image.relativePath();
    this.createdAtMillis = image.createdAtMillis();
    this.state = image.state();
    this.committedLength = image.committedLength();
    this.cleanLength = image.cleanLength();
    this.flags = image.flags();
    this.extents = image.extents();
    this.truncations = image.truncations();
    // Where it matters, opening the pool has forced all that there was.
    this.forcedLength = image.committedLength();
  }

  /** Makes a free slot live, durably. */
  static Slot allocate(
      Pool pool,
      int index,
      long generation,
      UUID directoryId,
      String relativePath,
      long createdAtMillis)
      throws IOException {
    Slot slot =
        new Slot(
            pool,
            new SlotSnapshot(
                index,
                SlotState.FREE,
                generation,
                0,
                0,
                0,
                0,
                directoryId,
                relativePath,
                createdAtMillis,
                ExtentList.EMPTY));
    slot.publish();
    return slot;
  }

  private void publish() throws IOException {
    // Where a power failure undoes what was not forced, each step is forced before the next.
    words().storeBody(index, generation, directoryId, relativePath, createdAtMillis, flags);
    words().force(index);
    words().persist(index, STATE_OFFSET, SlotState.LIVE.code());
    words().force(index);
    state = SlotState.LIVE;
  }

  /** The slot's number in its pool, from 0. */
  public int index() {
    return index;
  }

  /** Distinguishes this segment from all others that the slot has held or will hold; from 1. */
  public long generation() {
    return generation;
  }

  /** The log directory that the segment was created in. */
  public UUID directoryId() {
    return directoryId;
  }

  /**
   * Returns where the segment was created, relative to its log directory; renames do not change it.
   */
  public String relativePath() {
    return relativePath;
  }

  /** Creation time in milliseconds since the epoch. */
  public long createdAtMillis() {
    return createdAtMillis;
  }

  /** Returns the state of the slot; FREE only after {@link #free}. */
  public SlotState state() {
    return state;
  }

  /** Bytes of the segment that are whole in the pool. */
  public long committedLength() {
    return committedLength;
  }

  /** Returns how many of the segment's first bytes are durable in the log file too. */
  public long cleanLength() {
    return cleanLength;
  }

  /** Returns whether the flag is set. */
  public boolean has(SlotFlag flag) {
    return (flags & flag.bit()) != 0;
  }

  /** The extents at this moment. */
  public ExtentList extents() {
    return extents;
  }

  /** Zeros are stored ahead for at most so many bytes. */
  private static final int ZEROED_AHEAD = 1 << 20;

  /** A longer append takes so long to be written that one more flush of the device adds little. */
  private static final int LONGEST_ZEROED_AHEAD_OF = ZEROED_AHEAD / 4;

  /** So many extents are at most as long as the pool's share for each segment. */
  private static final int EXTENTS_OF_A_SHARE = 16;

  /** After those the length doubles with so many, or the entries would run out. */
  private static final int EXTENTS_OF_A_LENGTH = 3;

  /**
   * Adds one extent: 64 KiB at first, and each next one as long as all that are there, up to what
   * {@link Pool#largestOrder} says, or shorter if only shorter ones are free. The space so doubles
   * and is a power of two, as Kafka's segment sizes mostly are: a full segment of 32 MiB or 1 GiB
   * leaves nothing unused.
   *
   * @return false, with nothing changed, if the pool has no free block or the slot no free entry
   */
  public boolean grow() throws IOException {
    return growFor(Long.MAX_VALUE);
  }

  /**
   * Adds one extent as {@link #grow} does, no longer than so many more bytes need.
   *
   * @param missing at least 1
   */
  public boolean growFor(long missing) throws IOException {
    requireInUse();
    requireNoStaleBytes();
    ExtentList current = extents;
    if (current.count() == SlotLayout.MAX_EXTENTS) {
      return false;
    }
    long blocks = (missing - 1) / SuperblockLayout.SMALLEST_EXTENT;
    int enough = 64 - Long.numberOfLeadingZeros(blocks);
    int order = Math.min(nextOrder(current, pool.largestOrder()), enough);
    Optional<Extent> extent = pool.allocateAtMost(order);
    if (extent.isEmpty()) {
      return false;
    }
    publishExtent(current, extent.get());
    return true;
  }

  /**
   * The order of the extent that follows others.
   *
   * @param largest of the first ones
   */
  static int nextOrder(ExtentList others, int largest) {
    // The extents that are there may have had to be short ones.
    int doubling = Math.max(0, others.count() - 1);
    long blocks = others.length() / SuperblockLayout.SMALLEST_EXTENT;
    int asLong = blocks == 0 ? 0 : 63 - Long.numberOfLeadingZeros(blocks);
    int beyond = Math.max(0, others.count() - EXTENTS_OF_A_SHARE) / EXTENTS_OF_A_LENGTH;
    return Math.min(
        Math.max(doubling, asLong), Math.min(largest + beyond, SuperblockLayout.LARGEST_ORDER));
  }

  /**
   * The length that {@link #grow} would like to add, in bytes; 0 when the slot has no free entry.
   */
  public long nextExtentLength() {
    ExtentList current = extents;
    return current.count() == SlotLayout.MAX_EXTENTS
        ? 0
        : BuddyAllocator.lengthOf(nextOrder(current, pool.largestOrder()));
  }

  private void publishExtent(ExtentList current, Extent added) throws IOException {
    int order = BuddyAllocator.orderOf(added.length());
    try {
      words()
          .persistExtent(
              index,
              generation,
              current.entry(current.count()),
              extentValue(pool.blockAt(added.position()), order));
    } catch (IOException e) {
      if (!needsForce()) {
        pool.allocator().free(added.position(), order);
      }
      // Otherwise a power failure may leave this entry where the next one was stored: the extent
      // stays out of the free map until the pool is opened again.
      throw e;
    }
    // If this fails the count may still have reached the medium: the extent stays out too.
    ExtentList longer = current.with(added);
    words().persist(index, EXTENTS_IN_USE_OFFSET, longer.inUse());
    extents = longer;
  }

  /**
   * Stores zeros behind an append that is to be forced, now and then. A file system has never
   * written the blocks of a new extent: the first force of each of them writes its journal too,
   * with a flush of its own. So one force in many does that, and those of the appends that follow
   * do not. Does nothing on a pool that needs no force.
   *
   * <p>No byte changes: there are zeros already.
   *
   * @param end of the append, not behind the extents' end
   * @param length of the append
   */
  public void zeroAhead(long end, int length) throws IOException {
    requireInUse();
    requireNoStaleBytes();
    if (end <= zeroedTo || length > LONGEST_ZEROED_AHEAD_OF || !needsForce()) {
      return;
    }
    ExtentList current = extents;
    long to = Math.min(current.end(), end + ZEROED_AHEAD);
    for (Extent piece : current.between(end, to)) {
      pool.memory().zero(piece.position(), piece.length());
    }
    zeroedTo = to;
  }

  /**
   * Publishes the bytes up to {@code length}, which the caller has persisted: one 8-byte store, and
   * its persist.
   *
   * @param length not less than the committed length, and not behind the extents' end
   */
  public void commit(long length) throws IOException {
    requireInUse();
    requireNoStaleBytes();
    if (length < committedLength || length > extents.end()) {
      throw new IllegalArgumentException(
          "%s: found length %s to commit, expected %s to %s"
              .formatted(this, length, committedLength, extents.end()));
    }
    words().persist(index, COMMITTED_LENGTH_OFFSET, length);
    committedLength = length;
  }

  /**
   * As {@link #commit}, of bytes that are to survive a power failure as the length does: where that
   * takes a force, they and their extents are forced first, and then the length.
   */
  public void commitForced(long length) throws IOException {
    requireInUse();
    if (needsForce()) {
      ExtentList current = extents;
      forceWithBytes(current, Math.max(committedLength, current.start()), length, false);
    }
    commit(length);
    force(0, length);
  }

  /**
   * Lowers the committed length and drops the extents behind it; all of them if it comes below
   * where they begin, and then the next one begins at {@code length}. In a truncation below them
   * {@link #setCleanLength} comes first: from then on an opening finds the slot with {@code length}
   * bytes, which are in the log file.
   *
   * <p>On a pool of {@link Durability#FORCE} the truncation is forced, and the bytes behind the new
   * length in the kept extents are zeros, durably: what was truncated must not reappear behind a
   * later length when the power goes. A reader of the old extents sees these zeros. The log file of
   * a spilled segment must have been truncated, durably, before: if the power goes meanwhile, the
   * slot may be found longer than {@code length} and not spilled.
   *
   * <p>When this throws an {@link IOException}, {@link #committedLength} shows whether the
   * truncation was done. If so, the dropped extents are out of use until the pool is opened again,
   * and so is the slot for {@link #grow} and {@link #commit} until a truncation succeeds.
   *
   * @param length from 0 to the committed length
   */
  public List<Extent> truncate(long length) throws IOException {
    requireInUse();
    if (length < 0 || length > committedLength) {
      throw new IllegalArgumentException(
          this + ": found length " + length + " to keep, expected 0 to " + committedLength);
    }
    ExtentList current = extents;
    ExtentList kept = current.truncatedTo(length);
    try {
      // The length first: a reader in another process that sees the new count of truncations must
      // not see the old length with it.
      words().store(index, COMMITTED_LENGTH_OFFSET, length);
      words().store(index, CLEAN_LENGTH_OFFSET, Math.min(cleanLength, length));
      words().store(index, TRUNCATIONS_OFFSET, nextTruncation() & CheckedWord.MAX_VALUE);
      words().persistLine(index);
      if (kept.inUse() != current.inUse()) {
        words().persist(index, EXTENTS_IN_USE_OFFSET, kept.inUse());
      }
      committedLength = length;
      cleanLength = Math.min(cleanLength, length);
      extents = kept;
      zeroedTo = Math.min(zeroedTo, length);
    } finally {
      // Last: a force that has seen the longer length must not count after this.
      countTruncation(length);
    }
    if (needsForce()) {
      forceTruncation();
    }
    return current.from(kept.count());
  }

  /**
   * Drops the extents that lie wholly below an offset; the log file alone has their bytes then.
   *
   * <p>When this throws an {@link IOException} they may be dropped, and are out of use until the
   * pool is opened again: a power failure may bring them back to this slot, so that no other may
   * have them. Nothing is lost by that: a pool that could not be forced stores nothing before.
   *
   * @param offset at most the clean length
   */
  public List<Extent> evict(long offset) throws IOException {
    requireInUse();
    if (offset > cleanLength) {
      throw new IllegalArgumentException(
          "%s: found offset %s to evict up to, expected at most the clean length %s"
              .formatted(this, offset, cleanLength));
    }
    ExtentList current = extents;
    ExtentList kept = current.withoutBelow(Math.min(offset, SlotLayout.MAX_START));
    if (kept.count() < current.count()) {
      // The extents first: a reader in another process that sees the new count of truncations must
      // not see the old extents with it.
      words().store(index, EXTENTS_IN_USE_OFFSET, kept.inUse());
      words().store(index, TRUNCATIONS_OFFSET, nextTruncation() & CheckedWord.MAX_VALUE);
      words().persistLine(index);
      extents = kept;
      countTruncation(committedLength);
      if (needsForce()) {
        words().force(index);
        words().zeroAllBut(index, kept);
        words().force(index);
      }
    }
    return current.first(current.count() - kept.count());
  }

  /**
   * Begins a spilled segment's extents again, at an offset up to which the log file has all bytes,
   * durably: none is in the pool then, and the next extent takes those from there on. It stays
   * spilled until that flag is cleared.
   *
   * <p>When this throws an {@link IOException}, an opening finds the slot as before or as after it,
   * and the handle is of no use any more.
   *
   * @param offset not less than the committed length
   * @throws IllegalStateException if it has not spilled, or is dirty
   */
  public List<Extent> beginAt(long offset) throws IOException {
    requireInUse();
    requireNoStaleBytes();
    if (!has(SlotFlag.SPILLED) || cleanLength < committedLength) {
      throw new IllegalStateException(
          "%s: found flags %s, clean length %s of %s; expected it to be spilled and clean"
              .formatted(this, flags, cleanLength, committedLength));
    }
    if (offset < committedLength || offset > SlotLayout.MAX_START) {
      throw new IllegalArgumentException(
          "%s: found offset %s for its extents to begin at, expected %s to %s"
              .formatted(this, offset, committedLength, SlotLayout.MAX_START));
    }
    ExtentList dropped = extents;
    ExtentList none = ExtentList.emptyAt(offset);
    // This word decides: from here on an opening finds no bytes in the pool, whatever comes of the
    // others.
    words().persist(index, CLEAN_LENGTH_OFFSET, offset);
    words().force(index);
    words().store(index, EXTENTS_IN_USE_OFFSET, none.inUse());
    words().store(index, TRUNCATIONS_OFFSET, nextTruncation() & CheckedWord.MAX_VALUE);
    words().persistLine(index);
    words().force(index);
    words().persist(index, COMMITTED_LENGTH_OFFSET, offset);
    if (needsForce()) {
      words().zeroAllBut(index, none);
      words().force(index);
    }
    extents = none;
    cleanLength = offset;
    committedLength = offset;
    zeroedTo = offset;
    synchronized (this) {
      forcedLength = offset;
      truncations++;
    }
    return dropped.toList();
  }

  private synchronized long nextTruncation() {
    return truncations + 1;
  }

  private synchronized void countTruncation(long length) {
    forcedLength = Math.min(forcedLength, length);
    truncations++;
  }

  private void forceTruncation() throws IOException {
    if (!stale) {
      stale = true;
      pool.truncationBegins();
    }
    ExtentList kept = extents;
    words().zeroAllBut(index, kept);
    words().force(index);
    long length = committedLength;
    if (length < kept.end()) {
      int last = kept.find(length);
      long within = length - kept.start(last);
      pool.zeroDurably(kept.position(last) + within, kept.length(last) - within);
    }
    stale = false;
    pool.truncationEnds();
  }

  /**
   * Changes how many of the segment's first bytes are durable in the log file too, and forces that
   * where a power failure would undo it else. Either copy of these bytes may be read: where need
   * be, the pool's are forced first.
   *
   * @param length from 0 to the committed length
   */
  public void setCleanLength(long length) throws IOException {
    requireInUse();
    if (length < 0 || length > committedLength) {
      throw new IllegalArgumentException(
          "%s: found clean length %s, expected 0 to %s".formatted(this, length, committedLength));
    }
    if (length > cleanLength) {
      force(cleanLength, length, true);
    }
    if (length != cleanLength) {
      words().persist(index, CLEAN_LENGTH_OFFSET, length);
      words().force(index);
      cleanLength = length;
    }
  }

  /** Sets a flag, and forces it where a power failure would undo it else. */
  public void set(SlotFlag flag) throws IOException {
    requireInUse();
    changeFlags(flags | flag.bit(), true);
  }

  /** Clears a flag, and forces that where a power failure would undo it else. */
  public void clear(SlotFlag flag) throws IOException {
    requireInUse();
    changeFlags(flags & ~flag.bit(), true);
  }

  /**
   * Sets {@link SlotFlag#ORPHANED}; survives a power failure after {@link Pool#forceSlots}, which
   * many share.
   */
  public void orphan() throws IOException {
    requireInUse();
    changeFlags(flags | SlotFlag.ORPHANED.bit(), false);
  }

  private void changeFlags(int newFlags, boolean forced) throws IOException {
    if (newFlags != flags) {
      words().persist(index, FLAGS_OFFSET, newFlags);
      if (forced) {
        words().force(index);
      }
      flags = newFlags;
    }
  }

  /**
   * Declares that the segment's log file is about to be unlinked; forced where that is needed. An
   * opening of the pool finds no bytes of it any more: its extents may go to {@link Pool#release}
   * as after {@link #free}.
   */
  public void markDeleting() throws IOException {
    requireInUse();
    if (state != SlotState.DELETING) {
      words().persist(index, STATE_OFFSET, SlotState.DELETING.code());
      words().force(index);
      state = SlotState.DELETING;
    }
  }

  /**
   * Frees the slot, which may be allocated again at once, and drops {@link #extents}. That the slot
   * is free has been forced where that is needed.
   */
  public void free() throws IOException {
    requireInUse();
    words().persist(index, STATE_OFFSET, SlotState.FREE.code());
    words().force(index);
    state = SlotState.FREE;
    pool.freed(index());
  }

  /**
   * As {@link #free}, of a slot whose bytes are lost to their segment: should a log file with its
   * tag turn up, it is refused.
   */
  public void discard() throws IOException {
    requireInUse();
    long later =
        Math.min(generation() + SlotLayout.GENERATIONS_SKIPPED, SlotLayout.LAST_GENERATION);
    words().persist(index, STATE_OFFSET, SlotState.FREE.code());
    words().persist(index, GENERATION_OFFSET, later);
    words().force(index);
    state = SlotState.FREE;
    pool.discarded(index(), later);
  }

  /**
   * Makes the slot survive a power failure as far as the medium can: its extents, length and flags.
   *
   * <p>May be called by any thread.
   */
  public void force() throws IOException {
    words().force(index);
  }

  /**
   * Makes the segment's bytes from {@code from} to {@code to}, those before them that have never
   * been forced, and then the slot, survive a power failure as far as the medium can. Only the
   * committed bytes of the range are forced.
   *
   * <p>May be called by any thread; it holds no lock while it forces. Bytes that are appended or
   * truncated while it runs may be forced or not; the others are.
   */
  public void force(long from, long to) throws IOException {
    force(from, to, false);
  }

  /** As {@link #force(long, long)}; {@code alone} waits for no bytes of others where it can. */
  private void force(long from, long to, boolean alone) throws IOException {
    if (!needsForce()) {
      return;
    }
    long start;
    long truncationsBefore;
    synchronized (this) {
      start = Math.max(0, Math.min(from, forcedLength));
      truncationsBefore = truncations;
    }
    // The length before the extents: a commit of a length comes after the growth of the extents.
    long end = Math.min(to, committedLength);
    ExtentList current = extents;
    end = Math.min(end, current.end());
    forceWithBytes(current, Math.max(start, current.start()), end, alone);
    forced(end, truncationsBefore);
  }

  private synchronized void forced(long end, long truncationsBefore) {
    if (truncations == truncationsBefore) {
      forcedLength = Math.max(forcedLength, end);
    }
  }

  /**
   * Notes what is committed now, before all of the pool is forced.
   *
   * @return to be called when it has been
   */
  Runnable beforeAllIsForced() {
    long truncationsBefore;
    synchronized (this) {
      truncationsBefore = truncations;
    }
    // The length before the extents, as above.
    long committed = committedLength;
    long end = Math.min(committed, extents.end());
    return () -> forced(end, truncationsBefore);
  }

  /**
   * Returns whether all that is committed would survive a power failure, as far as the medium can.
   */
  public boolean isForced() {
    if (!needsForce()) {
      return true;
    }
    synchronized (this) {
      return forcedLength >= committedLength;
    }
  }

  /** Forces bytes, and then the slot. */
  private void forceWithBytes(ExtentList current, long from, long end, boolean alone)
      throws IOException {
    if (pool.memory().type() == MemoryType.FILE && !alone) {
      // Forcing any range of a file forces all of it, for all threads that wait.
      words().forceWithOthers(index);
      return;
    }
    for (Extent piece : current.between(from, end)) {
      pool.memory().forceAlone(piece.position(), piece.length());
    }
    words().force(index);
  }

  private SlotWords words() {
    return pool.words();
  }

  private boolean needsForce() {
    return pool.memory().durability().needsForce();
  }

  private void requireNoStaleBytes() throws IOException {
    if (stale) {
      throw new IOException(
          """
          %s in %s: found bytes behind its end that a failed truncation left there, expected \
          zeros: look at the device, then restart\
          """
              .formatted(this, pool.memory().path()));
    }
  }

  private void requireInUse() {
    if (state == SlotState.FREE) {
      throw new IllegalStateException(this + " has been freed");
    }
  }

  /** For messages: {@code slot 3 generation 7 (topic-0/00000000000000000000.log)}. */
  @Override
  public String toString() {
    return "slot %s generation %s (%s)"
        .formatted(index(), generation(), Printable.of(relativePath()));
  }
}
