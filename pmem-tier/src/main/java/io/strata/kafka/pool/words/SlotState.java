package io.strata.kafka.pool.words;

import io.strata.kafka.layout.SlotLayout;
import java.util.Optional;

/** The state of a slot. */
public enum SlotState {
  /** Nothing. */
  FREE(SlotLayout.STATE_FREE),
  /** A segment. */
  LIVE(SlotLayout.STATE_LIVE),
  /** A segment whose log file is about to be, or has been, unlinked. */
  DELETING(SlotLayout.STATE_DELETING);

  private final long code;

  SlotState(long code) {
    this.code = code;
  }

  public long code() {
    return code;
  }

  /** Returns the state with a code; empty if no state has it. */
  public static Optional<SlotState> ofCode(long code) {
    for (SlotState state : values()) {
      if (state.code == code) {
        return Optional.of(state);
      }
    }
    return Optional.empty();
  }
}
