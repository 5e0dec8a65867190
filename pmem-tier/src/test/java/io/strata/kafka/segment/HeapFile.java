package io.strata.kafka.segment;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.util.Arrays;
import java.util.Random;

/**
 * A log file on the heap that knows what a power cut would leave of it, runs out of space and fails
 * when a test says so. Its channels do what a segment asks of the log file, and nothing else.
 *
 * <p>Thread safety: all methods may be called by any number of threads; each runs under one lock.
 */
final class HeapFile {

  /** Ends a test's process at a change of the file. */
  static final class Crash extends Error {
    private static final long serialVersionUID = 1;

    Crash(long change) {
      super("crash at change " + change + " of the log file");
    }
  }

  private static final int PAGE = 4096;

  @GuardedBy("this")
  private byte[] content;

  @GuardedBy("this")
  private byte[] forced;

  @GuardedBy("this")
  private long space = Long.MAX_VALUE;

  @GuardedBy("this")
  private int failingForces;

  @GuardedBy("this")
  private int failingTruncates;

  @GuardedBy("this")
  private long changes;

  @GuardedBy("this")
  private long crashAt = Long.MAX_VALUE;

  private volatile Runnable beforeSize = () -> {};
  private volatile Runnable afterForce = () -> {};

  HeapFile() {
    this(new byte[0]);
  }

  private HeapFile(byte[] content) {
    this.content = content;
    this.forced = content;
  }

  synchronized long size() {
    return content.length;
  }

  /** Runs {@code event}, once, when a channel is asked for the file's size next. */
  void beforeSize(Runnable event) {
    beforeSize = event;
  }

  /** Runs {@code event}, once, when a channel has been forced next. */
  void afterForce(Runnable event) {
    afterForce = event;
  }

  synchronized byte[] content() {
    return content.clone();
  }

  /** What a power cut leaves for certain. */
  synchronized byte[] forced() {
    return forced.clone();
  }

  /** Limits the file's length, as a full disk does. */
  synchronized void limit(long length) {
    space = length;
  }

  synchronized void failForces(int times) {
    failingForces = times;
  }

  synchronized void failTruncates(int times) {
    failingTruncates = times;
  }

  /** Writes, truncations and forces so far. */
  synchronized long changes() {
    return changes;
  }

  /** Throws a {@link Crash} instead of the change of this number, counted from 1. */
  synchronized void crashAt(long change) {
    crashAt = change;
  }

  /**
   * What may be left after a power cut: of each page what has been forced or what is there now, and
   * one length or the other.
   */
  synchronized HeapFile crash(Random random) {
    int kind = random.nextInt(3);
    boolean newLength = kind == 1 || (kind == 2 && random.nextBoolean());
    byte[] left = new byte[newLength ? content.length : forced.length];
    for (int page = 0; page < left.length; page += PAGE) {
      boolean newPage = kind == 1 || (kind == 2 && random.nextBoolean());
      byte[] from = newPage ? content : forced;
      int length = Math.min(PAGE, Math.min(left.length, from.length) - page);
      if (length > 0) {
        System.arraycopy(from, page, left, page, length);
      }
    }
    return new HeapFile(left);
  }

  /** What is left when the process ends and the power stays. */
  synchronized HeapFile kill() {
    HeapFile left = new HeapFile(content);
    synchronized (left) {
      left.forced = forced;
    }
    return left;
  }

  FileChannel open() {
    return new Channel();
  }

  @GuardedBy("this")
  private void change() {
    changes++;
    if (changes >= crashAt) {
      throw new Crash(crashAt);
    }
  }

  private synchronized int read(ByteBuffer target, long position) {
    if (position >= content.length) {
      return target.hasRemaining() ? -1 : 0;
    }
    int length = (int) Math.min(target.remaining(), content.length - position);
    target.put(content, (int) position, length);
    return length;
  }

  private synchronized int write(ByteBuffer source, long position) throws IOException {
    int length = (int) Math.min(source.remaining(), Math.max(0, space - position));
    if (length == 0 && source.hasRemaining()) {
      throw new IOException("No space left on device");
    }
    change();
    if (position + length > content.length) {
      content = Arrays.copyOf(content, (int) (position + length));
    } else {
      content = content.clone();
    }
    source.get(content, (int) position, length);
    return length;
  }

  private synchronized void truncate(long length) throws IOException {
    if (failingTruncates > 0) {
      failingTruncates--;
      throw new IOException("Truncation staged to fail");
    }
    change();
    if (length < content.length) {
      content = Arrays.copyOf(content, (int) length);
    }
  }

  private synchronized void force() throws IOException {
    if (failingForces > 0) {
      failingForces--;
      throw new IOException("Force staged to fail");
    }
    change();
    forced = content;
  }

  private final class Channel extends FileChannel {

    private void checkOpen() throws IOException {
      if (!isOpen()) {
        throw new ClosedChannelException();
      }
    }

    @Override
    public int read(ByteBuffer target, long position) throws IOException {
      checkOpen();
      return HeapFile.this.read(target, position);
    }

    @Override
    public int write(ByteBuffer source, long position) throws IOException {
      checkOpen();
      return HeapFile.this.write(source, position);
    }

    @Override
    public long size() throws IOException {
      checkOpen();
      Runnable event = beforeSize;
      beforeSize = () -> {};
      event.run();
      return HeapFile.this.size();
    }

    @Override
    public FileChannel truncate(long length) throws IOException {
      checkOpen();
      HeapFile.this.truncate(length);
      return this;
    }

    @Override
    public void force(boolean metaData) throws IOException {
      checkOpen();
      HeapFile.this.force();
      Runnable event = afterForce;
      afterForce = () -> {};
      event.run();
    }

    @Override
    protected void implCloseChannel() {}

    @Override
    public long transferTo(long position, long count, WritableByteChannel target)
        throws IOException {
      ByteBuffer buffer = ByteBuffer.allocate((int) Math.min(count, 1 << 20));
      return read(buffer, position) <= 0 ? 0 : target.write(buffer.flip());
    }

    @Override
    public int read(ByteBuffer target) {
      throw new UnsupportedOperationException();
    }

    @Override
    public long read(ByteBuffer[] targets, int offset, int length) {
      throw new UnsupportedOperationException();
    }

    @Override
    public int write(ByteBuffer source) {
      throw new UnsupportedOperationException();
    }

    @Override
    public long write(ByteBuffer[] sources, int offset, int length) {
      throw new UnsupportedOperationException();
    }

    @Override
    public long position() {
      throw new UnsupportedOperationException();
    }

    @Override
    public FileChannel position(long newPosition) {
      throw new UnsupportedOperationException();
    }

    @Override
    public long transferFrom(ReadableByteChannel source, long position, long count) {
      throw new UnsupportedOperationException();
    }

    @Override
    public MappedByteBuffer map(MapMode mode, long position, long size) {
      throw new UnsupportedOperationException();
    }

    @Override
    public FileLock lock(long position, long size, boolean shared) {
      throw new UnsupportedOperationException();
    }

    @Override
    public FileLock tryLock(long position, long size, boolean shared) {
      throw new UnsupportedOperationException();
    }
  }
}
