package io.strata.kafka.pool.words;

import static io.strata.kafka.layout.SlotLayout.*;

import io.strata.kafka.layout.CheckedWord;
import io.strata.kafka.layout.CheckedWord.CorruptWordException;
import io.strata.kafka.layout.SlotLayout;
import io.strata.kafka.layout.SuperblockLayout;
import io.strata.kafka.pool.space.BuddyAllocator;
import io.strata.kafka.pool.space.Extent;
import io.strata.kafka.pool.space.ExtentList;
import io.strata.kafka.pool.words.CheckFinding.Severity;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.zip.CRC32C;

/**
 * Reads a slot's 1 KiB, verifies it, and reports all that is wrong with it; see {@link SlotLayout}.
 */
public final class SlotDecoder {
  private final Superblock superblock;
  private final ByteBuffer slot;
  private final int index;
  private final long position;
  private final boolean unforced;
  private final Consumer<CheckFinding> problems;
  private boolean broken;

  private SlotDecoder(
      Superblock superblock,
      ByteBuffer slot,
      int index,
      boolean unforced,
      Consumer<CheckFinding> problems) {
    this.superblock = superblock;
    this.slot = slot.order(ByteOrder.LITTLE_ENDIAN);
    this.index = index;
    this.position = slotPosition(index);
    this.unforced = unforced;
    this.problems = problems;
  }

