package io.strata.kafka.migration.plan;

/**
 * How a move ended that did not fail.
 *
 * @param outcome how
 * @param bytes copied; for an eviction, freed; 0 unless done
 * @param reason one phrase; empty when done
 */
public record MoveResult(Outcome outcome, long bytes, String reason) {

  /** How a move ended. */
  public enum Outcome {
    /** It has been made. */
    DONE,
    /** The segment is gone or changed, or the engine asked to stop. */
    CANCELLED,
    /** The target tier has no space, clean segments evicted. */
    NO_SPACE
  }

  public static MoveResult done(long bytes) {
    return new MoveResult(Outcome.DONE, bytes, "");
  }

  public static MoveResult cancelled(String reason) {
    return new MoveResult(Outcome.CANCELLED, 0, reason);
  }

  public static MoveResult noSpace(String reason) {
    return new MoveResult(Outcome.NO_SPACE, 0, reason);
  }
}
