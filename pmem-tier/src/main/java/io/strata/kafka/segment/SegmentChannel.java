package io.strata.kafka.segment;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.strata.kafka.memory.calls.Interrupts.IoSupplier;
import io.strata.kafka.segment.view.SegmentBytes;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.FileLockInterruptionException;
import java.nio.channels.NonReadableChannelException;
import java.nio.channels.NonWritableChannelException;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The {@code FileChannel} over a segment: checks, begins, delegates, ends.
 *
 * <p>Checks come in the JDK's order and with its exceptions, since the callers were written against
 * them. Each operation stands between {@code begin} and {@code end}, so that an interrupt or an
 * asynchronous close is what it is on the JDK's channel; the log file is closed with this channel
 * and by nothing else, and when an interrupt meets the thread inside the log file, {@link
 * #interrupted} closes this channel in the same way.
 *
 * <p>Thread safety: as {@link FileChannel} asks. The position has a lock of its own, which no
 * positional operation takes.
 */
public final class SegmentChannel extends FileChannel {

  /** Bytes moved at a time from a channel that cannot be read in place. */
  private static final int TRANSFER_LENGTH = 64 << 10;

  private final SegmentBytes bytes;
  private final FileChannel logFile;
  private final OpenMode mode;
  private final Lifetime lifetime;

  private final Object positionLock = new Object();

  @GuardedBy("positionLock")
  private long position;

  /**
   * A channel on {@code bytes}.
   *
   * @param lifetime has counted the channel as opened
   */
  SegmentChannel(SegmentBytes bytes, FileChannel logFile, OpenMode mode, Lifetime lifetime) {
    this.bytes = bytes;
    this.logFile = logFile;
    this.mode = mode;
    this.lifetime = lifetime;
  }

  @Override
  protected void implCloseChannel() throws IOException {
    lifetime.channelCloses(logFile);
    try {
      logFile.close();
    } finally {
      lifetime.channelClosed();
    }
  }

  private void checkOpen() throws ClosedChannelException {
    if (!isOpen()) {
      throw new ClosedChannelException();
    }
  }

  private void checkReadable() {
    if (!mode.readable()) {
      throw new NonReadableChannelException();
    }
  }

  private void checkWritable() {
    if (!mode.writable()) {
      throw new NonWritableChannelException();
    }
  }

  /**
   * The interrupt has closed the log file (or the other end of a transfer) and not this channel.
   * Beginning once more in the interrupted thread closes it, and lets {@code end} throw the reason.
   */
  private void interrupted() {
    begin();
  }

  // Reading

  @Override
  public int read(ByteBuffer target) throws IOException {
    checkOpen();
    checkReadable();
    synchronized (positionLock) {
      int read = readBetween(target, position);
      if (read > 0) {
        position += read;
      }
      return read;
    }
  }

  @Override
  public int read(ByteBuffer target, long from) throws IOException {
    Objects.requireNonNull(target);
    if (from < 0) {
      throw new IllegalArgumentException("Negative position");
    }
    checkOpen();
    checkReadable();
    return readBetween(target, from);
  }

  private int readBetween(ByteBuffer target, long from) throws IOException {
    long start = System.nanoTime();
    int read = 0;
    try {
      begin();
      if (!isOpen()) {
        return -1;
      }
      read = readOne(target, from);
    } catch (ClosedByInterruptException e) {
      interrupted();
      throw e;
    } finally {
      end(read > 0);
    }
    notifyRead(read, start);
    return read;
  }

  private int readOne(ByteBuffer target, long from) throws IOException {
    if (target.isReadOnly()) {
      throw new IllegalArgumentException("Read-only buffer");
    }
    return target.hasRemaining() ? bytes.read(target, from, logFile) : 0;
  }

  @Override
  public long read(ByteBuffer[] targets, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, targets.length);
    checkOpen();
    checkReadable();
    long start = System.nanoTime();
    synchronized (positionLock) {
      long read = 0;
      try {
        begin();
        if (!isOpen()) {
          return 0;
        }
        read = readAll(targets, offset, length);
      } catch (ClosedByInterruptException e) {
        interrupted();
        throw e;
      } finally {
        end(read > 0);
      }
      notifyRead(read, start);
      return read;
    }
  }

  @GuardedBy("positionLock")
  private long readAll(ByteBuffer[] targets, int offset, int length) throws IOException {
    for (int i = offset; i < offset + length; i++) {
      if (targets[i].isReadOnly()) {
        throw new IllegalArgumentException("Read-only buffer");
      }
    }
    long read = 0;
    for (int i = offset; i < offset + length; i++) {
      if (targets[i].hasRemaining()) {
        int one = bytes.read(targets[i], position, logFile);
        if (one < 0) {
          return read > 0 ? read : -1;
        }
        position += one;
        read += one;
        if (targets[i].hasRemaining()) {
          return read;
        }
      }
    }
    return read;
  }

  private void notifyRead(long read, long start) {
    if (read > 0) {
      bytes.noteRead(read, System.nanoTime() - start);
    }
  }

  // Writing

  @Override
  public int write(ByteBuffer source) throws IOException {
    checkOpen();
    checkWritable();
    synchronized (positionLock) {
      int written = writeBetween(source, position);
      position += written;
      return written;
    }
  }

  @Override
  public int write(ByteBuffer source, long to) throws IOException {
    Objects.requireNonNull(source);
    if (to < 0) {
      throw new IllegalArgumentException("Negative position");
    }
    checkOpen();
    checkWritable();
    return writeBetween(source, to);
  }

  private int writeBetween(ByteBuffer source, long to) throws IOException {
    long start = System.nanoTime();
    int written = 0;
    boolean done = false;
    try {
      begin();
      if (!isOpen()) {
        return 0;
      }
      written = writeOne(source, to);
      forceIfAsked();
      done = true;
    } catch (ClosedByInterruptException e) {
      interrupted();
      throw e;
    } finally {
      changedUnless(done);
      end(written > 0);
    }
    notifyWritten(written, start);
    return written;
  }

  private int writeOne(ByteBuffer source, long to) throws IOException {
    // On Linux a descriptor in append mode writes to the end even when it is given a position.
    return mode.append() ? bytes.append(source, logFile) : bytes.write(source, to, logFile);
  }

  private void forceIfAsked() throws IOException {
    if (mode.sync() != OpenMode.Sync.NEVER) {
      bytes.force(mode.sync() == OpenMode.Sync.ALL, logFile);
    }
  }

  @Override
  public long write(ByteBuffer[] sources, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, sources.length);
    checkOpen();
    checkWritable();
    long start = System.nanoTime();
    synchronized (positionLock) {
      long written = 0;
      boolean done = false;
      try {
        begin();
        if (!isOpen()) {
          return 0;
        }
        written = writeAll(sources, offset, length);
        forceIfAsked();
        done = true;
      } catch (ClosedByInterruptException e) {
        interrupted();
        throw e;
      } finally {
        changedUnless(done);
        end(written > 0);
      }
      notifyWritten(written, start);
      return written;
    }
  }

  /**
   * Writes the sources. A failure comes through whatever was written before it, which the sources'
   * positions say: it may be that of a force, and the kernel reports that only once.
   */
  @GuardedBy("positionLock")
  private long writeAll(ByteBuffer[] sources, int offset, int length) throws IOException {
    long written = 0;
    for (int i = offset; i < offset + length; i++) {
      int one = writeOne(sources[i], position);
      position += one;
      written += one;
      if (sources[i].hasRemaining()) {
        return written;
      }
    }
    return written;
  }

  /** A write that fails may have written a part, or all, and not forced it. */
  private void changedUnless(boolean done) {
    if (!done) {
      bytes.changed();
    }
  }

  private void notifyWritten(long written, long start) {
    if (written > 0) {
      bytes.changed();
      long ended = System.nanoTime();
      bytes.appended(written, ended - start, ended);
    }
  }

  // Position and size

  /**
   * Runs an operation that is on no path of an append or a read: these allocate nothing.
   *
   * @return {@code closed}, which {@code end} keeps from being returned, if the channel is closed
   */
  private <T> T between(T closed, IoSupplier<T> operation) throws IOException {
    boolean done = false;
    try {
      begin();
      if (!isOpen()) {
        return closed;
      }
      T result = operation.get();
      done = true;
      return result;
    } catch (ClosedByInterruptException e) {
      interrupted();
      throw e;
    } finally {
      end(done);
    }
  }

  @Override
  public long position() throws IOException {
    checkOpen();
    synchronized (positionLock) {
      long at = position;
      return between(0L, () -> mode.append() ? bytes.size(logFile) : at);
    }
  }

  @Override
  public FileChannel position(long newPosition) throws IOException {
    checkOpen();
    if (newPosition < 0) {
      throw new IllegalArgumentException();
    }
    synchronized (positionLock) {
      boolean unused = between(false, () -> true);
      position = newPosition;
      return this;
    }
  }

  @Override
  public long size() throws IOException {
    checkOpen();
    boolean done = false;
    try {
      begin();
      if (!isOpen()) {
        return -1;
      }
      long size = bytes.size(logFile);
      done = true;
      return size;
    } finally {
      end(done);
    }
  }

  @Override
  public FileChannel truncate(long length) throws IOException {
    checkOpen();
    if (length < 0) {
      throw new IllegalArgumentException("Negative size");
    }
    checkWritable();
    synchronized (positionLock) {
      boolean done = false;
      try {
        begin();
        if (isOpen()) {
          bytes.truncate(length, logFile);
          position = Math.min(position, length);
          done = true;
        }
      } catch (ClosedByInterruptException e) {
        interrupted();
        throw e;
      } finally {
        // Also after a failure, which may have truncated a part.
        bytes.changed();
        end(done);
      }
      return this;
    }
  }

  @Override
  public void force(boolean metaData) throws IOException {
    checkOpen();
    boolean unused =
        between(
            false,
            () -> {
              bytes.force(metaData, logFile);
              return true;
            });
  }

  // Transfers

  @Override
  public long transferTo(long from, long count, WritableByteChannel target) throws IOException {
    checkOpen();
    if (!target.isOpen()) {
      throw new ClosedChannelException();
    }
    checkReadable();
    if (target instanceof SegmentChannel other) {
      other.checkWritable();
    }
    if (from < 0 || count < 0) {
      throw new IllegalArgumentException();
    }
    long start = System.nanoTime();
    long moved = 0;
    boolean done = false;
    try {
      begin();
      if (isOpen()) {
        moved = bytes.transferTo(from, count, target, logFile);
        done = true;
      }
    } catch (ClosedByInterruptException e) {
      interrupted();
      throw e;
    } finally {
      end(done);
    }
    notifyRead(moved, start);
    return moved;
  }

  @Override
  public long transferFrom(ReadableByteChannel source, long to, long count) throws IOException {
    checkOpen();
    if (!source.isOpen()) {
      throw new ClosedChannelException();
    }
    checkWritable();
    if (to < 0 || count < 0) {
      throw new IllegalArgumentException();
    }
    if (to > size()) {
      return 0;
    }
    ByteBuffer buffer = ByteBuffer.allocate((int) Math.min(count, TRANSFER_LENGTH));
    long moved = 0;
    while (moved < count) {
      buffer.clear().limit((int) Math.min(buffer.capacity(), count - moved));
      int read = source.read(buffer);
      if (read <= 0) {
        break;
      }
      int written = write(buffer.flip(), to + moved);
      moved += written;
      if (written < read) {
        break;
      }
    }
    return moved;
  }

  // Locks and mappings, which are the log file's

  @Override
  @SuppressWarnings("NullAway") // the value that end() keeps from being returned
  public FileLock lock(long from, long length, boolean shared) throws IOException {
    checkLock(shared);
    boolean done = false;
    try {
      begin();
      if (!isOpen()) {
        return null;
      }
      FileLock lock = new SegmentFileLock(this, logFile.lock(from, length, shared));
      done = true;
      return lock;
    } catch (FileLockInterruptionException e) {
      interrupted();
      throw e;
    } finally {
      endLock(done);
    }
  }

  private void endLock(boolean done) throws IOException {
    try {
      end(done);
    } catch (ClosedByInterruptException e) {
      throw new FileLockInterruptionException();
    }
  }

  @Override
  public @Nullable FileLock tryLock(long from, long length, boolean shared) throws IOException {
    checkLock(shared);
    FileLock lock = logFile.tryLock(from, length, shared);
    return lock == null ? null : new SegmentFileLock(this, lock);
  }

  private void checkLock(boolean shared) throws IOException {
    checkOpen();
    if (shared) {
      checkReadable();
    } else {
      checkWritable();
    }
  }

  @Override
  public MappedByteBuffer map(MapMode mapMode, long from, long length) throws IOException {
    Objects.requireNonNull(mapMode, "Mode is null");
    checkOpen();
    if (mapMode != MapMode.READ_ONLY) {
      checkWritable();
    }
    checkReadable();
    if (!bytes.whollyInLogFile()) {
      throw new UnsupportedOperationException(
          bytes.name() + " has bytes in a pool: it cannot be mapped, read it through the channel");
    }
    MappedByteBuffer mapping = logFile.map(mapMode, from, length);
    bytes.logFileMayHaveGrown(logFile);
    return mapping;
  }

  /** A lock on the log file that says it is on our channel. */
  private static final class SegmentFileLock extends FileLock {

    private final FileLock onLogFile;

    SegmentFileLock(SegmentChannel channel, FileLock onLogFile) {
      super(channel, onLogFile.position(), onLogFile.size(), onLogFile.isShared());
      this.onLogFile = onLogFile;
    }

    @Override
    public boolean isValid() {
      return onLogFile.isValid();
    }

    @Override
    public void release() throws IOException {
      onLogFile.release();
    }
  }
}
