package io.strata.kafka.tier.start;

import io.strata.kafka.pool.Slot;
import io.strata.kafka.pool.words.SlotFlag;
import io.strata.kafka.pool.words.SlotState;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The action that recovery takes about a slot. The decision needs no I/O; docs/design/tier.md has
 * it as a table, which a test reads.
 */
enum RecoveryRule {
  /** The segment is in the slot. */
  USE,
  /** As {@link #USE}; lowers the clean length to the log file's: a truncation had not ended. */
  LOWER_CLEAN,
  /** As {@link #USE}; truncates the log file to the clean length: a destage had not ended. */
  TRUNCATE,
  /** Skips the log directory: the log file lacks evicted bytes, which nothing else has. */
  SKIP_DIRECTORY,
  /** Ends a deletion: unlinks the log file and frees the slot. */
  UNLINK,
  /** Ends a deletion, of which the log file has been unlinked: frees the slot. */
  FREE_DELETED,
  /** Frees a slot with an unfinished copy of a segment, or one that the segment has left. */
  DROP,
  /** As {@link #DROP}; the log file's tag goes too. */
  LEAVE,
  /** Creates the log file again. */
  RESTORE,
  /** Frees the slot. */
  FREE,
  /** Frees the slot, so that a log file that turns up later is refused. */
  DISCARD,
  /** Has the slot flagged ORPHANED when the broker has run for a while. */
  ORPHAN,
  /** Changes nothing. */
  KEEP,
  /** Refuses the start: a log file has lost its tag, or is a new one. */
  REFUSE_UNTAGGED,
  /** Refuses the start: another file is where the log file is to be restored. */
  REFUSE_OCCUPIED,
  /** Refuses the start: all of {@code log.dirs} is there, and the slot's log directory is not. */
  REFUSE_DIRECTORY;

  /** The state in which a slot's log file is found. */
  enum FoundFile {
    /** A file has the slot's tag. */
    TAGGED,
    /** A file has the slot's tag, all bytes that the pool has, and more. */
    AHEAD,
    /** No file has it, and none is in its place. */
    NONE,
    /** An empty file without a tag is in its place. */
    EMPTY,
    /** A file without a tag is in its place that has some of the segment's bytes, and no others. */
    PART,
    /** Another file is in its place. */
    OTHER,
    /** Its log directory, or its partition, is not there. */
    AWAY,
    /** Its log directory is none of {@code log.dirs}, all of which are there. */
    UNKNOWN
  }

  /**
   * The words of a slot.
   *
   * @param start where its extents begin
   * @param clean its clean length
   * @param end its committed length
   */
  record Words(SlotState state, Set<SlotFlag> flags, long start, long clean, long end) {
    static Words of(Slot slot) {
      return new Words(
          slot.state(),
          Stream.of(SlotFlag.values()).filter(slot::has).collect(Collectors.toUnmodifiableSet()),
          slot.extents().start(),
          slot.cleanLength(),
          slot.committedLength());
    }

    boolean has(SlotFlag flag) {
      return flags.contains(flag);
    }
  }

  /**
   * Decides about a slot that is in use.
   *
   * @param size of a log file with the slot's tag
   * @param elsewhere whether a log directory cannot be looked at, which may have the log file
   */
  static RecoveryRule of(Words slot, FoundFile file, long size, boolean elsewhere) {
    boolean placed = file != FoundFile.AWAY && file != FoundFile.UNKNOWN;
    if (slot.state() == SlotState.DELETING) {
      boolean tagged = file == FoundFile.TAGGED || file == FoundFile.AHEAD;
      return tagged ? UNLINK : placed ? FREE_DELETED : KEEP;
    }
    if (file == FoundFile.AHEAD) {
      return LEAVE;
    }
    if (file == FoundFile.TAGGED) {
      return ofTagged(slot, size);
    }
    if (!placed) {
      boolean wanted = slot.end() > 0 && !slot.has(SlotFlag.ORPHANED);
      return file == FoundFile.UNKNOWN && wanted ? REFUSE_DIRECTORY : KEEP;
    }
    if (slot.has(SlotFlag.COPY) && !elsewhere) {
      return DROP;
    }
    if (slot.end() == 0) {
      return FREE;
    }
    return slot.has(SlotFlag.NAME_DURABLE)
        ? ofRemoved(slot, file, elsewhere)
        : file == FoundFile.NONE || file == FoundFile.EMPTY ? RESTORE : REFUSE_OCCUPIED;
  }

  private static RecoveryRule ofTagged(Words slot, long size) {
    // A segment that was about to get the slot: the log file has all bytes.
    boolean entered = slot.has(SlotFlag.COPY) && slot.has(SlotFlag.SPILLED);
    if (entered && slot.end() == slot.start()) {
      return LEAVE;
    }
    if (size < slot.start()) {
      return SKIP_DIRECTORY;
    }
    if (size < slot.clean()) {
      return LOWER_CLEAN;
    }
    return size > slot.clean() && !slot.has(SlotFlag.SPILLED) ? TRUNCATE : USE;
  }

  /** A log file whose name was durable is not one that a power failure has taken. */
  private static RecoveryRule ofRemoved(Words slot, FoundFile file, boolean elsewhere) {
    boolean untagged = file == FoundFile.PART || (file == FoundFile.EMPTY && slot.clean() == 0);
    if (elsewhere && (!untagged || slot.has(SlotFlag.MOVED))) {
      return KEEP;
    }
    if (untagged) {
      return REFUSE_UNTAGGED;
    }
    if (!slot.has(SlotFlag.ORPHANED)) {
      return ORPHAN;
    }
    return slot.clean() < slot.end() ? DISCARD : FREE;
  }
}
