package io.strata.kafka.migration.remote.faults;

import io.strata.kafka.migration.remote.faults.FaultyFileSystem.Operation;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;

/** Asks for faults before each read, write and force of an open file. */
final class FaultyChannel extends FileChannel {

  private final FaultyFileSystem files;
  private final Path path;
  private final FileChannel real;

  FaultyChannel(FaultyFileSystem files, Path path, FileChannel real) {
    this.files = files;
    this.path = path;
    this.real = real;
  }

  @Override
  public int read(ByteBuffer target) throws IOException {
    files.ask(Operation.READ, path);
    return real.read(target);
  }

  @Override
  public long read(ByteBuffer[] targets, int offset, int length) throws IOException {
    files.ask(Operation.READ, path);
    return real.read(targets, offset, length);
  }

  @Override
  public int read(ByteBuffer target, long position) throws IOException {
    files.ask(Operation.READ, path);
    return real.read(target, position);
  }

  @Override
  public int write(ByteBuffer source) throws IOException {
    files.ask(Operation.WRITE, path);
    return real.write(source);
  }

  @Override
  public long write(ByteBuffer[] sources, int offset, int length) throws IOException {
    files.ask(Operation.WRITE, path);
    return real.write(sources, offset, length);
  }

  @Override
  public int write(ByteBuffer source, long position) throws IOException {
    files.ask(Operation.WRITE, path);
    return real.write(source, position);
  }

  @Override
  public long position() throws IOException {
    return real.position();
  }

  @Override
  public FileChannel position(long position) throws IOException {
    FileChannel unused = real.position(position);
    return this;
  }

  @Override
  public long size() throws IOException {
    return real.size();
  }

  @Override
  public FileChannel truncate(long size) throws IOException {
    files.ask(Operation.WRITE, path);
    FileChannel unused = real.truncate(size);
    return this;
  }

  @Override
  public void force(boolean metadata) throws IOException {
    files.ask(Operation.WRITE, path);
    real.force(metadata);
  }

  @Override
  public long transferTo(long position, long count, WritableByteChannel target) throws IOException {
    files.ask(Operation.READ, path);
    return real.transferTo(position, count, target);
  }

  @Override
  public long transferFrom(ReadableByteChannel source, long position, long count)
      throws IOException {
    files.ask(Operation.WRITE, path);
    return real.transferFrom(source, position, count);
  }

  @Override
  public MappedByteBuffer map(MapMode mode, long position, long size) throws IOException {
    return real.map(mode, position, size);
  }

  @Override
  public FileLock lock(long position, long size, boolean shared) throws IOException {
    return real.lock(position, size, shared);
  }

  @Override
  public FileLock tryLock(long position, long size, boolean shared) throws IOException {
    return real.tryLock(position, size, shared);
  }

  @Override
  protected void implCloseChannel() throws IOException {
    real.close();
  }
}
