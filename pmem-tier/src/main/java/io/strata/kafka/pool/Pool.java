package io.strata.kafka.pool;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.strata.kafka.layout.SlotLayout;
import io.strata.kafka.layout.SuperblockLayout;
import io.strata.kafka.memory.Durability;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.memory.PersistentMemory;
import io.strata.kafka.memory.ProgressListener;
import io.strata.kafka.pool.space.BlockSet;
import io.strata.kafka.pool.space.BuddyAllocator;
import io.strata.kafka.pool.space.Extent;
import io.strata.kafka.pool.space.ExtentBytes;
import io.strata.kafka.pool.space.PagesAhead;
import io.strata.kafka.pool.words.PoolException;
import io.strata.kafka.pool.words.PoolMoments;
import io.strata.kafka.pool.words.PoolOwner;
import io.strata.kafka.pool.words.PoolSpec;
import io.strata.kafka.pool.words.Session;
import io.strata.kafka.pool.words.SlotSnapshot;
import io.strata.kafka.pool.words.SlotState;
import io.strata.kafka.pool.words.SlotWords;
import io.strata.kafka.pool.words.Superblock;
import java.io.Closeable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.IntSummaryStatistics;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.BooleanSupplier;

/**
 * A pool that this process writes to.
 *
 * <p>Thread safety: all methods may be called by any number of threads; a {@link Slot} has rules of
 * its own. After {@link #close} everything that touches the memory throws {@link
 * java.nio.channels.ClosedChannelException}.
 */
public final class Pool implements AutoCloseable {
  /** The last extents of all segments are at most this part of the pool, if 64 KiB each are. */
  private static final int SHARES = 8;

  private final PersistentMemory memory;
  private final ExtentBytes bytes;
  private final Superblock superblock;
  private final SlotWords words;

  private final BuddyAllocator allocator;
  private final PagesAhead pages;
  private Optional<ThreadFactory> pageThreads = Optional.empty();
  private final OpenReport report;
  private final Closeable lock;

  /** The slots by index; null where one is free. */
  private final AtomicReferenceArray<Slot> slots;

  private final AtomicLongArray generations;
  private final Object freeSlotsLock = new Object();

  @GuardedBy("freeSlotsLock")
  private final BlockSet freeSlots;

  /** Where the search for a free slot begins. */
  @GuardedBy("freeSlotsLock")
  private int nextSlot;

  /** Counts truncations that have begun, not ended, and leave bytes where there must be zeros. */
  private final AtomicInteger unfinishedTruncations = new AtomicInteger();

  /** Extents of no slot that could not be released. */
  private final Queue<Extent> unreleased = new ConcurrentLinkedQueue<>();

  Pool(
      PersistentMemory memory,
      Superblock superblock,
      PoolScan scan,
      OpenReport report,
      Closeable lock) {
    this.memory = memory;
    this.bytes = new ExtentBytes(memory);
    this.superblock = superblock;
    this.words = new SlotWords(memory, superblock.salt());
    this.allocator = scan.allocator();
    this.pages =
        new PagesAhead(memory, allocator, superblock.dataPosition() + superblock.dataSize());
    this.report = report;
    this.lock = lock;
    this.slots = new AtomicReferenceArray<>(superblock.slotCount());
    this.generations = scan.generations();
    this.freeSlots = new BlockSet(superblock.slotCount());
    for (SlotSnapshot image : scan.used()) {
      slots.set(image.index(), new Slot(this, image));
    }
    synchronized (freeSlotsLock) {
      for (int i = 0; i < superblock.slotCount(); i++) {
        if (slots.get(i) == null) {
          freeUnlessUsedUp(i);
        }
        if (generations.get(i) < generations.get(nextSlot)) {
          nextSlot = i;
        }
      }
    }
  }

