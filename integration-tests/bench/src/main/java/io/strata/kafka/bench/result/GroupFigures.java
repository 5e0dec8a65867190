package io.strata.kafka.bench.result;

import io.strata.kafka.bench.agent.Histograms;
import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;

/** Adds up what a group does on all hosts. Not thread-safe. */
public final class GroupFigures {
  private static final double MILLIS = 1000;
  private static final double MEGA = 1e6;
  private static final double ROUNDING = 0.001;

  private final String name;
  private final String role;
  private final int clients;
  private final double warmup;
  private final Histogram latencies = histogram();
  private final List<GroupResult.Point> series = new ArrayList<>();
  private double measuredFrom;
  private boolean measuring;
  private double ended;
  private long records;
  private long bytes;
  private long errors;

  /**
   * Creates the figures of a group.
   *
   * @param start when it starts, in seconds after the phase's start
   * @param warmup seconds after the phase's start that do not count
   */
  public GroupFigures(String name, String role, int clients, double start, double warmup) {
    this.name = name;
    this.role = role;
    this.clients = clients;
    this.warmup = warmup;
    this.measuredFrom = start;
  }

  /** An empty histogram of microseconds. */
  static Histogram histogram() {
    return new Histogram(3);
  }

  /** Adds an interval of all hosts. */
  public void add(
      double from, double to, long moreRecords, long moreBytes, long moreErrors, Histogram more) {
    errors += moreErrors;
    series.add(
        new GroupResult.Point(
            from,
            to,
            moreRecords,
            moreBytes,
            millis(more, 50),
            millis(more, 99),
            millis(more, 99.9),
            more.getMaxValue() / MILLIS));
    if (from + ROUNDING < warmup) {
      return;
    }
    if (!measuring) {
      measuring = true;
      measuredFrom = Math.max(measuredFrom, from);
    }
    records += moreRecords;
    bytes += moreBytes;
    latencies.add(more);
  }

  /** Says when the last record of a host was counted. */
  public void ended(double seconds) {
    ended = Math.max(ended, seconds);
  }

  /** Returns when measuring began: seconds after the phase's start. */
  public double measuredFrom() {
    return measuredFrom;
  }

  /** The result. */
  public GroupResult result() {
    double seconds = Math.max(0, ended - measuredFrom);
    return new GroupResult(
        name,
        role,
        clients,
        records,
        bytes,
        errors,
        seconds,
        seconds > 0 ? records / seconds : 0,
        seconds > 0 ? bytes / MEGA / seconds : 0,
        latency(latencies),
        Histograms.encode(latencies),
        List.copyOf(series));
  }

  /** The figures of a histogram of microseconds. */
  static GroupResult.Latency latency(Histogram of) {
    return new GroupResult.Latency(
        of.getTotalCount() == 0 ? 0 : of.getMean() / MILLIS,
        millis(of, 50),
        millis(of, 90),
        millis(of, 99),
        millis(of, 99.9),
        millis(of, 99.99),
        of.getMaxValue() / MILLIS);
  }

  private static double millis(Histogram of, double percentile) {
    return of.getTotalCount() == 0 ? 0 : of.getValueAtPercentile(percentile) / MILLIS;
  }
}
