package io.strata.kafka.memory;

import java.io.IOException;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.NonWritableChannelException;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * A file on NVMe or SSD, read and written through a {@link FileChannel}.
 *
 * <p>A stored byte is in the kernel's page cache at once, and on the medium after a force ({@code
 * fdatasync}). The file's length is looked at before each store, so that a store into a file that
 * was truncated fails and does not quietly make a hole.
 *
 * <p>Thread safety: as {@link PersistentMemory} says. The kernel does not promise that a read of 8
 * bytes sees all or nothing of a concurrent write of the same 8, so words are read and written
 * under one of a fixed number of locks.
 */
final class FileMemory implements PersistentMemory {
  /** A power of two. */
  private static final int WORD_LOCKS = 64;

  private static final ByteBuffer ZEROS = ByteBuffer.allocateDirect(256 << 10).asReadOnlyBuffer();

  private final Path path;
  private final long size;
  private final boolean writable;
  private final Durability durability;
  private final ReopeningChannel channel;
  private final WriteBack<ReopeningChannel> writeBack;
  private final TransferBuffers transferBuffers = new TransferBuffers();

  /** Empty where zeros are stored. */
  private final Optional<ZeroedRanges> ranges;

  private final Object[] wordLocks =
      IntStream.range(0, WORD_LOCKS).mapToObj(i -> new Object()).toArray();

  private volatile boolean closed;

  FileMemory(
      Path path,
      long size,
      boolean writable,
      Durability durability,
      ReopeningChannel channel,
      WriteBack<ReopeningChannel> writeBack,
      Optional<ZeroedRanges> ranges) {
    this.path = path;
    this.size = size;
    this.writable = writable;
    this.durability = durability;
    this.channel = channel;
    this.writeBack = writeBack;
    this.ranges = ranges;
  }

  @Override
  public MemoryType type() {
    return MemoryType.FILE;
  }

  @Override
  public Durability durability() {
    return durability;
  }

  @Override
  public Path path() {
    return path;
  }

  @Override
  public long size() {
    return size;
  }

  @Override
  public boolean writable() {
    return writable;
  }

  @Override
  public void load(long position, ByteBuffer target) throws IOException {
    checkOpen();
    Ranges.check(position, target.remaining(), size);
    int start = target.position();
    int limit = target.limit();
    try {
      channel.repeatably(
          file -> {
            target.position(start);
            readFully(file, position, target);
            return limit;
          });
    } catch (IOException | RuntimeException e) {
      target.position(start);
      throw e;
    }
  }

  @Override
  public long loadLong(long position) throws IOException {
    checkOpen();
    Ranges.checkWord(position, size);
    ByteBuffer word = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    synchronized (lockOf(position)) {
      load(position, word);
    }
    return word.getLong(0);
  }

  @Override
  public void store(long position, ByteBuffer source) throws IOException {
    checkWritable();
    int start = source.position();
    int length = source.remaining();
    Ranges.check(position, length, size);
    try {
      channel.repeatably(
          file -> {
            source.position(start);
            writeFully(file, position, source);
            return length;
          });
    } catch (IOException | RuntimeException e) {
      source.position(start);
      throw e;
    }
  }

  @Override
  public void storeAndPersist(long position, ByteBuffer source) throws IOException {
    store(position, source);
    VarHandle.releaseFence();
  }

  @Override
  public void storeLong(long position, long value) throws IOException {
    checkWritable();
    Ranges.checkWord(position, size);
    ByteBuffer word = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    word.putLong(0, value);
    synchronized (lockOf(position)) {
      store(position, word);
    }
  }

  @Override
  public void zero(long position, long length) throws IOException {
    checkWritable();
    Ranges.check(position, length, size);
    ByteBuffer zeros = ZEROS.duplicate();
    for (long done = 0; done < length; ) {
      int piece = (int) Math.min(zeros.capacity(), length - done);
      store(position + done, zeros.clear().limit(piece));
      done += piece;
    }
  }

  @Override
  public void zeroRange(long position, long length) throws IOException {
    checkWritable();
    Ranges.check(position, length, size);
    if (ranges.isEmpty() || !ranges.get().zero(position, length)) {
      zero(position, length);
    }
  }

  @Override
  public void persist(long position, long length) throws IOException {
    checkOpen();
    Ranges.check(position, length, size);
    VarHandle.releaseFence();
  }

  @Override
  public void force(long position, long length) throws IOException {
    checkOpen();
    Ranges.check(position, length, size);
    if (durability.needsForce() && writable) {
      writeBack.force(channel, position, length);
    }
  }

  /**
   * {@inheritDoc}
   *
   * <p>Not by {@code sendfile}, which gives a socket the pages of the file and not their bytes:
   * what has been accepted and not yet been sent would change with a later store, and the pool
   * stores other segments' bytes where these were.
   */
  @Override
  public Optional<IOException> failure() {
    return writeBack.failure();
  }

  @Override
  public long transferTo(long position, long count, WritableByteChannel target) throws IOException {
    checkOpen();
    Ranges.check(position, count, size);
    if (count == 0) {
      return 0;
    }
    ByteBuffer copy = transferBuffers.take();
    try {
      copy.limit((int) Math.min(count, copy.capacity()));
      load(position, copy);
      return target.write(copy.flip());
    } finally {
      transferBuffers.giveBack(copy);
    }
  }

  @Override
  public void close() throws IOException {
    closed = true;
    ranges.ifPresent(ZeroedRanges::close);
    channel.close();
  }

  private void readFully(FileChannel file, long position, ByteBuffer target) throws IOException {
    long at = position;
    while (target.hasRemaining()) {
      int read = file.read(target, at);
      if (read < 0) {
        throw truncated(file, at);
      }
      at += read;
    }
  }

  private void writeFully(FileChannel file, long position, ByteBuffer source) throws IOException {
    if (file.size() < size) {
      throw truncated(file, position);
    }
    long at = position;
    while (source.hasRemaining()) {
      at += file.write(source, at);
    }
  }

  private IOException truncated(FileChannel file, long position) throws IOException {
    return new IOException(
        """
        %s was opened with %s bytes and now has %s; position %s was asked for. Another process \
        truncated it: restore the file, then restart\
        """
            .formatted(path, size, file.size(), position));
  }

  private Object lockOf(long position) {
    return wordLocks[(int) (position / Long.BYTES) & (WORD_LOCKS - 1)];
  }

  private void checkOpen() throws IOException {
    if (closed) {
      throw new ClosedChannelException();
    }
  }

  private void checkWritable() throws IOException {
    checkOpen();
    if (!writable) {
      throw new NonWritableChannelException();
    }
    writeBack.requireNoFailure();
  }
}
