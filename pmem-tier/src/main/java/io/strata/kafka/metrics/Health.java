package io.strata.kafka.metrics;

import io.strata.kafka.metrics.LocalSample.OfPool;
import io.strata.kafka.migration.MigrationStats;
import io.strata.kafka.migration.remote.RemoteStats;
import io.strata.kafka.migration.remote.RemoteStats.DirectoryStats;
import io.strata.kafka.migration.remote.RemoteStats.HangingCalls;
import io.strata.kafka.migration.remote.RemoteStats.LevelStats;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Says whether what Strata promises holds on this broker, and why not; {@code docs/operations.md}
 * has the conditions.
 *
 * @param value 0 fine, 1 degraded, 2 a promise does not hold: the highest of the reasons
 * @param reasons what is wrong, the worst first; empty if nothing is
 */
record Health(int value, List<String> reasons) {

  Health {
    reasons = List.copyOf(reasons);
  }

  private static final int DEGRADED = 1;
  private static final int BROKEN = 2;

  /** Fewer say nothing about a share of them. */
  private static final int FEWEST_READS = 20;

  private record Reason(int value, String text) {}

  /**
   * The health of a broker with what it has of Strata.
   *
   * @param offline log directories that Kafka has taken offline
   * @param unknown names of parts that are there and whose state cannot be read
   * @param leftOut what of the dynamic configuration has no effect, and why
   */
  static Health of(
      Optional<LocalSample> local,
      Optional<RemoteStats> remote,
      List<String> offline,
      List<String> unknown,
      List<String> leftOut) {
    List<Reason> reasons = new ArrayList<>();
    List<String> skipped =
        local.map(sample -> sample.guarantees().skippedLogDirectories()).orElse(List.of());
    offline.stream()
        .filter(directory -> skipped.stream().noneMatch(each -> each.startsWith(directory + ": ")))
        .forEach(
            directory ->
                degraded(reasons, "Kafka has taken log directory %s offline".formatted(directory)));
    unknown.forEach(
        part -> degraded(reasons, "the state of %s cannot be read: see the log".formatted(part)));
    leftOut.forEach(text -> degraded(reasons, text));
    local.ifPresent(sample -> add(reasons, sample));
    remote.ifPresent(stats -> add(reasons, stats));
    return new Health(
        reasons.stream().mapToInt(Reason::value).max().orElse(0),
        reasons.stream()
            .sorted((a, b) -> Integer.compare(b.value(), a.value()))
            .map(Reason::text)
            .toList());
  }

  private static void add(List<Reason> reasons, LocalSample sample) {
    for (OfPool pool : sample.pools()) {
      pool.failure()
          .ifPresent(
              failure ->
                  broken(
                      reasons,
                      "pool %s failed, and nothing more is stored in it: restart the machine: %s"
                          .formatted(pool.info().path(), failure)));
    }
    if (sample.guarantees().spillsUnforced()) {
      // A choice of the operator's must not hide a failure.
      degraded(
          reasons,
          """
          strata.spill.force=never: records that spill from a pool on DAX do not survive a power \
          failure until Kafka or a copy forces them\
          """);
    }
    for (Path directory : sample.guarantees().unforcedLogDirectories()) {
      broken(
          reasons,
          """
          the newest log files in %s could not be forced: what was acknowledged there before \
          strata.spill.force was changed may not survive a power failure\
          """
              .formatted(directory));
    }
    for (Path pool : sample.guarantees().daxLost()) {
      broken(
          reasons,
          """
          pool %s has been on DAX and is not: acknowledged records do not survive a power failure \
          until they are flushed or replicated; mount its file system with DAX, or say that this \
          is meant (type file)\
          """
              .formatted(pool));
    }
    if (sample.guarantees().orphaned() > 0) {
      broken(
          reasons,
          """
          the log files of %d segments in the pools were missing at the start, and the next start \
          frees their bytes: see the log\
          """
              .formatted(sample.guarantees().orphaned()));
    }
    for (String directory : sample.guarantees().skippedLogDirectories()) {
      degraded(reasons, "log directory skipped at the start: %s".formatted(directory));
    }
    if (sample.figures().refused() > 0) {
      boolean slots = sample.pools().stream().allMatch(pool -> pool.usage().freeSlots() == 0);
      degraded(
          reasons,
          "the pools had %s: %d active segments are in their log files alone"
              .formatted(
                  slots ? "no free slot, and each segment takes one" : "too little space",
                  sample.figures().refused()));
    }
    if (sample.figures().spilling() > 0) {
      degraded(
          reasons,
          "the pools are full: %d active segments spill to their log files"
              .formatted(sample.figures().spilling()));
    }
    sample.migration().ifPresent(moves -> add(reasons, moves, "between tiers"));
  }

