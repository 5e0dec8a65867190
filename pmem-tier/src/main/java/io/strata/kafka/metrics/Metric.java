package io.strata.kafka.metrics;

import io.strata.kafka.memory.Durability;
import io.strata.kafka.metrics.MetricReading.CauseReading;
import io.strata.kafka.metrics.MetricReading.EachTierReading;
import io.strata.kafka.metrics.MetricReading.EngineReading;
import io.strata.kafka.metrics.MetricReading.EventReading;
import io.strata.kafka.metrics.MetricReading.PoolReading;
import io.strata.kafka.metrics.MetricReading.TierReading;
import io.strata.kafka.metrics.TierSource.HomeSample;
import io.strata.kafka.metrics.TierSource.PoolSample;
import io.strata.kafka.migration.MigrationStats;
import io.strata.kafka.migration.MigrationStats.TierStats;

/**
 * The catalogue of the metrics: each is declared here, once. The page {@code
 * docs/reference/metrics.md} is generated from it.
 *
 * <p>Immutable and safe for use by any thread.
 */
enum Metric {
  POOL_SIZE(
      "Pool",
      "SizeBytes",
      "bytes",
      "Bytes that segments can use at most.",
      PoolReading.of(PoolSample::sizeBytes)),
  POOL_USED(
      "Pool",
      "UsedBytes",
      "bytes",
      "Bytes in extents of segments. Near the size, new segments and the tails of hot ones go"
          + " home.",
      PoolReading.of(PoolSample::usedBytes)),
  POOL_FREE(
      "Pool",
      "FreeBytes",
      "bytes",
      "Bytes in no segment's extent.",
      PoolReading.of(PoolSample::freeBytes)),
  POOL_FREE_SLOTS(
      "Pool",
      "FreeSlots",
      "segments",
      "Segments that can still be placed, if there is room for their bytes.",
      PoolReading.of(PoolSample::freeSlots)),
  POOL_DURABILITY(
      "Pool",
      "Durability",
      "level",
      "What the pool survives: 2 a power cut, with every append; 1 a power cut, for what Kafka has"
          + " flushed; 0 the end of the broker's process only.",
      PoolReading.of(sample -> level(sample.durability()))),
  TIER_CAPACITY(
      "Tier",
      "CapacityBytes",
      "bytes",
      "Bytes that segments can use at most.",
      EachTierReading.of(tier -> tier.usage().capacityBytes())),
  TIER_USED(
      "Tier",
      "UsedBytes",
      "bytes",
      "Bytes that are not free.",
      EachTierReading.of(tier -> tier.usage().usedBytes())),
  TIER_DIRTY(
      "Tier",
      "DirtyBytes",
      "bytes",
      "Bytes of segments whose only whole copy is here: they must be copied down before their room"
          + " can be used.",
      EachTierReading.of(tier -> tier.usage().dirtyBytes())),
  TIER_CLEAN(
      "Tier",
      "CleanBytes",
      "bytes",
      "Bytes of segments that a lower tier has, too: readable here, and free at once when needed.",
      EachTierReading.of(tier -> tier.usage().cleanBytes())),
  TIER_ACTIVE(
      "Tier",
      "ActiveBytes",
      "bytes",
      "Of the dirty bytes, those of segments that Kafka appends to.",
      EachTierReading.of(tier -> tier.usage().activeBytes())),
  TIER_RESERVE(
      "Tier",
      "ReserveBytes",
      "bytes",
      "What a burst finds without waiting for a copy: the free bytes and the clean ones.",
      EachTierReading.of(tier -> tier.usage().reserveBytes())),
  TIER_SEGMENTS(
      "Tier",
      "Segments",
      "segments",
      "Segments with bytes or a place here.",
      EachTierReading.of(tier -> tier.usage().segments())),
  TIER_DRAINING(
      "Tier",
      "Draining",
      "0 or 1",
      "1 while segments are copied down because the threshold was exceeded.",
      EachTierReading.moves(moves -> moves.draining() ? 1 : 0)),
  TIER_BACKLOG(
      "Tier",
      "BacklogBytes",
      "bytes",
      "What is to be copied down until the low mark; 0 when the tier is not draining.",
      EachTierReading.moves(TierStats::backlogBytes)),
  TIER_BACKLOG_SECONDS(
      "Tier",
      "BacklogSeconds",
      "seconds",
      "How long that takes at the rate of late; NaN when there is a backlog and nothing was copied"
          + " lately.",
      EachTierReading.moves(moves -> moves.backlogSeconds().orElse(Double.NaN))),
  TIER_DESTAGED_BYTES(
      "Tier",
      "DestagedBytesTotal",
      "bytes, counted up",
      "Bytes copied down from this tier.",
      EachTierReading.moves(TierStats::destagedBytes)),
  TIER_DESTAGED_SEGMENTS(
      "Tier",
      "DestagedSegmentsTotal",
      "segments, counted up",
      "Segments copied down from this tier.",
      EachTierReading.moves(TierStats::destagedSegments)),
  TIER_PROMOTED_BYTES(
      "Tier",
      "PromotedBytesTotal",
      "bytes, counted up",
      "Bytes copied up into this tier.",
      EachTierReading.moves(TierStats::promotedBytes)),
  TIER_PROMOTED_SEGMENTS(
      "Tier",
      "PromotedSegmentsTotal",
      "segments, counted up",
      "Segments copied up into this tier.",
      EachTierReading.moves(TierStats::promotedSegments)),
  TIER_EVICTED_BYTES(
      "Tier",
      "EvictedBytesTotal",
      "bytes, counted up",
      "Bytes of copies given up in this tier, since a lower one has them.",
      EachTierReading.of(tier -> tier.sample().evictedBytes())),
  TIER_EVICTED_SEGMENTS(
      "Tier",
      "EvictedSegmentsTotal",
      "segments, counted up",
      "Copies given up in this tier, since a lower one has them.",
      EachTierReading.of(tier -> tier.sample().evictedSegments())),
  TIER_PRESSED_BYTES(
      "Tier",
      "PressureBytesTotal",
      "bytes, counted up",
      "Of the evicted bytes, those that gave way at once to an append, or to another copy.",
      EachTierReading.of(tier -> tier.sample().pressureBytes())),
  TIER_SPILLED_BYTES(
      "Tier",
      "SpilledBytesTotal",
      "bytes, counted up",
      "Bytes appended to segments of this tier that went home, since nothing clean was left.",
      EachTierReading.of(tier -> tier.sample().spilledBytes())),
  TIER_SPILLED_SEGMENTS(
      "Tier",
      "SpilledSegmentsTotal",
      "segments, counted up",
      "Segments of this tier that had to go on at home.",
      EachTierReading.of(tier -> tier.sample().spilledSegments())),
  TIER_READ_BYTES(
      "Tier",
      "ReadBytesTotal",
      "bytes, counted up",
      "Bytes read from this tier; `logdirs`, too, for segments that Strata knows.",
      EachTierReading.withHome(tier -> tier.sample().readBytes(), HomeSample::readBytes)),
  TIER_READS(
      "Tier",
      "ReadsTotal",
      "calls, counted up",
      "Reads that found their bytes in this tier; `logdirs`, too, for segments that Strata knows.",
      EachTierReading.withHome(tier -> tier.sample().reads(), HomeSample::reads)),
  MIGRATION_DOWN_RATE(
      "Migration",
      "DownBytesPerSecond",
      "bytes per second",
      "What was copied down over the last ten seconds.",
      EngineReading.of(MigrationStats::downBytesPerSecond)),
  MIGRATION_UP_RATE(
      "Migration",
      "UpBytesPerSecond",
      "bytes per second",
      "What was copied up over the last ten seconds.",
      EngineReading.of(MigrationStats::upBytesPerSecond)),
  MIGRATION_QUEUED(
      "Migration",
      "Queued",
      "moves",
      "Moves that wait for a thread.",
      EngineReading.of(MigrationStats::queued)),
  MIGRATION_IN_FLIGHT(
      "Migration",
      "InFlight",
      "moves",
      "Moves that a thread makes.",
      EngineReading.of(MigrationStats::inFlight)),
  MIGRATION_THREADS(
      "Migration",
      "Threads",
      "threads",
      "Threads that make moves: `strata.migration.threads`.",
      EngineReading.of(MigrationStats::threads)),
  MIGRATION_BACKING_OFF(
      "Migration",
      "BackingOff",
      "segments",
      "Segments that wait after a failed move.",
      EngineReading.of(MigrationStats::backingOff)),
  MIGRATION_DESTAGE_P50(
      "Migration",
      "DestageLatencyP50",
      "milliseconds",
      "Half of the copies down took no longer.",
      EngineReading.of(stats -> millis(stats.destageLatency().p50Nanos()))),
  MIGRATION_DESTAGE_P99(
      "Migration",
      "DestageLatencyP99",
      "milliseconds",
      "99 % of the copies down took no longer.",
      EngineReading.of(stats -> millis(stats.destageLatency().p99Nanos()))),
  MIGRATION_DESTAGE_MAX(
      "Migration",
      "DestageLatencyMax",
      "milliseconds",
      "The longest copy down.",
      EngineReading.of(stats -> millis(stats.destageLatency().maxNanos()))),
  MIGRATION_PROMOTE_P50(
      "Migration",
      "PromoteLatencyP50",
      "milliseconds",
      "Half of the copies up took no longer.",
      EngineReading.of(stats -> millis(stats.promoteLatency().p50Nanos()))),
  MIGRATION_PROMOTE_P99(
      "Migration",
      "PromoteLatencyP99",
      "milliseconds",
      "99 % of the copies up took no longer.",
      EngineReading.of(stats -> millis(stats.promoteLatency().p99Nanos()))),
  MIGRATION_PROMOTE_MAX(
      "Migration",
      "PromoteLatencyMax",
      "milliseconds",
      "The longest copy up.",
      EngineReading.of(stats -> millis(stats.promoteLatency().maxNanos()))),
  MIGRATION_FAILURES(
      "Migration",
      "FailuresTotal",
      "moves, counted up",
      "Moves that failed; each is tried again later, save those of corrupt segments.",
      CauseReading.INSTANCE),
  MIGRATION_CANCELLED(
      "Migration",
      "CancelledTotal",
      "moves, counted up",
      "Moves given up without a fault: the segment was deleted or changed, or there was no room.",
      EngineReading.of(MigrationStats::cancelled)),
  MIGRATION_REFUSED(
      "Migration",
      "RefusedMovesTotal",
      "moves, counted up",
      "Moves of the policy that were not allowed: a fault of the policy.",
      EngineReading.of(MigrationStats::refusedMoves)),
  MIGRATION_ROUNDS(
      "Migration",
      "RoundsTotal",
      "rounds, counted up",
      "Planning rounds.",
      EngineReading.of(MigrationStats::rounds)),
  MIGRATION_FAILED_ROUNDS(
      "Migration",
      "FailedRoundsTotal",
      "rounds, counted up",
      "Of those, the ones that failed: nothing moves until one succeeds.",
      EngineReading.of(MigrationStats::failedRounds)),
  MIGRATION_ROUND_TIME(
      "Migration",
      "LastRoundTime",
      "microseconds",
      "How long the last planning round took.",
      EngineReading.of(stats -> micros(stats.lastRoundNanos()))),
  MIGRATION_ROUND_CPU(
      "Migration",
      "LastRoundCpuTime",
      "microseconds",
      "Processor time of the last planning round.",
      EngineReading.of(stats -> micros(stats.lastRoundCpuNanos()))),
  MIGRATION_ROUNDS_TIME(
      "Migration",
      "RoundTimeTotal",
      "microseconds, counted up",
      "How long all planning rounds took.",
      EngineReading.of(stats -> micros(stats.totalRoundNanos()))),
  HOT_SEGMENTS(
      "Segments",
      "Hot",
      "segments",
      "Segments that have a slot in a pool now, spilled ones included.",
      TierReading.of(TierSource::hotSegments)),
  SPILLED_SEGMENTS(
      "Segments",
      "Spilled",
      "segments",
      "Of those, the ones whose tail is at home.",
      TierReading.of(TierSource::spilledSegments)),
  SPILLS(
      "Segments",
      "SpillsTotal",
      "segments, counted up",
      "Segments that had to go on at home because their pool was full.",
      EventReading.of(EventCounters::spills)),
  SPILLED_BYTES(
      "Segments",
      "SpilledBytesTotal",
      "bytes, counted up",
      "Bytes that were appended to hot segments and went home.",
      EventReading.of(EventCounters::spilledBytes)),
  PLACEMENTS_REFUSED(
      "Segments",
      "PlacementsRefusedTotal",
      "segments, counted up",
      "New segments that were to be hot and went home for want of room or of a slot.",
      TierReading.of(TierSource::placementsRefused)),
  APPENDS(
      "Append",
      "Total",
      "calls, counted up",
      "Appends to hot segments.",
      EventReading.of(EventCounters::appends)),
  APPENDED_BYTES(
      "Append",
      "BytesTotal",
      "bytes, counted up",
      "Bytes appended to hot segments, wherever they went.",
      EventReading.of(EventCounters::appendedBytes)),
  APPEND_P50(
      "Append",
      "LatencyP50",
      "microseconds",
      "Half of the appends took no longer.",
      EventReading.of(counters -> micros(counters.appendLatencies().percentile(50)))),
  APPEND_P99(
      "Append",
      "LatencyP99",
      "microseconds",
      "99 % of the appends took no longer.",
      EventReading.of(counters -> micros(counters.appendLatencies().percentile(99)))),
  APPEND_P999(
      "Append",
      "LatencyP999",
      "microseconds",
      "99.9 % of the appends took no longer.",
      EventReading.of(counters -> micros(counters.appendLatencies().percentile(99.9)))),
  APPEND_MAX(
      "Append",
      "LatencyMax",
      "microseconds",
      "The longest append.",
      EventReading.of(counters -> micros(counters.appendLatencies().max()))),
  READS(
      "Read",
      "Total",
      "calls, counted up",
      "Reads from hot segments, transfers to sockets included.",
      EventReading.of(EventCounters::reads)),
  READ_BYTES(
      "Read",
      "BytesTotal",
      "bytes, counted up",
      "Bytes read from hot segments, wherever they lay.",
      EventReading.of(EventCounters::readBytes)),
  READ_HOME_BYTES(
      "Read",
      "HomeBytesTotal",
      "bytes, counted up",
      "Of those, the bytes that came from home: the tails of spilled segments.",
      EventReading.of(EventCounters::homeReadBytes)),
  READ_P50(
      "Read",
      "LatencyP50",
      "microseconds",
      "Half of the reads took no longer.",
      EventReading.of(counters -> micros(counters.readLatencies().percentile(50)))),
  READ_P99(
      "Read",
      "LatencyP99",
      "microseconds",
      "99 % of the reads took no longer.",
      EventReading.of(counters -> micros(counters.readLatencies().percentile(99)))),
  READ_P999(
      "Read",
      "LatencyP999",
      "microseconds",
      "99.9 % of the reads took no longer.",
      EventReading.of(counters -> micros(counters.readLatencies().percentile(99.9)))),
  READ_MAX(
      "Read",
      "LatencyMax",
      "microseconds",
      "The longest read.",
      EventReading.of(counters -> micros(counters.readLatencies().max()))),
  HOME_FAILURES(
      "Home",
      "FailuresTotal",
      "calls, counted up",
      "Operations on the home files of hot segments that failed: home's disk is full or failing.",
      TierReading.of(TierSource::homeFailures)),
  MTIME_REFRESHES(
      "Home",
      "MtimeRefreshesTotal",
      "calls, counted up",
      "Updates of home's modification time to the time of the last append.",
      TierReading.of(TierSource::mtimeRefreshes));

  private final String type;
  private final String metricName;
  private final String unit;
  private final String description;

  // Every reading is a lambda that captures nothing.
  @SuppressWarnings("ImmutableEnumChecker")
  private final MetricReading reading;

  Metric(String type, String metricName, String unit, String description, MetricReading reading) {
    this.type = type;
    this.metricName = metricName;
    this.unit = unit;
    this.description = description;
    this.reading = reading;
  }

  /** The {@code type} in the MBean's name. */
  String type() {
    return type;
  }

  /** The {@code name} in the MBean's name. */
  String metricName() {
    return metricName;
  }

  String unit() {
    return unit;
  }

  String description() {
    return description;
  }

  MetricReading reading() {
    return reading;
  }

  private static double level(Durability durability) {
    return switch (durability) {
      case POWER -> 2;
      case FORCE -> 1;
      case PROCESS -> 0;
    };
  }

  private static double millis(long nanos) {
    return nanos / 1e6;
  }

  private static double micros(long nanos) {
    return nanos / 1e3;
  }
}
