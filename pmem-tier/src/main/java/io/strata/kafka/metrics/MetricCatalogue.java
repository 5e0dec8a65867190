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
import io.strata.kafka.migration.MigrationStats;
import io.strata.kafka.migration.MigrationStats.TierStats;
import io.strata.kafka.migration.plan.FailureCause;
import io.strata.kafka.migration.remote.RemoteStats;
import io.strata.kafka.migration.remote.RemoteStats.Cause;
import io.strata.kafka.migration.remote.RemoteStats.LevelStats;
import io.strata.kafka.migration.remote.RemoteStats.Operation;
import io.strata.kafka.migration.remote.RemoteStats.OperationStats;
import io.strata.kafka.migration.remote.RemoteStats.ScrubStats;
import io.strata.kafka.tier.space.Traffic.Counts;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Map.Entry;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The catalogue of the metrics, of the local tiers and of the remote tier: each is declared here,
 * once. The two share one declaration of a level's fill, of moves and of the engine, under two
 * types. The page {@code docs/reference/metrics.md} is generated from it.
 *
 * <p>Where there is nothing to read a gauge of bytes or counts is 0, so that sums over brokers stay
 * right; a gauge of a time that is not known is NaN. A gauge that cannot be read is NaN too, and a
 * counter that cannot be read keeps its last value.
 */
final class MetricCatalogue {

  private static final String SEGMENTS = "segments";
  private static final String MOVES = "moves";
  private static final String CALLS = "calls";

  private static final String KNOWN =
      "; `%s` are the log directories, for segments that Strata knows."
          .formatted(SegmentView.LOG_DIRS);

  private MetricCatalogue() {}

  /** A tier's or a level's fill. */
  private record Fill(long capacityBytes, long usedBytes, long segments) {}

  private static final List<Metric<Fill>> FILL =
      List.of(
          gauge(
              "CapacityBytes",
              Fill::capacityBytes,
              "Bytes that segments can use at most; 0 for a level that another manager has."),
          gauge("UsedBytes", Fill::usedBytes, "Bytes that are not free."),
          gauge("Segments", Fill::segments, "Segments that are read from here."));

  /** The moves from and to a tier or a level. */
  private record Moved(TierStats moves, long evictedBytes, long evictedSegments) {
    private static final TierStats NOTHING =
        new TierStats(0, 0, 0, 0, 0, 0, 0, false, 0, OptionalDouble.of(0));
  }

