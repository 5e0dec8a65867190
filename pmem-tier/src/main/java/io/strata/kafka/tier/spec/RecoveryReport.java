package io.strata.kafka.tier.spec;

import java.util.List;

/**
 * The findings and actions of recovery when a tier was opened. Immutable.
 *
 * @param hot segments whose bytes are in the pools and whose log files are there
 * @param restored log files created again, because the power went before they reached the disk
 * @param orphaned slots whose log file is missing, which are kept until the next start
 * @param freed slots freed because their log file is still missing, or never had a record
 * @param deletionsFinished deletions that a crash had interrupted
 * @param tagsRemoved log files whose bytes had already left the pool, and that only kept the tag
 * @param copiesDropped slots with a copy that was being made, or was of no use any more
 * @param kept slots left as they are, each with the reason (their log directory is offline)
 * @param millis how long recovery took
 */
public record RecoveryReport(
    int hot,
    List<String> restored,
    List<String> orphaned,
    List<String> freed,
    int deletionsFinished,
    int tagsRemoved,
    int copiesDropped,
    List<String> kept,
    long millis) {

  /** Before anything has been looked at. */
  public static final RecoveryReport NONE =
      new RecoveryReport(0, List.of(), List.of(), List.of(), 0, 0, 0, List.of(), 0);

  /** Copies the lists. */
  public RecoveryReport {
    restored = List.copyOf(restored);
    orphaned = List.copyOf(orphaned);
    freed = List.copyOf(freed);
    kept = List.copyOf(kept);
  }
}
