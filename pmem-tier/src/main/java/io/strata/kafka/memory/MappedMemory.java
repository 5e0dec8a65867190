package io.strata.kafka.memory;

import com.google.errorprone.annotations.CheckReturnValue;
import io.strata.kafka.memory.calls.Faults;
import io.strata.kafka.memory.calls.LibC;
import io.strata.kafka.memory.calls.MappedWindows;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ClosedChannelException;
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
 * <p>Every access to the mapping is followed by {@link Faults#deliver}. Bytes leave it by the JVM's
 * own copies, which survive a fault, or by a system call of the target's, which answers a fault
 * with an error code; never by a native copy, in which a fault ends the process.
 *
 * <p>Thread safety: as {@link PersistentMemory} says. A close does not wait for calls under way;
 * these end normally.
 */
class MappedMemory extends MemoryOnFile<MappedWindows> {
  /** The most that one attempt to transfer offers to its target, in bytes. */
  private static final int MAX_TRANSFER = 1 << 20;

  private static final VarHandle WORD =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

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
    super(type, path, size, writable, durability, writeBack, ranges);
    this.windows = windows;
  }

  @Override
  @CheckReturnValue
  final MappedWindows open() throws IOException {
    MappedWindows open = windows;
    if (open == null) {
      throw new ClosedChannelException();
    }
    return open;
  }

  @Override
  public final void load(long position, ByteBuffer target) throws IOException {
    MappedWindows open = open();
    int start = target.position();
    int length = target.remaining();
    check(position, length);
    try {
      for (int done = 0; done < length; ) {
        int piece = MappedWindows.piece(length - done);
        long at = position + done;
        target.put(start + done, open.at(at), MappedWindows.offset(at), piece);
        Faults.deliver(); // before the loop polls for a safepoint
        done += piece;
      }
    } catch (InternalError e) {
      throw Faults.at(path, position, length, size, e);
    }
    target.position(start + length);
  }

  @Override
  public final long loadLong(long position) throws IOException {
    MappedWindows open = open();
    checkWord(position, size);
    try {
      long value = (long) WORD.getAcquire(open.at(position), MappedWindows.offset(position));
      Faults.deliver();
      return value;
    } catch (InternalError e) {
      throw Faults.at(path, position, Long.BYTES, size, e);
    }
  }

  @Override
  public void store(long position, ByteBuffer source) throws IOException {
    MappedWindows open = openForWriting();
    int start = source.position();
    int length = source.remaining();
    check(position, length);
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
  public final void storeLong(long position, long value) throws IOException {
    MappedWindows open = openForWriting();
    checkWord(position, size);
    try {
      WORD.setRelease(open.at(position), MappedWindows.offset(position), value);
      Faults.deliver();
    } catch (InternalError e) {
      throw Faults.at(path, position, Long.BYTES, size, e);
    }
  }

  @Override
  public final void zero(long position, long length) throws IOException {
    MappedWindows open = openForWriting();
    check(position, length);
    open.zero(path, position, length);
  }

  @Override
  public void persist(long position, long length) throws IOException {
    MappedWindows open = open();
    check(position, length);
    if (durability.durableOnPersist() && writable) {
      open.force(path, position, length);
    } else {
      VarHandle.releaseFence();
    }
  }

  @Override
  public final long transferTo(long position, long count, WritableByteChannel target)
      throws IOException {
    MappedWindows open = open();
    check(position, count);
    if (count == 0) {
      return 0;
    }
    int length = (int) Math.min(count, MAX_TRANSFER);
    ByteBuffer piece =
        open.at(position).slice(MappedWindows.offset(position), length).asReadOnlyBuffer();
    try {
      int written = target.write(piece);
      Faults.deliver();
      return written;
    } catch (InternalError e) {
      throw Faults.at(path, position, length, size, e);
    }
  }

  @Override
  public final boolean populate(long position, long length) throws IOException {
    MappedWindows open = open();
    check(position, length);
    return LibC.available() && open.populate(position, length);
  }

  @Override
  public final void close() throws IOException {
    windows = null;
    super.close();
  }
}
