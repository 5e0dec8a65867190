package io.strata.kafka.memory;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
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
final class MappedWindows {
  /** The distance of the windows' starts, in bytes. */
  static final long STRIDE = 1L << 30;

  /** The longest piece that is certain to lie within one window, in bytes. */
  static final int MAX_PIECE = 64 << 20;

  private final List<MappedByteBuffer> windows;

  private MappedWindows(List<MappedByteBuffer> windows) {
    this.windows = List.copyOf(windows);
  }

  /** Maps the first {@code size} bytes of a file. The channel may be closed afterwards. */
  static MappedWindows map(FileChannel channel, MapMode mode, long size) throws IOException {
    List<MappedByteBuffer> windows = new ArrayList<>();
    for (long start = 0; start < size; start += STRIDE) {
      MappedByteBuffer window =
          channel.map(mode, start, Math.min(STRIDE + MAX_PIECE, size - start));
      window.order(ByteOrder.LITTLE_ENDIAN);
      windows.add(window);
    }
    return new MappedWindows(windows);
  }

  /** The window that holds the piece of up to {@value #MAX_PIECE} bytes from {@code position}. */
  MappedByteBuffer at(long position) {
    return windows.get((int) (position / STRIDE));
  }

  /** Where {@code position} is in its window. */
  static int offset(long position) {
    return (int) (position % STRIDE);
  }

  /** Length of the next piece of a range with {@code remaining} bytes to go. */
  static int piece(long remaining) {
    return (int) Math.min(remaining, MAX_PIECE);
  }
}