  /**
   * Creates a pool: allocates its file's blocks, with permissions for its owner only, and formats
   * it. The file appears under its name when it is whole.
   *
   * @param progress hears of the zeros that are written where pages are durable as such
   * @throws PoolException with kind EXISTS, INVALID_SPEC, TYPE_UNAVAILABLE, NO_SPACE or LOCKED
   */
  public static void create(PoolSpec spec, ProgressListener progress) throws IOException {
    PoolFile.create(spec, progress);
  }

  /**
   * Opens a pool for writing: takes its lock, verifies it, repairs a copy of the superblock if the
   * other one is good, and rebuilds the free map.
   *
   * @param expected who opens it; a pool without an owner is bound to it
   * @throws PoolException if the pool cannot be used; it has then not been changed, but for the
   *     superblock's repair
   */
  public static Pool open(Path file, MemoryType type, PoolOwner expected) throws IOException {
    return PoolFile.open(file, type, expected);
  }

  /**
   * As {@link #open(Path, MemoryType, PoolOwner)}, and the file stays as it is: what is stored is
   * seen through this pool only. Takes no lock.
   */
  public static Pool openOnTrial(Path file, MemoryType type, PoolOwner expected)
      throws IOException {
    return PoolFile.openOnTrial(file, type, expected);
  }

  /** Returns a pool as {@link #create} would make it; there is no file of it. */
  public static Pool createOnTrial(PoolSpec spec) throws IOException {
    return PoolFile.createOnTrial(spec);
  }

  /**
   * Throws if {@link #create} would, as far as that can be seen before.
   *
   * @throws PoolException with kind INVALID_SPEC, TYPE_UNAVAILABLE, NO_PERMISSION or NO_SPACE
   */
  public static void requireCreatable(PoolSpec spec) throws IOException {
    PoolFile.requireCreatable(spec);
  }

  /**
   * Throws if this user may not look for the pool. Looks at names and permissions alone; the pool
   * need not exist.
   *
   * @throws PoolException with kind NO_PERMISSION
   */
  public static void requireSearchable(Path file) throws PoolException {
    PoolAccess.requireSearchable(file);
  }

  /**
   * Finds the process that has a pool open for writing.
   *
   * @param proc the directory that the kernel shows the processes in
   * @return empty if there is none, or none that this user may look into
   */
  public static Optional<ProcessHandle> writer(Path file, Path proc) {
    return LockHolder.of(file, proc);
  }

  /**
   * Removes a pool's file if nothing needs it.
   *
   * @param unused asked while nothing else can open the pool for writing
   * @return whether it was removed
   * @throws PoolException with kind LOCKED if it is open for writing
   */
  public static boolean deleteIf(Path file, BooleanSupplier unused) throws IOException {
    return PoolFile.deleteIf(file, unused);
  }

  /**
   * Opens a pool for reading, while another process may be writing to it: no lock, no repair.
   *
   * @throws PoolException if it is no pool, or cannot be read
   */
  public static PoolReader openReadOnly(Path file) throws IOException {
    return PoolFile.openReadOnly(file);
  }

  /**
   * Makes a pool larger; no process may have it open for writing. The number of slots stays.
   *
   * @param newSize of the file in bytes
   * @param progress hears when it is done
   * @throws PoolException with kind INVALID_SPEC if it is not larger than the pool is, and as
   *     {@link #open} does
   */
  public static void grow(Path file, long newSize, ProgressListener progress) throws IOException {
    PoolFile.grow(file, newSize, progress);
  }

  /**
   * Makes a damaged pool usable, at its operator's request: damaged slots are freed, and with them
   * the bytes of their segments that are not in the log file are discarded. No process may have it
   * open for writing.
   *
   * @throws PoolException if neither copy of the superblock is good, and as {@link #open} does
   */
  public static RepairReport repair(Path file) throws IOException {
    return PoolFile.repair(file);
  }

  /**
   * Formats a memory as a pool; what it held is lost. For tests and tools that bring their own
   * memory; it takes no lock.
   *
   * @param spec of which path and type are not used
   */
  public static void format(PersistentMemory memory, PoolSpec spec) throws IOException {
    PoolFormatter.format(memory, spec, Session.CLOSED, UUID.randomUUID());
  }

