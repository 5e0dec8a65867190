package io.strata.kafka.pool.words;

import static io.strata.kafka.layout.SlotLayout.*;

import io.strata.kafka.layout.CheckedWord;
import io.strata.kafka.memory.PersistentMemory;
import io.strata.kafka.pool.Slot;
import io.strata.kafka.pool.space.ExtentList;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.UUID;

/**
 * The stores into a pool's slots, by name. Which order they come in is {@link Slot}'s business.
 *
 * <p>Thread safety: as the memory; the order of stores to the same word is the caller's.
 */
public final class SlotWords {
  private final PersistentMemory memory;
  private final int salt;

  /**
   * Makes the words of a pool.
   *
   * @param salt the pool's
   */
  public SlotWords(PersistentMemory memory, int salt) {
    this.memory = memory;
    this.salt = salt;
  }

  /** Stores a word of the first line. Not durable. */
  public void store(int slot, int offset, long value) throws IOException {
    long place = slotPosition(slot) + offset;
    memory.storeLong(place, CheckedWord.encode(value, place, salt));
  }

  /** Stores and persists a word of the first line. */
  public void persist(int slot, int offset, long value) throws IOException {
    store(slot, offset, value);
    memory.persist(slotPosition(slot) + offset, 8);
  }

  /** Persists the first line. */
  public void persistLine(int slot) throws IOException {
    memory.persist(slotPosition(slot), LINE_LENGTH);
  }

  /** Stores and persists the extent at one place of the ring. */
  public void persistExtent(int slot, long generation, int entry, long value) throws IOException {
    long place = slotPosition(slot) + EXTENTS_OFFSET + 8L * entry;
    memory.storeLong(place, CheckedWord.encode(value, place, extentSalt(salt, generation)));
    memory.persist(place, 8);
  }

  /**
   * Zeros in the ring but for the extents in use. No entry of before may ever stand for a later one
   * that did not reach the medium. Not durable.
   */
  public void zeroAllBut(int slot, ExtentList inUse) throws IOException {
    zeroAllBut(inUse, memory, slotPosition(slot));
  }

  /** As {@link #zeroAllBut(int, ExtentList)}, in the slot at a position. */
  public static void zeroAllBut(ExtentList inUse, PersistentMemory memory, long position)
      throws IOException {
    int from = inUse.entry(inUse.count());
    int to = inUse.entry(0);
    if (inUse.count() == 0) {
      zeroEntries(0, MAX_EXTENTS, memory, position);
    } else if (from < to) {
      zeroEntries(from, to, memory, position);
    } else if (inUse.count() < MAX_EXTENTS) {
      zeroEntries(from, MAX_EXTENTS, memory, position);
      zeroEntries(0, to, memory, position);
    }
  }

  private static void zeroEntries(int from, int to, PersistentMemory memory, long position)
      throws IOException {
    memory.zero(position + EXTENTS_OFFSET + 8L * from, 8L * (to - from));
  }

  /**
   * Stores and persists the body without extents, and then the first line of an empty segment but
   * its state.
   */
  public void storeBody(
      int slot,
      long generation,
      UUID directoryId,
      String relativePath,
      long createdAtMillis,
      int flags)
      throws IOException {
    long position = slotPosition(slot);
    ByteBuffer body =
        ByteBuffer.allocate(EXTENTS_OFFSET - LINE_LENGTH).order(ByteOrder.LITTLE_ENDIAN);
    byte[] path = relativePath.getBytes(StandardCharsets.UTF_8);
    body.putLong(DIRECTORY_ID_OFFSET - LINE_LENGTH, directoryId.getMostSignificantBits());
    body.putLong(DIRECTORY_ID_OFFSET - LINE_LENGTH + 8, directoryId.getLeastSignificantBits());
    body.putLong(CREATED_OFFSET - LINE_LENGTH, createdAtMillis);
    body.putInt(PATH_LENGTH_OFFSET - LINE_LENGTH, path.length);
    body.put(PATH_OFFSET - LINE_LENGTH, path);
    memory.store(position + LINE_LENGTH, body);
    zeroAllBut(slot, ExtentList.EMPTY);
    memory.persist(position + LINE_LENGTH, SLOT_LENGTH - LINE_LENGTH);
    store(slot, GENERATION_OFFSET, generation);
    store(slot, COMMITTED_LENGTH_OFFSET, 0);
    store(slot, EXTENTS_IN_USE_OFFSET, ExtentList.EMPTY.inUse());
    store(slot, FLAGS_OFFSET, flags);
    store(slot, BODY_CHECK_OFFSET, SlotDecoder.bodyCheck(generation, body.flip()));
    store(slot, TRUNCATIONS_OFFSET, 0);
    store(slot, CLEAN_LENGTH_OFFSET, 0);
    persistLine(slot);
  }

  /** Forces the slot where persisting it does not make it survive a power failure. */
  public void force(int slot) throws IOException {
    if (memory.durability().needsForce()) {
      memory.forceAlone(slotPosition(slot), SLOT_LENGTH);
    }
  }

  /** As {@link #force}, with all other bytes where forcing any range forces all. */
  public void forceWithOthers(int slot) throws IOException {
    if (memory.durability().needsForce()) {
      memory.force(slotPosition(slot), SLOT_LENGTH);
    }
  }
}
