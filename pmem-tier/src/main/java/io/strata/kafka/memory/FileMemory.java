package io.strata.kafka.memory;

import io.strata.kafka.memory.calls.MappedWindows;
import java.io.IOException;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
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
final class FileMemory extends MemoryOnFile<ReopeningChannel> {
  /** A power of two. */
  private static final int WORD_LOCKS = 64;

  /**
   * The length of a buffer for a transfer, in bytes: a socket's send buffer (100 KiB is Kafka's
   * default) takes no more at once, and what it does not take has been read in vain.
   */
  private static final int BUFFER_LENGTH = 256 << 10;

  /** More threads than this at a time get a buffer as well; it is not kept. */
  private static final int KEPT_BUFFERS = 16;

  private static final ByteBuffer ZEROS = ByteBuffer.allocateDirect(256 << 10).asReadOnlyBuffer();

  private final ReopeningChannel channel;

  /** The file, mapped for {@code msync} alone; empty where it is not needed or not possible. */
  private final Optional<MappedWindows> windows;

  private final Object[] wordLocks =
      IntStream.range(0, WORD_LOCKS).mapToObj(i -> new Object()).toArray();

  /** Kept for the next transfer: to allocate a buffer takes longer than to fill it. */
  private final BlockingQueue<ByteBuffer> transferBuffers = new ArrayBlockingQueue<>(KEPT_BUFFERS);

  private volatile boolean closed;

  FileMemory(
      Path path,
      long size,
      boolean writable,
      Durability durability,
      ReopeningChannel channel,
      Optional<MappedWindows> windows,
      WriteBack<ReopeningChannel> writeBack,
      Optional<ZeroedRanges> ranges) {
    super(MemoryType.FILE, path, size, writable, durability, writeBack, ranges);
    this.channel = channel;
    this.windows = windows;
  }

  @Override
  ReopeningChannel open() throws IOException {
    if (closed) {
      throw new ClosedChannelException();
    }
    return channel;
  }

  @Override
  public void load(long position, ByteBuffer target) throws IOException {
    ReopeningChannel open = open();
    check(position, target.remaining());
    int start = target.position();
    int limit = target.limit();
    try {
      open.repeatably(
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
    ReopeningChannel unused = open();
    checkWord(position, size);
    ByteBuffer word = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    synchronized (lockOf(position)) {
      load(position, word);
    }
    return word.getLong(0);
  }

  @Override
  public void store(long position, ByteBuffer source) throws IOException {
    ReopeningChannel open = openForWriting();
    int start = source.position();
    int length = source.remaining();
    check(position, length);
    try {
      open.repeatably(
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
    ReopeningChannel unused = openForWriting();
    checkWord(position, size);
    ByteBuffer word = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    word.putLong(0, value);
    synchronized (lockOf(position)) {
      store(position, word);
    }
  }

  @Override
  public void zero(long position, long length) throws IOException {
    ReopeningChannel unused = openForWriting();
    check(position, length);
    ByteBuffer zeros = ZEROS.duplicate();
    for (long done = 0; done < length; ) {
      int piece = (int) Math.min(zeros.capacity(), length - done);
      store(position + done, zeros.clear().limit(piece));
      done += piece;
    }
  }

  @Override
  public void persist(long position, long length) throws IOException {
    ReopeningChannel unused = open();
    check(position, length);
    VarHandle.releaseFence();
  }

  /**
   * {@inheritDoc}
   *
   * <p>By {@code msync} of a mapping that nothing else uses: {@code fdatasync} writes all that
   * waits in the file.
   */
  @Override
  public void forceAlone(long position, long length) throws IOException {
    if (windows.isEmpty()) {
      force(position, length);
    } else {
      ReopeningChannel unused = open();
      check(position, length);
      writeBack.force(
          windows.get(), position, length, (mapped, at, bytes) -> mapped.force(path, at, bytes));
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
  public long transferTo(long position, long count, WritableByteChannel target) throws IOException {
    ReopeningChannel unused = open();
    check(position, count);
    if (count == 0) {
      return 0;
    }
    ByteBuffer kept = transferBuffers.poll();
    ByteBuffer copy = kept == null ? ByteBuffer.allocateDirect(BUFFER_LENGTH) : kept.clear();
    try {
      copy.limit((int) Math.min(count, copy.capacity()));
      load(position, copy);
      return target.write(copy.flip());
    } finally {
      boolean unusedToo = transferBuffers.offer(copy);
    }
  }

  @Override
  public void close() throws IOException {
    closed = true;
    super.close();
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
}
