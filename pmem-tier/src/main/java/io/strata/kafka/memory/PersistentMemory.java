package io.strata.kafka.memory;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A fixed range of bytes in a file that outlive the process.
 *
 * <p>A stored byte is visible to every later load in the process (and, for the types over a shared
 * file, in others) at once; it is durable, to the extent that {@link #durability()} says, when a
 * {@link #persist} that covers it has returned. Between store and persist any subset of the stored
 * 64-byte lines may reach the medium, in any order, each torn at 8 bytes at the worst (see the SNIA
 * NVM Programming Model, and PMDK's {@code pmem_persist(3)}).
 *
 * <p>Positions and lengths are in bytes from the start of the file, and lie within {@link #size()};
 * a range outside it throws {@link IndexOutOfBoundsException}. A store into a memory opened
 * read-only throws {@link java.nio.channels.NonWritableChannelException}. Every method throws
 * {@link java.nio.channels.ClosedChannelException} after {@link #close()}. A fault of the medium (a
 * bad block, a file that has been truncated under a mapping) is an {@link IOException} from the
 * call that met it, never an {@link Error}, and never wrong bytes.
 *
 * <p>No method is interruptible, and none closes anything when its thread is interrupted: an
 * interrupt stays pending. ({@link #transferTo} to an interruptible target closes that target, as
 * the target's own contract says.)
 *
 * <p>Thread safety: all methods may be called by any number of threads. Stores to the same bytes
 * must be ordered by the caller.
 */
public interface PersistentMemory extends AutoCloseable {

  MemoryType type();

  /** Returns the durability of these bytes, probed when the memory was opened. */
  Durability durability();

  Path path();

  /** Length in bytes; fixed while open. */
  long size();

  boolean writable();

  /**
   * Fills the remaining bytes of {@code target} from {@code position}, and advances its position to
   * its limit. On any exception {@code target}'s position is unchanged.
   */
  void load(long position, ByteBuffer target) throws IOException;

  /** Reads the little-endian 8 bytes at {@code position}, a multiple of 8, atomically (acquire). */
  long loadLong(long position) throws IOException;

  /**
   * Copies the remaining bytes of {@code source} to {@code position}, and advances its position to
   * its limit. Not durable. On any exception the source's position is unchanged and the bytes under
   * the range are undefined.
   */
  void store(long position, ByteBuffer source) throws IOException;

  /**
   * As {@link #store} followed by {@link #persist} of the same range, by the fastest way the type
   * has (non-temporal stores, for one).
   */
  void storeAndPersist(long position, ByteBuffer source) throws IOException;

  /**
   * Stores 8 little-endian bytes at {@code position}, a multiple of 8, atomically: after a crash
   * the old or the new value is there, never a mixture. Earlier stores of this thread are visible
   * to a thread that loads the new value by {@link #loadLong}. Not durable.
   */
  void storeLong(long position, long value) throws IOException;

  /** Stores zeros in the {@code length} bytes at {@code position}. Not durable. */
  void zero(long position, long length) throws IOException;

  /**
   * As {@link #zero}, for ranges of any length that no thread stores into meanwhile: where the file
   * system can, it is asked to make them zeros, and no zeros are written. Blocks stay allocated.
   * Not durable before a {@link #force}; meant for memories of {@link Durability#FORCE}.
   */
  default void zeroRange(long position, long length) throws IOException {
    zero(position, length);
  }

  /**
   * Makes the range durable to the extent of {@link #durability()}: flush and fence for {@link
   * Durability#POWER}; for the others, an ordering of the stores only.
   */
  void persist(long position, long length) throws IOException;

  /**
   * Makes everything persisted in the range survive a power failure as far as the medium can:
   * nothing more to do for {@link Durability#POWER}; {@code msync} or {@code fdatasync} for {@link
   * Durability#FORCE}; without effect for {@link Durability#PROCESS}.
   *
   * <p>Once a force of a memory with {@link Durability#FORCE} has failed, every further force and
   * every store throws an {@link IOException}, until the file is opened as a new memory: the kernel
   * reports a failed write-back once, and not for which bytes.
   */
  void force(long position, long length) throws IOException;

  /**
   * As {@link #force}, of a few words beside many bytes that wait to be written: it does not write
   * those where the system can tell them apart, and is not shared with other threads.
   */
  default void forceAlone(long position, long length) throws IOException {
    force(position, length);
  }

  /**
   * Makes the pages of a range present and writable, so that no store waits for them; no byte
   * changes. A hint: where it fails, or cannot be given, stores do the same one page at a time.
   *
   * @param position a multiple of the page size
   * @param length at most 64 MiB
   * @return whether it was done; false when these bytes have no pages, and where the kernel cannot
   *     (Linux before 5.14)
   */
  default boolean populate(long position, long length) throws IOException {
    return false;
  }

  /** The force that failed, since which nothing is stored any more; empty while none did. */
  default Optional<IOException> failure() {
    return Optional.empty();
  }

  /**
   * Makes one bounded attempt to write up to {@code count} bytes from {@code position} to {@code
   * target}, without a copy through the Java heap.
   *
   * <p>The target gets a copy: a store into the range after this method has returned does not
   * change what a socket sends later.
   *
   * @return the number of bytes written, from 0 (a non-blocking target that takes none) to {@code
   *     count}; it may be less than {@code count} for any target
   */
  long transferTo(long position, long count, WritableByteChannel target) throws IOException;

  /** Closes the memory; without effect when closed. Does not persist or force anything. */
  @Override
  void close() throws IOException;
}