  private static void add(List<Reason> reasons, RemoteStats stats) {
    if (stats.damagedSegments() > 0) {
      broken(
          reasons,
          "%d segments of the remote store have no copy that is not damaged"
              .formatted(stats.damagedSegments()));
    }
    for (LevelStats level : stats.levels()) {
      if (level.damagedCopies() > 0) {
        degraded(
            reasons,
            "%d damaged copies in remote level %s".formatted(level.damagedCopies(), level.name()));
      }
    }
    for (DirectoryStats directory : stats.directories()) {
      if (!directory.available()) {
        degraded(
            reasons,
            "remote directory %s of level %s cannot be used"
                .formatted(directory.path(), directory.level()));
      }
      if (directory.copiesFail().isPresent()) {
        degraded(
            reasons,
            "copies go past remote directory %s of level %s: %s"
                .formatted(directory.path(), directory.level(), directory.copiesFail().get()));
      }
    }
    Optional.ofNullable(stats.operations().get(RemoteStats.Operation.FETCH))
        .map(fetches -> fetches.latency().seconds())
        .filter(reads -> reads.getOrDefault("Count", 0.0) >= FEWEST_READS)
        .map(reads -> Duration.ofNanos(Math.round(reads.getOrDefault("95thPercentile", 0.0) * 1e9)))
        .filter(slow -> slow.compareTo(stats.patience()) > 0)
        .ifPresent(slow -> degraded(reasons, slowReads(slow, stats.patience())));
    stats.cold().ifPresent(calls -> add(reasons, calls));
    if (stats.stuckThreads() > 0) {
      degraded(
          reasons,
          "%d threads hang in operations of the remote tier".formatted(stats.stuckThreads()));
    }
    stats.migration().ifPresent(moves -> add(reasons, moves, "between levels of the remote store"));
  }

  private static String slowReads(Duration slow, Duration patience) {
    return """
    one of twenty reads of the remote store takes %d ms or more until its first byte, and Kafka \
    discards what comes later than remote.fetch.max.wait.ms (%d), and asks again: raise the key\
    """
        .formatted(slow.toMillis(), patience.toMillis());
  }

  private static void add(List<Reason> reasons, HangingCalls calls) {
    if (calls.copies() + calls.reads() + calls.deletions() > 0) {
      degraded(
          reasons,
          "cold manager %s hangs in %d copies, %d reads and %d deletions"
              .formatted(calls.manager(), calls.copies(), calls.reads(), calls.deletions()));
    }
  }

  private static void add(List<Reason> reasons, MigrationStats moves, String where) {
    if (moves.corrupt() > 0) {
      broken(reasons, "segments found corrupt by moves %s: %d".formatted(where, moves.corrupt()));
    }
    if (moves.cost().failedInARow() > 0) {
      degraded(
          reasons,
          "planning moves %s failed %d times in a row: nothing moves"
              .formatted(where, moves.cost().failedInARow()));
    }
    if (moves.backingOff() > 0) {
      degraded(
          reasons,
          "%d segments wait for a retry after a failed move %s"
              .formatted(moves.backingOff(), where));
    }
  }

  private static void broken(List<Reason> reasons, String text) {
    reasons.add(new Reason(BROKEN, text));
  }

  private static void degraded(List<Reason> reasons, String text) {
    reasons.add(new Reason(DEGRADED, text));
  }
}
