package io.strata.kafka.memory;

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
    if (LibC.available()) {
      try {
        LibC.dontNeed(file);
      } catch (LastErrorException e) {
        // A hint only, and the file may be gone.
        return;
      }
    }
  }
}
