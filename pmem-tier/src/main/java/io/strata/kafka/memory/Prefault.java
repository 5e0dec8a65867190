package io.strata.kafka.memory;

import java.io.IOException;

/**
 * Makes the pages of a memory present before their first use, so that no append pays for them.
 * Stateless.
 */
public final class Prefault {
  private static final int PAGE = 4096;

  private Prefault() {}

  /**
   * Makes every page of a writable memory present; its bytes stay as they are. Without effect on a
   * memory of type {@link MemoryType#FILE}, which has no pages of its own.
   *
   * <p>Must have the memory for itself: where the kernel offers no better way, a word of each page
   * is loaded and stored, and another thread's store between the two would be lost.
   *
   * @throws IOException on a fault of the medium
   */
  public static void run(PersistentMemory memory, ProgressListener listener) throws IOException {
    long size = memory.size();
    if (memory.type() == MemoryType.FILE) {
      listener.progress(size, size);
      return;
    }
    for (long start = 0; start < size; ) {
      long end = Math.min(start + MappedWindows.MAX_PIECE, size);
      if (!(memory instanceof Prefaultable pages) || !pages.populate(start, end - start)) {
        touch(memory, start, end);
      }
      start = end;
      listener.progress(start, size);
    }
  }

  private static void touch(PersistentMemory memory, long start, long end) throws IOException {
    for (long page = start; page + Long.BYTES <= end; page += PAGE) {
      memory.storeLong(page, memory.loadLong(page));
    }
  }
}
