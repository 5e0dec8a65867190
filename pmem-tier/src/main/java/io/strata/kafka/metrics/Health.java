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
import java.util.stream.Stream;

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

  /** Fewer say nothing about a share of them. */
  private static final int FEWEST_READS = 20;

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
    Reasons found = new Reasons();
    List<String> skipped =
        local.map(sample -> sample.guarantees().skippedLogDirectories()).orElse(List.of());
    offline.stream()
        .filter(directory -> skipped.stream().noneMatch(each -> each.startsWith(directory + ": ")))
        .map("Kafka has taken log directory %s offline"::formatted)
        .forEach(found.degraded::add);
    unknown.stream()
        .map("the state of %s cannot be read: see the log"::formatted)
        .forEach(found.degraded::add);
    found.degraded.addAll(leftOut);
    local.ifPresent(found::add);
    remote.ifPresent(found::add);
    int value = found.broken.isEmpty() ? (found.degraded.isEmpty() ? 0 : 1) : 2;
    return new Health(
        value, Stream.of(found.broken, found.degraded).flatMap(List::stream).toList());
  }

  /** The reasons, as they are found. */
  private static final class Reasons {
    final List<String> broken = new ArrayList<>();
    final List<String> degraded = new ArrayList<>();

    void add(LocalSample sample) {
      for (OfPool pool : sample.pools()) {
        String text = "pool %s failed, and nothing more is stored in it: restart the machine: %s";
        pool.failure().ifPresent(why -> broken.add(text.formatted(pool.info().path(), why)));
      }
      if (sample.guarantees().spillsUnforced()) {
        // A choice of the operator's must not hide a failure.
        degraded.add(
            """
            strata.spill.force=never: records that spill from a pool on DAX do not survive a power \
            failure until Kafka or a copy forces them\
            """);
      }
      for (Path directory : sample.guarantees().unforcedLogDirectories()) {
        broken.add(
            """
            the newest log files in %s could not be forced: what was acknowledged there before \
            strata.spill.force was changed may not survive a power failure\
            """
                .formatted(directory));
      }
      for (Path pool : sample.guarantees().daxLost()) {
        broken.add(
            """
            pool %s has been on DAX and is not: acknowledged records do not survive a power failure \
            until they are flushed or replicated; mount its file system with DAX, or say that this \
            is meant (type file)\
            """
                .formatted(pool));
      }
      if (sample.guarantees().orphaned() > 0) {
        broken.add(
            """
            the log files of %d segments in the pools were missing at the start, and a later one \
            frees their bytes: see the log\
            """
                .formatted(sample.guarantees().orphaned()));
      }
      for (String directory : sample.guarantees().skippedLogDirectories()) {
        degraded.add("log directory skipped at the start: %s".formatted(directory));
      }
      if (sample.figures().refused() > 0) {
        boolean slots = sample.pools().stream().allMatch(pool -> pool.usage().freeSlots() == 0);
        degraded.add(
            "the pools had %s: %d active segments are in their log files alone"
                .formatted(
                    slots ? "no free slot, and each segment takes one" : "too little space",
                    sample.figures().refused()));
      }
      if (sample.figures().spilling() > 0) {
        degraded.add(
            "the pools are full: %d active segments spill to their log files"
                .formatted(sample.figures().spilling()));
      }
      sample.migration().ifPresent(moves -> add(moves, "between tiers"));
    }

    void add(RemoteStats stats) {
      if (stats.damagedSegments() > 0) {
        broken.add(
            "%d segments of the remote store have no copy that is not damaged"
                .formatted(stats.damagedSegments()));
      }
      for (LevelStats level : stats.levels()) {
        if (level.damagedCopies() > 0) {
          degraded.add(
              "%d damaged copies in remote level %s"
                  .formatted(level.damagedCopies(), level.name()));
        }
      }
      for (DirectoryStats directory : stats.directories()) {
        if (!directory.available()) {
          degraded.add(
              "remote directory %s of level %s cannot be used"
                  .formatted(directory.path(), directory.level()));
        }
        if (directory.copiesFail().isPresent()) {
          degraded.add(
              "copies go past remote directory %s of level %s: %s"
                  .formatted(directory.path(), directory.level(), directory.copiesFail().get()));
        }
      }
      Optional.ofNullable(stats.operations().get(RemoteStats.Operation.FETCH))
          .map(fetches -> fetches.latency().seconds())
          .filter(reads -> reads.getOrDefault("Count", 0.0) >= FEWEST_READS)
          .map(
              reads ->
                  Duration.ofNanos(Math.round(reads.getOrDefault("95thPercentile", 0.0) * 1e9)))
          .filter(slow -> slow.compareTo(stats.patience()) > 0)
          .ifPresent(slow -> degraded.add(slowReads(slow, stats.patience())));
      stats.cold().ifPresent(this::add);
      if (stats.stuckThreads() > 0) {
        degraded.add(
            "%d threads hang in operations of the remote tier".formatted(stats.stuckThreads()));
      }
      stats.migration().ifPresent(moves -> add(moves, "between levels of the remote store"));
    }

    private static String slowReads(Duration slow, Duration patience) {
      return """
      one of twenty reads of the remote store takes %d ms or more until its first byte, and Kafka \
      discards what comes later than remote.fetch.max.wait.ms (%d), and asks again: raise the key\
      """
          .formatted(slow.toMillis(), patience.toMillis());
    }

    void add(HangingCalls calls) {
      if (calls.copies() + calls.reads() + calls.deletions() > 0) {
        degraded.add(
            "cold manager %s hangs in %d copies, %d reads and %d deletions"
                .formatted(calls.manager(), calls.copies(), calls.reads(), calls.deletions()));
      }
    }

    void add(MigrationStats moves, String where) {
      if (moves.corrupt() > 0) {
        broken.add("segments found corrupt by moves %s: %d".formatted(where, moves.corrupt()));
      }
      if (moves.cost().failedInARow() > 0) {
        degraded.add(
            "planning moves %s failed %d times in a row: nothing moves"
                .formatted(where, moves.cost().failedInARow()));
      }
      if (moves.backingOff() > 0) {
        degraded.add(
            "%d segments wait for a retry after a failed move %s"
                .formatted(moves.backingOff(), where));
      }
    }
  }
}
