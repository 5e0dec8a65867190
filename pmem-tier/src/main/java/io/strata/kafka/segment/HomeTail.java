package io.strata.kafka.segment;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.util.function.BooleanSupplier;

/**
 * The part of a segment that has spilled, as its writer sees it: bytes of home, at their own
 * offsets.
 *
 * <p>Home may be longer than the segment: bytes of an earlier copy, of an append that could not be
 * forced, of a truncation that failed half way. They are cut off, durably, before anything is
 * written behind them, so that none of them ever becomes part of the segment again.
 *
 * <p>Thread safety: none; all calls under the segment's writer lock.
 */
final class HomeTail {

  private final BooleanSupplier forceEachWrite;

  /** Whether home may have bytes beyond the segment's end. */
  private boolean mayBeLonger;

  private boolean dirty;

  /**
   * The tail of a segment as it is opened.
   *
   * @param spilled whether home has bytes of the segment
   * @param homeSize how many bytes home has; how far they are forced is not known
   */
  HomeTail(BooleanSupplier forceEachWrite, boolean spilled, long homeSize) {
    this.forceEachWrite = forceEachWrite;
    // What home has of a segment that has not spilled is no part of it.
    this.mayBeLonger = !spilled;
    // An empty one, too: a process that was killed may have cut it, and not forced that.
    this.dirty = spilled || homeSize > 0;
  }

  /** Whether there are writes that no force has covered. */
  boolean dirty() {
    return dirty;
  }

  void dirty(boolean nowDirty) {
    dirty = nowDirty;
  }

  /** Home may have bytes beyond the segment's end from now on. */
  void mayBeLonger() {
    mayBeLonger = true;
  }

  /**
   * Cuts home to {@code size}, if it may be longer.
   *
   * @param durably whether the cut must survive a power cut when this returns; always so where each
   *     write is forced
   * @throws IOException when that fails; it is tried again before the next write
   */
  void cut(FileChannel home, long size, boolean durably) throws IOException {
    if (mayBeLonger) {
      if (home.size() > size) {
        home.truncate(size);
        dirty = true;
      }
      if (forceEachWrite.getAsBoolean() || (durably && dirty)) {
        home.force(true);
        dirty = false;
      }
      mayBeLonger = false;
    }
  }

  /**
   * Writes {@code source} to home at {@code position}. On an exception the source's position tells
   * how much of it has become part of the segment.
   *
   * @param size of the segment before this write
   */
  void write(ByteBuffer source, long position, FileChannel home, long size) throws IOException {
    int start = source.position();
    cut(home, size, true);
    try {
      writeFully(source, position, home);
    } finally {
      dirty |= source.position() > start;
    }
    if (forceEachWrite.getAsBoolean()) {
      force(source, start, home);
    }
  }

  /** Replaces bytes that home has. */
  void replace(ByteBuffer source, long position, FileChannel home) throws IOException {
    dirty = true;
    writeFully(source, position, home);
  }

  /** Stops at what home has room for, if that is anything at all. */
  private static void writeFully(ByteBuffer source, long position, FileChannel home)
      throws IOException {
    int start = source.position();
    while (source.hasRemaining()) {
      try {
        home.write(source, position + (source.position() - start));
      } catch (ClosedChannelException e) {
        throw e;
      } catch (IOException e) {
        if (source.position() == start) {
          throw e;
        }
        return;
      }
    }
  }

  private void force(ByteBuffer source, int start, FileChannel home) throws IOException {
    try {
      home.force(false);
      dirty = false;
    } catch (ClosedChannelException e) {
      // Written and not forced, and not acknowledged either. The next force covers it.
      throw e;
    } catch (IOException e) {
      // The kernel may have dropped the pages: a later force would succeed without them.
      mayBeLonger = true;
      source.position(start);
      throw e;
    }
  }
}