  private Optional<SlotSnapshot> decode() {
    long stateCode = word(STATE_OFFSET);
    long generation = word(GENERATION_OFFSET);
    long length = word(COMMITTED_LENGTH_OFFSET);
    long inUse = word(EXTENTS_IN_USE_OFFSET);
    long flags = word(FLAGS_OFFSET);
    long bodyCheck = word(BODY_CHECK_OFFSET);
    long truncations = word(TRUNCATIONS_OFFSET);
    long clean = word(CLEAN_LENGTH_OFFSET);
    if (broken) {
      return Optional.empty();
    }
    if (generation > LAST_GENERATION) {
      problem(GENERATION_OFFSET, "generation " + generation, "0 to " + LAST_GENERATION);
      return Optional.empty();
    }
    Optional<SlotState> state = SlotState.ofCode(stateCode);
    if (state.isEmpty()) {
      problem(STATE_OFFSET, "state 0x" + Long.toHexString(stateCode), "a known one");
      return Optional.empty();
    }
    if (state.get() == SlotState.FREE) {
      return Optional.of(SlotSnapshot.free(index, generation));
    }
    ExtentList extents;
    if (state.get() == SlotState.DELETING) {
      // Its log file is unlinked or about to be: its bytes are no longer read.
      extents = ExtentList.EMPTY;
      length = 0;
    } else {
      if ((flags & FLAG_SPILLED) != 0 && clean > length) {
        // The extents are about to begin again at an offset that the log file reaches to.
        extents = ExtentList.emptyAt(Math.min(clean, MAX_START));
        length = clean;
      } else if (Math.min(clean, length) < startOf(inUse)) {
        // A truncation below all extents: it lowers the clean length first, and then the log file
        // is truncated, which has all that is kept.
        length = Math.min(clean, length);
        extents = ExtentList.emptyAt(length);
        flags &= ~FLAG_SPILLED;
      } else {
        extents = extents(inUse, generation);
      }
      if (unforced && length > extents.end()) {
        // SPILLED is forced with the extents of its spill offset: of these bytes none was forced,
        // and none has gone to the log file since. Or a truncation was under way, and the log file
        // had been truncated before it.
        flags &= ~FLAG_SPILLED;
        length = extents.end();
      }
    }
    verifyLine(length, extents, flags);
    Optional<String> path = body(generation, bodyCheck);
    if (broken || path.isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(
        new SlotSnapshot(
            index,
            state.get(),
            generation,
            length,
            // Where it is longer, a crash came into a truncation, or the length was not forced.
            Math.min(clean, length),
            (int) flags,
            truncations,
            new UUID(slot.getLong(DIRECTORY_ID_OFFSET), slot.getLong(DIRECTORY_ID_OFFSET + 8)),
            path.get(),
            slot.getLong(CREATED_OFFSET),
            extents));
  }

  private void verifyLine(long length, ExtentList extents, long flags) {
    if (!broken && length > extents.end()) {
      problem(
          COMMITTED_LENGTH_OFFSET,
          "committed length " + length,
          "at most " + extents.end() + ", where its extents end");
    }
    if ((flags & ~ALL_FLAGS) != 0) {
      problem(FLAGS_OFFSET, "flags " + flags, "known flags, at most " + ALL_FLAGS);
    }
  }

  private ExtentList extents(long inUse, long generation) {
    int count = countOf(inUse);
    if (count > MAX_EXTENTS || firstEntryOf(inUse) >= MAX_EXTENTS) {
      problem(
          EXTENTS_IN_USE_OFFSET,
          count + " extents from entry " + firstEntryOf(inUse) + " on",
          "at most " + MAX_EXTENTS + ", and an entry below that");
      return ExtentList.EMPTY;
    }
    ExtentList extents = ExtentList.emptyAt(startOf(inUse), firstEntryOf(inUse));
    for (int i = 0; i < count; i++) {
      int offset = EXTENTS_OFFSET + 8 * extents.entry(i);
      if (unforced && slot.getLong(offset) == 0) {
        // The count was written back before the power went, and this was not.
        return extents;
      }
      OptionalLong value = word(offset, extentSalt(superblock.salt(), generation));
      if (value.isEmpty()) {
        continue;
      }
      long block = extentBlock(value.getAsLong());
      int order = extentOrder(value.getAsLong());
      if (order < 0
          || order > SuperblockLayout.LARGEST_ORDER
          || block % (1L << order) != 0
          || block + (1L << order) > superblock.blocks()) {
        problem(
            offset,
            "extent " + i + " of order " + order + " at block " + block,
            "an aligned one within " + superblock.blocks() + " blocks");
        continue;
      }
      long start = superblock.dataPosition() + block * SuperblockLayout.SMALLEST_EXTENT;
      extents = extents.with(new Extent(start, BuddyAllocator.lengthOf(order)));
    }
    return extents;
  }

  private Optional<String> body(long generation, long check) {
    long expected = bodyCheck(generation, slot.slice(LINE_LENGTH, EXTENTS_OFFSET - LINE_LENGTH));
    if (check != expected) {
      problem(
          BODY_CHECK_OFFSET,
          String.format("body check 0x%08x", check),
          String.format("0x%08x", expected));
      return Optional.empty();
    }
    int length = slot.getInt(PATH_LENGTH_OFFSET);
    if (length < 1 || length > PATH_LENGTH) {
      problem(PATH_LENGTH_OFFSET, "path length " + length, "1 to " + PATH_LENGTH);
      return Optional.empty();
    }
    try {
      return Optional.of(
          StandardCharsets.UTF_8.newDecoder().decode(slot.slice(PATH_OFFSET, length)).toString());
    } catch (CharacterCodingException e) {
      problem(PATH_OFFSET, "a path that is not UTF-8", "UTF-8");
      return Optional.empty();
    }
  }

  /** A word of the first line; any number when that is broken. */
  private long word(int offset) {
    return word(offset, superblock.salt()).orElse(0);
  }

  private OptionalLong word(int offset, int salt) {
    try {
      return OptionalLong.of(CheckedWord.decode(slot.getLong(offset), position + offset, salt));
    } catch (CorruptWordException e) {
      problem(offset, e.found(), "a word whose check fits");
      return OptionalLong.empty();
    }
  }

  private void problem(int offset, String found, String expected) {
    broken = true;
    problems.accept(
        new CheckFinding(
            Severity.ERROR, OptionalInt.of(index), position + offset, found, expected));
  }

  /**
   * Reads a slot.
   *
   * @param slot its 1,024 bytes, from the buffer's index 0
   * @param unforced whether some of what was stored and not forced may be missing: a count of more
   *     extents than there are, and a length beyond them, are then no damage, and the image has
   *     what is there
   * @param problems is given all that is wrong with it
   * @return empty if something is
   */
  public static Optional<SlotSnapshot> decode(
      Superblock superblock,
      ByteBuffer slot,
      int index,
      boolean unforced,
      Consumer<CheckFinding> problems) {
    return new SlotDecoder(superblock, slot, index, unforced, problems).decode();
  }

  /** The check over {@code body}: the bytes from the first line to the extents. */
  public static long bodyCheck(long generation, ByteBuffer body) {
    CRC32C crc = new CRC32C();
    for (int shift = 0; shift < 64; shift += 8) {
      crc.update((int) (generation >>> shift) & 0xFF);
    }
    crc.update(body);
    return crc.getValue();
  }
}
