package io.strata.kafka.memory.calls;

import io.strata.kafka.memory.PersistentMemory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A file mapped in windows, because one {@link ByteBuffer} cannot reach beyond 2 GiB.
 *
 * <p>Each window starts at a multiple of {@value #STRIDE} bytes and reaches {@value #MAX_PIECE}
 * bytes into the next one, so that every piece of up to {@value #MAX_PIECE} bytes lies wholly
 * within the window of its first byte:
 *
 * <pre>
 *   file      |------- 1 GiB -------|------- 1 GiB -------|---- rest ----|
 *   window 0  |==========================|
 *   window 1                        |==========================|
 *   window 2                                              |==============|
 * </pre>
 *
 * <p>Thread safety: immutable; the windows must be accessed by absolute positions only. The mapping
 * is undone by the garbage collector when nothing refers to the windows any more: undoing it
 * earlier would crash a thread that still reads.
 */
public final class MappedWindows {
  /** The distance of the windows' starts, in bytes. */
  static final long STRIDE = 1L << 30;

  /** The longest piece that is certain to lie within one window, in bytes. */
  static final int MAX_PIECE = 64 << 20;

  private static final byte[] ZEROS = new byte[64 << 10];

  private final long size;
  private final List<MappedByteBuffer> windows;

  private MappedWindows(long size, List<MappedByteBuffer> windows) {
    this.size = size;
    this.windows = List.copyOf(windows);
  }

  /** Maps the first {@code size} bytes of a file. The channel may be closed afterwards. */
  public static MappedWindows map(FileChannel channel, MapMode mode, long size) throws IOException {
    List<MappedByteBuffer> windows = new ArrayList<>();
    for (long start = 0; start < size; start += STRIDE) {
      MappedByteBuffer window =
          channel.map(mode, start, Math.min(STRIDE + MAX_PIECE, size - start));
      window.order(ByteOrder.LITTLE_ENDIAN);
      windows.add(window);
    }
    return new MappedWindows(size, windows);
  }

  /** The window that holds the piece of up to {@value #MAX_PIECE} bytes from {@code position}. */
  public MappedByteBuffer at(long position) {
    return windows.get(index(position));
  }

  /** The number of the window that {@link #at} gives. */
  static int index(long position) {
    return (int) (position / STRIDE);
  }

  public static int offset(long position) {
    return (int) (position % STRIDE);
  }

  /** Returns where each window begins, while these are reachable. Needs {@link LibC}. */
  public long[] addresses() {
    return windows.stream().mapToLong(LibC::address).toArray();
  }

  /** Returns where the byte at {@code position} is in this process, as {@link #at} says. */
  public static long address(long[] addresses, long position) {
    return addresses[index(position)] + offset(position);
  }

  /**
   * Stores zeros. Copies them: where a fault during a copy is an error, the JDK's own way to fill
   * memory ends the process.
   */
  public void zero(Path file, long position, long length) throws IOException {
    try {
      for (long done = 0; done < length; ) {
        int piece = (int) Math.min(length - done, ZEROS.length);
        long at = position + done;
        at(at).put(offset(at), ZEROS, 0, piece);
        Faults.deliver(); // before the loop polls for a safepoint
        done += piece;
      }
    } catch (InternalError e) {
      throw Faults.at(file, position, length, size, e);
    }
  }

  /**
   * Forces a range to the medium: on a synchronous mapping by flushing cache lines and a fence, on
   * another one by {@code msync}.
   */
  public void force(Path file, long position, long length) throws IOException {
    try {
      for (long done = 0; done < length; ) {
        int piece = piece(length - done);
        long at = position + done;
        MappedByteBuffer unused = at(at).force(offset(at), piece);
        done += piece;
      }
      Faults.deliver();
    } catch (UncheckedIOException e) {
      throw new IOException(
          "Cannot force " + file + " at position " + position + ", length " + length, e);
    } catch (InternalError e) {
      throw Faults.at(file, position, length, size, e);
    }
  }

  /**
   * As {@link PersistentMemory#populate}. Needs {@link LibC}.
   *
   * @return false when the kernel cannot do this (Linux before 5.14), or met a fault
   */
  public boolean populate(long position, long length) {
    try {
      return LibC.populateForWriting(LibC.address(at(position)) + offset(position), length);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  /** Length of the next piece of a range with {@code remaining} bytes to go. */
  public static int piece(long remaining) {
    return (int) Math.min(remaining, MAX_PIECE);
  }
}
