package io.strata.kafka.it;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Kafka's own ProducerPerformance and ConsumerPerformance against a stock broker and one with
 * Strata, both on this machine and both up, loaded in turn: pairs of runs, and the ratio of each
 * pair. A benchmark, not a test: see docs/benchmarks.md for the command.
 */
final class BrokerComparison {

  private static final Pattern PRODUCED =
      Pattern.compile("\\(([0-9.]+) MB/sec\\), ([0-9.]+) ms avg latency.* ([0-9]+) ms 99th");
  private static final Duration LIMIT = Duration.ofMinutes(10);
  private static final String[] BATCHES_OF_1_MIB = {"batch.size=1048576", "linger.ms=10"};

  private final Path folder;
  private final int pairs;
  private int run;

  private BrokerComparison(Path folder, int pairs) {
    this.folder = folder;
    this.pairs = pairs;
  }

  /**
   * Runs all comparisons and prints a line for each pair and one for each median.
   *
   * @param arguments the number of pairs (5), and the megabytes that each run produces (512)
   */
  public static void main(String[] arguments) throws Exception {
    int pairs = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 5;
    int megabytes = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 512;
    Path folder = Files.createTempDirectory(Files.createDirectories(Distribution.work()), "bench-");
    BrokerComparison comparison = new BrokerComparison(folder, pairs);
    Path pool =
        Path.of(Files.isDirectory(Path.of("/dev/shm")) ? "/dev/shm" : folder.toString())
            .resolve("strata-comparison.pool");
    Files.deleteIfExists(pool);
    Pools.create(pool, "3GiB");
    try {
      comparison.compareAll(pool, megabytes);
    } finally {
      Files.deleteIfExists(pool);
      Files.deleteIfExists(pool.resolveSibling(pool.getFileName() + ".lock"));
      Workspace.delete(folder);
    }
  }

  private void compareAll(Path pool, int megabytes) throws Exception {
    try (StockBroker stock = broker("stock").build().start();
        StockBroker strata = prefaulted(pool).build().start()) {
      compare("defaults", stock, strata, 1024, megabytes, Map.of());
      compare("defaults", stock, strata, 1024, megabytes, Map.of(), BATCHES_OF_1_MIB);
      Map<String, String> flushed = Map.of("flush.messages", "1");
      compare("as durable", stock, strata, 1024, megabytes / 4, flushed);
      compare("as durable", stock, strata, 1024, megabytes / 2, flushed, BATCHES_OF_1_MIB);
    }
  }

  /** As for a broker that is to be fast from its first record: the pool's pages are touched. */
  private StockBroker.Builder prefaulted(Path pool) throws IOException {
    return broker("strata").strata(pool).set("strata.pool.prefault", "true");
  }

  private StockBroker.Builder broker(String name) throws IOException {
    return StockBroker.in(Files.createDirectories(folder.resolve(name)))
        .forMeasuring()
        .set("log.segment.delete.delay.ms", "1000");
  }

  private void compare(
      String what,
      StockBroker stock,
      StockBroker strata,
      int recordSize,
      int megabytes,
      Map<String, String> stockTopic,
      String... producer)
      throws Exception {
    String label =
        String.format(
            Locale.ROOT,
            "%s, %d B records, %s",
            what,
            recordSize,
            producer.length == 0 ? "producer's defaults" : String.join(" ", producer));
    List<Double> in = new ArrayList<>();
    List<Double> latency = new ArrayList<>();
    List<Double> out = new ArrayList<>();
    for (int pair = -1; pair < pairs; pair++) {
      Figures a = measure(stock, recordSize, megabytes, stockTopic, producer);
      Figures b = measure(strata, recordSize, megabytes, Map.of(), producer);
      if (pair < 0) {
        continue; // warm-up
      }
      in.add(b.produced() / a.produced());
      latency.add(b.p99() / a.p99());
      out.add(b.consumed() / a.consumed());
      print(
          "%s: pair %d: produce %.1f -> %.1f MB/s, p99 %.0f -> %.0f ms, consume %.1f -> %.1f MB/s",
          label, pair, a.produced(), b.produced(), a.p99(), b.p99(), a.consumed(), b.consumed());
    }
    print(
        "%s: MEDIAN of %d ratios Strata/stock: produce %.2f [%s], p99 latency %.2f, consume %.2f",
        label, pairs, median(in), range(in), median(latency), median(out));
  }

  private record Figures(double produced, double p99, double consumed) {}

  private Figures measure(
      StockBroker broker,
      int recordSize,
      int megabytes,
      Map<String, String> topicConfig,
      String... producer)
      throws Exception {
    String topic = "bench-" + run++;
    Topics.create(broker, topic, 4, topicConfig);
    long records = (long) megabytes * (1 << 20) / recordSize;
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "org.apache.kafka.tools.ProducerPerformance",
                "--topic",
                topic,
                "--num-records",
                Long.toString(records),
                "--record-size",
                Integer.toString(recordSize),
                "--throughput",
                "-1",
                "--producer-props",
                "bootstrap.servers=" + broker.bootstrap(),
                "acks=1"));
    arguments.addAll(List.of(producer));
    String produced = runClient(arguments);
    Matcher figures = PRODUCED.matcher(lastLine(produced, "99th"));
    if (!figures.find()) {
      throw new IllegalStateException("ProducerPerformance printed no figures: " + produced);
    }
    String consumed =
        runClient(
            List.of(
                "org.apache.kafka.tools.ConsumerPerformance",
                "--topic",
                topic,
                "--num-records",
                Long.toString(records),
                "--timeout",
                "60000",
                "--hide-header",
                "--bootstrap-server",
                broker.bootstrap()));
    // start, end, MB, MB/s, records, records/s, rebalance ms, fetch ms, fetch MB/s, fetch records/s
    List<String> columns = List.of(lastLine(consumed, ", ").split(", ", -1));
    Topics.delete(broker, topic);
    return new Figures(
        Double.parseDouble(figures.group(1)),
        Double.parseDouble(figures.group(3)),
        Double.parseDouble(columns.get(8)));
  }

  private String runClient(List<String> arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("-Xmx512m", "-cp"));
    command.add(Distribution.kafkaClassPath());
    command.addAll(arguments);
    JavaProcess.Finished finished =
        JavaProcess.run("client", command, folder.resolve("clients"), LIMIT);
    if (finished.exitCode() != 0) {
      throw new IllegalStateException(arguments.get(0) + " failed: " + finished.output());
    }
    return finished.output();
  }

  private static String lastLine(String text, String part) {
    return text.lines().filter(line -> line.contains(part)).reduce("", (a, b) -> b);
  }

  private static double median(List<Double> values) {
    return values.stream().sorted().toList().get(values.size() / 2);
  }

  private static String range(List<Double> values) {
    List<Double> sorted = values.stream().sorted().toList();
    return String.format(Locale.ROOT, "%.2f..%.2f", sorted.get(0), sorted.get(sorted.size() - 1));
  }

  @SuppressWarnings("SystemOut") // a benchmark's figures are its output
  private static void print(String format, Object... values) {
    System.out.println(String.format(Locale.ROOT, format, values));
  }
}