  /** As {@link #open(Path, MemoryType, PoolOwner)}, on a memory, which the pool will close. */
  public static Pool open(PersistentMemory memory, PoolOwner expected) throws IOException {
    return PoolOpener.open(memory, expected, Session.currentBootId(), () -> {});
  }

  /** Returns the identity of the pool. */
  public PoolInfo info() {
    return infoOf(memory, superblock);
  }

  static PoolInfo infoOf(PersistentMemory memory, Superblock superblock) {
    return new PoolInfo(
        memory.path(),
        superblock.poolId(),
        memory.type(),
        memory.durability(),
        superblock.owner(),
        superblock.poolSize(),
        superblock.dataPosition(),
        superblock.dataSize(),
        superblock.slotCount(),
        superblock.createdAtMillis(),
        SuperblockLayout.VERSION);
  }

  /**
   * The order of the longest extent that a segment gets at first: a share of the pool, so that the
   * last extents of many segments, which are half empty, leave most of it to others.
   */
  int largestOrder() {
    int used = Math.max(1, superblock.slotCount() - freeSlotCount());
    long share = superblock.dataSize() / SHARES / used;
    long blocks = Math.max(1, share / SuperblockLayout.SMALLEST_EXTENT);
    return Math.min(63 - Long.numberOfLeadingZeros(blocks), SuperblockLayout.LARGEST_ORDER);
  }

  /** Returns how full it is; cheap. */
  public PoolUsage usage() {
    long free = allocator.freeBytes();
    int freeCount = freeSlotCount();
    return new PoolUsage(
        superblock.dataSize() - free, free, superblock.slotCount() - freeCount, freeCount);
  }

  private int freeSlotCount() {
    synchronized (freeSlotsLock) {
      return freeSlots.size();
    }
  }

  /** Length of the largest extent that can be allocated now, in bytes; cheap. */
  public long largestFreeExtent() {
    return allocator.largestFree();
  }

  /** The bytes. */
  public PersistentMemory memory() {
    return memory;
  }

  /** The bytes of the segments. */
  public ExtentBytes bytes() {
    return bytes;
  }

  /** The stores into the slots. */
  SlotWords words() {
    return words;
  }

  /** Returns the findings of opening it. */
  public OpenReport report() {
    return report;
  }

  /**
   * Takes a free slot for a new segment of length 0, without extents. The slot is durably LIVE when
   * this returns.
   *
   * @param relativePath of the segment's log file, relative to its log directory: 1 to 320 bytes in
   *     UTF-8
   * @throws IllegalArgumentException if the path is empty or too long
   */
  public Optional<Slot> allocateSlot(UUID directoryId, String relativePath) throws IOException {
    int length = relativePath.getBytes(StandardCharsets.UTF_8).length;
    if (length < 1 || length > SlotLayout.PATH_LENGTH) {
      throw new IllegalArgumentException(
          "path %s: found %s bytes in UTF-8, expected 1 to %s"
              .formatted(relativePath, length, SlotLayout.PATH_LENGTH));
    }
    OptionalInt taken = takeFreeSlot();
    if (taken.isEmpty()) {
      return Optional.empty();
    }
    int index = taken.getAsInt();
    // When allocating fails, the slot stays out of use until the pool is opened again: what the
    // medium holds of it is not known.
    long generation = generations.incrementAndGet(index);
    Slot slot =
        Slot.allocate(
            this, index, generation, directoryId, relativePath, System.currentTimeMillis());
    slots.set(index, slot);
    return Optional.of(slot);
  }

  /**
   * All take turns: a free slot keeps its words for long, and by them a start can tell a log file
   * that an eviction has left from an older copy of one.
   */
  private OptionalInt takeFreeSlot() {
    synchronized (freeSlotsLock) {
      OptionalInt following = freeSlots.firstFrom(nextSlot);
      OptionalInt taken = following.isPresent() ? following : freeSlots.first();
      if (taken.isPresent()) {
        freeSlots.remove(taken.getAsInt());
        nextSlot = taken.getAsInt() + 1;
      }
      return taken;
    }
  }

