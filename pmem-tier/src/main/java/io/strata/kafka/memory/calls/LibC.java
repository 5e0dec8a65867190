package io.strata.kafka.memory.calls;

import com.sun.jna.LastErrorException;
import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.Charset;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.IntConsumer;

/**
 * The system calls of 64-bit Linux that the JDK does not offer, through JNA.
 *
 * <p>Loading this class loads native code: call {@link #available} first, and do without when it
 * says no. Stateless.
 */
public final class LibC {
  private static final int O_RDONLY = 0;
  private static final int O_RDWR = 2;
  private static final int O_CLOEXEC = 0x80000;
  private static final int O_PATH = 0x200000;
  private static final int AT_FDCWD = -100;
  private static final int STATX_BLOCKS = 0x400;
  private static final int MADV_POPULATE_WRITE = 23;

  /** SYNC_FILE_RANGE_WAIT_BEFORE, _WRITE and _WAIT_AFTER. */
  private static final int WRITE_OUT_AND_WAIT = 1 | 2 | 4;

  private static final int POSIX_FADV_WILLNEED = 3;
  private static final int POSIX_FADV_DONTNEED = 4;

  /** Linux ignores what is beyond the device's own limit (read_ahead_kb is 128 by default). */
  private static final long ADVISED_AT_ONCE = 128 << 10;

  private static final int F_OFD_SETLK = 37;
  private static final short F_WRLCK = 1;

  /** {@code struct flock} of 64-bit Linux: type, origin, start, length, process. */
  private static final int FLOCK_LENGTH = 32;

  private static final int FALLOC_FL_KEEP_SIZE = 0x01;
  private static final int FALLOC_FL_ZERO_RANGE = 0x10;

  /** In {@code struct statx}; the same on every architecture, as are its 256 bytes. */
  private static final int STATX_MASK_OFFSET = 0;

  private static final int STATX_BLOCKS_OFFSET = 48;
  private static final int STATX_LENGTH = 256;

  /** The unit of {@code st_blocks}, whatever the file system's block size is. */
  private static final int BYTES_PER_BLOCK = 512;

  private LibC() {}

  /** Returns whether these calls can be made here. Does not throw. */
  public static boolean available() {
    return Availability.AVAILABLE;
  }

  /**
   * Returns why these calls cannot be made on this Linux, and what to do; empty where they can, and
   * elsewhere. Does not throw.
   */
  public static Optional<String> missing() {
    return Availability.MISSING.map(
        """
        Strata cannot make system calls (%s), and does without: it writes the blocks of a new pool \
        instead of allocating them, does not see holes in a pool, does not load the pages of a \
        pool ahead, and has no pool of type pmem. JNA unpacks its library to ~/.cache/JNA or \
        java.io.tmpdir: if they are missing, read-only or mounted noexec, start the JVM with \
        -Djna.tmpdir=<a directory that its user may write to, on a file system without noexec>\
        """
            ::formatted);
  }

  /**
   * Allocates the blocks of a range of a file, and makes the file long enough to hold it.
   *
   * @throws LastErrorException with {@code errno}: ENOSPC (28) when there is no space, EOPNOTSUPP
   *     (95) when the file system cannot
   */
  public static void allocate(Path file, long position, long length) {
    int descriptor = open(file);
    try {
      int unused = Calls.fallocate(descriptor, 0, position, length);
    } finally {
      close(descriptor);
    }
  }

  /** Opens a file for reading and writing. */
  public static int open(Path file) {
    return Calls.open(pathBytes(file), O_RDWR | O_CLOEXEC);
  }

  /** Opens a file for its name alone: it can be neither read nor written, and stays what it is. */
  static int openName(Path file) {
    return Calls.open(pathBytes(file), O_PATH | O_CLOEXEC);
  }

  public static void close(int descriptor) {
    int unused = Calls.close(descriptor);
  }

  /**
   * Locks a file, all of it and exclusively. The lock is that of the open file description: it goes
   * when the descriptor is closed or the process ends, and not when another descriptor of the file
   * is closed.
   *
   * @throws LastErrorException with {@code errno}: EAGAIN (11) or EACCES (13) when it is locked
   *     through another description, by whichever process
   */
  static void lock(int descriptor) {
    try (Memory lock = new Memory(FLOCK_LENGTH)) {
      lock.clear();
      lock.setShort(0, F_WRLCK);
      int unused = Calls.fcntl(descriptor, F_OFD_SETLK, lock);
    }
  }

  /**
   * Makes a range of a file read as zeros, without writing it and without freeing its blocks. The
   * file's length stays.
   *
   * @throws LastErrorException with {@code errno}: EOPNOTSUPP (95) when the file system cannot
   */
  public static void zeroRange(int descriptor, long position, long length) {
    int mode = FALLOC_FL_KEEP_SIZE | FALLOC_FL_ZERO_RANGE;
    int unused = Calls.fallocate(descriptor, mode, position, length);
  }

