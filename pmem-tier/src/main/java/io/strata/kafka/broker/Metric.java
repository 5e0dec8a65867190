package io.strata.kafka.broker;

import io.strata.kafka.broker.TierSource.PoolSample;
import io.strata.kafka.memory.Durability;
import java.util.function.ToDoubleFunction;

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
      "Pool", "FreeBytes", "bytes", "Bytes in no extent.", PoolReading.of(PoolSample::freeBytes)),
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

  /** Where a metric's value comes from. */
  sealed interface Reading permits PoolReading, TierReading, EventReading {}

  /** One value for each pool. */
  record PoolReading(ToDoubleFunction<PoolSample> value) implements Reading {
    static PoolReading of(ToDoubleFunction<PoolSample> value) {
      return new PoolReading(value);
    }
  }

  /** One value, asked of the tier. */
  record TierReading(ToDoubleFunction<TierSource> value) implements Reading {
    static TierReading of(ToDoubleFunction<TierSource> value) {
      return new TierReading(value);
    }
  }

  /** One value, counted on the append and read paths. */
  record EventReading(ToDoubleFunction<EventCounters> value) implements Reading {
    static EventReading of(ToDoubleFunction<EventCounters> value) {
      return new EventReading(value);
    }
  }

  private final String type;
  private final String metricName;
  private final String unit;
  private final String description;

  // Every reading is a lambda that captures nothing.
  @SuppressWarnings("ImmutableEnumChecker")
  private final Reading reading;

  Metric(String type, String metricName, String unit, String description, Reading reading) {
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

  Reading reading() {
    return reading;
  }

  private static double level(Durability durability) {
    return switch (durability) {
      case POWER -> 2;
      case FORCE -> 1;
      case PROCESS -> 0;
    };
  }

  private static double micros(long nanos) {
    return nanos / 1e3;
  }
}
