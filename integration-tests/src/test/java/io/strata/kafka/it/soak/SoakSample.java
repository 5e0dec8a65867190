package io.strata.kafka.it.soak;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.strata.kafka.it.harness.Jmx;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.Tiers;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What a broker has of what must not grow, at one moment.
 *
 * @param second since the soak began
 * @param pid the broker's process
 * @param heap used bytes after a collection
 * @param anonymous resident bytes that are no file's and no pool's
 * @param direct bytes of direct buffers
 * @param disk bytes that the log directories take
 */
record SoakSample(
    double second,
    long pid,
    long heap,
    long anonymous,
    long direct,
    long descriptors,
    long threads,
    long poolUsed,
    long poolDirty,
    long poolClean,
    long segments,
    long disk) {

  private static final Path PROC = Path.of("/proc");

  /** What is asserted and drawn, and in which unit. */
  enum Figure {
    HEAP("heap after GC, MiB"),
    ANONYMOUS("anonymous RSS, MiB"),
    DIRECT("direct buffers, MiB"),
    DESCRIPTORS("file descriptors"),
    THREADS("threads"),
    POOL("pool in use, MiB"),
    DIRTY("of it dirty, MiB"),
    SEGMENTS("hot segments"),
    DISK("log directories, MiB");

    private final String title;

    Figure(String title) {
      this.title = title;
    }

    String title() {
      return title;
    }

    double of(SoakSample sample) {
      return switch (this) {
        case HEAP -> mebibytes(sample.heap);
        case ANONYMOUS -> mebibytes(sample.anonymous);
        case DIRECT -> mebibytes(sample.direct);
        case DESCRIPTORS -> sample.descriptors;
        case THREADS -> sample.threads;
        case POOL -> mebibytes(sample.poolUsed);
        case DIRTY -> mebibytes(sample.poolDirty);
        case SEGMENTS -> sample.segments;
        case DISK -> mebibytes(sample.disk);
      };
    }
  }

  private static double mebibytes(long bytes) {
    return bytes / (double) (1 << 20);
  }

  /** Takes one, after a collection. */
  static SoakSample take(StockBroker broker, double second) throws IOException {
    Tiers.Usage usage = Tiers.usage(broker);
    Path process = PROC.resolve(Long.toString(broker.pid()));
    Map<String, Long> status = status(process.resolve("status"));
    return new SoakSample(
        second,
        broker.pid(),
        Jmx.heapAfterCollection(broker),
        status.getOrDefault("RssAnon", -1L) * 1024,
        Jmx.attributes(broker, "java.nio:type=BufferPool,name=direct", "MemoryUsed")
            .values()
            .iterator()
            .next()
            .longValue(),
        count(process.resolve("fd")),
        status.getOrDefault("Threads", -1L),
        usage.used(),
        usage.dirty(),
        usage.clean(),
        Jmx.value(broker, "type=Segments,name=Hot"),
        disk(broker));
  }

  /** As du says: without holes. Files that vanish meanwhile are not counted. */
  private static long disk(StockBroker broker) throws IOException {
    List<String> command = new ArrayList<>(List.of("du", "-s", "-c", "-B1"));
    broker.logDirectories().forEach(directory -> command.add(directory.toString()));
    Process du = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    try (InputStream output = du.getInputStream()) {
      String text = new String(output.readAllBytes(), US_ASCII).strip();
      String total = text.substring(text.lastIndexOf('\n') + 1);
      return Long.parseLong(total.substring(0, total.indexOf('\t')));
    }
  }

  private static Map<String, Long> status(Path file) throws IOException {
    try (Stream<String> lines = Files.lines(file)) {
      return lines
          .map(line -> line.split("[:\\s]+", -1))
          .filter(parts -> Set.of("RssAnon", "Threads").contains(parts[0]))
          .collect(Collectors.toMap(parts -> parts[0], parts -> Long.parseLong(parts[1])));
    }
  }

  private static long count(Path folder) throws IOException {
    try (Stream<Path> entries = Files.list(folder)) {
      return entries.count();
    }
  }

  // ---------------------------------------------------------------------------------------------
  // many of them
  // ---------------------------------------------------------------------------------------------

  static String csvHeader() {
    return "second,pid,"
        + Arrays.stream(Figure.values())
            .map(Figure::title)
            .map(t -> '"' + t + '"')
            .collect(Collectors.joining(","));
  }

  String csv() {
    return String.format(Locale.ROOT, "%.0f,%d,", second, pid)
        + Arrays.stream(Figure.values())
            .map(figure -> String.format(Locale.ROOT, "%.2f", figure.of(this)))
            .collect(Collectors.joining(","));
  }

  /**
   * How much a figure has grown: the median of the last third of the samples less that of the first
   * third.
   */
  static double drift(List<SoakSample> samples, Figure figure) {
    int third = samples.size() / 3;
    return median(samples.subList(samples.size() - third, samples.size()), figure)
        - median(samples.subList(0, third), figure);
  }

  static double median(List<SoakSample> samples, Figure figure) {
    double[] sorted = samples.stream().mapToDouble(figure::of).sorted().toArray();
    return sorted[sorted.length / 2];
  }
}