  /** Advises the kernel that a file's cached pages will not be needed; a hint, which may fail. */
  static void dontNeed(Path file) {
    advise(file, descriptor -> Calls.posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED));
  }

  /** Advises the kernel that a range of a file will be read; a hint, which may fail. */
  static void willNeed(Path file, long position, long length) {
    advise(
        file,
        descriptor -> {
          for (long done = 0; done < length; done += ADVISED_AT_ONCE) {
            long piece = Math.min(ADVISED_AT_ONCE, length - done);
            int unused =
                Calls.posix_fadvise(descriptor, position + done, piece, POSIX_FADV_WILLNEED);
          }
        });
  }

  /**
   * Writes a range of a file's dirty pages to the device, waits for them, and drops them from the
   * cache. The device's own cache and the file system's journal are left alone: nothing is durable
   * by it.
   */
  static void writeOut(int descriptor, long position, long length) {
    int unusedWritten = Calls.sync_file_range(descriptor, position, length, WRITE_OUT_AND_WAIT);
    int unusedDropped = Calls.posix_fadvise(descriptor, position, length, POSIX_FADV_DONTNEED);
  }

  private static void advise(Path file, IntConsumer advice) {
    int descriptor = Calls.open(pathBytes(file), O_RDONLY | O_CLOEXEC);
    try {
      advice.accept(descriptor);
    } finally {
      close(descriptor);
    }
  }

  /** The bytes that a file occupies on its medium; empty when the file system does not say. */
  public static OptionalLong allocatedBytes(Path file) {
    try (Memory status = new Memory(STATX_LENGTH)) {
      int unused = Calls.statx(AT_FDCWD, pathBytes(file), 0, STATX_BLOCKS, status);
      ByteBuffer fields = status.getByteBuffer(0, STATX_LENGTH).order(ByteOrder.nativeOrder());
      if ((fields.getInt(STATX_MASK_OFFSET) & STATX_BLOCKS) == 0) {
        return OptionalLong.empty();
      }
      return OptionalLong.of(fields.getLong(STATX_BLOCKS_OFFSET) * BYTES_PER_BLOCK);
    }
  }

  /**
   * Makes the pages of a range of a mapping present and writable without changing their bytes.
   *
   * @param address a multiple of the page size
   * @return whether it was done; false when the kernel does not know how, or the range has a fault
   */
  static boolean populateForWriting(long address, long length) {
    try {
      int unused = Calls.madvise(address, length, MADV_POPULATE_WRITE);
      return true;
    } catch (LastErrorException e) {
      return false;
    }
  }

  /** Returns where the first byte of a direct buffer is. */
  static long address(Buffer direct) {
    return Pointer.nativeValue(Native.getDirectBufferPointer(direct));
  }

  private static byte[] pathBytes(Path path) {
    String encoding = System.getProperty("sun.jnu.encoding", "UTF-8");
    return (path.toAbsolutePath() + "\0").getBytes(Charset.forName(encoding));
  }

  /** Asks once whether the calls can be bound. */
  private static final class Availability {
    private static final boolean LINUX = System.getProperty("os.name", "").equals("Linux");
    static final Optional<String> MISSING = LINUX ? probe() : Optional.empty();
    static final boolean AVAILABLE = LINUX && MISSING.isEmpty();

    private static Optional<String> probe() {
      try {
        return Native.POINTER_SIZE == Long.BYTES && Calls.bound()
            ? Optional.empty()
            : Optional.of("this JVM has 32 bits");
      } catch (LinkageError e) {
        // JNA is not on the class path, cannot unpack its library, or libc lacks a call.
        return Optional.of(e.toString().strip());
      }
    }
  }

  private static final class Calls {
    static {
      Native.register(Calls.class, "c");
    }

    private Calls() {}

    static boolean bound() {
      return true;
    }

    static native int open(byte[] path, int flags) throws LastErrorException;

    static native int close(int descriptor) throws LastErrorException;

    static native int fcntl(int descriptor, int command, Pointer argument)
        throws LastErrorException;

    static native int fallocate(int descriptor, int mode, long offset, long length)
        throws LastErrorException;

    // The call's own name.
    @SuppressWarnings({"checkstyle:MethodName", "MemberName"})
    static native int posix_fadvise(int descriptor, long offset, long length, int advice)
        throws LastErrorException;

    // The call's own name.
    @SuppressWarnings({"checkstyle:MethodName", "MemberName"})
    static native int sync_file_range(int descriptor, long offset, long length, int flags)
        throws LastErrorException;

    static native int statx(int directory, byte[] path, int flags, int mask, Pointer status)
        throws LastErrorException;

    static native int madvise(long address, long length, int advice) throws LastErrorException;
  }
}
