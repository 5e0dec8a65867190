package io.strata.kafka.metrics;

import static io.strata.kafka.metrics.Metric.counter;
import static io.strata.kafka.metrics.Metric.gauge;
import static io.strata.kafka.metrics.Metric.latency;

import io.strata.kafka.api.SegmentView;
import io.strata.kafka.api.TierUsage;
import io.strata.kafka.memory.Durability;
import io.strata.kafka.metrics.LocalSample.OfPool;
import io.strata.kafka.metrics.Metric.Group;
import io.strata.kafka.metrics.Metric.Group.Instance;
import io.strata.kafka.migration.EngineMeters.Count;
import io.strata.kafka.migration.EngineMeters.TierMeter;
import io.strata.kafka.migration.MigrationStats;
import io.strata.kafka.migration.plan.BackOffs.FailureCause;
import io.strata.kafka.migration.plan.Plan.TierPlan;
import io.strata.kafka.migration.remote.RemoteStats;
import io.strata.kafka.migration.remote.RemoteStats.Cause;
import io.strata.kafka.migration.remote.RemoteStats.LevelStats;
import io.strata.kafka.migration.remote.RemoteStats.Operation;
import io.strata.kafka.migration.remote.RemoteStats.OperationMeter;
import io.strata.kafka.migration.remote.RemoteStats.ScrubMeter;
import io.strata.kafka.tier.moves.TierFigures;
import io.strata.kafka.tier.spec.TierCounts;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
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
  private static <S> List<Metric<S>> fill(
      ToDoubleFunction<S> capacity, ToDoubleFunction<S> used, ToDoubleFunction<S> segments) {
    return List.of(
        gauge(
            "CapacityBytes",
            capacity,
            "Bytes that segments can use at most; 0 for a level that another manager has."),
        gauge("UsedBytes", used, "Bytes that are not free."),
        gauge("Segments", segments, "Segments that are read from here."));
  }

  /** The moves from and to a tier or a level, and the last plan of more. */
  private record Moved(TierMeter moves, Count evicted, TierPlan plan) {
    private static final TierMeter NOTHING = new TierMeter(() -> 0);

    static Moved of(Optional<MigrationStats> engine, int tier) {
      TierMeter moves = engine.flatMap(stats -> at(stats.meters().tiers(), tier)).orElse(NOTHING);
      TierPlan plan = engine.flatMap(stats -> at(stats.plans(), tier)).orElse(TierPlan.IDLE);
      return new Moved(moves, moves.evicted(), plan);
    }

    private static <T> Optional<T> at(List<T> list, int index) {
      return index < list.size() ? Optional.of(list.get(index)) : Optional.empty();
    }
  }

  private static final List<Metric<Moved>> MOVED =
      List.of(
          gauge(
              "Draining",
              "0 or 1",
              m -> m.plan().draining() ? 1 : 0,
              "1 while segments are copied down because the threshold was exceeded."),
          gauge(
              "BacklogBytes",
              m -> m.plan().backlogBytes(),
              "Bytes to copy down until the low mark is reached; 0 when it is not draining."),
          gauge(
              "BacklogSeconds",
              m -> m.moves().secondsFor(m.plan().backlogBytes()),
              """
              Estimated time to drain the backlog at the recent rate; NaN when nothing was \
              copied recently.\
              """),
          counter(
              "DestagedBytesTotal",
              m -> m.moves().destaged().bytes().sum(),
              "Bytes copied down from here."),
          counter(
              "DestagedSegmentsTotal",
              m -> m.moves().destaged().number().sum(),
              "Copies down of segments, or of pieces of them."),
          counter(
              "PromotedBytesTotal",
              m -> m.moves().promoted().bytes().sum(),
              "Bytes copied up to here."),
          counter(
              "PromotedSegmentsTotal",
              m -> m.moves().promoted().number().sum(),
              "Segments copied up to here."),
          counter(
              "EvictedBytesTotal",
              m -> m.evicted().bytes().sum(),
              "Bytes freed here because a lower tier or level has them too."),
          counter(
              "EvictedSegmentsTotal",
              m -> m.evicted().number().sum(),
              "Evictions of segments, or of a part of one: a lower tier or level has them too."));

  private static final List<Metric<MigrationStats>> ENGINE =
      List.of(
          gauge(
              "DownBytesPerSecond",
              "bytes per second",
              stats -> stats.meters().downPerSecond(),
              "Rate of copies down over the last ten seconds."),
          gauge(
              "UpBytesPerSecond",
              "bytes per second",
              stats -> stats.meters().up().perSecond(),
              """
              Rate of copies up over the last ten seconds, with what they first write to the \
              log file of a spilled segment.\
              """),
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
              stats -> stats.meters().destages(),
              "Duration of copies down, waiting for the rate limit included."),
          latency(
              "PromoteSeconds",
              stats -> stats.meters().promotions(),
              "Duration of copies up, waiting for the rate limit included."),
          counter(
              "CancelledTotal",
              MOVES,
              stats -> stats.meters().cancelled().sum(),
              """
              Moves cancelled without a fault: the segment was deleted or changed, or there was \
              no space.\
              """),
          counter(
              "RefusedMovesTotal",
              MOVES,
              stats -> stats.meters().refused().sum(),
              "Moves of the policy that are not allowed: a fault of the policy."),
          latency("RoundSeconds", MigrationStats::rounds, "Duration of planning rounds."),
          counter(
              "FailedRoundsTotal",
              "rounds",
              stats -> stats.cost().failed(),
              "Planning rounds that failed: nothing moves until one succeeds."),
          gauge(
              "LastRoundCpuSeconds",
              stats -> stats.cost().lastCpuNanos() / 1e9,
              "Processor time of the last planning round."));

  private static final List<Metric<OfPool>> POOL =
      List.of(
          gauge(
              "SizeBytes", pool -> pool.info().dataSize(), "Bytes that segments can use at most."),
          gauge(
              "UsedBytes",
              pool -> pool.usage().usedBytes(),
              """
              Bytes in extents of segments. Near the size, new segments and the tails of \
              hot ones go to the log files.\
              """),
          gauge("FreeBytes", pool -> pool.usage().freeBytes(), "Bytes in no segment's extent."),
          gauge(
              "FreeSlots",
              SEGMENTS,
              pool -> pool.usage().freeSlots(),
              "Segments that can still be placed, if there is space for their bytes."),
          gauge(
              "Durability",
              "level",
              pool -> level(pool.info().durability()),
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

  private static final List<Metric<TierFigures.OfTier>> TIER =
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
              tier -> tier.oldestDirtyMillis().orElse(0) / 1e3,
              """
              Time since the last append to the dirty segment that has been sealed for \
              longest; 0 when no sealed segment is dirty.\
              """));

  private static final List<Metric<TierCounts.OfTier>> SPILLS =
      List.of(
          counter(
              "PressureBytesTotal",
              tier -> tier.pressure().bytes().sum(),
              "Of the evicted bytes, those evicted at once for an append or for another copy."),
          counter(
              "PressureSegmentsTotal",
              tier -> tier.pressure().number().sum(),
              "Of the evictions, those made at once for an append or for another copy."),
          counter(
              "SpilledBytesTotal",
              tier -> tier.spilled().bytes().sum(),
              """
              Bytes appended to segments of this tier that went to the log file, since \
              nothing clean was left to evict.\
              """),
          counter(
              "SpilledSegmentsTotal",
              tier -> tier.spilled().number().sum(),
              "Segments of this tier that spilled."));

  private static final List<Metric<TierCounts.OfTier>> READS =
      List.of(
          counter(
              "ReadBytesTotal",
              tier -> tier.reads().bytes().sum(),
              "Bytes read from this tier" + KNOWN),
          counter(
              "ReadsTotal",
              CALLS,
              tier -> tier.reads().number().sum(),
              "Reads that found their bytes in this tier" + KNOWN));

  private static final List<Metric<LocalSample>> HOT_SEGMENTS =
      List.of(
          gauge(
              "Hot",
              SEGMENTS,
              sample -> sample.figures().hot(),
              "Segments that have a slot in a pool now, spilled ones included."),
          gauge(
              "Spilled",
              SEGMENTS,
              sample -> sample.figures().spilled(),
              "Of the hot segments, those whose tail is in the log file."),
          counter(
              "PlacedTotal",
              SEGMENTS,
              sample -> sample.counts().placements().sum(),
              "Segments placed in a pool."),
          counter(
              "PlacementsRefusedTotal",
              SEGMENTS,
              sample -> sample.counts().placementsRefused().sum(),
              """
              New segments that began in their log files because the pools had too little space or \
              no free slot.\
              """));

  private static final List<Metric<EventCounters>> APPEND =
      List.of(
          latency(
              "LatencySeconds",
              EventCounters::appends,
              """
              Duration of appends to hot segments, waiting for the segment's writer lock included.\
              """),
          counter(
              "BytesTotal",
              counters -> counters.appendedBytes().sum(),
              "Bytes appended to hot segments, to the pool or to the log file."));

  private static final List<Metric<EventCounters>> READ =
      List.of(
          latency(
              "LatencySeconds",
              EventCounters::reads,
              "Duration of reads from hot segments, transfers to sockets included."),
          counter(
              "BytesTotal",
              counters -> counters.readBytes().sum(),
              "Bytes read from hot segments, from the pool or from the log file."),
          counter(
              "LogFileBytesTotal",
              counters -> counters.logFileReadBytes().sum(),
              "Of the bytes read, those of the tails of spilled segments, in log files."));

  private static final List<Metric<LocalSample>> LOG_FILES =
      List.of(
          counter(
              "FailuresTotal",
              CALLS,
              sample -> sample.counts().logFileFailures().sum(),
              """
              Background work that failed on log files or in a pool: most often the disk of a \
              log directory is full or failing.\
              """),
          counter(
              "MtimeRefreshesTotal",
              CALLS,
              sample -> sample.counts().mtimeRefreshes().sum(),
              "Updates of a log file's modification time to the time of the last append."));

  static final List<Group<LocalSample, ?>> LOCAL =
      List.of(
          each(
              "Pool",
              "pool",
              sample ->
                  BeanName.poolTags(
                      sample.pools().stream().map(pool -> pool.info().path().toString()).toList()),
              (sample, pool) -> sample.pools().get(pool),
              POOL),
          tiers(
              (sample, tier) -> sample.figures().tiers().get(tier).usage(),
              fill(TierUsage::capacityBytes, TierUsage::usedBytes, TierUsage::segments)),
          tiers((sample, tier) -> sample.figures().tiers().get(tier), TIER),
          tiers(MetricCatalogue::moved, MOVED),
          tiers((sample, tier) -> sample.counts().tiers().get(tier), SPILLS),
          each(
              "Tier",
              "tier",
              sample ->
                  Stream.concat(tierNames(sample).stream(), Stream.of(SegmentView.LOG_DIRS))
                      .toList(),
              (sample, tier) -> sample.counts().tiers().get(tier),
              READS),
          Group.one("Migration", LocalSample::migration, ENGINE),
          failedMoves("Migration", LocalSample::migration),
          Group.one("Segments", Optional::of, HOT_SEGMENTS),
          Group.one("Append", sample -> Optional.of(sample.counters()), APPEND),
          Group.one("Read", sample -> Optional.of(sample.counters()), READ),
          Group.one("LogFiles", Optional::of, LOG_FILES));

  private static final List<Metric<OperationMeter>> OPERATION =
      List.of(
          counter(
              "CompletedTotal",
              CALLS,
              operation -> operation.count().sum(),
              "Operations that succeeded: segments copied and deleted, ranges and indexes read."),
          counter("BytesTotal", operation -> operation.bytes().sum(), "Their bytes."),
          gauge("Running", CALLS, operation -> operation.running().get(), "Operations under way."),
          latency(
              "LatencySeconds",
              OperationMeter::latency,
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
              Copies known to be damaged: whole copies are read before them, and a repair \
              replaces their files.\
              """),
          counter(
              "CopiedBytesTotal",
              level -> level.counted().copied().sum(),
              "Bytes copied here for Kafka."),
          counter(
              "FetchedBytesTotal",
              level -> level.counted().fetched().sum(),
              "Bytes read from here for fetches; from the cold manager, whole pieces of 4 MiB."),
          counter(
              "DeletedBytesTotal",
              level -> level.counted().deleted().sum(),
              "Bytes deleted here for Kafka."));

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

  private static final List<Metric<ScrubMeter>> SCRUB =
      List.of(
          counter("RoundsTotal", "rounds", scrub -> scrub.rounds().sum(), "Completed rounds."),
          counter(
              "ObjectsTotal", "files", scrub -> scrub.objects().sum(), "Files read and checked."),
          counter("BytesTotal", scrub -> scrub.bytes().sum(), "Bytes of these files."),
          counter(
              "CorruptObjectsTotal",
              "files",
              scrub -> scrub.corruptObjects().sum(),
              "Files that are not what was written; the log names each."),
          counter(
              "MissingObjectsTotal",
              "files",
              scrub -> scrub.missingObjects().sum(),
              "Files that a manifest names and that do not exist."),
          counter(
              "OrphansRemovedTotal",
              "directories",
              scrub -> scrub.orphansRemoved().sum(),
              "Leftovers of failed copies that were removed."),
          gauge(
              "OrphansLeft",
              "directories",
              scrub -> scrub.orphansLeft().sum(),
              """
              Deleted segments and leftovers that cannot be removed whole now, and are tried again \
              with each look at their directory.\
              """),
          gauge(
              "LastEndTimestampSeconds",
              "seconds since 1970",
              scrub -> {
                OptionalLong millis = Objects.requireNonNull(scrub.lastEndMillis().get());
                return millis.isPresent() ? millis.getAsLong() / 1e3 : Double.NaN;
              },
              """
              When the last round ended that has read all directories that were due; NaN if none \
              did on this broker.\
              """));

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

  static final List<Group<RemoteStats, ?>> REMOTE =
      List.of(
          new Group<>(
              "RemoteOperation", List.of("operation"), MetricCatalogue::operations, OPERATION),
          new Group<>(
              "RemoteOperation",
              List.of("cause", "operation"),
              MetricCatalogue::failedOperations,
              FAILED_OPERATIONS),
          levels(
              (stats, level) -> stats.levels().get(level),
              fill(LevelStats::capacityBytes, LevelStats::usedBytes, LevelStats::segments)),
          levels((stats, level) -> stats.levels().get(level), LEVEL),
          levels((stats, level) -> Moved.of(stats.migration(), level), MOVED),
          Group.one("Remote", Optional::of, STORE),
          Group.one("RemoteScrub", stats -> Optional.of(stats.scrub()), SCRUB),
          Group.one("RemoteMigration", Optional::of, ACTIVE),
          Group.one("RemoteMigration", RemoteStats::migration, ENGINE),
          failedMoves("RemoteMigration", RemoteStats::migration));

  /** The broker's, whatever it has of Strata. */
  static final List<Group<Health, ?>> BROKER =
      List.of(
          Group.one(
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

  private static <S> Group<LocalSample, S> tiers(
      BiFunction<LocalSample, Integer, S> part, List<Metric<S>> metrics) {
    return each("Tier", "tier", MetricCatalogue::tierNames, part, metrics);
  }

  private static List<String> tierNames(LocalSample sample) {
    return sample.figures().tiers().stream().map(tier -> tier.usage().name()).toList();
  }

  private static <S> Group<RemoteStats, S> levels(
      BiFunction<RemoteStats, Integer, S> part, List<Metric<S>> metrics) {
    return each(
        "RemoteLevel",
        "level",
        stats -> stats.levels().stream().map(LevelStats::name).toList(),
        part,
        metrics);
  }

  /**
   * A group of things that a sample lists.
   *
   * @param names the tag's value for each
   * @param part what is read of the thing at an index
   */
  private static <F, S> Group<F, S> each(
      String type,
      String tag,
      Function<F, List<String>> names,
      BiFunction<F, Integer, S> part,
      List<Metric<S>> metrics) {
    return new Group<>(
        type,
        List.of(tag),
        sample -> {
          List<String> values = names.apply(sample);
          return IntStream.range(0, values.size())
              .mapToObj(
                  i -> new Instance<>(List.of(values.get(i)), Optional.of(part.apply(sample, i))))
              .toList();
        },
        metrics);
  }

  /** The tier counts what appends evict too. */
  private static Moved moved(LocalSample sample, int tier) {
    Moved moved = Moved.of(sample.migration(), tier);
    return new Moved(moved.moves(), sample.counts().tiers().get(tier).evicted(), moved.plan());
  }

  private static <F> Group<F, Long> failedMoves(
      String type, Function<F, Optional<MigrationStats>> engine) {
    return new Group<>(
        type,
        List.of("cause"),
        sample ->
            Stream.of(FailureCause.values())
                .map(
                    cause ->
                        new Instance<>(
                            List.of(cause.label()),
                            engine
                                .apply(sample)
                                .map(stats -> stats.meters().failures().getOrDefault(cause, 0L))))
                .toList(),
        List.of(
            counter(
                "FailuresTotal", MOVES, Long::doubleValue, "Moves that failed; each is retried.")));
  }

  private static List<Instance<OperationMeter>> operations(RemoteStats stats) {
    return Stream.of(Operation.values())
        .map(
            operation ->
                new Instance<>(
                    List.of(label(operation)),
                    Optional.ofNullable(stats.operations().get(operation))))
        .toList();
  }

  private static List<Instance<Long>> failedOperations(RemoteStats stats) {
    List<Instance<Long>> all = new ArrayList<>();
    for (Operation operation : Operation.values()) {
      for (Cause cause : Cause.values()) {
        all.add(
            new Instance<>(
                List.of(label(cause), label(operation)),
                Optional.ofNullable(stats.operations().get(operation))
                    .map(meter -> meter.failures().getOrDefault(cause, 0L))));
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
}
