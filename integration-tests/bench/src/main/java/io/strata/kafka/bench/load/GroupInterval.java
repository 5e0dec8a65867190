package io.strata.kafka.bench.load;

import org.HdrHistogram.Histogram;

/**
 * What a group has done on one host in an interval.
 *
 * @param records acknowledged, or read
 * @param bytes of their values
 * @param errors records that were not acknowledged
 * @param latencies in microseconds
 */
public record GroupInterval(long records, long bytes, long errors, Histogram latencies) {}
