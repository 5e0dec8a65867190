package io.strata.kafka.pool.words;

import java.util.OptionalInt;

/**
 * Something in a pool that is not as it should be.
 *
 * @param slot the slot that it concerns; empty for the superblock and the session line
 * @param position where it was found, in bytes from the start of the file
 */
public record CheckFinding(
    Severity severity, OptionalInt slot, long position, String found, String expected) {

  /** How bad a finding is. */
  public enum Severity {
    /** Nothing is lost: the next opening for writing repairs it, or it does not matter. */
    WARNING,
    /** The pool cannot be opened for writing before it has been repaired. */
    ERROR
  }

  /** For output: {@code ERROR slot 3 at 12288: found …, expected …}. */
  @Override
  public String toString() {
    return "%s%s at %s: found %s, expected %s"
        .formatted(
            severity,
            slot.isPresent() ? " slot " + slot.getAsInt() : "",
            position,
            found,
            expected);
  }
}
