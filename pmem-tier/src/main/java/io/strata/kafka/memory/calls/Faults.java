package io.strata.kafka.memory.calls;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Turns a fault under a mapping (a bad block, a file truncated below the range) into an {@link
 * IOException} of the call that met it. Stateless.
 *
 * <p>The JVM answers such a fault with an {@link InternalError}, but not always at once: compiled
 * code goes on with whatever is in its registers, and the error is thrown at some later point. A
 * caller therefore asks for it by {@link #deliver} after each access to a mapping and before it
 * trusts what it has read or written. See docs/adr/0002-faults-under-a-mapping.md.
 */
public final class Faults {
  /**
   * The dimensions of an array of arrays without elements. Not constants to the compiler, which
   * would otherwise make the array without the VM.
   */
  private static final int[] EMPTY = {0, 0};

  private Faults() {}

  /**
   * Throws the {@link InternalError} of a fault that this thread has met, if there is one.
   *
   * <p>Takes about 25 ns and leaves 16 bytes of garbage.
   */
  public static void deliver() {
    // The array is of no interest. The call into the VM matters: interpreter and compilers
    // alike leave this allocation to it, and on the way back to Java the VM throws what is pending
    // for the thread. (A native method, such as Thread.holdsLock, does that from JDK 19 on only.)
    byte[][] unused = new byte[EMPTY[0]][EMPTY[1]];
  }

  /** The exception for a fault in the given range of the file. */
  public static IOException at(
      Path file, long position, long length, long size, InternalError fault) {
    return new IOException(
        """
        Fault in the mapping of %s at position %s, length %s: %s. The device has a bad block \
        there, another process truncated the file, or the file shares blocks with a copy of it and \
        its file system is full: check the device and free space, then restart\
        """
            .formatted(file, position, length, found(file, size)),
        fault);
  }

  private static String found(Path file, long size) {
    try {
      return "the file was opened with " + size + " bytes and now has " + Files.size(file);
    } catch (IOException e) {
      return "the file was opened with " + size + " bytes and cannot be looked at now: " + e;
    }
  }
}
