package io.strata.kafka.it.soak;

import java.awt.Color;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.style.Styler;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** Draws a soak: a small chart for each figure, from zero, over minutes. */
final class SoakPlot {

  private static final int WIDTH = 400;
  private static final int HEIGHT = 240;

  /** The figures fill whole rows, as the encoder asks for. */
  private static final int COLUMNS = 3;

  private SoakPlot() {}

  static void write(List<SoakSample> samples, Path file) throws IOException {
    List<XYChart> charts = new ArrayList<>();
    double[] minutes = samples.stream().mapToDouble(s -> s.second() / 60).toArray();
    for (SoakSample.Figure figure : SoakSample.Figure.values()) {
      XYChart chart =
          new XYChartBuilder()
              .width(WIDTH)
              .height(HEIGHT)
              .title(figure.title())
              .xAxisTitle("minutes")
              .theme(Styler.ChartTheme.Matlab)
              .build();
      chart.getStyler().setLegendVisible(false).setChartBackgroundColor(Color.WHITE);
      chart.getStyler().setYAxisMin(0.0);
      chart
          .addSeries(figure.title(), minutes, samples.stream().mapToDouble(figure::of).toArray())
          .setMarker(SeriesMarkers.NONE);
      charts.add(chart);
    }
    BitmapEncoder.saveBitmap(
        charts,
        (charts.size() + COLUMNS - 1) / COLUMNS,
        COLUMNS,
        file.toString(),
        BitmapEncoder.BitmapFormat.PNG);
  }
}
