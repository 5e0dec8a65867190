package io.strata.kafka.pool.words;

import static io.strata.kafka.layout.SessionLayout.*;

import io.strata.kafka.layout.CheckedWord;
import io.strata.kafka.layout.CheckedWord.CorruptWordException;
import io.strata.kafka.memory.PersistentMemory;
import io.strata.kafka.pool.words.CheckFinding.Severity;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.UUID;

/**
 * Under which boot of the machine a pool was last written; see {@link
 * io.strata.kafka.layout.SessionLayout}. Immutable.
 *
 * @param state how the pool was left
 * @param bootId the boot, or 0 where it is not known
 */
public record Session(State state, long bootId) {
  /** How a pool was left. */
  public enum State {
    /** There may be bytes that were stored and not forced. */
    OPEN(STATE_OPEN),
    /** Everything that was stored is durable. */
    CLOSED(STATE_CLOSED),
    /** The same, and all data but the segments' committed bytes is zeros. */
    CLEARED(STATE_CLEARED);

    private final long code;

    State(long code) {
      this.code = code;
    }

    private static Optional<State> ofCode(long code) {
      return Arrays.stream(values()).filter(state -> state.code == code).findAny();
    }
  }

  private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");

  /** Everything that was stored is durable. */
  public static final Session CLOSED = new Session(State.CLOSED, 0);

  /** The same, and all data but the segments' committed bytes is zeros. */
  public static final Session CLEARED = new Session(State.CLEARED, 0);

  /**
   * Distinguishes this boot of the machine from all others.
   *
   * @return empty where the system has no such id; then no power failure is ever reported
   */
  public static OptionalLong currentBootId() {
    try {
      UUID id = UUID.fromString(Files.readString(BOOT_ID).trim());
      long digest = id.getMostSignificantBits() ^ id.getLeastSignificantBits();
      return OptionalLong.of((digest & CheckedWord.MAX_VALUE) | 1);
    } catch (IOException | IllegalArgumentException e) {
      return OptionalLong.empty();
    }
  }

  /** Returns whether there may be bytes that were stored and not forced. */
  public boolean open() {
    return state == State.OPEN;
  }

  /** Returns whether all data but the segments' committed bytes is zeros. */
  public boolean cleared() {
    return state == State.CLEARED;
  }

  /**
   * Returns whether the machine has gone down since this session, and may have taken bytes with it.
   */
  public boolean lostPower(OptionalLong currentBootId) {
    return open()
        && bootId != 0
        && currentBootId.isPresent()
        && currentBootId.getAsLong() != bootId;
  }

  /** Reads the line; what is wrong with it is a finding. */
  public static Reading read(PersistentMemory memory, int salt) throws IOException {
    try {
      long state = word(memory, STATE_OFFSET, salt);
      long bootId = word(memory, BOOT_ID_OFFSET, salt);
      Optional<State> known = State.ofCode(state);
      return known.isPresent()
          ? new Reading(new Session(known.get(), bootId), Optional.empty())
          : broken(POSITION, "state 0x" + Long.toHexString(state), "a known one");
    } catch (CorruptWordException e) {
      return broken(e.position(), e.found(), "a word whose check fits");
    }
  }

  /** The result of reading: a session, and what is wrong with the line if something is. */
  public record Reading(Session session, Optional<CheckFinding> finding) {}

  /** A broken line says nothing: what was not forced is then not relied upon. */
  private static Reading broken(long position, String found, String expected) {
    return new Reading(
        new Session(State.OPEN, CheckedWord.MAX_VALUE - 1),
        Optional.of(
            new CheckFinding(Severity.WARNING, OptionalInt.empty(), position, found, expected)));
  }

  private static long word(PersistentMemory memory, int offset, int salt)
      throws IOException, CorruptWordException {
    return CheckedWord.decode(memory.loadLong(POSITION + offset), POSITION + offset, salt);
  }

  /** Stores the line, durably. */
  public void write(PersistentMemory memory, int salt) throws IOException {
    store(memory, BOOT_ID_OFFSET, bootId, salt);
    memory.persist(POSITION, LENGTH);
    memory.force(POSITION, LENGTH);
    store(memory, STATE_OFFSET, state.code, salt);
    memory.persist(POSITION, LENGTH);
    memory.force(POSITION, LENGTH);
  }

  private static void store(PersistentMemory memory, int offset, long value, int salt)
      throws IOException {
    memory.storeLong(POSITION + offset, CheckedWord.encode(value, POSITION + offset, salt));
  }
}
