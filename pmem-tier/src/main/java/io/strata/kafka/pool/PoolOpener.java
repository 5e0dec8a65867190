package io.strata.kafka.pool;

import static io.strata.kafka.layout.SlotLayout.*;

import io.strata.kafka.layout.CheckedWord;
import io.strata.kafka.memory.PersistentMemory;
import io.strata.kafka.pool.OpenReport.Shortened;
import io.strata.kafka.pool.space.Extent;
import io.strata.kafka.pool.space.ExtentList;
import io.strata.kafka.pool.words.CheckFinding;
import io.strata.kafka.pool.words.PoolException;
import io.strata.kafka.pool.words.PoolException.Kind;
import io.strata.kafka.pool.words.PoolMoments;
import io.strata.kafka.pool.words.PoolOwner;
import io.strata.kafka.pool.words.Session;
import io.strata.kafka.pool.words.SlotSnapshot;
import io.strata.kafka.pool.words.SlotState;
import io.strata.kafka.pool.words.SlotWords;
import io.strata.kafka.pool.words.Superblock;
import io.strata.kafka.pool.words.Superblocks;
import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalLong;

/** Opens a memory as a pool for writing: verifies, repairs what may be, and recovers. */
final class PoolOpener {
  private static final int FINDINGS_NAMED = 10;

  private final PersistentMemory memory;
  private final OptionalLong bootId;
  private final List<CheckFinding> repaired = new ArrayList<>();
  private final List<Shortened> shortened = new ArrayList<>();

  private PoolOpener(PersistentMemory memory, OptionalLong bootId) {
    this.memory = memory;
    this.bootId = bootId;
  }

  /**
   * Opens a pool.
   *
   * @param bootId distinguishes this boot of the machine from others
   * @param lock is closed with the pool, and not if this throws
   */
  static Pool open(PersistentMemory memory, PoolOwner expected, OptionalLong bootId, Closeable lock)
      throws IOException {
    return new PoolOpener(memory, bootId).open(expected, lock);
  }

  private Pool open(PoolOwner expected, Closeable lock) throws IOException {
    Superblocks.Reading reading = Superblocks.read(memory);
    refuseOtherOwner(reading.current().owner(), expected);
    Session.Reading session = Session.read(memory, reading.current().salt());
    PoolScan scan = PoolScan.of(memory, reading.current(), session.session().open());
    refuseCorrupt(scan);
    persistMetadata(reading);

    repaired.addAll(reading.findings());
    session.finding().ifPresent(repaired::add);
    Superblocks.write(memory, reading.current(), reading.toRepair());
    Superblock superblock = bind(reading.current(), expected);
    boolean needsForce = memory.durability().needsForce();
    boolean toClear = needsForce && !session.session().cleared();
    settle(superblock, scan.used(), session.session().open() || toClear);
    if (toClear) {
      clear(superblock, scan);
    }
    beginSession(superblock);
    OpenReport report =
        new OpenReport(
            List.copyOf(repaired),
            new PoolMoments(memory, superblock.salt()).findings(),
            !superblock.owner().equals(reading.current().owner()),
            superblock.hadDax() && !memory.durability().durableOnPersist(),
            session.session().lostPower(bootId),
            List.copyOf(shortened));
    return new Pool(memory, superblock, scan, report, lock);
  }

  /**
   * A process that was killed may have stored what it had no time to persist. It is there for all
   * to see, and a power failure would still take it, after what is to come has been built on it.
   */
  private void persistMetadata(Superblocks.Reading reading) throws IOException {
    if (memory.durability().durableOnPersist()) {
      memory.persist(0, TABLE + (long) reading.current().slotCount() * SLOT_LENGTH);
    } else if (!reading.toRepair().isEmpty()) {
      // The slots are forced where that is needed. The superblock that is not written next must be
      // whole.
      memory.force(0, TABLE);
    }
  }

  private void refuseOtherOwner(PoolOwner found, PoolOwner expected) throws PoolException {
    if (found.contradicts(expected)) {
      throw new PoolException(
          Kind.OTHER_OWNER,
          memory.path(),
          """
          found a pool of %s, expected one of %s: name this broker's own pool, or drain this one \
          with its owner's configuration and create it again\
          """
              .formatted(found, expected));
    }
  }

  private void refuseCorrupt(PoolScan scan) throws PoolException {
    if (scan.findings().isEmpty()) {
      return;
    }
    StringBuilder text = new StringBuilder("found damaged slots, expected none: ");
    scan.findings().stream().limit(FINDINGS_NAMED).forEach(f -> text.append(f).append("; "));
    if (scan.findings().size() > FINDINGS_NAMED) {
      text.append("and ").append(scan.findings().size() - FINDINGS_NAMED).append(" more; ");
    }
    text.append(
        """
        restore the file from a copy, or look at it with 'strata pool check' and free the damaged \
        slots with 'strata pool repair'\
        """);
    throw new PoolException(Kind.CORRUPT, memory.path(), text.toString());
  }

