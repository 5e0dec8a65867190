package io.strata.kafka.metrics;

import io.strata.kafka.memory.calls.Printable;
import io.strata.kafka.migration.RateLimit;
import io.strata.kafka.pool.OpenReport;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.PoolInfo;
import io.strata.kafka.pool.words.PoolOwner;
import io.strata.kafka.tier.spec.RecoveryReport;
import io.strata.kafka.tier.spec.TierEvents;
import java.nio.file.Path;
import java.util.List;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes what happens to the tier into the broker's log: one line for each thing that an operator
 * can act on, and no more than one a minute for what can happen with every new segment.
 *
 * <p>Thread safety: may be called by any thread.
 */
public final class TierLog implements TierEvents {

  private static final int NAMED = 10;

  /** Kept slots share a reason, so that fewer will do. */
  private static final int KEPT_NAMED = 3;

  private final Logger log;
  private final RateLimit spills;
  private final RateLimit refusals;

  public TierLog() {
    this(LoggerFactory.getLogger("io.strata.kafka.tier"), System::nanoTime);
  }

  TierLog(Logger log, LongSupplier nanoTime) {
    this.log = log;
    this.spills = new RateLimit(nanoTime);
    this.refusals = new RateLimit(nanoTime);
  }

  public void warning(String message) {
    log.warn("{}", message);
  }

  /** Logs a failure that ends nothing, with its stack trace. */
  public void failed(String what, Throwable reason) {
    log.warn("{}{}", what, reason.getMessage(), reason);
  }

  @Override
  public void poolCreated(Path file, long bytes, PoolOwner owner) {
    log.info("Created pool {} of {} bytes, for {}.", file, bytes, owner);
  }

  @Override
  public void poolsNotCreated(List<Path> files, String reason) {
    log.warn(
        "strata.pool.create does not create {}, since records could be lost with it: {}",
        String.join(", ", files.stream().map(Path::toString).toList()),
        reason);
  }

  @Override
  public void poolOfAnotherSize(Path file, long bytes, long configured) {
    log.info(
        """
        Pool {} has {} bytes and keeps them: strata.pool.create, which is {}, is for new pools \
        alone. See 'strata pool grow'.\
        """,
        file,
        bytes,
        configured);
  }

  @Override
  public void poolOpened(Pool pool) {
    PoolInfo info = pool.info();
    log.info(
        """
        Opened pool {} ({}): type {}, durability {}, {} bytes for data, {} free, {} of {} slots \
        in use\
        """,
        info.path(),
        info.id(),
        info.type().configName(),
        info.durability(),
        info.dataSize(),
        pool.usage().freeBytes(),
        pool.usage().liveSlots(),
        info.slotCount());
    logFindings(pool);
    if (info.durability().needsForce()) {
      log.info(
          """
          Pool {} is not on DAX: what was flushed or replicated survives a power failure, as with \
          stock Kafka, and with strata.durability=ack every acknowledged record does.\
          """,
          info.path());
    } else if (!info.durability().survivesReboot()) {
      log.warn(
          """
          Pool {} is on a file system in memory: a power failure or a reboot empties it, flushed \
          or not. Only what was replicated survives. Use a pool on a disk, or on persistent memory \
          with strata.require.dax=true.\
          """,
          info.path());
    }
  }

  private void logFindings(Pool pool) {
    Path file = pool.info().path();
    OpenReport report = pool.report();
    name("Repaired in pool " + file, report.repaired().stream().map(Object::toString).toList());
    name(
        "Damaged, so that an older log directory is not refused, in pool " + file,
        report.damagedMoments().stream().map(Object::toString).toList());
    if (report.bound()) {
      log.info("Bound pool {}, which had no owner yet, to {}", file, pool.info().owner());
    }
    if (report.powerLost()) {
      log.info(
          """
          The machine was started anew since pool {} was opened last. What was flushed is there; \
          Kafka verifies the rest, as with its own files.\
          """,
          file);
    }
    // Also where the machine stayed up, and the device was away.
    name(
        "Shortened segments, since what was not flushed is gone, in pool " + file,
        report.shortened().stream()
            .map(s -> s.relativePath() + " from " + s.from() + " to " + s.to() + " bytes")
            .toList());
  }

  @Override
  public void logDirectorySkipped(Path directory, String reason) {
    log.warn(
        "Skipped log directory {}: {}. Its segments in the pools are kept.", directory, reason);
  }

  @Override
  public void recovered(RecoveryReport report) {
    log.info(
        """
        Recovered the hot tier in {} ms: {} segments in the pools, {} log files restored, {} \
        slots freed whose log file was removed, {} deletions finished, {} stale tags removed, {} \
        slots kept for absent log directories\
        """,
        report.millis(),
        report.hot(),
        report.restored().size(),
        report.freed().size(),
        report.deletionsFinished(),
        report.tagsRemoved(),
        report.kept().size());
    name("Restored log files that a power failure had taken", report.restored());
    name(
        """
        Log files are missing of segments that the pools hold: bring them back with their \
        extended attributes, or the first start after this broker has run for ten minutes frees \
        their bytes\
        """,
        report.orphaned());
    name("Freed slots of log files that were removed", report.freed());
    name("Kept slots", report.kept(), KEPT_NAMED);
  }

  private void name(String what, List<String> items) {
    name(what, items, NAMED);
  }

  private void name(String what, List<String> items, int most) {
    if (!items.isEmpty()) {
      log.warn(
          "{} ({}): {}{}",
          what,
          items.size(),
          Printable.of(String.join(", ", items.subList(0, Math.min(most, items.size())))),
          items.size() > most ? ", and " + (items.size() - most) + " more" : "");
    }
  }

  @Override
  public void placementRefused(Path file) {
    refusals.ifDue(
        before ->
            log.warn(
                """
                No pool has a free slot and space, nor a clean segment to evict: {} and {} \
                segments before it since the last such line begin in their log files. See 'strata \
                status': a lower strata.migration.threshold keeps more space in reserve; more \
                slots (strata pool create --slots) or another pool help where it is full of \
                active segments.\
                """,
                file,
                before));
  }

  @Override
  public void spilled(Path file, long bytesInPool) {
    spills.ifDue(
        before ->
            log.info(
                """
                The pool is full: {} goes on in its log file after {} bytes in the pool; {} other \
                segments did so since the last such line\
                """,
                file,
                bytesInPool,
                before));
  }

  @Override
  public void backgroundFailure(String what, Exception cause) {
    log.warn("Could not {}", what, cause);
  }
}
