package io.strata.kafka.tier;

import static io.strata.kafka.layout.ChunkHeaderLayout.LENGTH;
import static io.strata.kafka.layout.ChunkHeaderLayout.MAGIC_OFFSET;
import static io.strata.kafka.layout.ChunkHeaderLayout.PAGE;
import static java.util.Objects.requireNonNull;

import io.strata.kafka.layout.SuperblockLayout;
import io.strata.kafka.migration.remote.read.ChunkArena;
import io.strata.kafka.migration.remote.read.ChunkKey;
import io.strata.kafka.pool.Pool;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Cached chunks in what the pools have to spare. Each lies in pages of a region that follow each
 * other, behind a header by which the next process finds it. Nothing is persisted or forced: a
 * chunk that a crash has damaged is found out by its checksum, which is its reader's business.
 *
 * <p>Thread safety: all methods, those of frames included, may be called by any number of threads.
 */
final class PoolChunkArena implements ChunkArena {

  /** What a region is long where nothing speaks against it. */
  private static final long REGION_LENGTH = 16 << 20;

  /** How many of the largest chunks a region is to hold, where it can. */
  private static final int CHUNKS_PER_REGION = 4;

  /** A region is at most this part of a pool. */
  private static final int POOL_SHARE = 8;

  /** After so much that is no chunk, the rest of a region is taken to be empty. */
  private static final int PAGES_WITHOUT_CHUNK = (4 << 20) / PAGE;

  private final SpareRoom room;
  private final long capacity;
  private final long regionLength;
  private final AtomicLong sequence = new AtomicLong();
  private final AtomicBoolean closed = new AtomicBoolean();
  private List<Frame> survivors;

  private PoolChunkArena(SpareRoom room, long capacity, long regionLength) {
    this.room = room;
    this.capacity = capacity;
    this.regionLength = regionLength;
    this.survivors = findSurvivors();
  }

  /**
   * An arena with what earlier processes have left.
   *
   * @param bytes the bound
   * @param frameBytes the largest chunk
   * @return empty if the bound is too narrow, the pools are too small, or the room is in use
   */
  static Optional<PoolChunkArena> open(SpareRoom room, long bytes, int frameBytes) {
    long smallest = powerOfTwo((long) ChunkHeader.pages(frameBytes) * PAGE);
    long smallestPool =
        room.pools().stream().mapToLong(pool -> pool.info().dataSize()).min().orElse(0);
    long largest =
        Math.min(SuperblockLayout.LARGEST_EXTENT, Math.min(bytes, smallestPool / POOL_SHARE));
    if (smallest > largest || !room.use()) {
      return Optional.empty();
    }
    long length = Math.max(REGION_LENGTH, CHUNKS_PER_REGION * smallest / 2);
    while (length > largest) {
      length /= 2;
    }
    return Optional.of(new PoolChunkArena(room, bytes, Math.max(smallest, length)));
  }

  private static long powerOfTwo(long atLeast) {
    long power = Long.highestOneBit(atLeast);
    return Math.max(SuperblockLayout.SMALLEST_EXTENT, power == atLeast ? power : power * 2);
  }

  private List<Frame> findSurvivors() {
    List<PooledFrame> found = new ArrayList<>();
    for (LentRegion region : room.regions()) {
      region.clear();
      if (room.bytes() > capacity) {
        boolean unused = room.giveBack(region);
      } else {
        findSurvivors(region, found);
      }
    }
    found.sort(Comparator.comparingLong(frame -> frame.header.sequence()));
    if (!found.isEmpty()) {
      sequence.set(found.get(found.size() - 1).header.sequence());
    }
    return List.copyOf(found);
  }

  private void findSurvivors(LentRegion region, List<PooledFrame> found) {
    ByteBuffer bytes = ByteBuffer.allocate(LENGTH);
    int empty = 0;
    for (int page = 0; page < region.pageCount() && empty < PAGES_WITHOUT_CHUNK; ) {
      long position = region.position(page);
      Optional<ChunkHeader> header =
          region.load(position, bytes.clear())
              ? ChunkHeader.decode(bytes.flip(), region.generation(), position)
              : Optional.empty();
      if (header.isPresent() && region.take(page, ChunkHeader.pages(header.get().length()))) {
        found.add(new PooledFrame(region, page, header.get()));
        page += ChunkHeader.pages(header.get().length());
        empty = 0;
      } else {
        page++;
        empty++;
      }
    }
  }

