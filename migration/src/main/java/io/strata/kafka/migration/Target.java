package io.strata.kafka.migration;

import static java.util.Objects.requireNonNull;

import io.strata.kafka.api.Move;

/**
 * Where copies go, as far as failures are kept apart: one log directory, or a tier, on the way down
 * or up. A full disk holds up what goes to it and nothing else.
 *
 * <p>Immutable and safe for use by any thread.
 *
 * @param up whether it is for promotions
 * @param tier its number
 * @param logDirectory the log directory where the target is one; otherwise empty
 */
record Target(boolean up, int tier, String logDirectory) {

  /** Checks that nothing is null. */
  Target {
    requireNonNull(logDirectory);
  }

  static Target of(Move move, int logDirs) {
    return move.kind() == Move.Kind.PROMOTE
        ? new Target(true, move.toTier(), "")
        : down(move.toTier(), logDirs, move.segment().logDirectory());
  }

  static Target down(int tier, int logDirs, String logDirectory) {
    return new Target(false, tier, tier == logDirs ? logDirectory : "");
  }
}
