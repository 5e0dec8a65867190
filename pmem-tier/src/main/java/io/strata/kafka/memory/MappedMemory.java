package io.strata.kafka.memory;

import com.google.errorprone.annotations.CheckReturnValue;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NonWritableChannelException;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A shared mapping by the JDK alone: needs no native library.
 *
 * <p>On a DAX file system the mapping is synchronous and a persist flushes cache lines; elsewhere a
 * stored byte is in the page cache at once, and on the medium after a force.
 *
 * <p>Every access to the mapping happens in this class or in {@link MappedReads}, and is followed
 * by {@link Faults#deliver}.
 *
 * <p>Thread safety: as {@link PersistentMemory} says. A close does not wait for calls under way;
 * these end normally.
 */
final class MappedMemory implements PersistentMemory {
  private static final VarHandle WORD =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final MemoryType type;
  private final Path path;
  private final long size;
  private final boolean writable;
  private final Durability durability;
  private final MappedReads reads;
  private final WriteBack<MappedWindows> writeBack;

  /** Empty where zeros are stored. */
  private final Optional<ZeroedRanges> ranges;

  /** Null when closed. */
  private volatile @Nullable MappedWindows windows;

  MappedMemory(
      MemoryType type,
      Path path,
      long size,
      boolean writable,
      Durability durability,
      MappedWindows windows,
      WriteBack<MappedWindows> writeBack,
      Optional<ZeroedRanges> ranges) {
    this.type = type;
    this.path = path;
    this.size = size;
    this.writable = writable;
    this.durability = durability;
    this.reads = new MappedReads(path, size);
    this.windows = windows;
    this.writeBack = writeBack;
    this.ranges = ranges;
  }

  @Override
  public MemoryType type() {
    return type;
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
    return writable;
  }

  @Override
  public void load(long position, ByteBuffer target) throws IOException {
    MappedWindows open = open();
    reads.load(open, position, target);
  }

  @Override
  public long loadLong(long position) throws IOException {
    MappedWindows open = open();
    return reads.loadLong(open, position);
  }

  @Override
  public void store(long position, ByteBuffer source) throws IOException {
    MappedWindows open = openForWriting();
    int start = source.position();
    int length = source.remaining();
    Ranges.check(position, length, size);
    try {
      for (int done = 0; done < length; ) {
        int piece = MappedWindows.piece(length - done);
        long at = position + done;
        open.at(at).put(MappedWindows.offset(at), source, start + done, piece);
        Faults.deliver(); // before the loop polls for a safepoint
        done += piece;
      }
    } catch (InternalError e) {
      throw Faults.at(path, position, length, size, e);
    }
    source.position(start + length);
  }

  @Override
  public void storeAndPersist(long position, ByteBuffer source) throws IOException {
    int start = source.position();
    store(position, source);
    try {
      persist(position, source.position() - start);
    } catch (IOException e) {
      source.position(start);
      throw e;
    }
  }

  @Override
  public void storeLong(long position, long value) throws IOException {
    MappedWindows open = openForWriting();
    Ranges.checkWord(position, size);
    try {
      WORD.setRelease(open.at(position), MappedWindows.offset(position), value);
      Faults.deliver();
    } catch (InternalError e) {
      throw Faults.at(path, position, Long.BYTES, size, e);
    }
  }

  @Override
  public void zero(long position, long length) throws IOException {
    MappedWindows open = openForWriting();
    Ranges.check(position, length, size);
    open.zero(path, position, length);
  }

  @Override
  public void zeroRange(long position, long length) throws IOException {
    MappedWindows unused = openForWriting();
    Ranges.check(position, length, size);
    if (ranges.isEmpty() || !ranges.get().zero(position, length)) {
      zero(position, length);
    }
  }

  @Override
  public void persist(long position, long length) throws IOException {
    MappedWindows open = open();
    Ranges.check(position, length, size);
    if (durability.durableOnPersist() && writable) {
      open.force(path, position, length);
    } else {
      VarHandle.releaseFence();
    }
  }

  @Override
  public void force(long position, long length) throws IOException {
    MappedWindows open = open();
    Ranges.check(position, length, size);
    if (durability.needsForce() && writable) {
      writeBack.force(open, position, length);
    }
  }

  @Override
  public Optional<IOException> failure() {
    return writeBack.failure();
  }

  @Override
  public long transferTo(long position, long count, WritableByteChannel target) throws IOException {
    MappedWindows open = open();
    return reads.transferTo(open, position, count, target);
  }

  @Override
  public boolean populate(long position, long length) throws IOException {
    MappedWindows open = open();
    Ranges.check(position, length, size);
    return LibC.available() && open.populate(position, length);
  }

  @Override
  public void close() {
    windows = null;
    ranges.ifPresent(ZeroedRanges::close);
  }

  @CheckReturnValue
  private MappedWindows open() throws IOException {
    MappedWindows open = windows;
    if (open == null) {
      throw new ClosedChannelException();
    }
    return open;
  }

  @CheckReturnValue
  private MappedWindows openForWriting() throws IOException {
    MappedWindows open = open();
    if (!writable) {
      throw new NonWritableChannelException();
    }
    writeBack.requireNoFailure();
    return open;
  }
}
