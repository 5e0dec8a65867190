package io.strata.kafka.tier;

import static io.strata.kafka.layout.ChunkHeaderLayout.PAGE;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.strata.kafka.memory.PersistentMemory;
import io.strata.kafka.pool.CacheRegion;
import io.strata.kafka.pool.Pool;
import java.io.IOException;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * One region of a pool that is lent to the chunk cache: which pages are taken, and who is at it.
 *
 * <p>A store happens between {@link #enter} and {@link #exit}: as long as one is under way the
 * region is not given back, so that no byte of it lands in what has become a segment's. A read
 * needs no such hold: it copies first, and then asks whether the region was still there.
 *
 * <p>Why a read never shows another's bytes: {@link #gone} is set before the region is given back,
 * and so before anybody else stores there. Whoever has copied one of those bytes finds it set.
 *
 * <p>Thread safety: all methods may be called by any number of threads.
 */
final class LentRegion {

  private static final int GIVEN_BACK = -1;

  private final CacheRegion region;
  private final int pageCount;

  /** How many stores are under way, or {@link #GIVEN_BACK}. */
  private final AtomicInteger stores = new AtomicInteger();

  private volatile boolean gone;

  /** When it was last read or stored into, by the clock for intervals. */
  private volatile long usedAtNanos;

  @GuardedBy("this")
  private BitSet taken = new BitSet();

  /** Changed with {@link #taken}, read by anyone: most regions are full most of the time. */
  private volatile int freePages;

  LentRegion(CacheRegion region, long nowNanos) {
    this.region = region;
    this.pageCount = Math.toIntExact(region.length() / PAGE);
    this.usedAtNanos = nowNanos;
    this.freePages = pageCount;
  }

  Pool pool() {
    return region.pool();
  }

  long length() {
    return region.length();
  }

  long generation() {
    return region.generation();
  }

  int pageCount() {
    return pageCount;
  }

  /** Where a page lies in the pool. */
  long position(int page) {
    return region.position() + (long) page * PAGE;
  }

  long usedAtNanos() {
    return usedAtNanos;
  }

  void used(long nowNanos) {
    usedAtNanos = nowNanos;
  }

  /** Whether it is being given back, or has been. */
  boolean gone() {
    return gone;
  }

  /** Forgets which pages are taken. */
  synchronized void clear() {
    taken = new BitSet();
    freePages = pageCount;
  }

  /** How many pages are taken. */
  int takenPages() {
    return pageCount - freePages;
  }

  /** Takes pages that follow each other. */
  OptionalInt take(int pages) {
    return pages > freePages ? OptionalInt.empty() : takeFirst(pages);
  }

  private synchronized OptionalInt takeFirst(int pages) {
    int from = 0;
    while (true) {
      int first = taken.nextClearBit(from);
      if (first + pages > pageCount) {
        return OptionalInt.empty();
      }
      int next = taken.nextSetBit(first);
      if (next < 0 || next - first >= pages) {
        taken.set(first, first + pages);
        freePages -= pages;
        return OptionalInt.of(first);
      }
      from = next;
    }
  }

  /** Takes exactly these pages, if they are there and nobody has one of them. */
  synchronized boolean take(int first, int pages) {
    int next = taken.nextSetBit(first);
    if (first + pages > pageCount || (next >= 0 && next < first + pages)) {
      return false;
    }
    taken.set(first, first + pages);
    freePages -= pages;
    return true;
  }

  /** Gives up pages; what lies there must not be stored into any more. */
  synchronized void release(int first, int pages) {
    taken.clear(first, first + pages);
    freePages += pages;
  }

  /** Whether the region may be stored into; if so {@link #exit} must follow. */
  boolean enter() {
    int now = stores.get();
    while (now >= 0 && !gone) {
      if (stores.compareAndSet(now, now + 1)) {
        // If it is to go since, it is given back in exit: until then it is the cache's.
        return true;
      }
      now = stores.get();
    }
    return false;
  }

  /**
   * A store is over.
   *
   * @throws IOException if the region was to be given back, which fell to this thread and failed
   */
  void exit() throws IOException {
    if (stores.decrementAndGet() == 0 && gone) {
      boolean unused = giveBackIfIdle();
    }
  }

  /**
   * Gives the region back to its pool: at once, or when the store under way is over.
   *
   * @return whether its room can be had now
   * @throws IOException if the pool fails
   */
  boolean giveBack() throws IOException {
    gone = true;
    return giveBackIfIdle();
  }

  private boolean giveBackIfIdle() throws IOException {
    if (!stores.compareAndSet(0, GIVEN_BACK)) {
      return false;
    }
    region.giveBack();
    return true;
  }

  /** Waits for the stores that are under way: each copies a chunk, no more. */
  void awaitStores() {
    while (stores.get() > 0) {
      Thread.onSpinWait();
    }
  }

  /** Stores bytes; between enter and exit. */
  void store(long position, ByteBuffer bytes) throws IOException {
    memory().store(position, bytes);
  }

  /**
   * Reads bytes, without a hold on the region: whose they were is told by what is asked after this.
   *
   * @return false if they cannot be read: the target's position is unchanged then
   */
  boolean load(long position, ByteBuffer target) {
    int start = target.position();
    try {
      memory().load(position, target);
    } catch (IOException unreadable) {
      // A fault of the medium, or the pool has been closed: the store has the chunk, too.
      target.position(start);
      return false;
    }
    VarHandle.loadLoadFence();
    return true;
  }

  private PersistentMemory memory() {
    return region.pool().memory();
  }

  @Override
  public String toString() {
    return region + " of pool " + region.pool().info().path();
  }
}