  /**
   * Returns the slot {@code index} if it holds a segment of exactly that generation.
   *
   * @param index any number, as it was found in a tag
   */
  public Optional<Slot> slot(int index, long generation) {
    if (index < 0 || index >= slots.length()) {
      return Optional.empty();
    }
    return Optional.ofNullable(slots.get(index)).filter(slot -> slot.generation() == generation);
  }

  /**
   * Returns what slot {@code index} has kept of the segment of that generation; empty if it holds
   * it still, or has gone on to another.
   */
  public Optional<FreedSlot> freed(int index, long generation) throws IOException {
    boolean kept = slots.get(index) == null && generations.get(index) == generation;
    return kept ? FreedSlot.read(memory, salt(), index) : Optional.empty();
  }

  /** All slots that hold a segment at this moment, LIVE or DELETING, by index. */
  public List<Slot> slots() {
    List<Slot> found = new ArrayList<>();
    for (int i = 0; i < slots.length(); i++) {
      Optional.ofNullable(slots.get(i)).ifPresent(found::add);
    }
    return found;
  }

  /**
   * The generation of the segment that slot {@code index} holds, or held last; 0 if it never held
   * one.
   */
  public long generation(int index) {
    return generations.get(index);
  }

  /**
   * Returns extents that a slot has dropped to the free map. The caller makes sure that no reader
   * is left in them, and gives each extent once, after the method that dropped it has returned.
   *
   * <p>On a pool of {@link Durability#FORCE} they are zeros first, durably: what is allocated must
   * never show another segment's bytes, whatever a power failure leaves of what was stored since.
   *
   * @throws IOException if they could not be made zeros; none has then been released, and they are
   *     out of use until {@link #releaseAgain} succeeds or the pool is opened again
   */
  public void release(Collection<Extent> extents) throws IOException {
    try {
      if (memory.durability().needsForce()) {
        for (Extent extent : extents) {
          memory.zeroRange(extent.position(), extent.length());
        }
        forceAlone(extents);
      }
    } catch (IOException | RuntimeException | Error e) {
      unreleased.addAll(extents);
      throw e;
    }
    for (Extent extent : extents) {
      allocator.free(extent.position(), BuddyAllocator.orderOf(extent.length()));
    }
  }

  /** Forces extents; several of a file by one force of all between them, as {@code force} would. */
  private void forceAlone(Collection<Extent> extents) throws IOException {
    if (memory.type() == MemoryType.FILE && extents.size() > 1) {
      long from = extents.stream().mapToLong(Extent::position).min().orElseThrow();
      long to = extents.stream().mapToLong(e -> e.position() + e.length()).max().orElseThrow();
      memory.forceAlone(from, to - from);
    } else {
      for (Extent extent : extents) {
        memory.forceAlone(extent.position(), extent.length());
      }
    }
  }

  /**
   * Releases what {@link #release} could not: on a full file system, say, in which space is free
   * again.
   *
   * @throws IOException if an extent cannot be made zeros; it and the rest stay out of use
   */
  public void releaseAgain() throws IOException {
    for (Extent each = unreleased.poll(); each != null; each = unreleased.poll()) {
      release(List.of(each));
    }
  }

  /**
   * Makes all that is committed of these segments, and their slots, survive a power failure as far
   * as the medium can: by one force where forcing any range forces all.
   */
  public void force(Collection<Slot> due) throws IOException {
    if (memory.type() == MemoryType.FILE) {
      List<Runnable> forced = due.stream().map(Slot::beforeAllIsForced).toList();
      memory.force(0, memory.size());
      forced.forEach(Runnable::run);
    } else {
      for (Slot slot : due) {
        // From where it was forced last.
        slot.force(Long.MAX_VALUE, Long.MAX_VALUE);
      }
    }
  }

