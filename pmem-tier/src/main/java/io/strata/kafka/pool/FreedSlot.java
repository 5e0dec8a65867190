package io.strata.kafka.pool;

import static io.strata.kafka.layout.SlotLayout.*;

import io.strata.kafka.layout.CheckedWord;
import io.strata.kafka.layout.CheckedWord.CorruptWordException;
import io.strata.kafka.memory.PersistentMemory;
import java.io.IOException;
import java.util.Optional;

/**
 * The words that a free slot has kept of the segment that it held last. Immutable.
 *
 * @param length of the segment, when the slot was freed: with what had spilled it may have more
 * @param spilled whether the bytes from there on were in the log file
 */
public record FreedSlot(long length, boolean spilled) {

  /** Reads a free slot; empty if a word of it is damaged. */
  static Optional<FreedSlot> read(PersistentMemory memory, int salt, int index) throws IOException {
    try {
      long length = word(memory, salt, slotPosition(index) + COMMITTED_LENGTH_OFFSET);
      long flags = word(memory, salt, slotPosition(index) + FLAGS_OFFSET);
      return Optional.of(new FreedSlot(length, (flags & FLAG_SPILLED) != 0));
    } catch (CorruptWordException e) {
      return Optional.empty();
    }
  }

  private static long word(PersistentMemory memory, int salt, long position)
      throws IOException, CorruptWordException {
    return CheckedWord.decode(memory.loadLong(position), position, salt);
  }
}
