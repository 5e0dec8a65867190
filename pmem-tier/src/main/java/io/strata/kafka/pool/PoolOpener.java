package io.strata.kafka.pool;

import static io.strata.kafka.layout.SlotLayout.*;

import io.strata.kafka.layout.CheckedWord;
import io.strata.kafka.memory.Durability;
import io.strata.kafka.memory.PersistentMemory;
import io.strata.kafka.pool.OpenReport.Shortened;
import io.strata.kafka.pool.PoolException.Kind;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
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
   * @param bootId tells this boot of the machine from others
   * @param lock is closed with the pool, and not if this throws
   */
  static Pool open(
      PersistentMemory memory, PoolOwner expected, OptionalLong bootId, AutoCloseable lock)
      throws IOException {
    return new PoolOpener(memory, bootId).open(expected, lock);
  }

  private Pool open(PoolOwner expected, AutoCloseable lock) throws IOException {
    long start = System.nanoTime();
    Superblocks.Reading reading = Superblocks.read(memory);
    refuseOtherOwner(reading.current().owner(), expected);
    Session.Reading session = Session.read(memory, reading.current().salt());
    boolean powerLost = session.session().lostPower(bootId);
    PoolScan scan = PoolScan.of(memory, reading.current(), powerLost);
    refuseCorrupt(scan);

    repaired.addAll(reading.findings());
    session.finding().ifPresent(repaired::add);
    Superblocks.write(memory, reading.current(), reading.toRepair());
    Superblock superblock = bind(reading.current(), expected);
    PoolScan settled = settle(superblock, scan, session.session(), powerLost);
    beginSession(superblock);
    return new Pool(
        memory, superblock, settled, report(superblock, reading, scan, powerLost, start), lock);
  }

  private OpenReport report(
      Superblock superblock,
      Superblocks.Reading reading,
      PoolScan scan,
      boolean powerLost,
      long start) {
    int deleting =
        (int) scan.used().stream().filter(slot -> slot.state() == SlotState.DELETING).count();
    return new OpenReport(
        scan.used().size() - deleting,
        deleting,
        superblock.slotCount() - scan.used().size(),
        superblock.dataSize() - scan.allocator().freeBytes(),
        List.copyOf(repaired),
        !superblock.equals(reading.current()),
        powerLost,
        List.copyOf(shortened),
        Duration.ofNanos(System.nanoTime() - start));
  }

  private void refuseOtherOwner(PoolOwner found, PoolOwner expected) throws PoolException {
    boolean otherBroker =
        found.brokerId().isPresent()
            && expected.brokerId().isPresent()
            && found.brokerId().getAsInt() != expected.brokerId().getAsInt();
    boolean otherCluster =
        found.clusterId().isPresent()
            && expected.clusterId().isPresent()
            && !found.clusterId().equals(expected.clusterId());
    if (otherBroker || otherCluster) {
      throw new PoolException(
          Kind.OTHER_OWNER,
          memory.path(),
          "found a pool of "
              + found
              + ", expected one of "
              + expected
              + ": name this broker's own pool, or drain this one with its owner's configuration"
              + " and create it again");
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
        "restore the file from a copy, or look at it with strata pool check and give the damaged"
            + " slots up with strata pool repair");
    throw new PoolException(Kind.CORRUPT, memory.path(), text.toString());
  }

  private Superblock bind(Superblock superblock, PoolOwner opener) throws IOException {
    PoolOwner owner = superblock.owner();
    PoolOwner bound =
        new PoolOwner(
            owner.brokerId().isPresent() ? owner.brokerId() : opener.brokerId(),
            owner.clusterId().isPresent() ? owner.clusterId() : opener.clusterId());
    if (bound.equals(owner)) {
      return superblock;
    }
    Superblock changed = superblock.withOwner(bound);
    Superblocks.writeBoth(memory, changed);
    return changed;
  }

  /**
   * Makes what is believed of the slots durably so: after a power cut, what was forced; after a
   * session that forced everything, or did not need to, all of it.
   */
  private PoolScan settle(Superblock superblock, PoolScan scan, Session session, boolean powerLost)
      throws IOException {
    if (!powerLost && (session.open() || memory.durability() != Durability.FORCE)) {
      return scan;
    }
    List<SlotImage> settled = scan.used().stream().map(SlotImage::withAllForced).toList();
    boolean changed = false;
    for (SlotImage whole : settled) {
      // The flags before the lengths: if this is cut, too, the next opening must see that a spilled
      // segment has been shortened.
      changed |= powerLost && storeIfOther(superblock, whole, FLAGS_OFFSET, whole.flags());
    }
    makeDurable(superblock, changed);
    changed = false;
    for (SlotImage whole : settled) {
      if (powerLost) {
        noteIfShortened(whole);
        changed |=
            storeIfOther(superblock, whole, COMMITTED_LENGTH_OFFSET, whole.committedLength());
        changed |= storeIfOther(superblock, whole, EXTENT_COUNT_OFFSET, whole.extents().count());
      }
      changed |= storeIfOther(superblock, whole, FORCED_LENGTH_OFFSET, whole.forcedLength());
    }
    makeDurable(superblock, changed);
    return new PoolScan(
        settled, scan.free(), scan.generations(), scan.findings(), scan.allocator());
  }

  private void makeDurable(Superblock superblock, boolean changed) throws IOException {
    if (changed) {
      long length = (long) superblock.slotCount() * SLOT_LENGTH;
      memory.persist(TABLE, length);
      memory.force(TABLE, length);
    }
  }

  private void noteIfShortened(SlotImage slot) throws IOException {
    long stored =
        memory.loadLong(slotPosition(slot.index()) + COMMITTED_LENGTH_OFFSET)
            & CheckedWord.MAX_VALUE;
    if (stored > slot.committedLength()) {
      shortened.add(new Shortened(slot.index(), slot.path(), stored, slot.committedLength()));
    }
  }

  private boolean storeIfOther(Superblock superblock, SlotImage slot, int offset, long value)
      throws IOException {
    long position = slotPosition(slot.index()) + offset;
    long word = CheckedWord.encode(value, position, superblock.salt());
    if (memory.loadLong(position) == word) {
      return false;
    }
    memory.storeLong(position, word);
    return true;
  }

  private void beginSession(Superblock superblock) throws IOException {
    boolean needsForce = memory.durability() == Durability.FORCE;
    Session session = needsForce ? new Session(true, bootId.orElse(0)) : Session.CLOSED;
    session.write(memory, superblock.salt());
  }
}
