package io.strata.kafka.memory;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A memory that does everything as another one; subclasses say what they do otherwise.
 *
 * <p>Thread safety: that of the other memory.
 */
public class DelegatingMemory implements PersistentMemory {

  private final PersistentMemory memory;

  /** Closes the other memory when it is closed. */
  public DelegatingMemory(PersistentMemory memory) {
    this.memory = memory;
  }

  @Override
  public MemoryType type() {
    return memory.type();
  }

  @Override
  public Durability durability() {
    return memory.durability();
  }

  @Override
  public Path path() {
    return memory.path();
  }

  @Override
  public long size() {
    return memory.size();
  }

  @Override
  public boolean writable() {
    return memory.writable();
  }

  @Override
  public void load(long position, ByteBuffer target) throws IOException {
    memory.load(position, target);
  }

  @Override
  public long loadLong(long position) throws IOException {
    return memory.loadLong(position);
  }

  @Override
  public void store(long position, ByteBuffer source) throws IOException {
    memory.store(position, source);
  }

  @Override
  public void storeAndPersist(long position, ByteBuffer source) throws IOException {
    memory.storeAndPersist(position, source);
  }

  @Override
  public void storeLong(long position, long value) throws IOException {
    memory.storeLong(position, value);
  }

  @Override
  public void zero(long position, long length) throws IOException {
    memory.zero(position, length);
  }

  @Override
  public void zeroRange(long position, long length) throws IOException {
    memory.zeroRange(position, length);
  }

  @Override
  public void persist(long position, long length) throws IOException {
    memory.persist(position, length);
  }

  @Override
  public void force(long position, long length) throws IOException {
    memory.force(position, length);
  }

  @Override
  public void forceAlone(long position, long length) throws IOException {
    memory.forceAlone(position, length);
  }

  @Override
  public boolean populate(long position, long length) throws IOException {
    return memory.populate(position, length);
  }

  @Override
  public Optional<IOException> failure() {
    return memory.failure();
  }

  @Override
  public long transferTo(long position, long count, WritableByteChannel target) throws IOException {
    return memory.transferTo(position, count, target);
  }

  @Override
  public void close() throws IOException {
    memory.close();
  }
}
