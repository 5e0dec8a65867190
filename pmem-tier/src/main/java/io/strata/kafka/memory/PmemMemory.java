package io.strata.kafka.memory;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NonWritableChannelException;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Intel's libpmem by way of LLPL for stores, and a mapping by the JDK for loads.
 *
 * <p>On a file system without DAX it flushes all the same, and is as durable as its file: LLPL does
 * not notice. What {@link #durability} says was probed by this package.
 *
 * <p>Thread safety: as {@link PersistentMemory} says. A close does not wait for calls under way;
 * these end normally.
 */
final class PmemMemory implements PersistentMemory {
  private final Path path;
  private final long size;
  private final Durability durability;
  private final MappedReads reads;
  private final WriteBack<MappedWindows> writeBack;

  /** Empty when read-only. */
  private final Optional<PmemStores> stores;

  /** Empty where zeros are stored. */
  private final Optional<ZeroedRanges> ranges;

  /** Null when closed. */
  private volatile @Nullable MappedWindows windows;

  PmemMemory(
      Path path,
      long size,
      Durability durability,
      MappedWindows windows,
      WriteBack<MappedWindows> writeBack,
      Optional<PmemStores> stores,
      Optional<ZeroedRanges> ranges) {
    this.path = path;
    this.size = size;
    this.durability = durability;
    this.reads = new MappedReads(path, size);
    this.writeBack = writeBack;
    this.stores = stores;
    this.windows = windows;
    this.ranges = ranges;
  }

  @Override
  public MemoryType type() {
    return MemoryType.PMEM;
  }

  @Override
  public Durability durability() {
    return durability;
  }

  @Override
  public Path path() {
    return path;
  }

  @Override
  public long size() {
    return size;
  }

  @Override
  public boolean writable() {
    return stores.isPresent();
  }

  @Override
  public void load(long position, ByteBuffer target) throws IOException {
    reads.load(open(), position, target);
  }

  @Override
  public long loadLong(long position) throws IOException {
    return reads.loadLong(open(), position);
  }

  /**
   * {@inheritDoc}
   *
   * <p>The stores used are durable at once: a plain copy that is flushed later takes longer.
   */
  @Override
  public void store(long position, ByteBuffer source) throws IOException {
    PmemStores open = openForWriting();
    Ranges.check(position, source.remaining(), size);
    open.store(position, source);
  }

  @Override
  public void storeAndPersist(long position, ByteBuffer source) throws IOException {
    store(position, source);
  }

  @Override
  public void storeLong(long position, long value) throws IOException {
    PmemStores open = openForWriting();
    Ranges.checkWord(position, size);
    open.storeLong(position, value);
  }

  @Override
  public void zero(long position, long length) throws IOException {
    PmemStores open = openForWriting();
    Ranges.check(position, length, size);
    open.zero(position, length);
  }

  @Override
  public void zeroRange(long position, long length) throws IOException {
    PmemStores unused = openForWriting();
    Ranges.check(position, length, size);
    if (ranges.isEmpty() || !ranges.get().zero(position, length)) {
      zero(position, length);
    }
  }

  @Override
  public void persist(long position, long length) throws IOException {
    MappedWindows unused = open();
    Ranges.check(position, length, size);
    if (stores.isPresent() && length > 0) {
      stores.get().persist(position, length);
    }
  }

  @Override
  public void force(long position, long length) throws IOException {
    MappedWindows open = open();
    Ranges.check(position, length, size);
    if (durability.needsForce() && writable()) {
      writeBack.force(open, position, length);
    }
  }

  @Override
  public Optional<IOException> failure() {
    return writeBack.failure();
  }

  @Override
  public long transferTo(long position, long count, WritableByteChannel target) throws IOException {
    return reads.transferTo(open(), position, count, target);
  }

  @Override
  public boolean populate(long position, long length) throws IOException {
    MappedWindows open = open();
    Ranges.check(position, length, size);
    return open.populate(position, length);
  }

  @Override
  public void close() {
    windows = null;
    ranges.ifPresent(ZeroedRanges::close);
  }

  private MappedWindows open() throws IOException {
    MappedWindows open = windows;
    if (open == null) {
      throw new ClosedChannelException();
    }
    return open;
  }

  private PmemStores openForWriting() throws IOException {
    MappedWindows unused = open();
    PmemStores open = stores.orElseThrow(NonWritableChannelException::new);
    writeBack.requireNoFailure();
    return open;
  }
}
