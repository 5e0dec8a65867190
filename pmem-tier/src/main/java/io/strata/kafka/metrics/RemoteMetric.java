package io.strata.kafka.metrics;

import io.strata.kafka.metrics.RemoteReading.EngineCauseReading;
import io.strata.kafka.metrics.RemoteReading.EngineReading;
import io.strata.kafka.metrics.RemoteReading.LevelReading;
import io.strata.kafka.metrics.RemoteReading.OperationCauseReading;
import io.strata.kafka.metrics.RemoteReading.OperationReading;
import io.strata.kafka.metrics.RemoteReading.StatsReading;
import io.strata.kafka.migration.MigrationStats;
import io.strata.kafka.migration.MigrationStats.TierStats;
import io.strata.kafka.migration.remote.RemoteStats;
import io.strata.kafka.migration.remote.RemoteStats.LevelStats;
import io.strata.kafka.migration.remote.RemoteStats.OperationStats;
import java.util.OptionalLong;

/**
 * The catalogue of the remote tier's metrics: each is declared here, once. The page {@code
 * docs/reference/metrics.md} is generated from it.
 *
 * <p>Immutable and safe for use by any thread.
 */
enum RemoteMetric {
  OPERATIONS(
      "RemoteOperation",
      "Total",
      "calls, counted up",
      "Those that ended well: segments copied and deleted, ranges and indexes read.",
      OperationReading.of(OperationStats::count)),
  OPERATION_BYTES(
      "RemoteOperation",
      "BytesTotal",
      "bytes, counted up",
      "Bytes of them.",
      OperationReading.of(OperationStats::bytes)),
  OPERATIONS_RUNNING(
      "RemoteOperation",
      "Running",
      "calls",
      "Those under way.",
      OperationReading.of(OperationStats::running)),
  OPERATION_P50(
      "RemoteOperation",
      "LatencyP50",
      "milliseconds",
      "Half took no longer.",
      OperationReading.of(operation -> millis(operation.latency().p50Nanos()))),
  OPERATION_P99(
      "RemoteOperation",
      "LatencyP99",
      "milliseconds",
      "99 % took no longer.",
      OperationReading.of(operation -> millis(operation.latency().p99Nanos()))),
  OPERATION_MAX(
      "RemoteOperation",
      "LatencyMax",
      "milliseconds",
      "The longest.",
      OperationReading.of(operation -> millis(operation.latency().maxNanos()))),
  OPERATION_FAILURES(
      "RemoteOperation",
      "FailuresTotal",
      "calls, counted up",
      "Those that failed, by cause. Kafka tries a copy and a deletion again; a consumer's client"
          + " tries its fetch again. An index that is not found is mostly a transaction index that"
          + " the segment does not have: no fault.",
      OperationCauseReading.INSTANCE),
  LEVEL_CAPACITY(
      "RemoteLevel",
      "CapacityBytes",
      "bytes",
      "What the store may take there; 0 for the cold manager's level.",
      LevelReading.of(LevelStats::capacityBytes)),
  LEVEL_USED(
      "RemoteLevel",
      "UsedBytes",
      "bytes",
      "What it takes.",
      LevelReading.of(LevelStats::usedBytes)),
  LEVEL_SEGMENTS(
      "RemoteLevel",
      "Segments",
      "segments",
      "Segments that are read from there.",
      LevelReading.of(LevelStats::segments)),
  LEVEL_DIRECTORIES(
      "RemoteLevel",
      "Directories",
      "directories",
      "Its directories.",
      LevelReading.of(LevelStats::directories)),
  LEVEL_UNAVAILABLE(
      "RemoteLevel",
      "UnavailableDirectories",
      "directories",
      "Of those, the ones that cannot be used now: unmounted, read-only, of another" + " store.",
      LevelReading.of(LevelStats::unavailableDirectories)),
  LEVEL_COPIED(
      "RemoteLevel",
      "CopiedBytesTotal",
      "bytes, counted up",
      "Bytes copied there for Kafka.",
      LevelReading.of(LevelStats::copiedBytes)),
  LEVEL_FETCHED(
      "RemoteLevel",
      "FetchedBytesTotal",
      "bytes, counted up",
      "Bytes read from there for fetches, read-ahead included.",
      LevelReading.of(LevelStats::fetchedBytes)),
  LEVEL_DELETED(
      "RemoteLevel",
      "DeletedBytesTotal",
      "bytes, counted up",
      "Bytes deleted there for Kafka.",
      LevelReading.of(LevelStats::deletedBytes)),
  LEVEL_DOWN_BYTES(
      "RemoteLevel",
      "DestagedBytesTotal",
      "bytes, counted up",
      "Bytes copied from there to lower levels.",
      LevelReading.moves(TierStats::destagedBytes)),
  LEVEL_DOWN_SEGMENTS(
      "RemoteLevel",
      "DestagedSegmentsTotal",
      "segments, counted up",
      "Segments copied from there to lower levels.",
      LevelReading.moves(TierStats::destagedSegments)),
  LEVEL_UP_BYTES(
      "RemoteLevel",
      "PromotedBytesTotal",
      "bytes, counted up",
      "Bytes copied up to there.",
      LevelReading.moves(TierStats::promotedBytes)),
  LEVEL_UP_SEGMENTS(
      "RemoteLevel",
      "PromotedSegmentsTotal",
      "segments, counted up",
      "Segments copied up to there.",
      LevelReading.moves(TierStats::promotedSegments)),
  LEVEL_EVICTED_BYTES(
      "RemoteLevel",
      "EvictedBytesTotal",
      "bytes, counted up",
      "Bytes of copies given up there, since a lower level has them.",
      LevelReading.moves(TierStats::evictedBytes)),
  LEVEL_EVICTED_SEGMENTS(
      "RemoteLevel",
      "EvictedSegmentsTotal",
      "segments, counted up",
      "Copies given up there, since a lower level has them.",
      LevelReading.moves(TierStats::evictedSegments)),
  LEVEL_DRAINING(
      "RemoteLevel",
      "Draining",
      "0 or 1",
      "1 while segments are copied down because the threshold was exceeded.",
      LevelReading.moves(moves -> moves.draining() ? 1 : 0)),
  LEVEL_BACKLOG(
      "RemoteLevel",
      "BacklogBytes",
      "bytes",
      "What is to be copied down until the low mark; 0 when the level is not" + " draining.",
      LevelReading.moves(TierStats::backlogBytes)),
  OLDEST_UNCOPIED(
      "Remote",
      "OldestUncopiedAge",
      "milliseconds",
      "The age of the oldest sealed segment, of a tiered partition that this broker"
          + " leads, that is not in the store yet; 0 when there is none.",
      StatsReading.of(stats -> stats.oldestUncopiedMillis().orElse(0))),
  STUCK_THREADS(
      "Remote",
      "StuckThreads",
      "threads",
      "Threads whose operation ran out of its time and has not come back: a file"
          + " system that hangs.",
      StatsReading.of(RemoteStats::stuckThreads)),
  LINKED(
      "Remote",
      "LinkedBytesTotal",
      "bytes, counted up",
      "Of the copied bytes, those that share the blocks of `log.dirs`.",
      StatsReading.of(RemoteStats::linkedBytes)),
  CACHE_CAPACITY(
      "RemoteCache",
      "CapacityBytes",
      "bytes",
      "Its bound.",
      StatsReading.of(stats -> stats.cache().capacityBytes())),
  CACHE_USED(
      "RemoteCache",
      "UsedBytes",
      "bytes",
      "What it holds.",
      StatsReading.of(stats -> stats.cache().usedBytes())),
  CACHE_HITS(
      "RemoteCache",
      "HitsTotal",
      "chunks, counted up",
      "Chunks that were asked for and found.",
      StatsReading.of(stats -> stats.cache().hits())),
  CACHE_MISSES(
      "RemoteCache",
      "MissesTotal",
      "chunks, counted up",
      "Chunks that were asked for and read from the store.",
      StatsReading.of(stats -> stats.cache().misses())),
  CACHE_EVICTIONS(
      "RemoteCache",
      "EvictionsTotal",
      "chunks, counted up",
      "Chunks given up.",
      StatsReading.of(stats -> stats.cache().evictions())),
  READAHEAD_BYTES(
      "RemoteReadAhead",
      "BytesTotal",
      "bytes, counted up",
      "Bytes read ahead of readers.",
      StatsReading.of(stats -> stats.readAhead().bytes())),
  READAHEAD_USED(
      "RemoteReadAhead",
      "UsedBytesTotal",
      "bytes, counted up",
      "Of those, what was asked for later.",
      StatsReading.of(stats -> stats.readAhead().usedBytes())),
  READAHEAD_WASTED(
      "RemoteReadAhead",
      "WastedBytesTotal",
      "bytes, counted up",
      "Of those, what left the cache unused.",
      StatsReading.of(stats -> stats.readAhead().wastedBytes())),
  SCRUB_ROUNDS(
      "RemoteScrub",
      "RoundsTotal",
      "rounds, counted up",
      "Rounds that came to their end.",
      StatsReading.of(stats -> stats.scrub().rounds())),
  SCRUB_OBJECTS(
      "RemoteScrub",
      "ObjectsTotal",
      "files, counted up",
      "Files that were read and checked.",
      StatsReading.of(stats -> stats.scrub().objects())),
  SCRUB_BYTES(
      "RemoteScrub",
      "BytesTotal",
      "bytes, counted up",
      "Bytes of them.",
      StatsReading.of(stats -> stats.scrub().bytes())),
  SCRUB_CORRUPT(
      "RemoteScrub",
      "CorruptObjectsTotal",
      "files, counted up",
      "Files that are not what was written; the log names each.",
      StatsReading.of(stats -> stats.scrub().corruptObjects())),
  SCRUB_MISSING(
      "RemoteScrub",
      "MissingObjectsTotal",
      "files, counted up",
      "Files that a manifest names and that are not there.",
      StatsReading.of(stats -> stats.scrub().missingObjects())),
  SCRUB_ORPHANS(
      "RemoteScrub",
      "OrphansRemovedTotal",
      "directories, counted up",
      "What failed copies had left, and was removed.",
      StatsReading.of(stats -> stats.scrub().orphansRemoved())),
  SCRUB_LAST(
      "RemoteScrub",
      "LastEnd",
      "milliseconds since 1970",
      "When the last round ended; NaN if none did on this broker.",
      StatsReading.of(stats -> orNaN(stats.scrub().lastEndMillis()))),
  MOVER(
      "RemoteMigration",
      "Active",
      "0 or 1",
      "1 on the broker that moves segments between levels: one of the cluster, if"
          + " there are several levels. The others have 0 for all of this type.",
      StatsReading.of(stats -> stats.migration().isPresent() ? 1 : 0)),
  MOVES_QUEUED(
      "RemoteMigration",
      "Queued",
      "moves",
      "Moves that wait for a thread.",
      EngineReading.of(MigrationStats::queued)),
  MOVES_IN_FLIGHT(
      "RemoteMigration",
      "InFlight",
      "moves",
      "Moves under way.",
      EngineReading.of(MigrationStats::inFlight)),
  MOVES_DOWN_RATE(
      "RemoteMigration",
      "DownBytesPerSecond",
      "bytes per second",
      "What was copied down lately (ten seconds).",
      EngineReading.of(MigrationStats::downBytesPerSecond)),
  MOVES_UP_RATE(
      "RemoteMigration",
      "UpBytesPerSecond",
      "bytes per second",
      "What was copied up lately (ten seconds).",
      EngineReading.of(MigrationStats::upBytesPerSecond)),
  MOVES_DOWN_P99(
      "RemoteMigration",
      "DestageLatencyP99",
      "milliseconds",
      "99 % of the copies down took no longer.",
      EngineReading.of(stats -> millis(stats.destageLatency().p99Nanos()))),
  MOVES_DOWN_MAX(
      "RemoteMigration",
      "DestageLatencyMax",
      "milliseconds",
      "The longest copy down.",
      EngineReading.of(stats -> millis(stats.destageLatency().maxNanos()))),
  MOVES_UP_P99(
      "RemoteMigration",
      "PromoteLatencyP99",
      "milliseconds",
      "99 % of the copies up took no longer.",
      EngineReading.of(stats -> millis(stats.promoteLatency().p99Nanos()))),
  MOVES_UP_MAX(
      "RemoteMigration",
      "PromoteLatencyMax",
      "milliseconds",
      "The longest copy up.",
      EngineReading.of(stats -> millis(stats.promoteLatency().maxNanos()))),
  MOVES_FAILURES(
      "RemoteMigration",
      "FailuresTotal",
      "moves, counted up",
      "Moves that failed; each is tried again later, save those of corrupt" + " segments.",
      EngineCauseReading.INSTANCE),
  MOVES_CANCELLED(
      "RemoteMigration",
      "CancelledTotal",
      "moves, counted up",
      "Moves given up without a fault.",
      EngineReading.of(MigrationStats::cancelled)),
  MOVES_BACKING_OFF(
      "RemoteMigration",
      "BackingOff",
      "segments",
      "Segments that wait after a failure.",
      EngineReading.of(MigrationStats::backingOff)),
  MOVES_ROUNDS(
      "RemoteMigration",
      "RoundsTotal",
      "rounds, counted up",
      "Planning rounds.",
      EngineReading.of(MigrationStats::rounds)),
  MOVES_FAILED_ROUNDS(
      "RemoteMigration",
      "FailedRoundsTotal",
      "rounds, counted up",
      "Of those, the ones that failed.",
      EngineReading.of(MigrationStats::failedRounds)),
  MOVES_ROUND_TIME(
      "RemoteMigration",
      "LastRoundTime",
      "microseconds",
      "How long the last planning round took.",
      EngineReading.of(stats -> stats.lastRoundNanos() / 1e3));

  private final String type;
  private final String metricName;
  private final String unit;
  private final String description;

  // Every reading is a lambda that captures nothing.
  @SuppressWarnings("ImmutableEnumChecker")
  private final RemoteReading reading;

  RemoteMetric(
      String type, String metricName, String unit, String description, RemoteReading reading) {
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

  RemoteReading reading() {
    return reading;
  }

  private static double millis(long nanos) {
    return nanos / 1e6;
  }

  private static double orNaN(OptionalLong value) {
    return value.isPresent() ? value.getAsLong() : Double.NaN;
  }
}
