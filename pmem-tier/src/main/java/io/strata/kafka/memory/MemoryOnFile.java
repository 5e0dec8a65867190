package io.strata.kafka.memory;

import java.io.IOException;
import java.nio.channels.NonWritableChannelException;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;

/**
 * A memory over a file: its identity, its checks and its forces.
 *
 * <p>Thread safety: as {@link PersistentMemory} says.
 */
abstract class MemoryOnFile<M> implements PersistentMemory {
  private final MemoryType type;
  final Path path;
  final long size;
  final boolean writable;
  final Durability durability;
  final WriteBack<M> writeBack;

  /** Empty where zeros are stored. */
  private final Optional<ZeroedRanges> ranges;

  MemoryOnFile(
      MemoryType type,
      Path path,
      long size,
      boolean writable,
      Durability durability,
      WriteBack<M> writeBack,
      Optional<ZeroedRanges> ranges) {
    this.type = type;
    this.path = path;
    this.size = size;
    this.writable = writable;
    this.durability = durability;
    this.writeBack = writeBack;
    this.ranges = ranges;
  }

  /** Throws {@link java.nio.channels.ClosedChannelException} after a close. */
  abstract M open() throws IOException;

  final M openForWriting() throws IOException {
    M open = open();
    if (!writable) {
      throw new NonWritableChannelException();
    }
    writeBack.requireNoFailure();
    return open;
  }

  final void check(long position, long count) {
    check(position, count, size);
  }

  static void check(long position, long count, long available) {
    Objects.checkFromIndexSize(position, count, available);
  }

  /** Checks that an 8-byte word is within the memory, and at a multiple of 8. */
  static void checkWord(long position, long available) {
    check(position, Long.BYTES, available);
    if ((position & (Long.BYTES - 1)) != 0) {
      throw new IllegalArgumentException(
          "The position of an 8-byte word must be a multiple of 8, found " + position);
    }
  }

  @Override
  public final MemoryType type() {
    return type;
  }

  @Override
  public final Durability durability() {
    return durability;
  }

  @Override
  public final Path path() {
    return path;
  }

  @Override
  public final long size() {
    return size;
  }

  @Override
  public final boolean writable() {
    return writable;
  }

  @Override
  public final void zeroRange(long position, long length) throws IOException {
    M unused = openForWriting();
    check(position, length);
    if (ranges.isEmpty() || !ranges.get().zero(position, length)) {
      zero(position, length);
    }
  }

  @Override
  public final void force(long position, long length) throws IOException {
    M open = open();
    check(position, length);
    if (durability.needsForce() && writable) {
      writeBack.force(open, position, length);
    }
  }

  @Override
  public final Optional<IOException> failure() {
    return writeBack.failure();
  }

  @Override
  public void close() throws IOException {
    ranges.ifPresent(ZeroedRanges::close);
  }
}