  private Superblock bind(Superblock superblock, PoolOwner opener) throws IOException {
    PoolOwner owner = superblock.owner();
    PoolOwner bound =
        new PoolOwner(
            owner.brokerId().isPresent() ? owner.brokerId() : opener.brokerId(),
            owner.clusterId().isPresent() ? owner.clusterId() : opener.clusterId());
    Superblock changed = superblock.openedBy(bound, memory.durability().durableOnPersist());
    if (bound.equals(owner) && changed.hadDax() == superblock.hadDax()) {
      return superblock;
    }
    Superblocks.writeBoth(memory, changed);
    return changed;
  }

  /**
   * Makes what is believed of the slots durably so. Forced words are there; a power failure may
   * have left a count without its entries, or a length without its extents, of the others. A
   * process may also have been killed in a truncation.
   *
   * @param unforced whether some of what was stored and not forced may be missing
   */
  private void settle(Superblock superblock, List<SlotSnapshot> slots, boolean unforced)
      throws IOException {
    // The words found may be in no better place than the page cache.
    forceTable(superblock, unforced);
    boolean changed = false;
    for (SlotSnapshot slot : slots) {
      // The flags before the lengths: if this is interrupted too, the next opening must see that a
      // spilled segment has been shortened.
      changed |= storeIfOther(superblock, slot, FLAGS_OFFSET, slot.flags());
      if (stored(slot, COMMITTED_LENGTH_OFFSET) < slot.committedLength()) {
        // Its extents begin again at that length: a longer one than the old extents hold.
        changed |= storeIfOther(superblock, slot, EXTENTS_IN_USE_OFFSET, slot.extents().inUse());
      }
    }
    forceTable(superblock, changed);
    changed = false;
    for (SlotSnapshot slot : slots) {
      noteIfShortened(slot);
      changed |= storeIfOther(superblock, slot, COMMITTED_LENGTH_OFFSET, slot.committedLength());
      changed |= storeIfOther(superblock, slot, CLEAN_LENGTH_OFFSET, slot.cleanLength());
    }
    // No length may be found beyond the extents.
    forceTable(superblock, changed);
    changed = unforced;
    for (SlotSnapshot slot : slots) {
      changed |= storeIfOther(superblock, slot, EXTENTS_IN_USE_OFFSET, slot.extents().inUse());
      if (unforced) {
        // An entry that is not in use must not stand for one that is to come.
        SlotWords.zeroAllBut(slot.extents(), memory, slotPosition(slot.index()));
      }
    }
    forceTable(superblock, changed);
  }

  private void forceTable(Superblock superblock, boolean changed) throws IOException {
    if (changed) {
      forceTable(superblock);
    }
  }

  private void forceTable(Superblock superblock) throws IOException {
    long length = (long) superblock.slotCount() * SLOT_LENGTH;
    memory.persist(TABLE, length);
    memory.force(TABLE, length);
  }

  /**
   * Makes all data but the segments' committed bytes zeros, durably. The slots have been forced: no
   * block that is free here is a segment's on the medium.
   */
  private void clear(Superblock superblock, PoolScan scan) throws IOException {
    List<Extent> committed = new ArrayList<>();
    for (SlotSnapshot slot : scan.used()) {
      ExtentList extents = slot.extents();
      for (int i = 0; i < extents.count(); i++) {
        long length = Math.min(extents.length(i), slot.committedLength() - extents.start(i));
        if (length > 0) {
          committed.add(new Extent(extents.position(i), length));
        }
      }
    }
    committed.sort(Comparator.comparingLong(Extent::position));
    long at = superblock.dataPosition();
    for (Extent kept : committed) {
      zero(at, kept.position());
      at = kept.position() + kept.length();
    }
    zero(at, superblock.dataPosition() + superblock.dataSize());
    memory.force(superblock.dataPosition(), superblock.dataSize());
  }

  private void zero(long from, long to) throws IOException {
    if (from < to) {
      memory.zeroRange(from, to - from);
    }
  }

  private long stored(SlotSnapshot slot, int offset) throws IOException {
    return memory.loadLong(slotPosition(slot.index()) + offset) & CheckedWord.MAX_VALUE;
  }

  private void noteIfShortened(SlotSnapshot slot) throws IOException {
    long stored = stored(slot, COMMITTED_LENGTH_OFFSET);
    if (slot.state() == SlotState.LIVE && stored > slot.committedLength()) {
      shortened.add(
          new Shortened(slot.index(), slot.relativePath(), stored, slot.committedLength()));
    }
  }

  private boolean storeIfOther(Superblock superblock, SlotSnapshot slot, int offset, long value)
      throws IOException {
    long position = slotPosition(slot.index()) + offset;
    long word = CheckedWord.encode(value, position, superblock.salt());
    boolean other = memory.loadLong(position) != word;
    if (other) {
      memory.storeLong(position, word);
    }
    return other;
  }

  private void beginSession(Superblock superblock) throws IOException {
    boolean needsForce = memory.durability().needsForce();
    Session session =
        needsForce ? new Session(Session.State.OPEN, bootId.orElse(0)) : Session.CLOSED;
    session.write(memory, superblock.salt());
  }
}
