package io.strata.kafka.nio;

import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NonWritableChannelException;
import java.nio.channels.SeekableByteChannel;

/**
 * A channel for reading bytes that are in memory.
 *
 * <p>Thread safety: all methods may be called by any thread.
 */
final class TextChannel implements SeekableByteChannel {

  private final byte[] bytes;
  private long position;
  private boolean closed;

  /** A channel at the beginning; takes the array as it is. */
  TextChannel(byte[] bytes) {
    this.bytes = bytes;
  }

  @Override
  public synchronized int read(ByteBuffer target) throws ClosedChannelException {
    requireOpen();
    if (position >= bytes.length) {
      return -1;
    }
    int length = (int) Math.min(target.remaining(), bytes.length - position);
    target.put(bytes, (int) position, length);
    position += length;
    return length;
  }

  @Override
  public int write(ByteBuffer source) {
    throw new NonWritableChannelException();
  }

  @Override
  public synchronized long position() throws ClosedChannelException {
    requireOpen();
    return position;
  }

  @Override
  public synchronized SeekableByteChannel position(long newPosition) throws ClosedChannelException {
    requireOpen();
    if (newPosition < 0) {
      throw new IllegalArgumentException("position " + newPosition + ", expected 0 or more");
    }
    position = newPosition;
    return this;
  }

  @Override
  public synchronized long size() throws ClosedChannelException {
    requireOpen();
    return bytes.length;
  }

  @Override
  public SeekableByteChannel truncate(long size) {
    throw new NonWritableChannelException();
  }

  @Override
  public synchronized boolean isOpen() {
    return !closed;
  }

  @Override
  public synchronized void close() {
    closed = true;
  }

  private void requireOpen() throws ClosedChannelException {
    if (closed) {
      throw new ClosedChannelException();
    }
  }
}
