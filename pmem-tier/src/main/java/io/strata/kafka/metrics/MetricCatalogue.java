package io.strata.kafka.metrics;

import static io.strata.kafka.metrics.Metric.counter;
import static io.strata.kafka.metrics.Metric.gauge;
import static io.strata.kafka.metrics.Metric.latency;

import io.strata.kafka.api.SegmentView;
import io.strata.kafka.memory.Durability;
import io.strata.kafka.metrics.LocalSample.OfPool;
import io.strata.kafka.metrics.LocalSample.OfSegments;
import io.strata.kafka.metrics.LocalSample.OfTier;
import io.strata.kafka.metrics.MetricGroup.Instance;
import io.strata.kafka.migration.FailureCause;
import io.strata.kafka.migration.MigrationStats;
import io.strata.kafka.migration.MigrationStats.TierStats;
import io.strata.kafka.migration.remote.RemoteStats;
import io.strata.kafka.migration.remote.RemoteStats.CacheStats;
import io.strata.kafka.migration.remote.RemoteStats.Cause;
import io.strata.kafka.migration.remote.RemoteStats.LevelStats;
import io.strata.kafka.migration.remote.RemoteStats.Operation;
import io.strata.kafka.migration.remote.RemoteStats.OperationStats;
import io.strata.kafka.tier.Traffic;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The catalogue of the metrics, of the local tiers and of the remote tier: each is declared here,
 * once. What both have (a level's fill, moves, the engine) is one declaration under two types. The
 * page {@code docs/reference/metrics.md} is generated from it.
 *
 * <p>Where there is nothing to read a gauge of bytes or counts is 0, so that sums over brokers stay
 * right; a gauge of a time that is not known is NaN. A gauge that cannot be read is NaN, too, and a
 * counter that cannot be read keeps its last value.
 */
final class MetricCatalogue {

  private static final String BYTES = "bytes";
  private static final String SEGMENTS = "segments";
  private static final String MOVES = "moves";
  private static final String CALLS = "calls";
  private static final String SECONDS = "seconds";

  private MetricCatalogue() {}

  /** A tier's or a level's fill. */
  private record Fill(long capacityBytes, long usedBytes, long segments) {
    static final List<Metric<Fill>> METRICS =
        List.of(
            gauge(
                "CapacityBytes",
                BYTES,
                Fill::capacityBytes,
                "Bytes that segments can use at most; 0 for a level that another manager has."),
            gauge("UsedBytes", BYTES, Fill::usedBytes, "Bytes that are not free."),
            gauge("Segments", SEGMENTS, Fill::segments, "Segments that are read from here."));
  }

  /** The moves from and to a tier or a level. */
  private record Moved(TierStats moves, long evictedBytes, long evictedSegments) {
    private static final TierStats NOTHING =
        new TierStats(0, 0, 0, 0, 0, 0, 0, false, 0, OptionalDouble.of(0));

    static Moved of(Optional<TierStats> moves) {
      TierStats stats = moves.orElse(NOTHING);
      return new Moved(stats, stats.evictedBytes(), stats.evictedSegments());
    }

    static final List<Metric<Moved>> METRICS =
        List.of(
            gauge(
                "Draining",
                "0 or 1",
                m -> m.moves().draining() ? 1 : 0,
                "1 while segments are copied down because the threshold was exceeded."),
            gauge(
                "BacklogBytes",
                BYTES,
                m -> m.moves().backlogBytes(),
                "Bytes to copy down until the low mark is reached; 0 when it is not draining."),
            gauge(
                "BacklogSeconds",
                SECONDS,
                m -> m.moves().backlogSeconds().orElse(Double.NaN),
                """
                Estimated time to drain the backlog at the recent rate; NaN when nothing was \
                copied recently.\
                """),
            counter(
                "DestagedBytesTotal",
                BYTES,
                m -> m.moves().destagedBytes(),
                "Bytes copied down from here."),
            counter(
                "DestagedSegmentsTotal",
                SEGMENTS,
                m -> m.moves().destagedSegments(),
                "Segments copied down from here."),
            counter(
                "PromotedBytesTotal",
                BYTES,
                m -> m.moves().promotedBytes(),
                "Bytes copied up to here."),
            counter(
                "PromotedSegmentsTotal",
                SEGMENTS,
                m -> m.moves().promotedSegments(),
                "Segments copied up to here."),
            counter(
                "EvictedBytesTotal",
                BYTES,
                Moved::evictedBytes,
                "Bytes freed here because a lower tier or level has them, too."),
            counter(
                "EvictedSegmentsTotal",
                SEGMENTS,
                Moved::evictedSegments,
                "Segments freed here because a lower tier or level has them, too."));
  }

  private static final List<Metric<MigrationStats>> ENGINE =
      List.of(
          gauge(
              "DownBytesPerSecond",
              "bytes per second",
              MigrationStats::downBytesPerSecond,
              "Rate of copies down over the last ten seconds."),
          gauge(
              "UpBytesPerSecond",
              "bytes per second",
              MigrationStats::upBytesPerSecond,
              "Rate of copies up over the last ten seconds."),
          gauge("Queued", MOVES, MigrationStats::queued, "Moves that wait for a thread."),
          gauge("InFlight", MOVES, MigrationStats::inFlight, "Moves under way."),
          gauge("Threads", "threads", MigrationStats::threads, "Threads that make moves."),
          gauge(
              "BackingOff",
              SEGMENTS,
              MigrationStats::backingOff,
              "Segments that wait for a retry after a failed move."),
          latency(
              "DestageSeconds",
              MigrationStats::destageLatency,
              "Duration of copies down, waiting for the rate limit included."),
          latency(
              "PromoteSeconds",
              MigrationStats::promoteLatency,
              "Duration of copies up, waiting for the rate limit included."),
          counter(
              "CancelledTotal",
              MOVES,
              MigrationStats::cancelled,
              """
              Moves cancelled without a fault: the segment was deleted or changed, or there was \
              no space.\
              """),
          counter(
              "RefusedMovesTotal",
              MOVES,
              MigrationStats::refusedMoves,
              "Moves of the policy that are not allowed: a fault of the policy."),
          latency("RoundSeconds", MigrationStats::roundLatency, "Duration of planning rounds."),
          counter(
              "FailedRoundsTotal",
              "rounds",
              MigrationStats::failedRounds,
              "Planning rounds that failed: nothing moves until one succeeds."),
          gauge(
              "LastRoundCpuSeconds",
              SECONDS,
              stats -> stats.lastRoundCpuNanos() / 1e9,
              "Processor time of the last planning round."));

  /** The local tiers'. */
  static final List<MetricGroup<LocalSample, ?>> LOCAL =
      List.of(
          new MetricGroup<LocalSample, OfPool>(
              "Pool",
              List.of("pool"),
              indexed(LocalSample::pools, OfPool::path),
              List.of(
                  gauge(
                      "SizeBytes",
                      BYTES,
                      OfPool::sizeBytes,
                      "Bytes that segments can use at most."),
                  gauge(
                      "UsedBytes",
                      BYTES,
                      OfPool::usedBytes,
                      """
                      Bytes in extents of segments. Near the size, new segments and the tails of \
                      hot ones go to the log files.\
                      """),
                  gauge("FreeBytes", BYTES, OfPool::freeBytes, "Bytes in no segment's extent."),
                  gauge(
                      "FreeSlots",
                      SEGMENTS,
                      OfPool::freeSlots,
                      "Segments that can still be placed, if there is space for their bytes."),
                  gauge(
                      "Durability",
                      "level",
                      pool -> level(pool.durability()),
                      """
                      What the pool survives: 2 a power failure, with every append; 1 a power \
                      failure, for what Kafka has flushed; 0 the end of the broker's process only.\
                      """),
                  gauge(
                      "Failed",
                      "0 or 1",
                      pool -> pool.failure().isPresent() ? 1 : 0,
                      """
                      1 when a force has failed: nothing more is stored in the pool until the \
                      broker restarts.\
                      """))),
          tiers(MetricCatalogue::fill, Fill.METRICS),
          tiers(
              Function.identity(),
              List.of(
                  gauge(
                      "DirtyBytes",
                      BYTES,
                      tier -> tier.usage().dirtyBytes(),
                      """
                      Bytes whose only complete copy is here: they must be copied down before \
                      their space can be used.\
                      """),
                  gauge(
                      "CleanBytes",
                      BYTES,
                      tier -> tier.usage().cleanBytes(),
                      """
                      Bytes that a lower tier has, too: readable here, and free at once when \
                      needed.\
                      """),
                  gauge(
                      "ActiveBytes",
                      BYTES,
                      tier -> tier.usage().activeBytes(),
                      """
                      Of the dirty bytes, those of segments that Kafka appends to that are not \
                      worth a copy.\
                      """),
                  gauge(
                      "ReserveBytes",
                      BYTES,
                      tier -> tier.usage().reserveBytes(),
                      """
                      What a burst finds without waiting for a copy: the free bytes and the clean \
                      ones.\
                      """),
                  gauge(
                      "OldestDirtySeconds",
                      SECONDS,
                      tier -> seconds(tier.oldestDirtyMillis()),
                      """
                      Time since the last append to the dirty segment that has been sealed for \
                      longest; 0 when no sealed segment is dirty.\
                      """))),
          tiers(
              tier ->
                  new Moved(
                      Moved.of(tier.moves()).moves(),
                      tier.traffic().evictedBytes(),
                      tier.traffic().evictedSegments()),
              Moved.METRICS),
          tiers(
              OfTier::traffic,
              List.of(
                  counter(
                      "PressureBytesTotal",
                      BYTES,
                      Traffic.Counts::pressureBytes,
                      """
                      Of the evicted bytes, those evicted at once for an append or for another \
                      copy.\
                      """),
                  counter(
                      "PressureSegmentsTotal",
                      SEGMENTS,
                      Traffic.Counts::pressureSegments,
                      """
                      Of the evicted segments, those evicted at once for an append or for another \
                      copy.\
                      """),
                  counter(
                      "SpilledBytesTotal",
                      BYTES,
                      Traffic.Counts::spilledBytes,
                      """
                      Bytes appended to segments of this tier that went to the log file, since \
                      nothing clean was left to evict.\
                      """),
                  counter(
                      "SpilledSegmentsTotal",
                      SEGMENTS,
                      Traffic.Counts::spilledSegments,
                      "Segments of this tier that spilled."))),
          new MetricGroup<LocalSample, Traffic.Counts>(
              "Tier",
              List.of("tier"),
              MetricCatalogue::tiersAndLogDirs,
              List.of(
                  counter(
                      "ReadBytesTotal",
                      BYTES,
                      Traffic.Counts::readBytes,
                      """
                      Bytes read from this tier; `%s` are the log directories, for segments that \
                      Strata knows.\
                      """
                          .formatted(SegmentView.LOG_DIRS)),
                  counter(
                      "ReadsTotal",
                      CALLS,
                      Traffic.Counts::reads,
                      """
                      Reads that found their bytes in this tier; `%s` are the log directories, \
                      for segments that Strata knows.\
                      """
                          .formatted(SegmentView.LOG_DIRS)))),
          MetricGroup.one("Migration", LocalSample::migration, ENGINE),
          failedMoves("Migration", LocalSample::migration),
          MetricGroup.one(
              "Segments",
              sample -> Optional.of(sample.segments()),
              List.of(
                  gauge(
                      "Hot",
                      SEGMENTS,
                      OfSegments::hot,
                      "Segments that have a slot in a pool now, spilled ones included."),
                  gauge(
                      "Spilled",
                      SEGMENTS,
                      OfSegments::spilled,
                      "Of the hot segments, those whose tail is in the log file."),
                  counter(
                      "PlacedTotal", SEGMENTS, OfSegments::placed, "Segments placed in a pool."),
                  counter(
                      "PlacementsRefusedTotal",
                      SEGMENTS,
                      OfSegments::placementsRefused,
                      """
                      New segments that began in their log files because no pool had space or a \
                      free slot.\
                      """))),
          MetricGroup.one(
              "Append",
              sample -> Optional.of(sample.counters()),
              List.of(
                  latency(
                      "LatencySeconds",
                      EventCounters::appendLatency,
                      """
                      Duration of appends to hot segments, waiting for the segment's writer lock \
                      included.\
                      """),
                  counter(
                      "BytesTotal",
                      BYTES,
                      EventCounters::appendedBytes,
                      "Bytes appended to hot segments, to the pool or to the log file."))),
          MetricGroup.one(
              "Read",
              sample -> Optional.of(sample.counters()),
              List.of(
                  latency(
                      "LatencySeconds",
                      EventCounters::readLatency,
                      "Duration of reads from hot segments, transfers to sockets included."),
                  counter(
                      "BytesTotal",
                      BYTES,
                      EventCounters::readBytes,
                      "Bytes read from hot segments, from the pool or from the log file."),
                  counter(
                      "LogFileBytesTotal",
                      BYTES,
                      EventCounters::logFileReadBytes,
                      "Of the bytes read, those of the tails of spilled segments, in log files."))),
          MetricGroup.one(
              "LogFiles",
              sample -> Optional.of(sample.segments()),
              List.of(
                  counter(
                      "FailuresTotal",
                      CALLS,
                      OfSegments::logFileFailures,
                      """
                      Operations on the log files of hot segments that failed: the disk of the \
                      log directory is full or failing.\
                      """),
                  counter(
                      "MtimeRefreshesTotal",
                      CALLS,
                      OfSegments::mtimeRefreshes,
                      """
                      Updates of a log file's modification time to the time of the last append.\
                      """))));

  /** The remote tier's. */
  static final List<MetricGroup<RemoteStats, ?>> REMOTE =
      List.of(
          new MetricGroup<RemoteStats, OperationStats>(
              "RemoteOperation",
              List.of("operation"),
              stats ->
                  Stream.of(Operation.values())
                      .map(
                          operation ->
                              new Instance<RemoteStats, OperationStats>(
                                  List.of(label(operation)),
                                  now -> Optional.ofNullable(now.operations().get(operation))))
                      .toList(),
              List.of(
                  counter(
                      "CompletedTotal",
                      CALLS,
                      OperationStats::count,
                      """
                      Operations that succeeded: segments copied and deleted, ranges and indexes \
                      read.\
                      """),
                  counter("BytesTotal", BYTES, OperationStats::bytes, "Their bytes."),
                  gauge("Running", CALLS, OperationStats::running, "Operations under way."),
                  latency(
                      "LatencySeconds",
                      OperationStats::latency,
                      "Duration of operations; of a fetch, until its first byte."))),
          new MetricGroup<RemoteStats, Long>(
              "RemoteOperation",
              List.of("cause", "operation"),
              stats -> failures(),
              List.of(
                  counter(
                      "FailuresTotal",
                      CALLS,
                      Long::doubleValue,
                      """
                      Operations that failed. Kafka retries a copy and a deletion; a consumer \
                      retries its fetch. An index that is not found is mostly a transaction index \
                      that the segment does not have: no fault.\
                      """))),
          levels(
              (stats, level) ->
                  new Fill(level.capacityBytes(), level.usedBytes(), level.segments()),
              Fill.METRICS),
          levels(
              (stats, level) -> level,
              List.of(
                  gauge("Directories", "directories", LevelStats::directories, "Its directories."),
                  gauge(
                      "UnavailableDirectories",
                      "directories",
                      LevelStats::unavailableDirectories,
                      """
                      Of the directories, those that cannot be used now: unmounted, read-only, of \
                      another store.\
                      """),
                  gauge(
                      "MovingCopies",
                      SEGMENTS,
                      LevelStats::movingCopies,
                      "Copies that a move has published and not confirmed yet."),
                  gauge(
                      "DamagedCopies",
                      SEGMENTS,
                      LevelStats::damagedCopies,
                      """
                      Copies known to be damaged: another copy is read if there is one, and the \
                      scrub removes them then.\
                      """),
                  counter(
                      "CopiedBytesTotal",
                      BYTES,
                      LevelStats::copiedBytes,
                      "Bytes copied here for Kafka."),
                  counter(
                      "FetchedBytesTotal",
                      BYTES,
                      LevelStats::fetchedBytes,
                      """
                      Bytes read from here for fetches; from the cold manager, what is read ahead, \
                      too.\
                      """),
                  counter(
                      "DeletedBytesTotal",
                      BYTES,
                      LevelStats::deletedBytes,
                      "Bytes deleted here for Kafka."))),
          levels((stats, level) -> Moved.of(movesOf(stats, level)), Moved.METRICS),
          MetricGroup.one(
              "Remote",
              Optional::of,
              List.of(
                  gauge(
                      "OldestUncopiedSeconds",
                      SECONDS,
                      stats -> seconds(stats.oldestUncopiedMillis()),
                      """
                      Age of the oldest sealed segment, of a tiered partition that this broker \
                      leads, that is not in the store yet; 0 when there is none.\
                      """),
                  gauge(
                      "StuckThreads",
                      "threads",
                      RemoteStats::stuckThreads,
                      """
                      Threads whose operation exceeded its time limit and has not returned: a \
                      file system that hangs.\
                      """),
                  counter(
                      "LinkedBytesTotal",
                      BYTES,
                      RemoteStats::linkedBytes,
                      "Of the copied bytes, those that share the blocks of `log.dirs`."),
                  counter(
                      "ReplacedReadsTotal",
                      CALLS,
                      RemoteStats::replacedReads,
                      """
                      Reads served by another copy because the first one was damaged or could not \
                      be read.\
                      """),
                  gauge(
                      "DamagedSegments",
                      SEGMENTS,
                      RemoteStats::damagedSegments,
                      """
                      Segments of which every copy is known to be damaged: fetches of them fail.\
                      """))),
          MetricGroup.one(
              "RemoteCache",
              stats -> Optional.of(stats.cache()),
              List.of(
                  gauge(
                      "CapacityBytes",
                      BYTES,
                      CacheStats::capacityBytes,
                      "Bytes that the cache holds at most."),
                  gauge("UsedBytes", BYTES, CacheStats::usedBytes, "Bytes that the cache holds."),
                  counter(
                      "HitsTotal",
                      "pieces",
                      CacheStats::hits,
                      "Pieces that were requested and found, or on their way."),
                  counter(
                      "MissesTotal",
                      "pieces",
                      CacheStats::misses,
                      "Pieces that were read from the cold manager."),
                  counter("EvictionsTotal", "pieces", CacheStats::evictions, "Pieces evicted."))),
          MetricGroup.one(
              "RemoteScrub",
              stats -> Optional.of(stats.scrub()),
              List.of(
                  counter(
                      "RoundsTotal", "rounds", RemoteStats.ScrubStats::rounds, "Completed rounds."),
                  counter(
                      "ObjectsTotal",
                      "files",
                      RemoteStats.ScrubStats::objects,
                      "Files read and checked."),
                  counter(
                      "BytesTotal", BYTES, RemoteStats.ScrubStats::bytes, "Bytes of these files."),
                  counter(
                      "CorruptObjectsTotal",
                      "files",
                      RemoteStats.ScrubStats::corruptObjects,
                      "Files that are not what was written; the log names each."),
                  counter(
                      "MissingObjectsTotal",
                      "files",
                      RemoteStats.ScrubStats::missingObjects,
                      "Files that a manifest names and that do not exist."),
                  counter(
                      "OrphansRemovedTotal",
                      "directories",
                      RemoteStats.ScrubStats::orphansRemoved,
                      "Leftovers of failed copies that were removed."),
                  gauge(
                      "LastEndTimestampSeconds",
                      "seconds since 1970",
                      stats ->
                          stats.lastEndMillis().isPresent()
                              ? stats.lastEndMillis().getAsLong() / 1e3
                              : Double.NaN,
                      "When the last round ended; NaN if none did on this broker."))),
          MetricGroup.one(
              "RemoteMigration",
              Optional::of,
              List.of(
                  gauge(
                      "Active",
                      "0 or 1",
                      stats -> stats.migration().isPresent() ? 1 : 0,
                      """
                      1 on the broker that moves segments between levels: one of the cluster, if \
                      there are several levels.\
                      """))),
          MetricGroup.one("RemoteMigration", RemoteStats::migration, ENGINE),
          failedMoves("RemoteMigration", RemoteStats::migration));

  /** The broker's, whatever it has of Strata. */
  static final List<MetricGroup<Health, ?>> BROKER =
      List.of(
          MetricGroup.one(
              "Broker",
              Optional::of,
              List.of(
                  gauge(
                      "Health",
                      "level",
                      Health::value,
                      """
                      0 fine; 1 degraded; 2 a promise does not hold. `strata status` shows the \
                      reasons; [what gives which value](../operations.md#health).\
                      """))));

  private static <S> MetricGroup<LocalSample, S> tiers(
      Function<OfTier, S> part, List<Metric<S>> metrics) {
    return new MetricGroup<>(
        "Tier",
        List.of("tier"),
        sample ->
            MetricCatalogue.<LocalSample, OfTier>indexed(
                    LocalSample::tiers, tier -> tier.usage().name())
                .apply(sample)
                .stream()
                .map(
                    tier ->
                        new Instance<LocalSample, S>(
                            tier.values(), now -> tier.read().apply(now).map(part)))
                .toList(),
        metrics);
  }

  private static Fill fill(OfTier tier) {
    return new Fill(
        tier.usage().capacityBytes(), tier.usage().usedBytes(), tier.usage().segments());
  }

  private static <S> MetricGroup<RemoteStats, S> levels(
      BiFunction<RemoteStats, LevelStats, S> part, List<Metric<S>> metrics) {
    return new MetricGroup<>(
        "RemoteLevel",
        List.of("level"),
        stats ->
            MetricCatalogue.<RemoteStats, LevelStats>indexed(RemoteStats::levels, LevelStats::name)
                .apply(stats)
                .stream()
                .map(
                    level ->
                        new Instance<RemoteStats, S>(
                            level.values(),
                            now -> level.read().apply(now).map(of -> part.apply(now, of))))
                .toList(),
        metrics);
  }

  private static Optional<TierStats> movesOf(RemoteStats stats, LevelStats level) {
    int index = stats.levels().indexOf(level);
    return stats
        .migration()
        .map(MigrationStats::tiers)
        .filter(moves -> index < moves.size())
        .map(moves -> moves.get(index));
  }

  private static List<Instance<LocalSample, Traffic.Counts>> tiersAndLogDirs(LocalSample sample) {
    List<Instance<LocalSample, Traffic.Counts>> all = new ArrayList<>();
    for (int i = 0; i < sample.tiers().size(); i++) {
      int index = i;
      all.add(
          new Instance<>(
              List.of(sample.tiers().get(i).usage().name()),
              now -> Optional.of(now.tiers().get(index).traffic())));
    }
    all.add(new Instance<>(List.of(SegmentView.LOG_DIRS), now -> Optional.of(now.logDirs())));
    return all;
  }

  private static <F> MetricGroup<F, Long> failedMoves(
      String type, Function<F, Optional<MigrationStats>> engine) {
    return new MetricGroup<>(
        type,
        List.of("cause"),
        sample ->
            Stream.of(FailureCause.values())
                .map(
                    cause ->
                        new Instance<F, Long>(
                            List.of(cause.label()),
                            now ->
                                engine
                                    .apply(now)
                                    .map(stats -> stats.failures().getOrDefault(cause, 0L))))
                .toList(),
        List.of(
            counter(
                "FailuresTotal",
                MOVES,
                Long::doubleValue,
                "Moves that failed; each is retried, except those of corrupt segments.")));
  }

  private static List<Instance<RemoteStats, Long>> failures() {
    List<Instance<RemoteStats, Long>> all = new ArrayList<>();
    for (Operation operation : Operation.values()) {
      for (Cause cause : Cause.values()) {
        all.add(
            new Instance<>(
                List.of(label(cause), label(operation)),
                now ->
                    Optional.ofNullable(now.operations().get(operation))
                        .map(OperationStats::failures)
                        .map(failures -> failures.getOrDefault(cause, 0L))));
      }
    }
    return all;
  }

  private static <F, S> Function<F, List<Instance<F, S>>> indexed(
      Function<F, List<S>> things, Function<S, String> name) {
    return sample ->
        IntStream.range(0, things.apply(sample).size())
            .mapToObj(
                i ->
                    new Instance<F, S>(
                        List.of(name.apply(things.apply(sample).get(i))),
                        now -> Optional.of(things.apply(now).get(i))))
            .toList();
  }

  /** For tags: lower-case letters and hyphens. */
  private static String label(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  private static double level(Durability durability) {
    return switch (durability) {
      case POWER -> 2;
      case FORCE -> 1;
      case PROCESS -> 0;
    };
  }

  private static double seconds(OptionalLong millis) {
    return millis.orElse(0) / 1e3;
  }
}
