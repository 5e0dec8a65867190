package io.strata.kafka.migration.remote.store.read;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.nio.ByteBuffer;
import java.util.Objects;

/**
 * The part of a reader's array that another thread fills, until the reader goes on without it: a
 * read that hangs may end when the array has long been used for something else.
 */
public final class ReadTarget implements AutoCloseable {

  private final byte[] array;
  private final int offset;
  private final int bytes;

  @GuardedBy("this")
  private boolean closed;

  /** A target of {@code bytes} bytes of an array, from {@code offset} on. */
  public ReadTarget(byte[] array, int offset, int bytes) {
    int unused = Objects.checkFromIndexSize(offset, bytes, array.length);
    this.array = array;
    this.offset = offset;
    this.bytes = bytes;
  }

  public int bytes() {
    return bytes;
  }

  /**
   * Copies bytes in, as many as there are and fit.
   *
   * @param at where, from 0
   * @param from is read from its position, which is left where it was
   * @return how many
   */
  public synchronized int put(int at, ByteBuffer from) {
    int count = Math.min(bytes - at, from.remaining());
    if (!closed) {
      from.get(from.position(), array, offset + at, count);
    }
    return count;
  }

  /** Takes no more bytes: from now on the array is its owner's alone. */
  @Override
  public synchronized void close() {
    closed = true;
  }
}
