package io.strata.kafka.migration.remote.read;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Space outside the heap. It is taken from the system in slabs, as it is first needed, so that a
 * cache that nobody reads through costs nothing. A chunk lies in units of a slab that need not
 * follow each other: chunks of every size fit, and no space is lost between them.
 *
 * <p>The units of a frame that was released are used again only when the last read of it has ended.
 *
 * <p>Thread safety: all methods, those of frames included, may be called by any number of threads.
 */
public final class MemoryArena implements ChunkArena {

  /** The smallest chunk that there is. */
  static final int UNIT_BYTES = 64 << 10;

  private static final int SLAB_UNITS = 64;

  /** A frame's holders: its owner, and each read under way. */
  private static final int OWNER = 1;

  private final int units;

  /** Replaced by none on close: the JDK frees a slab when nobody refers to it any more. */
  private volatile ByteBuffer[] slabs;

  @GuardedBy("this")
  private int slabsTaken;

  /** The free units of the slabs that were taken, the first {@link #freeCount} of them. */
  @GuardedBy("this")
  private int[] free = new int[0];

  @GuardedBy("this")
  private int freeCount;

  /** Set when the system had no more memory for us: what was taken until then is the bound. */
  @GuardedBy("this")
  private boolean exhausted;

  /**
   * With a bound.
   *
   * @param capacityBytes the bound; what is over the last whole unit of 64 KiB is left out
   */
  public MemoryArena(long capacityBytes) {
    if (capacityBytes < 0 || capacityBytes / UNIT_BYTES > Integer.MAX_VALUE - SLAB_UNITS) {
      throw new IllegalArgumentException(
          "memory for chunks: found "
              + capacityBytes
              + " bytes, expected from 0 to "
              + (long) (Integer.MAX_VALUE - SLAB_UNITS) * UNIT_BYTES);
    }
    units = (int) (capacityBytes / UNIT_BYTES);
    slabs = new ByteBuffer[(units + SLAB_UNITS - 1) / SLAB_UNITS];
  }

  @Override
  public long capacityBytes() {
    return (long) units * UNIT_BYTES;
  }

  @Override
  public synchronized long usedBytes() {
    return (long) (takenUnits() - freeCount) * UNIT_BYTES;
  }

  /** What was taken from the system so far. */
  synchronized long takenBytes() {
    return (long) takenUnits() * UNIT_BYTES;
  }

  @GuardedBy("this")
  private int takenUnits() {
    return Math.min(units, slabsTaken * SLAB_UNITS);
  }

  @Override
  public Optional<Frame> store(ChunkKey key, ByteBuffer bytes) {
    requireNonNull(key);
    int length = bytes.remaining();
    ByteBuffer[] in = slabs;
    Optional<int[]> room = take((length + UNIT_BYTES - 1) / UNIT_BYTES);
    if (room.isEmpty()) {
      return Optional.empty();
    }
    int[] mine = room.get();
    for (int i = 0, from = bytes.position(); i < mine.length; i++, from += UNIT_BYTES) {
      int piece = Math.min(UNIT_BYTES, bytes.limit() - from);
      slab(in, mine[i]).put(inSlab(mine[i]), bytes, from, piece);
    }
    return Optional.of(new MemoryFrame(key, mine, length));
  }

  private static ByteBuffer slab(ByteBuffer[] slabs, int unit) {
    return slabs[unit / SLAB_UNITS];
  }

  private static int inSlab(int unit) {
    return unit % SLAB_UNITS * UNIT_BYTES;
  }

  private synchronized Optional<int[]> take(int count) {
    while (freeCount < count && takeSlab()) {
      // Another slab is there now.
    }
    if (freeCount < count || closed()) {
      return Optional.empty();
    }
    int[] mine = new int[count];
    freeCount -= count;
    System.arraycopy(free, freeCount, mine, 0, count);
    return Optional.of(mine);
  }

  @GuardedBy("this")
  private boolean takeSlab() {
    int first = takenUnits();
    int count = Math.min(SLAB_UNITS, units - first);
    if (count <= 0 || exhausted || closed()) {
      return false;
    }
    try {
      slabs[slabsTaken] = ByteBuffer.allocateDirect(count * UNIT_BYTES);
    } catch (OutOfMemoryError e) {
      // The broker needs such memory, too (its limit is one for all): a smaller cache is enough.
      exhausted = true;
      return false;
    }
    slabsTaken++;
    int[] more = new int[first + count];
    System.arraycopy(free, 0, more, 0, freeCount);
    free = more;
    for (int unit = first + count - 1; unit >= first; unit--) {
      free[freeCount++] = unit;
    }
    return true;
  }

  private boolean closed() {
    return slabs.length == 0;
  }

  private synchronized void giveBack(int[] given) {
    if (!closed()) {
      System.arraycopy(given, 0, free, freeCount, given.length);
      freeCount += given.length;
    }
  }

  @Override
  public synchronized void close() {
    slabs = new ByteBuffer[0];
    slabsTaken = 0;
    free = new int[0];
    freeCount = 0;
  }

  /** One chunk in units of this arena. */
  private final class MemoryFrame implements Frame {
    private final ChunkKey key;
    private final int[] mine;
    private final int length;
    private final AtomicBoolean released = new AtomicBoolean();

    /** Its owner until it is released, and each read. At zero the units are free. */
    private final AtomicInteger holders = new AtomicInteger(OWNER);

    MemoryFrame(ChunkKey key, int[] mine, int length) {
      this.key = key;
      this.mine = mine;
      this.length = length;
    }

    @Override
    public ChunkKey key() {
      return key;
    }

    @Override
    public int bytes() {
      return length;
    }

    @Override
    public boolean read(int offset, ByteBuffer target) {
      int wanted = target.remaining();
      if (offset < 0 || wanted > length - offset) {
        throw new IndexOutOfBoundsException(
            "chunk of "
                + length
                + " bytes: found a read of "
                + wanted
                + " bytes from "
                + offset
                + ", expected one within it");
      }
      if (!hold()) {
        return false;
      }
      try {
        ByteBuffer[] from = slabs;
        if (from.length == 0) {
          return false;
        }
        copy(from, offset, target, wanted);
        return true;
      } finally {
        letGo();
      }
    }

    private void copy(ByteBuffer[] from, int offset, ByteBuffer target, int wanted) {
      int to = target.position();
      for (int done = 0; done < wanted; ) {
        int at = offset + done;
        int unit = mine[at / UNIT_BYTES];
        int inUnit = at % UNIT_BYTES;
        int piece = Math.min(wanted - done, UNIT_BYTES - inUnit);
        target.put(to + done, slab(from, unit), inSlab(unit) + inUnit, piece);
        done += piece;
      }
      target.position(to + wanted);
    }

    private boolean hold() {
      int now = holders.get();
      while (now > 0 && !released.get()) {
        if (holders.compareAndSet(now, now + 1)) {
          return true;
        }
        now = holders.get();
      }
      return false;
    }

    private void letGo() {
      if (holders.decrementAndGet() == 0) {
        giveBack(mine);
      }
    }

    @Override
    public boolean gone() {
      return released.get() || closed();
    }

    @Override
    public void release() {
      if (released.compareAndSet(false, true)) {
        letGo();
      }
    }
  }
}
