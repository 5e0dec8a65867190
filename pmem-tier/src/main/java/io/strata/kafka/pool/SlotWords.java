package io.strata.kafka.pool;

import static io.strata.kafka.layout.SlotLayout.*;

import io.strata.kafka.layout.CheckedWord;
import io.strata.kafka.memory.PersistentMemory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.UUID;

/**
 * The stores into one slot, by name. Which order they come in is {@link Slot}'s business.
 *
 * <p>Thread safety: as the memory; the order of stores to the same word is the caller's.
 */
final class SlotWords {
  private final PersistentMemory memory;
  private final int salt;
  private final long position;
  private final long generation;

  SlotWords(PersistentMemory memory, int salt, int index, long generation) {
    this.memory = memory;
    this.salt = salt;
    this.position = slotPosition(index);
    this.generation = generation;
  }

  /** Stores a word of the first line. Not durable. */
  void store(int offset, long value) throws IOException {
    long place = position + offset;
    memory.storeLong(place, CheckedWord.encode(value, place, salt));
  }

  /** Stores and persists a word of the first line. */
  void persist(int offset, long value) throws IOException {
    store(offset, value);
    memory.persist(position + offset, 8);
  }

  /** Persists the first line. */
  void persistLine() throws IOException {
    memory.persist(position, LINE_LENGTH);
  }

  /** Stores and persists extent {@code i}. */
  void persistExtent(int i, long value) throws IOException {
    long place = position + EXTENTS_OFFSET + 8L * i;
    memory.storeLong(place, CheckedWord.encode(value, place, extentSalt(salt, generation)));
    memory.persist(place, 8);
  }

  /**
   * Zeros instead of the extents from {@code i} on. No entry of before may ever stand for a later
   * one that did not reach the medium. Not durable.
   */
  void zeroExtentsFrom(int i) throws IOException {
    long offset = EXTENTS_OFFSET + 8L * i;
    memory.zero(position + offset, SLOT_LENGTH - offset);
  }

  /**
   * Stores and persists the body without extents, and then the first line of an empty segment but
   * its state.
   */
  void storeBody(UUID directoryId, String relativePath, long createdAtMillis) throws IOException {
    ByteBuffer body =
        ByteBuffer.allocate(EXTENTS_OFFSET - LINE_LENGTH).order(ByteOrder.LITTLE_ENDIAN);
    byte[] path = relativePath.getBytes(StandardCharsets.UTF_8);
    body.putLong(DIRECTORY_ID_OFFSET - LINE_LENGTH, directoryId.getMostSignificantBits());
    body.putLong(DIRECTORY_ID_OFFSET - LINE_LENGTH + 8, directoryId.getLeastSignificantBits());
    body.putLong(CREATED_OFFSET - LINE_LENGTH, createdAtMillis);
    body.putInt(PATH_LENGTH_OFFSET - LINE_LENGTH, path.length);
    body.put(PATH_OFFSET - LINE_LENGTH, path);
    memory.store(position + LINE_LENGTH, body);
    zeroExtentsFrom(0);
    memory.persist(position + LINE_LENGTH, SLOT_LENGTH - LINE_LENGTH);
    store(GENERATION_OFFSET, generation);
    store(COMMITTED_LENGTH_OFFSET, 0);
    store(EXTENT_COUNT_OFFSET, 0);
    store(FLAGS_OFFSET, 0);
    store(BODY_CHECK_OFFSET, SlotImage.bodyCheck(generation, body.flip()));
    store(TRUNCATIONS_OFFSET, 0);
    store(CLEAN_LENGTH_OFFSET, 0);
    persistLine();
  }

  /** Forces the slot where persisting it does not make it survive a power failure. */
  void force() throws IOException {
    if (memory.durability().needsForce()) {
      memory.force(position, SLOT_LENGTH);
    }
  }
}
