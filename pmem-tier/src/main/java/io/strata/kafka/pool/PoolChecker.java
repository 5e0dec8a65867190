package io.strata.kafka.pool;

import io.strata.kafka.memory.PersistentMemory;
import io.strata.kafka.pool.words.CheckFinding;
import io.strata.kafka.pool.words.CheckFinding.Severity;
import io.strata.kafka.pool.words.PoolException;
import io.strata.kafka.pool.words.PoolMoments;
import io.strata.kafka.pool.words.Session;
import io.strata.kafka.pool.words.SlotState;
import io.strata.kafka.pool.words.Superblock;
import io.strata.kafka.pool.words.Superblocks;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Verifies a pool's metadata: both superblocks, the session line, the moments, each word and each
 * body of the slots, that extents are aligned, within the data and in one slot only, and that
 * lengths fit in them. (Blocks cannot leak: the free map is what no slot claims.) It never writes.
 *
 * <p>Stateless; the methods may be called by any number of threads.
 */
public final class PoolChecker {
  /** A finding counts if it is there each time: a writer may be at work. */
  private static final int SCANS = 3;

  private PoolChecker() {}

  /**
   * Checks a pool, whether or not a process has it open.
   *
   * @throws PoolException if there is no such file, or it cannot be opened
   */
  public static CheckReport check(Path file) throws IOException {
    PoolFile.requireFile(file);
    try (PersistentMemory memory = PoolFile.openMemory(file)) {
      return check(memory);
    }
  }

  /** Checks the pool that a memory holds. */
  static CheckReport check(PersistentMemory memory) throws IOException {
    Superblocks.Reading reading;
    try {
      reading = Superblocks.read(memory);
    } catch (PoolException e) {
      CheckFinding refusal =
          new CheckFinding(
              Severity.ERROR,
              OptionalInt.empty(),
              0,
              e.kind() + ": " + e.getMessage(),
              "a pool that this version can read");
      return new CheckReport(Optional.empty(), 0, 0, 0, 0, List.of(refusal));
    }
    Superblock superblock = reading.current();
    List<CheckFinding> findings = new ArrayList<>(reading.findings());
    Session.Reading session = Session.read(memory, superblock.salt());
    session.finding().ifPresent(findings::add);
    findings.addAll(new PoolMoments(memory, superblock.salt()).findings());
    boolean unforced = session.session().open();

    PoolScan scan = PoolScan.of(memory, superblock, unforced);
    List<CheckFinding> lasting = new ArrayList<>(scan.findings());
    for (int i = 1; i < SCANS && !lasting.isEmpty(); i++) {
      scan = PoolScan.of(memory, superblock, unforced);
      lasting.retainAll(scan.findings());
    }
    findings.addAll(lasting);
    return report(memory, superblock, scan, findings);
  }

  private static CheckReport report(
      PersistentMemory memory, Superblock superblock, PoolScan scan, List<CheckFinding> findings) {
    int deleting =
        (int) scan.used().stream().filter(slot -> slot.state() == SlotState.DELETING).count();
    return new CheckReport(
        Optional.of(Pool.infoOf(memory, superblock)),
        scan.used().size() - deleting,
        deleting,
        scan.free(),
        superblock.dataSize() - scan.allocator().freeBytes(),
        List.copyOf(findings));
  }
}