  @Override
  public long capacityBytes() {
    return capacity;
  }

  /** Whole pages, headers included, of the chunks that are there. */
  @Override
  public long usedBytes() {
    long pages = 0;
    for (LentRegion region : room.regions()) {
      pages += region.takenPages();
    }
    return closed.get() ? 0 : pages * PAGE;
  }

  @Override
  public boolean inPool() {
    return true;
  }

  @Override
  public Optional<Frame> store(ChunkKey key, ByteBuffer bytes) {
    requireNonNull(key);
    int pages = ChunkHeader.pages(bytes.remaining());
    for (LentRegion region : room.regions()) {
      Optional<Frame> stored = store(region, pages, key, bytes);
      if (stored.isPresent()) {
        return stored;
      }
    }
    if (closed.get() || (long) pages * PAGE > regionLength) {
      return Optional.empty();
    }
    return room.borrow(regionLength, capacity).flatMap(region -> store(region, pages, key, bytes));
  }

  private Optional<Frame> store(LentRegion region, int pages, ChunkKey key, ByteBuffer bytes) {
    if (!region.enter()) {
      return Optional.empty();
    }
    try {
      OptionalInt page = closed.get() ? OptionalInt.empty() : region.take(pages);
      if (page.isEmpty()) {
        return Optional.empty();
      }
      int first = page.getAsInt();
      ChunkHeader header =
          new ChunkHeader(
              key,
              bytes.remaining(),
              sequence.incrementAndGet(),
              region.generation(),
              region.position(first));
      region.store(header.dataPosition(), bytes.duplicate());
      region.store(header.position(), header.encode());
      region.used(System.nanoTime());
      return Optional.of(new PooledFrame(region, first, header));
    } catch (IOException failing) {
      // The pool's device fails: nothing can be stored there, and the pages stay out of use.
      return Optional.empty();
    } finally {
      exit(region);
    }
  }

  private void exit(LentRegion region) {
    try {
      region.exit();
    } catch (IOException e) {
      room.failed(region, e);
    }
  }

  @Override
  public synchronized List<Frame> survivors() {
    List<Frame> given = survivors;
    survivors = List.of();
    return given;
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      room.regions().forEach(LentRegion::awaitStores);
      room.unuse();
    }
  }

  /** One chunk in a region. */
  private final class PooledFrame implements Frame {
    private final LentRegion region;
    private final int page;
    private final ChunkHeader header;

    /** Set when the pages are given up, and before anything else is stored there. */
    private final AtomicBoolean released = new AtomicBoolean();

    PooledFrame(LentRegion region, int page, ChunkHeader header) {
      this.region = region;
      this.page = page;
      this.header = header;
    }

    @Override
    public ChunkKey key() {
      return header.key();
    }

    @Override
    public int bytes() {
      return header.length();
    }

    @Override
    public boolean read(int offset, ByteBuffer target) {
      Objects.checkFromIndexSize(offset, target.remaining(), header.length());
      int start = target.position();
      if (gone() || !region.load(header.dataPosition() + offset, target)) {
        return false;
      }
      // After the fence of the load: whoever stores in these pages now has set this before.
      if (gone()) {
        target.position(start);
        return false;
      }
      region.used(System.nanoTime());
      return true;
    }

    @Override
    public boolean gone() {
      return released.get() || region.gone() || closed.get();
    }

    @Override
    public void release() {
      if (!released.compareAndSet(false, true) || !region.enter()) {
        return;
      }
      try {
        if (!closed.get()) {
          // The next process is not to find what was given up.
          region.store(header.position() + MAGIC_OFFSET, ByteBuffer.allocate(Long.BYTES));
          region.release(page, ChunkHeader.pages(header.length()));
        }
      } catch (IOException failing) {
        // The pool's device fails: the pages stay out of use.
        return;
      } finally {
        exit(region);
      }
    }
  }

  /** For messages. */
  @Override
  public String toString() {
    return "chunk cache in "
        + room.pools().stream().map(Pool::info).map(info -> info.path().toString()).toList();
  }
}
