package io.strata.kafka.migration.remote.store;

import com.sun.jna.LastErrorException;
import com.sun.jna.Native;
import java.nio.charset.Charset;
import java.nio.file.Path;

/**
 * Has the kernel read part of a file into the page cache while its reader does other work
 * (posix_fadvise(2)). Without JNA, or on another system than Linux, without effect. Stateless.
 *
 * <p>Thread safety: may be called by any thread.
 */
final class ReadAheadHint {

  private static final int O_RDONLY = 0;
  private static final int O_CLOEXEC = 0x80000;
  private static final int POSIX_FADV_WILLNEED = 3;

  private static final boolean AVAILABLE = isLinux() && canBind();

  private ReadAheadHint() {}

  private static boolean isLinux() {
    return System.getProperty("os.name", "").equals("Linux");
  }

  private static boolean canBind() {
    try {
      return Native.POINTER_SIZE == Long.BYTES && Calls.bound();
    } catch (LinkageError e) {
      // JNA is not on the class path, cannot unpack its library, or libc lacks a call.
      return false;
    }
  }

  /**
   * Begins to read a range, and waits for none of it. What is in the page cache stays as it is.
   *
   * @param file does not have to exist
   * @param length may reach beyond the file's end
   */
  static void willNeed(Path file, long position, long length) {
    if (AVAILABLE) {
      try {
        Calls.advise(file, position, length);
      } catch (LastErrorException e) {
        // A hint only: the read itself says what is wrong with the file.
        return;
      }
    }
  }

  /** The calls as libc has them. */
  private static final class Calls {
    static {
      Native.register(Calls.class, "c");
    }

    private Calls() {}

    static boolean bound() {
      return true;
    }

    static void advise(Path file, long position, long length) {
      String encoding = System.getProperty("sun.jnu.encoding", "UTF-8");
      byte[] path = (file.toAbsolutePath() + "\0").getBytes(Charset.forName(encoding));
      int descriptor = open(path, O_RDONLY | O_CLOEXEC);
      try {
        int unused = posix_fadvise(descriptor, position, length, POSIX_FADV_WILLNEED);
      } finally {
        int unused = close(descriptor);
      }
    }

    static native int open(byte[] path, int flags) throws LastErrorException;

    static native int close(int descriptor) throws LastErrorException;

    // The call's own name.
    @SuppressWarnings({"checkstyle:MethodName", "MemberName"})
    static native int posix_fadvise(int descriptor, long offset, long length, int advice);
  }
}
