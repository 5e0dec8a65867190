package io.strata.kafka.memory;

import java.io.IOException;

/** A memory whose pages the kernel can make present by one call. */
interface Prefaultable {
  /**
   * Makes the pages of a range of at most {@link MappedWindows#MAX_PIECE} bytes present and
   * writable.
   *
   * @param position a multiple of the page size
   * @return whether it was done; if not, the caller touches the pages itself
   */
  boolean populate(long position, long length) throws IOException;
}
