package io.strata.kafka.migration.remote;

import io.strata.kafka.migration.LatencyWindow;
import io.strata.kafka.migration.MigrationStats;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

/**
 * The remote tier at one moment, with its counters, which count since the broker started.
 *
 * @param levels one for each level, fastest first; the cold manager's is the last
 * @param stuckThreads threads whose operation ran out of its time and has not come back
 * @param cold the calls that hang in the cold manager, which {@code stuckThreads} counts too; empty
 *     without one
 * @param replacedReads how often a copy could not be read, or was found damaged, and another copy
 *     served the read
 * @param damagedSegments segments of which every copy is known to be damaged
 * @param directories one for each directory, in the configured order
 * @param patience Kafka discards a read that takes longer
 * @param migration how segments move between levels, counted since this broker became the one that
 *     moves them; empty while another one does, or with one level
 */
public record RemoteStats(
    Map<Operation, OperationMeter> operations,
    List<LevelStats> levels,
    ScrubMeter scrub,
    int stuckThreads,
    Optional<HangingCalls> cold,
    long replacedReads,
    long damagedSegments,
    List<DirectoryStats> directories,
    Duration patience,
    Optional<MigrationStats> migration) {

  public RemoteStats {
    operations = Map.copyOf(operations);
    levels = List.copyOf(levels);
    directories = List.copyOf(directories);
  }

  /** The kinds of Kafka's requests. */
  public enum Operation {
    COPY,
    /** A range of a segment: counted by range, its bytes as Kafka reads them. */
    FETCH,
    INDEX,
    DELETE
  }

  /** Why an operation failed. */
  public enum Cause {
    FULL,
    TIMEOUT,
    /** The segment, or the index, is not there. */
    NOT_FOUND,
    /** The bytes read are not the bytes written. */
    CORRUPT,
    /** A directory cannot be used: unmounted, read-only, of another store. */
    UNAVAILABLE,
    /** The thread was interrupted: Kafka gave the operation up. */
    CANCELLED,
    COLD,
    /** A fault of the manager's or of the JVM's: an Error, or an exception that none expected. */
    FAULT,
    IO
  }

  /**
   * Counts one kind of operation.
   *
   * @param count those that ended well, of which {@code bytes} are too
   * @param latency how long they took; for {@link Operation#FETCH} the time from the call to the
   *     first byte
   * @param failures by cause; a cause that has had none may be missing
   */
  public record OperationMeter(
      LongAdder count,
      LongAdder bytes,
      AtomicInteger running,
      LatencyWindow latency,
      Map<Cause, Long> failures) {

    /** Is zero. */
    public OperationMeter(LongSupplier nanoTime) {
      this(
          new LongAdder(),
          new LongAdder(),
          new AtomicInteger(),
          new LatencyWindow(nanoTime),
          new ConcurrentHashMap<>());
    }
  }

  /**
   * Counts bytes of one level.
   *
   * @param fetched from there for fetches; from the cold manager in whole pieces
   */
  public record LevelMeter(LongAdder copied, LongAdder fetched, LongAdder deleted) {

    public LevelMeter() {
      this(new LongAdder(), new LongAdder(), new LongAdder());
    }
  }

  /**
   * One level.
   *
   * @param capacityBytes what the store may take there; 0 for the cold manager's
   * @param segments segments read from there
   * @param unavailableDirectories of its directories, those that cannot be used now, or in which
   *     copies fail
   * @param movingCopies copies that a move has published and not confirmed yet
   */
  public record LevelStats(
      String name,
      long capacityBytes,
      long usedBytes,
      long segments,
      int directories,
      int unavailableDirectories,
      long movingCopies,
      long damagedCopies,
      LevelMeter counted) {}

  /** Calls that hang in another manager: they ran out of their time and have not come back. */
  public record HangingCalls(String manager, int copies, int reads, int deletions) {
    int all() {
      return copies + reads + deletions;
    }
  }

  /**
   * One directory of the store.
   *
   * @param copiesFail why copies go elsewhere for now, where another directory takes them
   */
  public record DirectoryStats(
      String path, String level, boolean available, Optional<String> copiesFail) {}

  /**
   * Counts the checks of the store.
   *
   * @param corruptObjects found not to be what was written
   * @param orphansRemoved left by failed copies and removed
   * @param orphansLeft deleted segments and leftovers that cannot be removed now
   * @param lastEndMillis when the last round ended that has read all directories that were due, in
   *     milliseconds since the epoch; empty if none did
   */
  public record ScrubMeter(
      LongAdder rounds,
      LongAdder objects,
      LongAdder bytes,
      LongAdder corruptObjects,
      LongAdder missingObjects,
      LongAdder orphansRemoved,
      LongAdder orphansLeft,
      AtomicReference<OptionalLong> lastEndMillis) {

    /** Is zero. */
    public ScrubMeter() {
      this(
          new LongAdder(),
          new LongAdder(),
          new LongAdder(),
          new LongAdder(),
          new LongAdder(),
          new LongAdder(),
          new LongAdder(),
          new AtomicReference<>(OptionalLong.empty()));
    }
  }
}
