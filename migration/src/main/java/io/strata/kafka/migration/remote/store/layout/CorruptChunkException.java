package io.strata.kafka.migration.remote.store.layout;

import java.io.IOException;

/** The store has other bytes than were written: the message names the object. */
public final class CorruptChunkException extends IOException {
  private static final long serialVersionUID = 1L;

  public CorruptChunkException(String message) {
    super(message);
  }

  /** Says what was found in the bytes that {@code what} names. */
  public CorruptChunkException(String what, long found, int crc, long expected, int expectedCrc) {
    this(
        """
        %s: found %d bytes with CRC-32C %08x, expected %d with %08x; the object is not what was \
        copied: look at its disk, and check the store with 'strata remote scrub'\
        """
            .formatted(what, found, crc, expected, expectedCrc));
  }
}
