package io.strata.kafka.migration;

import java.io.IOException;

/**
 * A segment's bytes are not what Kafka wrote: a batch's checksum does not fit. The segment stays
 * where it is and is copied nowhere, over no better copy.
 */
public final class CorruptSegmentException extends IOException {

  private static final long serialVersionUID = 1;

  /** With a message of the segment, the position, what was found and expected, and what to do. */
  public CorruptSegmentException(String message) {
    super(message);
  }
}
