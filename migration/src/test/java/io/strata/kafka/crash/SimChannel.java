package io.strata.kafka.crash;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.NonWritableChannelException;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;

/** A channel on a {@link SimInode}, whatever its name. Thread safety: none. */
final class SimChannel extends FileChannel {

  private final SimFileSystem disk;
  private final Path path;
  private final SimInode inode;
  private final boolean writable;
  private long position;

  SimChannel(SimFileSystem disk, Path path, SimInode inode, boolean writable) {
    this.disk = disk;
    this.path = path;
    disk.open().add(path.toString());
    this.inode = inode;
    this.writable = writable;
  }

  private void check(boolean toWrite) throws IOException {
    if (!isOpen()) {
      throw new ClosedChannelException();
    }
    closeIfInterrupted();
    if (toWrite && !writable) {
      throw new NonWritableChannelException();
    }
  }

  /** As the JDK does. */
  private void closeIfInterrupted() throws IOException {
    if (Thread.currentThread().isInterrupted()) {
      close();
      throw new ClosedByInterruptException();
    }
  }

  private int call(Call call, int bytes) throws IOException {
    int allowed = disk.call(call, path, bytes);
    closeIfInterrupted();
    return allowed;
  }

  @Override
  public int read(ByteBuffer target) throws IOException {
    int read = read(target, position);
    position += Math.max(0, read);
    return read;
  }

  @Override
  public long read(ByteBuffer[] targets, int offset, int length) {
    throw new UnsupportedOperationException();
  }

  @Override
  public int read(ByteBuffer target, long from) throws IOException {
    check(false);
    int unused = call(Call.READ, 0);
    if (from >= inode.size()) {
      return target.hasRemaining() ? -1 : 0;
    }
    byte[] bytes = new byte[(int) Math.min(target.remaining(), inode.size() - from)];
    int read = inode.read(from, bytes, 0, bytes.length);
    target.put(bytes, 0, read);
    return read;
  }

  @Override
  public int write(ByteBuffer source) throws IOException {
    int written = write(source, position);
    position += written;
    return written;
  }

  @Override
  public long write(ByteBuffer[] sources, int offset, int length) {
    throw new UnsupportedOperationException();
  }

  @Override
  public int write(ByteBuffer source, long to) throws IOException {
    check(true);
    byte[] bytes = new byte[call(Call.WRITE, source.remaining())];
    source.get(bytes);
    disk.write(inode, to, bytes);
    return bytes.length;
  }

  @Override
  public long position() throws IOException {
    check(false);
    return position;
  }

  @Override
  public FileChannel position(long newPosition) throws IOException {
    check(false);
    position = newPosition;
    return this;
  }

  @Override
  public long size() throws IOException {
    check(false);
    return inode.size();
  }

  @Override
  public FileChannel truncate(long size) throws IOException {
    check(true);
    int unused = call(Call.TRUNCATE, 0);
    disk.truncate(inode, size);
    position = Math.min(position, size);
    return this;
  }

  @Override
  public void force(boolean metaData) throws IOException {
    check(false);
    int unused = call(inode.directory ? Call.DIRECTORY_FORCE : Call.FILE_FORCE, 0);
    disk.force(inode, metaData);
  }

  @Override
  public long transferTo(long from, long count, WritableByteChannel target) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate((int) Math.min(count, inode.size() - from));
    int unused = read(bytes, from);
    return target.write(bytes.flip());
  }

  @Override
  public long transferFrom(ReadableByteChannel source, long to, long count) {
    throw new UnsupportedOperationException();
  }

  @Override
  public MappedByteBuffer map(MapMode mode, long from, long length) {
    throw new UnsupportedOperationException();
  }

  @Override
  public FileLock lock(long from, long length, boolean shared) {
    throw new UnsupportedOperationException();
  }

  @Override
  public FileLock tryLock(long from, long length, boolean shared) {
    throw new UnsupportedOperationException();
  }

  @Override
  protected void implCloseChannel() {
    boolean unused = disk.open().remove(path.toString());
  }
}
