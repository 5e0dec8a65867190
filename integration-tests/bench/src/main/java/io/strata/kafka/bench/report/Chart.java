package io.strata.kafka.bench.report;

import java.util.List;

/**
 * A chart of the page.
 *
 * @param title what it shows, with the unit
 * @param kind {@code time}: seconds on the x axis; {@code quantile}: the digits of nine
 * @param logarithmic whether the y axis is
 * @param stacked whether lines lie on each other
 * @param lines in their order
 */
record Chart(String title, String kind, boolean logarithmic, boolean stacked, List<Line> lines) {

  /**
   * A line.
   *
   * @param points pairs of x and y, x rising
   */
  record Line(String label, List<double[]> points) {}
}
