package io.strata.kafka.pool.space;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.strata.kafka.layout.SuperblockLayout;
import io.strata.kafka.memory.PersistentMemory;
import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;

/**
 * Has the pages of a mapped pool present before segments store into them, so that no append meets a
 * page fault: first those of the blocks that the allocator gives out next, then what is left of the
 * segments' own extents. A thread does it in the background.
 *
 * <p>No byte changes. A page becomes dirty, though, so that a pool that needs a force has none of
 * this: the kernel would write its free pages to the medium.
 *
 * <p>Thread safety: {@link #taken} and {@link #close} may be called by any number of threads.
 */
public final class PagesAhead implements Closeable {
  /** The free bytes of each block length whose pages are kept present. */
  static final long DISTANCE = 256L << 20;

  /** The length of a huge page: so much is made present by one call. */
  static final int STEP = 2 << 20;

  /** So many bytes are taken before the thread looks again. */
  private static final long TAKEN = DISTANCE / 4;

  private final PersistentMemory memory;
  private final BuddyAllocator allocator;
  private final long end;

  /** The pages that are present, in {@link #STEP}s from the pool's start; the thread's alone. */
  private final BitSet present = new BitSet();

  /** Has the thread look again, or end. */
  private final Semaphore wake = new Semaphore(0);

  @GuardedBy("this")
  private long taken;

  @GuardedBy("this")
  private boolean over;

  /**
   * For an open pool.
   *
   * @param end of the data, a position
   */
  public PagesAhead(PersistentMemory memory, BuddyAllocator allocator, long end) {
    this.memory = memory;
    this.allocator = allocator;
    this.end = end;
    synchronized (this) {
      this.over = !memory.writable() || memory.durability().needsForce();
    }
  }

  /**
   * Starts the thread, where there is something to do.
   *
   * @param begun the ends of extents that hold no committed bytes yet: segments store into these
   *     before they take a block
   */
  public synchronized void start(ThreadFactory threads, List<Extent> begun) {
    if (!over) {
      threads.newThread(() -> run(begun)).start();
    }
  }

  /** Called when a segment has taken free bytes. */
  public synchronized void taken(long bytes) {
    boolean enough = taken < TAKEN;
    taken += bytes;
    if (enough && taken >= TAKEN) {
      wake.release();
    }
  }

  /** Ends the thread soon. */
  @Override
  public synchronized void close() {
    over = true;
    wake.release();
  }

  private void run(List<Extent> begun) {
    try {
      boolean all = ahead() && populateAll(begun);
      while (all && awaitTaken()) {
        all = ahead();
      }
    } catch (ClosedChannelException e) {
      return; // the pool is closed
    } catch (IOException e) {
      // A page that cannot be present is met by the append that needs it, which says so.
      return;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      close();
    }
  }

  /** False when the pool is closed. */
  private boolean awaitTaken() throws InterruptedException {
    wake.acquire();
    synchronized (this) {
      taken = 0;
      return !over;
    }
  }

  private synchronized boolean isOver() {
    return over;
  }

  /**
   * Makes the pages present of the blocks that are next for each length.
   *
   * @return false if the system cannot, or the pool is closed
   */
  boolean ahead() throws IOException {
    for (int order = 0; order <= SuperblockLayout.LARGEST_ORDER; order++) {
      List<Extent> next = new ArrayList<>();
      long length = 0;
      Optional<Extent> block = allocator.firstFree(order, 0);
      while (block.isPresent() && length < DISTANCE) {
        next.add(block.get());
        length += block.get().length();
        block = allocator.firstFree(order, block.get().position() + block.get().length());
      }
      if (!populateAll(next)) {
        return false;
      }
    }
    return true;
  }

  private boolean populateAll(List<Extent> extents) throws IOException {
    for (Extent extent : extents) {
      long last = (extent.position() + extent.length() - 1) / STEP;
      for (long step = extent.position() / STEP; step <= last; step++) {
        if (!present.get((int) step)) {
          if (isOver()) {
            return false;
          }
          long from = step * STEP;
          if (!memory.populate(from, Math.min(STEP, end - from))) {
            return false;
          }
          present.set((int) step);
        }
      }
    }
    return true;
  }
}
