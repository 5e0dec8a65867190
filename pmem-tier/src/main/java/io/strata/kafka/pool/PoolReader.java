package io.strata.kafka.pool;

import static io.strata.kafka.layout.SlotLayout.*;

import io.strata.kafka.layout.CheckedWord;
import io.strata.kafka.layout.CheckedWord.CorruptWordException;
import io.strata.kafka.layout.SlotLayout;
import io.strata.kafka.memory.PersistentMemory;
import io.strata.kafka.pool.words.CheckFinding;
import io.strata.kafka.pool.words.PoolException;
import io.strata.kafka.pool.words.PoolMoments;
import io.strata.kafka.pool.words.Session;
import io.strata.kafka.pool.words.SlotDecoder;
import io.strata.kafka.pool.words.SlotSnapshot;
import io.strata.kafka.pool.words.SlotState;
import io.strata.kafka.pool.words.Superblock;
import io.strata.kafka.pool.words.Superblocks;
import java.io.IOException;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A pool read by a process that does not write to it, while another one may.
 *
 * <p>A segment's bytes are read in three steps: take a snapshot of its slot, read from its extents,
 * and ask whether the snapshot is still {@link #valid}. If not, the bytes may be another segment's:
 * begin again.
 *
 * <p>Thread safety: all methods may be called by any number of threads.
 */
public final class PoolReader implements AutoCloseable {
  /** How often a slot that changes while it is read is read again. */
  private static final int ATTEMPTS = 1000;

  private final PersistentMemory memory;
  private final Superblock superblock;

  /** Whether some of what its writer stored may be missing. */
  private final boolean unforced;

  PoolReader(PersistentMemory memory) throws IOException {
    this.memory = memory;
    this.superblock = Superblocks.read(memory).current();
    this.unforced = Session.read(memory, superblock.salt()).session().open();
  }

  /** Returns the identity of the pool. */
  public PoolInfo info() {
    return Pool.infoOf(memory, superblock);
  }

  /** Returns the moments at which it was last used with each log directory. */
  public PoolMoments moments() {
    return new PoolMoments(memory, superblock.salt());
  }

  /** The bytes, read-only. */
  public PersistentMemory memory() {
    return memory;
  }

  /**
   * Reads a slot as it is at one moment.
   *
   * @param index any number, as it was found in a tag
   * @return empty if the slot is free, or there is none of that number
   * @throws PoolException with kind CORRUPT if the slot is damaged
   */
  public Optional<SlotSnapshot> read(int index) throws IOException {
    if (index < 0 || index >= superblock.slotCount()) {
      return Optional.empty();
    }
    List<CheckFinding> findings = new ArrayList<>();
    ByteBuffer slot = ByteBuffer.allocate(SLOT_LENGTH).order(ByteOrder.LITTLE_ENDIAN);
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      findings.clear();
      Line before = readLine(index);
      VarHandle.loadLoadFence();
      memory.load(slotPosition(index), slot.clear());
      VarHandle.loadLoadFence();
      Line after = readLine(index);
      Optional<SlotSnapshot> found =
          SlotDecoder.decode(superblock, slot, index, unforced, findings::add);
      if (before.equals(after) && before.equals(Line.of(slot))) {
        if (found.isPresent()) {
          return found.filter(read -> read.state() != SlotState.FREE);
        }
        break;
      }
      Thread.onSpinWait();
    }
    throw new PoolException(
        PoolException.Kind.CORRUPT,
        memory.path(),
        "%s: try again, and look at the pool with 'strata pool check'"
            .formatted(
                findings.isEmpty()
                    ? "slot " + index + " changed each of the " + ATTEMPTS + " times it was read"
                    : "found a damaged slot: " + findings.get(0)));
  }

  /** As {@link #read}, if the slot is of exactly that generation. */
  public Optional<SlotSnapshot> read(int index, long generation) throws IOException {
    return read(index).filter(snapshot -> snapshot.generation() == generation);
  }

  /**
   * Returns whether what a slot had in a generation has been discarded since.
   *
   * @param index any number, as it was found in a tag
   */
  public boolean isDiscarded(int index, long generation) throws IOException {
    OptionalLong now = generation(index);
    return now.isPresent() && SlotLayout.isDiscarded(generation, now.getAsLong());
  }

  /**
   * Returns whether a slot has not come to a generation yet: a tag that names it is younger than
   * the pool.
   *
   * @param index any number, as it was found in a tag
   */
  public boolean isOlder(int index, long generation) throws IOException {
    OptionalLong now = generation(index);
    return index >= superblock.slotCount() || (now.isPresent() && generation > now.getAsLong());
  }

  /** Returns a slot's generation; empty if there is no such slot, or if it is damaged. */
  private OptionalLong generation(int index) throws IOException {
    if (index < 0 || index >= superblock.slotCount()) {
      return OptionalLong.empty();
    }
    try {
      long place = slotPosition(index) + GENERATION_OFFSET;
      return OptionalLong.of(CheckedWord.decode(memory.loadLong(place), place, superblock.salt()));
    } catch (CorruptWordException damaged) {
      return OptionalLong.empty();
    }
  }

  /** All slots that are not free, each as it is at one moment. */
  public List<SlotSnapshot> readAll() throws IOException {
    List<SlotSnapshot> snapshots = new ArrayList<>();
    for (int index = 0; index < superblock.slotCount(); index++) {
      if (!isFree(index)) {
        read(index).ifPresent(snapshots::add);
      }
    }
    return snapshots;
  }

  /**
   * Returns whether what was read from the snapshot's extents before this call was the segment's:
   * it has not been deleted, and no extent has been taken from it.
   */
  public boolean valid(SlotSnapshot snapshot) throws IOException {
    VarHandle.loadLoadFence();
    Line line = readLine(snapshot.index());
    return holds(line.state, snapshot.index(), STATE_OFFSET, SlotState.LIVE.code())
        && holds(line.generation, snapshot.index(), GENERATION_OFFSET, snapshot.generation())
        && holds(line.truncations, snapshot.index(), TRUNCATIONS_OFFSET, snapshot.truncations());
  }

  private boolean isFree(int index) throws IOException {
    long state = memory.loadLong(slotPosition(index) + STATE_OFFSET);
    return holds(state, index, STATE_OFFSET, SlotState.FREE.code());
  }

  private boolean holds(long word, int index, int offset, long value) {
    try {
      return CheckedWord.decode(word, slotPosition(index) + offset, superblock.salt()) == value;
    } catch (CorruptWordException e) {
      return false;
    }
  }

  /** The words that change when extents, the body, or what the length says do. */
  private record Line(long state, long generation, long inUse, long flags, long truncations) {
    static Line of(ByteBuffer slot) {
      return new Line(
          slot.getLong(STATE_OFFSET),
          slot.getLong(GENERATION_OFFSET),
          slot.getLong(EXTENTS_IN_USE_OFFSET),
          slot.getLong(FLAGS_OFFSET),
          slot.getLong(TRUNCATIONS_OFFSET));
    }
  }

  private Line readLine(int index) throws IOException {
    long position = SlotLayout.slotPosition(index);
    return new Line(
        memory.loadLong(position + STATE_OFFSET),
        memory.loadLong(position + GENERATION_OFFSET),
        memory.loadLong(position + EXTENTS_IN_USE_OFFSET),
        memory.loadLong(position + FLAGS_OFFSET),
        memory.loadLong(position + TRUNCATIONS_OFFSET));
  }

  @Override
  public void close() throws IOException {
    memory.close();
  }
}
