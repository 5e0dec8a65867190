package io.strata.kafka.segment;

/**
 * How the copying of a segment ended that did not fail.
 *
 * @param changes for {@link Outcome#COPIED}: what the segment's count of changes must still be when
 *     the copy is published
 * @param end the offset up to which the segment was copied, from its beginning or from where it was
 *     clean
 * @param problem for {@link Outcome#CORRUPT}: what is wrong with the segment's bytes; else empty
 */
public record CopyResult(Outcome outcome, long changes, long end, long bytes, String problem) {

  /** How the copying ended. */
  public enum Outcome {
    /** All bytes are copied, durable and verified. */
    COPIED,
    /** The segment was changed, deleted or moved meanwhile. */
    CHANGED,
    /** It was asked to stop. */
    STOPPED,
    /** The target pool has no space. */
    TARGET_FULL,
    /** The segment's own bytes are not what Kafka wrote; nothing was copied. */
    CORRUPT
  }

  static CopyResult copied(long changes, long end, long bytes) {
    return new CopyResult(Outcome.COPIED, changes, end, bytes, "");
  }

  static CopyResult ended(Outcome outcome) {
    return new CopyResult(outcome, 0, 0, 0, "");
  }

  static CopyResult corrupt(String problem) {
    return new CopyResult(Outcome.CORRUPT, 0, 0, 0, problem);
  }
}