  private static final List<Metric<Moved>> MOVED =
      List.of(
          gauge(
              "Draining",
              "0 or 1",
              m -> m.moves().draining() ? 1 : 0,
              "1 while segments are copied down because the threshold was exceeded."),
          gauge(
              "BacklogBytes",
              m -> m.moves().backlogBytes(),
              "Bytes to copy down until the low mark is reached; 0 when it is not draining."),
          gauge(
              "BacklogSeconds",
              m -> m.moves().backlogSeconds().orElse(Double.NaN),
              """
              Estimated time to drain the backlog at the recent rate; NaN when nothing was \
              copied recently.\
              """),
          counter(
              "DestagedBytesTotal", m -> m.moves().destagedBytes(), "Bytes copied down from here."),
          counter(
              "DestagedSegmentsTotal",
              m -> m.moves().destagedSegments(),
              "Segments copied down from here."),
          counter("PromotedBytesTotal", m -> m.moves().promotedBytes(), "Bytes copied up to here."),
          counter(
              "PromotedSegmentsTotal",
              m -> m.moves().promotedSegments(),
              "Segments copied up to here."),
          counter(
              "EvictedBytesTotal",
              Moved::evictedBytes,
              "Bytes freed here because a lower tier or level has them too."),
          counter(
              "EvictedSegmentsTotal",
              Moved::evictedSegments,
              "Segments freed here because a lower tier or level has them too."));

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
              stats -> stats.lastRoundCpuNanos() / 1e9,
              "Processor time of the last planning round."));

  private static final List<Metric<OfPool>> POOL =
      List.of(
          gauge("SizeBytes", OfPool::sizeBytes, "Bytes that segments can use at most."),
          gauge(
              "UsedBytes",
              OfPool::usedBytes,
              """
              Bytes in extents of segments. Near the size, new segments and the tails of \
              hot ones go to the log files.\
              """),
          gauge("FreeBytes", OfPool::freeBytes, "Bytes in no segment's extent."),
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
              What the records in the pool survive: 2 a power failure, with every append; 1 a \
              power failure, once Kafka has flushed them; 0 the end of the broker's process only.\
              """),
          gauge(
              "Failed",
              "0 or 1",
              pool -> pool.failure().isPresent() ? 1 : 0,
              """
              1 when a force has failed: nothing more is stored in the pool. Restart the \
              machine, not only the broker.\
              """));

  private static final List<Metric<OfTier>> TIER =
      List.of(
          gauge(
              "DirtyBytes",
              tier -> tier.usage().dirtyBytes(),
              """
              Bytes whose only complete copy is here: they must be copied down before \
              their space can be used.\
              """),
          gauge(
              "CleanBytes",
              tier -> tier.usage().cleanBytes(),
              "Bytes that a lower tier has too: readable here, and free at once when needed."),
          gauge(
              "ActiveBytes",
              tier -> tier.usage().activeBytes(),
              """
              Of the dirty bytes, those of segments that Kafka appends to that are not \
              worth a copy.\
              """),
          gauge(
              "ReserveBytes",
              tier -> tier.usage().reserveBytes(),
              """
              What a burst finds without waiting for a copy: the free bytes and the clean ones; 0 \
              when no slot is free and nothing is clean.\
              """),
          gauge(
              "OldestDirtySeconds",
              tier -> seconds(tier.oldestDirtyMillis()),
              """
              Time since the last append to the dirty segment that has been sealed for \
              longest; 0 when no sealed segment is dirty.\
              """));

  private static final List<Metric<Counts>> SPILLS =
      List.of(
          counter(
              "PressureBytesTotal",
              Counts::pressureBytes,
              "Of the evicted bytes, those evicted at once for an append or for another copy."),
          counter(
              "PressureSegmentsTotal",
              Counts::pressureSegments,
              "Of the evicted segments, those evicted at once for an append or for another copy."),
          counter(
              "SpilledBytesTotal",
              Counts::spilledBytes,
              """
              Bytes appended to segments of this tier that went to the log file, since \
              nothing clean was left to evict.\
              """),
          counter(
              "SpilledSegmentsTotal",
              Counts::spilledSegments,
              "Segments of this tier that spilled."));

  private static final List<Metric<Counts>> READS =
      List.of(
          counter("ReadBytesTotal", Counts::readBytes, "Bytes read from this tier" + KNOWN),
          counter(
              "ReadsTotal",
              CALLS,
              Counts::reads,
              "Reads that found their bytes in this tier" + KNOWN));

  private static final List<Metric<OfSegments>> HOT_SEGMENTS =
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
          counter("PlacedTotal", SEGMENTS, OfSegments::placed, "Segments placed in a pool."),
          counter(
              "PlacementsRefusedTotal",
              SEGMENTS,
              OfSegments::placementsRefused,
              """
              New segments that began in their log files because no pool had space or a free slot.\
              """));

  private static final List<Metric<EventCounters>> APPEND =
      List.of(
          latency(
              "LatencySeconds",
              EventCounters::appendLatency,
              """
              Duration of appends to hot segments, waiting for the segment's writer lock included.\
              """),
          counter(
              "BytesTotal",
              EventCounters::appendedBytes,
              "Bytes appended to hot segments, to the pool or to the log file."));

  private static final List<Metric<EventCounters>> READ =
      List.of(
          latency(
              "LatencySeconds",
              EventCounters::readLatency,
              "Duration of reads from hot segments, transfers to sockets included."),
          counter(
              "BytesTotal",
              EventCounters::readBytes,
              "Bytes read from hot segments, from the pool or from the log file."),
          counter(
              "LogFileBytesTotal",
              EventCounters::logFileReadBytes,
              "Of the bytes read, those of the tails of spilled segments, in log files."));

  private static final List<Metric<OfSegments>> LOG_FILES =
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
              "Updates of a log file's modification time to the time of the last append."));

  /** The local tiers'. */
  static final List<MetricGroup<LocalSample, ?>> LOCAL =
      List.of(
          each(
              "Pool",
              "pool",
              LocalSample::pools,
              pools -> PoolLabels.of(pools.stream().map(OfPool::path).toList()),
              (sample, pool) -> pool,
              POOL),
          tiers(MetricCatalogue::fill, FILL),
          tiers(tier -> tier, TIER),
          tiers(MetricCatalogue::moved, MOVED),
          tiers(OfTier::traffic, SPILLS),
          each(
              "Tier",
              "tier",
              MetricCatalogue::reads,
              each -> each.stream().map(Entry::getKey).toList(),
              (sample, of) -> of.getValue(),
              READS),
          MetricGroup.one("Migration", LocalSample::migration, ENGINE),
          failedMoves("Migration", LocalSample::migration),
          MetricGroup.one("Segments", sample -> Optional.of(sample.segments()), HOT_SEGMENTS),
          MetricGroup.one("Append", sample -> Optional.of(sample.counters()), APPEND),
          MetricGroup.one("Read", sample -> Optional.of(sample.counters()), READ),
          MetricGroup.one("LogFiles", sample -> Optional.of(sample.segments()), LOG_FILES));

  private static final List<Metric<OperationStats>> OPERATION =
      List.of(
          counter(
              "CompletedTotal",
              CALLS,
              OperationStats::count,
              "Operations that succeeded: segments copied and deleted, ranges and indexes read."),
          counter("BytesTotal", OperationStats::bytes, "Their bytes."),
          gauge("Running", CALLS, OperationStats::running, "Operations under way."),
          latency(
              "LatencySeconds",
              OperationStats::latency,
              "Duration of operations; of a fetch, until its first byte."));

  private static final List<Metric<Long>> FAILED_OPERATIONS =
      List.of(
          counter(
              "FailuresTotal",
              CALLS,
              Long::doubleValue,
              """
              Operations that failed. Kafka retries a copy and a deletion; a consumer \
              retries its fetch. An index that is not found is mostly a transaction index \
              that the segment does not have: no fault.\
              """));

  private static final List<Metric<LevelStats>> LEVEL =
      List.of(
          gauge("Directories", "directories", LevelStats::directories, "Its directories."),
          gauge(
              "UnavailableDirectories",
              "directories",
              LevelStats::unavailableDirectories,
              """
              Of the directories, those that cannot be used now (unmounted, read-only, of \
              another store), and those that copies go past because one has failed there.\
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
          counter("CopiedBytesTotal", LevelStats::copiedBytes, "Bytes copied here for Kafka."),
          counter(
              "FetchedBytesTotal",
              LevelStats::fetchedBytes,
              "Bytes read from here for fetches; from the cold manager, whole pieces of 4 MiB."),
          counter("DeletedBytesTotal", LevelStats::deletedBytes, "Bytes deleted here for Kafka."));

  private static final List<Metric<RemoteStats>> STORE =
      List.of(
          gauge(
              "StuckThreads",
              "threads",
              RemoteStats::stuckThreads,
              """
              Threads whose operation exceeded its time limit and has not returned: a \
              file system that hangs.\
              """),
          counter(
              "ReplacedReadsTotal",
              CALLS,
              RemoteStats::replacedReads,
              """
              Reads served by another copy because the first one was damaged or could not be read.\
              """),
          gauge(
              "DamagedSegments",
              RemoteStats::damagedSegments,
              """
              Segments of which every copy is known to be damaged, or has no readable manifest: \
              fetches of them fail.\
              """));

  private static final List<Metric<ScrubStats>> SCRUB =
      List.of(
          counter("RoundsTotal", "rounds", ScrubStats::rounds, "Completed rounds."),
          counter("ObjectsTotal", "files", ScrubStats::objects, "Files read and checked."),
          counter("BytesTotal", ScrubStats::bytes, "Bytes of these files."),
          counter(
              "CorruptObjectsTotal",
              "files",
              ScrubStats::corruptObjects,
              "Files that are not what was written; the log names each."),
          counter(
              "MissingObjectsTotal",
              "files",
              ScrubStats::missingObjects,
              "Files that a manifest names and that do not exist."),
          counter(
              "OrphansRemovedTotal",
              "directories",
              ScrubStats::orphansRemoved,
              "Leftovers of failed copies that were removed."),
          gauge(
              "OrphansLeft",
              "directories",
              ScrubStats::orphansLeft,
              """
              Deleted segments and leftovers that cannot be removed whole now, and are tried again \
              with each look at their directory.\
              """),
          gauge(
              "LastEndTimestampSeconds",
              "seconds since 1970",
              stats ->
                  stats.lastEndMillis().isPresent()
                      ? stats.lastEndMillis().getAsLong() / 1e3
                      : Double.NaN,
              "When the last round ended; NaN if none did on this broker."));

  private static final List<Metric<RemoteStats>> ACTIVE =
      List.of(
          gauge(
              "Active",
              "0 or 1",
              stats -> stats.migration().isPresent() ? 1 : 0,
              """
              1 on the broker that moves segments between levels: one of the cluster, if \
              there are several levels.\
              """));

  /** The remote tier's. */
  static final List<MetricGroup<RemoteStats, ?>> REMOTE =
      List.of(
          new MetricGroup<>(
              "RemoteOperation", List.of("operation"), stats -> operations(), OPERATION),
          new MetricGroup<>(
              "RemoteOperation",
              List.of("cause", "operation"),
              stats -> failedOperations(),
              FAILED_OPERATIONS),
          levels((stats, level) -> fill(level), FILL),
          levels((stats, level) -> level, LEVEL),
          levels(MetricCatalogue::moved, MOVED),
          MetricGroup.one("Remote", Optional::of, STORE),
          MetricGroup.one("RemoteScrub", stats -> Optional.of(stats.scrub()), SCRUB),
          MetricGroup.one("RemoteMigration", Optional::of, ACTIVE),
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
    return each(
        "Tier",
        "tier",
        LocalSample::tiers,
        tiers -> tiers.stream().map(tier -> tier.usage().name()).toList(),
        (sample, tier) -> part.apply(tier),
        metrics);
  }

  private static <S> MetricGroup<RemoteStats, S> levels(
      BiFunction<RemoteStats, LevelStats, S> part, List<Metric<S>> metrics) {
    return each(
        "RemoteLevel",
        "level",
        RemoteStats::levels,
        levels -> levels.stream().map(LevelStats::name).toList(),
        part,
        metrics);
  }

  /**
   * A group of things that a sample lists.
   *
   * @param names the tag's value for each
   * @param part what is read of a thing
   */
  private static <F, T, S> MetricGroup<F, S> each(
      String type,
      String tag,
      Function<F, List<T>> things,
      Function<List<T>, List<String>> names,
      BiFunction<F, T, S> part,
      List<Metric<S>> metrics) {
    return new MetricGroup<>(
        type,
        List.of(tag),
        sample -> {
          List<String> values = names.apply(things.apply(sample));
          return IntStream.range(0, values.size())
              .mapToObj(
                  i ->
                      new Instance<F, S>(
                          List.of(values.get(i)),
                          now -> Optional.of(part.apply(now, things.apply(now).get(i)))))
              .toList();
        },
        metrics);
  }

  private static Fill fill(OfTier tier) {
    return new Fill(
        tier.usage().capacityBytes(), tier.usage().usedBytes(), tier.usage().segments());
  }

  private static Fill fill(LevelStats level) {
    return new Fill(level.capacityBytes(), level.usedBytes(), level.segments());
  }

  private static Moved moved(OfTier tier) {
    return new Moved(
        tier.moves().orElse(Moved.NOTHING),
        tier.traffic().evictedBytes(),
        tier.traffic().evictedSegments());
  }

  private static Moved moved(RemoteStats stats, LevelStats level) {
    int index = stats.levels().indexOf(level);
    TierStats moves =
        stats
            .migration()
            .map(MigrationStats::tiers)
            .filter(tiers -> index < tiers.size())
            .map(tiers -> tiers.get(index))
            .orElse(Moved.NOTHING);
    return new Moved(moves, moves.evictedBytes(), moves.evictedSegments());
  }

  private static List<Entry<String, Counts>> reads(LocalSample sample) {
    List<Entry<String, Counts>> all = new ArrayList<>();
    sample.tiers().forEach(tier -> all.add(Map.entry(tier.usage().name(), tier.traffic())));
    all.add(Map.entry(SegmentView.LOG_DIRS, sample.logDirs()));
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
                "FailuresTotal", MOVES, Long::doubleValue, "Moves that failed; each is retried.")));
  }

  private static List<Instance<RemoteStats, OperationStats>> operations() {
    return Stream.of(Operation.values())
        .map(
            operation ->
                new Instance<RemoteStats, OperationStats>(
                    List.of(label(operation)),
                    now -> Optional.ofNullable(now.operations().get(operation))))
        .toList();
  }

  private static List<Instance<RemoteStats, Long>> failedOperations() {
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
