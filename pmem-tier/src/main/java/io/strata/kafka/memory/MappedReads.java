package io.strata.kafka.memory;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;

/**
 * The reading half of the memories that are read through a mapping of the JDK.
 *
 * <p>Bytes leave the mapping by the JVM's own copies, which survive a fault, or by a system call of
 * the target's, which answers a fault with an error code; never by a native copy, in which a fault
 * ends the process.
 *
 * <p>Thread safety: immutable.
 */
final class MappedReads {
  /** The most that one attempt to transfer offers to its target, in bytes. */
  static final int MAX_TRANSFER = 1 << 20;

  private static final VarHandle WORD =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final Path path;
  private final long size;

  MappedReads(Path path, long size) {
    this.path = path;
    this.size = size;
  }

  /** As {@link PersistentMemory#load}. */
  void load(MappedWindows windows, long position, ByteBuffer target) throws IOException {
    int start = target.position();
    int length = target.remaining();
    Ranges.check(position, length, size);
    try {
      for (int done = 0; done < length; ) {
        int piece = MappedWindows.piece(length - done);
        long at = position + done;
        target.put(start + done, windows.at(at), MappedWindows.offset(at), piece);
        Faults.deliver(); // before the loop polls for a safepoint
        done += piece;
      }
    } catch (InternalError e) {
      throw Faults.at(path, position, length, size, e);
    }
    target.position(start + length);
  }

  /** As {@link PersistentMemory#loadLong}. */
  long loadLong(MappedWindows windows, long position) throws IOException {
    Ranges.checkWord(position, size);
    try {
      long value = (long) WORD.getAcquire(windows.at(position), MappedWindows.offset(position));
      Faults.deliver();
      return value;
    } catch (InternalError e) {
      throw Faults.at(path, position, Long.BYTES, size, e);
    }
  }

  /** As {@link PersistentMemory#transferTo}. */
  long transferTo(MappedWindows windows, long position, long count, WritableByteChannel target)
      throws IOException {
    Ranges.check(position, count, size);
    if (count == 0) {
      return 0;
    }
    int length = (int) Math.min(count, MAX_TRANSFER);
    ByteBuffer piece =
        windows.at(position).slice(MappedWindows.offset(position), length).asReadOnlyBuffer();
    try {
      int written = target.write(piece);
      Faults.deliver();
      return written;
    } catch (InternalError e) {
      throw Faults.at(path, position, length, size, e);
    }
  }
}
