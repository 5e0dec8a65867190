package io.strata.kafka.memory.calls;

import com.sun.jna.LastErrorException;
import java.nio.file.Path;

/**
 * The kernel's cache of file pages. Stateless.
 *
 * <p>Thread safety: may be called by any thread.
 */
public final class PageCache {

  private PageCache() {}

  /**
   * Drops a file's durable pages from the cache, where the system can be asked for that: a copy
   * that is read elsewhere is not to push out what is read there (posix_fadvise(2)). Pages that are
   * not yet on the medium stay.
   */
  public static void drop(Path file) {
    advise(() -> LibC.dontNeed(file));
  }

  /**
   * Asks the kernel to read bytes that are not in the cache, where the system can be asked for
   * that; does not wait for them. That does not count as their first read: the kernel keeps them no
   * longer than others that were read once.
   */
  public static void fill(Path file, long position, long length) {
    advise(() -> LibC.willNeed(file, position, length));
  }

  /** Brings written bytes of a file from the cache to its device; used by one thread. */
  public interface WriteOut extends AutoCloseable {
    /**
     * Waits until a range is written, and drops it from the cache, where the system can be asked
     * for that (sync_file_range(2), posix_fadvise(2)). It is not durable by that; a fault of the
     * device is shown by the next force.
     */
    void range(long position, long length);

    @Override
    default void close() {}
  }

  /** Opens a file to write it out piece by piece; else that is left to the kernel. */
  public static WriteOut writeOut(Path file) {
    if (!LibC.available()) {
      return (position, length) -> {};
    }
    int descriptor;
    try {
      descriptor = LibC.open(file);
    } catch (LastErrorException e) {
      return (position, length) -> {};
    }
    return new WriteOut() {
      @Override
      public void range(long position, long length) {
        advise(() -> LibC.writeOut(descriptor, position, length));
      }

      @Override
      public void close() {
        advise(() -> LibC.close(descriptor));
      }
    };
  }

  /** A hint only: the file may be gone. */
  private static void advise(Runnable call) {
    if (LibC.available()) {
      try {
        call.run();
      } catch (LastErrorException e) {
        return;
      }
    }
  }
}
