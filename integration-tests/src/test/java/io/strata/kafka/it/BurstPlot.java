package io.strata.kafka.it;

import java.awt.Color;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.style.Styler;
import org.knowm.xchart.style.XYStyler;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** Draws a burst second by second, as two images: what was acknowledged, and how late. */
final class BurstPlot {

  private static final int WIDTH = 760;
  private static final int HEIGHT = 380;
  private static final int DOTS_PER_INCH = 110;

  private BurstPlot() {}

  /** Writes both. */
  static void write(Map<String, Throughput.Seen> seen, Path folder) throws IOException {
    XYChart throughput = chart("A burst on a slow log directory", "acknowledged, MB/s");
    draw(throughput, seen, Throughput.Second::megabytes);
    save(throughput, folder.resolve("burst-throughput.png"));

    XYChart latency =
        chart("Produce latency in a burst on a slow log directory", "p99 of the second, ms");
    latency.getStyler().setYAxisLogarithmic(true);
    draw(latency, seen, second -> Math.max(1, second.p99Millis()));
    save(latency, folder.resolve("burst-latency.png"));
  }

  private static XYChart chart(String title, String axis) {
    XYChart chart =
        new XYChartBuilder()
            .width(WIDTH)
            .height(HEIGHT)
            .title(title)
            .xAxisTitle("seconds since the burst began")
            .yAxisTitle(axis)
            .theme(Styler.ChartTheme.Matlab)
            .build();
    XYStyler styler = chart.getStyler();
    styler.setLegendPosition(Styler.LegendPosition.OutsideS);
    styler.setLegendLayout(Styler.LegendLayout.Horizontal);
    styler.setAntiAlias(true);
    styler.setChartBackgroundColor(Color.WHITE);
    return chart;
  }

  private static void draw(
      XYChart chart, Map<String, Throughput.Seen> seen, ToDoubleFunction<Throughput.Second> value) {
    seen.forEach(
        (title, one) -> {
          List<Throughput.Second> seconds = one.seconds();
          chart
              .addSeries(
                  title,
                  IntStream.rangeClosed(1, seconds.size()).asDoubleStream().toArray(),
                  seconds.stream().mapToDouble(value).toArray())
              .setMarker(SeriesMarkers.NONE);
        });
  }

  private static void save(XYChart chart, Path file) throws IOException {
    BitmapEncoder.saveBitmapWithDPI(
        chart, file.toString(), BitmapEncoder.BitmapFormat.PNG, DOTS_PER_INCH);
  }
}
