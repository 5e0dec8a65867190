package io.strata.kafka.segment.view;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.util.function.BooleanSupplier;

/**
 * The part of a segment that has spilled, as its writer sees it: bytes of the log file, at their
 * own offsets.
 *
 * <p>The log file may be longer than the segment: bytes of an earlier copy, of an append that could
 * not be forced, of a truncation that failed half way. They are truncated, durably, before anything
 * is written behind them, so that none of them ever becomes part of the segment again.
 *
 * <p>Thread safety: none; all calls under the segment's writer lock.
 */
public final class SpilledTail {

  private final BooleanSupplier forcesAppends;

  /** Whether the log file may have bytes beyond the segment's end. */
  private boolean mayBeLonger;

  private boolean dirty;

  /**
   * The tail of a segment as it is opened.
   *
   * @param spilled whether the log file has bytes of the segment
   * @param logFileSize how many bytes the log file has; how far they are forced is not known
   */
  public SpilledTail(BooleanSupplier forcesAppends, boolean spilled, long logFileSize) {
    this.forcesAppends = forcesAppends;
    // The log file's bytes of a segment that has not spilled are no part of it.
    this.mayBeLonger = !spilled;
    // An empty one too: a process that was killed may have truncated it, and not forced that.
    this.dirty = spilled || logFileSize > 0;
  }

  /** Returns whether there are writes that no force has covered. */
  public boolean dirty() {
    return dirty;
  }

  public void dirty(boolean nowDirty) {
    dirty = nowDirty;
  }

  /** The log file may have bytes beyond the segment's end from now on. */
  public void mayBeLonger() {
    mayBeLonger = true;
  }

  /**
   * Truncates the log file to {@code size}, if it may be longer.
   *
   * @param durably whether the truncation must survive a power cut when this returns; always so
   *     where each write is forced
   * @throws IOException when that fails; it is tried again before the next write
   */
  public void truncate(FileChannel logFile, long size, boolean durably) throws IOException {
    if (mayBeLonger) {
      if (logFile.size() > size) {
        logFile.truncate(size);
        dirty = true;
      }
      if (forcesAppends.getAsBoolean() || (durably && dirty)) {
        logFile.force(true);
        dirty = false;
      }
      mayBeLonger = false;
    }
  }

  /**
   * Writes {@code source} to the log file at {@code position}. On an exception the source's
   * position shows how much of it has become part of the segment.
   *
   * @param size of the segment before this write
   */
  public void write(ByteBuffer source, long position, FileChannel logFile, long size)
      throws IOException {
    int start = source.position();
    truncate(logFile, size, true);
    try {
      writeFully(source, position, logFile);
    } finally {
      dirty |= source.position() > start;
    }
    if (forcesAppends.getAsBoolean()) {
      force(source, start, logFile);
    }
  }

  /** Replaces bytes that the log file has. */
  public void replace(ByteBuffer source, long position, FileChannel logFile) throws IOException {
    dirty = true;
    writeFully(source, position, logFile);
  }

  /** Stops at what the log file has space for, if that is anything at all. */
  private static void writeFully(ByteBuffer source, long position, FileChannel logFile)
      throws IOException {
    int start = source.position();
    while (source.hasRemaining()) {
      try {
        logFile.write(source, position + (source.position() - start));
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

  private void force(ByteBuffer source, int start, FileChannel logFile) throws IOException {
    try {
      logFile.force(false);
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