  /**
   * Makes what has been persisted of these slots survive a power failure, by one force of all from
   * the first to the last of them.
   */
  public void forceSlots(Collection<Slot> due) throws IOException {
    IntSummaryStatistics indexes = due.stream().mapToInt(Slot::index).summaryStatistics();
    if (memory.durability().needsForce() && indexes.getCount() > 0) {
      long from = SlotLayout.slotPosition(indexes.getMin());
      long to = SlotLayout.slotPosition(indexes.getMax()) + SlotLayout.SLOT_LENGTH;
      memory.forceAlone(from, to - from);
    }
  }

  /** Makes a range zeros that survive a power failure. */
  void zeroDurably(long position, long length) throws IOException {
    memory.zeroRange(position, length);
    memory.forceAlone(position, length);
  }

  /** Called before a truncation leaves bytes where there must be zeros. */
  void truncationBegins() {
    int unused = unfinishedTruncations.incrementAndGet();
  }

  /** Called when there are zeros. */
  void truncationEnds() {
    int unused = unfinishedTruncations.decrementAndGet();
  }

  /** Returns the moments at which it was last used with each log directory. */
  public PoolMoments moments() {
    return new PoolMoments(memory, superblock.salt());
  }

  /** Persists and forces what needs it, closes the memory, and drops the lock. */
  @Override
  public void close() throws IOException {
    pages.close();
    try (lock;
        memory) {
      endSession();
    }
  }

  /** Makes everything durable, and says so in the session line. */
  private void endSession() throws IOException {
    if (memory.durability().needsForce()) {
      boolean cleared = isCleared();
      memory.force(0, superblock.poolSize());
      (cleared ? Session.CLEARED : Session.CLOSED).write(memory, superblock.salt());
    }
  }

  /** Returns whether all data but the segments' committed bytes is zeros, where that is seen to. */
  private boolean isCleared() {
    long inUse = 0;
    for (Slot slot : slots()) {
      // The next opening takes the extents of a deleted segment for free.
      inUse += slot.state() == SlotState.LIVE ? slot.extents().length() : 0;
    }
    // An extent that is neither free nor a segment's was dropped and has not been made zeros.
    long all = superblock.blocks() * SuperblockLayout.SMALLEST_EXTENT;
    return unfinishedTruncations.get() == 0 && inUse + allocator.freeBytes() == all;
  }

  BuddyAllocator allocator() {
    return allocator;
  }

  /** Sets the threads that make pages present; called before another thread knows the pool. */
  void pageThreads(ThreadFactory threads) {
    pageThreads = Optional.of(threads);
  }

  /**
   * Keeps the pages of free blocks present, as {@link PagesAhead} says, until the pool is closed.
   * Not before it is certain that it is used: the kernel notes a change of the file.
   */
  public void keepPagesPresent() {
    pageThreads.ifPresent(
        threads ->
            pages.start(
                threads,
                slots().stream()
                    .flatMap(slot -> slot.extents().behind(slot.committedLength()).stream())
                    .toList()));
  }

  /** As {@link BuddyAllocator#allocateAtMost}. */
  Optional<Extent> allocateAtMost(int order) {
    Optional<Extent> taken = allocator.allocateAtMost(order);
    taken.ifPresent(extent -> pages.taken(extent.length()));
    return taken;
  }

  int salt() {
    return superblock.salt();
  }

  /** The number of the block at a position: in units of 64 KiB from the data's start. */
  long blockAt(long position) {
    return (position - superblock.dataPosition()) / SuperblockLayout.SMALLEST_EXTENT;
  }

  /** Called when a slot has been freed. */
  void freed(int index) {
    slots.set(index, null);
    synchronized (freeSlotsLock) {
      freeUnlessUsedUp(index);
    }
  }

  /** Called when what a slot had has been discarded. */
  void discarded(int index, long generation) {
    generations.set(index, generation);
    freed(index);
  }

  /** A generation is never used twice: a slot that has had its last one stays out of use. */
  @GuardedBy("freeSlotsLock")
  private void freeUnlessUsedUp(int index) {
    if (generations.get(index) < SlotLayout.LAST_GENERATION) {
      freeSlots.add(index);
    }
  }
}
