package io.strata.kafka.pool;

import io.strata.kafka.layout.CheckedWord;
import io.strata.kafka.layout.CheckedWord.CorruptWordException;
import io.strata.kafka.layout.SlotLayout;
import io.strata.kafka.layout.SuperblockLayout;
import io.strata.kafka.memory.PersistentMemory;
import io.strata.kafka.pool.words.PoolOwner;
import io.strata.kafka.pool.words.PoolSpec;
import io.strata.kafka.pool.words.Session;
import io.strata.kafka.pool.words.SlotFlag;
import io.strata.kafka.pool.words.SlotState;
import io.strata.kafka.pool.words.Superblock;
import io.strata.kafka.pool.words.Superblocks;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;

/** What a simulation of the tier does with pools, on memories of its own. */
public final class SimPools {

  private SimPools() {}

  /** Formats a pool whose identity is given, so that a simulation can be repeated. */
  public static void format(PersistentMemory memory, PoolSpec spec, UUID id) throws IOException {
    PoolFormatter.format(memory, spec, Session.CLOSED, id);
  }

  /** As {@link #format}, with less space for data than a pool has that is made by a command. */
  public static void format(PersistentMemory memory, PoolSpec spec, UUID id, long dataBytes)
      throws IOException {
    format(memory, spec, id);
    long size = SuperblockLayout.dataPosition(spec.slotCount()) + dataBytes;
    Superblock smaller =
        Superblock.create(id, size, spec.slotCount(), System.currentTimeMillis(), spec.owner());
    Superblocks.writeBoth(memory, smaller);
  }

  /** Opens a pool under a boot of the machine, without a lock. */
  public static Pool open(PersistentMemory memory, PoolOwner owner, long boot) throws IOException {
    return PoolOpener.open(memory, owner, OptionalLong.of(boot), () -> {});
  }

  /** Checks a pool. */
  public static CheckReport check(PersistentMemory memory) throws IOException {
    return PoolChecker.check(memory);
  }

  /** What the words of a slot in use say. An opening may read more into them. */
  public record FirstLine(
      int index,
      long generation,
      SlotState state,
      long start,
      long clean,
      long end,
      Set<SlotFlag> flags) {}

  /** The pool's identity. */
  public static UUID id(PersistentMemory memory) throws IOException {
    return Superblocks.read(memory).current().poolId();
  }

  /** The slots in use, as their words are. */
  public static List<FirstLine> slots(PersistentMemory memory) throws IOException {
    Superblock superblock = Superblocks.read(memory).current();
    List<FirstLine> found = new ArrayList<>();
    PoolScan.scan(
        memory,
        superblock,
        (index, bytes) -> {
          LineReader line = new LineReader(bytes, index, superblock.salt());
          SlotState state = SlotState.ofCode(line.word(SlotLayout.STATE_OFFSET)).orElseThrow();
          if (state != SlotState.FREE) {
            Set<SlotFlag> flags = EnumSet.allOf(SlotFlag.class);
            long bits = line.word(SlotLayout.FLAGS_OFFSET);
            flags.removeIf(flag -> (bits & flag.bit()) == 0);
            found.add(
                new FirstLine(
                    index,
                    line.word(SlotLayout.GENERATION_OFFSET),
                    state,
                    SlotLayout.startOf(line.word(SlotLayout.EXTENTS_IN_USE_OFFSET)),
                    line.word(SlotLayout.CLEAN_LENGTH_OFFSET),
                    line.word(SlotLayout.COMMITTED_LENGTH_OFFSET),
                    flags));
          }
        });
    return found;
  }

  private record LineReader(ByteBuffer slot, int index, int salt) {
    long word(int offset) throws IOException {
      long word = slot.order(ByteOrder.LITTLE_ENDIAN).getLong(offset);
      try {
        return CheckedWord.decode(word, SlotLayout.slotPosition(index) + offset, salt);
      } catch (CorruptWordException e) {
        throw new IOException(e);
      }
    }
  }
}
