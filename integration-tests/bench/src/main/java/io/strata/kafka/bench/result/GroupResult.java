package io.strata.kafka.bench.result;

import java.util.List;

/**
 * The figures of a group, warm-up excluded.
 *
 * @param role {@code producers} or {@code consumers}
 * @param clients on all hosts
 * @param records acknowledged, or read
 * @param bytes of their values
 * @param errors records that were not acknowledged
 * @param seconds from the end of the warm-up to the last record
 * @param recordsPerSecond over that time
 * @param megabytesPerSecond over that time; 10^6 bytes
 * @param latency of producers until the acknowledgement, of consumers end to end
 * @param histogram the latencies in microseconds, as HdrHistogram encodes them, in Base64
 * @param series over time, with the warm-up
 */
public record GroupResult(
    String name,
    String role,
    int clients,
    long records,
    long bytes,
    long errors,
    double seconds,
    double recordsPerSecond,
    double megabytesPerSecond,
    Latency latency,
    String histogram,
    List<Point> series) {

  /** Latencies in milliseconds; 0 where nothing was counted. */
  public record Latency(
      double mean, double p50, double p90, double p99, double p999, double p9999, double max) {}

  /**
   * An interval.
   *
   * @param from seconds after the phase's start
   * @param to seconds after the phase's start
   * @param p50 in milliseconds, as the others
   */
  public record Point(
      double from,
      double to,
      long records,
      long bytes,
      double p50,
      double p99,
      double p999,
      double max) {}

  GroupResult summary() {
    return new GroupResult(
        name,
        role,
        clients,
        records,
        bytes,
        errors,
        seconds,
        recordsPerSecond,
        megabytesPerSecond,
        latency,
        "",
        List.of());
  }
}
