package io.strata.kafka.it;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A log directory that is much slower than the pool: a burst after a quiet minute, and a steady
 * load with retention, on Strata and on stock Kafka, each on the same slow device. A benchmark, not
 * a test: see docs/benchmarks.md for the command.
 *
 * <p>Every broker is in a control group of its own that limits its memory, page cache included, as
 * it is limited on a loaded broker; otherwise stock Kafka's burst would go into memory too, and
 * none of it be safe from a power cut. The pool is memory of its own, as persistent memory is.
 */
final class MigrationComparison {

  private static final long MIB = 1L << 20;
  private static final int PARTITIONS = 4;

  /** Heap 512 MiB, what else a JVM takes, and about half a gigabyte of page cache. */
  private static final long MEMORY = 1_280 * MIB;

  /**
   * What the log directory has space for beyond what is retained, in pools: what retention has
   * deleted goes only when the device has time for it.
   */
  private static final double SPARE_POOLS = 1.5;

  private static final String TOPIC = "burst";

  private final Path folder;
  private final Path memory;
  private final Size size;
  private int runs;

  private MigrationComparison(Path folder, Path memory, Size size) {
    this.folder = folder;
    this.memory = memory;
    this.size = size;
  }

  /** How large and how long. */
  private record Size(long poolMebibytes, int quietSeconds, int steadySeconds, long logFileBytes) {

    long pool() {
      return poolMebibytes * MIB;
    }

    /** What a pool has space for: half of it is its reserve (docs/uses.md). */
    long burst() {
      return pool() / 2;
    }
  }

  /** Who is compared. */
  private enum Contender {
    EAGER("Strata, eager", "eager"),
    STILL("Strata, eager, no copies from the burst on", "eager"),
    THRESHOLD("Strata, threshold mode at 0.5", "threshold"),
    STOCK("stock Kafka", ""),
    MEMORY("stock Kafka, log directory in memory", "");

    private static final List<Contender> BURST = List.of(EAGER, STILL, THRESHOLD, STOCK);

    private final String title;
    private final String mode;

    Contender(String title, String mode) {
      this.title = title;
      this.mode = mode;
    }

    static Contender of(String name) {
      return valueOf(name.toUpperCase(Locale.ROOT));
    }

    boolean hasPool() {
      return !mode.isEmpty();
    }
  }

  /**
   * Prints the figures and writes the plots.
   *
   * @param arguments the pool's size in MiB (2048), quiet seconds (60), seconds of each steady load
   *     (90), the log directory's MB/s (80), what to run: burst, steady or all (all), and the
   *     retentions of the steady loads, in pools (1, 1.5 and 2), or for a burst alone who has it,
   *     in order, once for each turn (eager, still, threshold and stock)
   */
  public static void main(String[] arguments) throws Exception {
    Size size =
        new Size(
            number(arguments, 0, 2048),
            (int) number(arguments, 1, 60),
            (int) number(arguments, 2, 90),
            number(arguments, 3, 80) * 1_000_000);
    String what = arguments.length > 4 ? arguments[4] : "all";
    Path folder = Files.createTempDirectory(Files.createDirectories(Distribution.work()), "bench-");
    Path shm = Path.of("/dev/shm");
    Path memory = Files.createTempDirectory(Files.isDirectory(shm) ? shm : folder, "strata-bench-");
    try {
      MigrationComparison comparison = new MigrationComparison(folder, memory, size);
      List<String> more = Stream.of(arguments).skip(5).toList();
      if (!what.equals("steady")) {
        boolean chosen = what.equals("burst") && !more.isEmpty();
        comparison.bursts(chosen ? more.stream().map(Contender::of).toList() : Contender.BURST);
      }
      if (!what.equals("burst")) {
        List<Double> retentions = more.stream().map(Double::valueOf).toList();
        for (double pools : retentions.isEmpty() ? List.of(1.0, 1.5, 2.0) : retentions) {
          comparison.steady(pools);
        }
      }
    } finally {
      Workspace.delete(memory);
      Workspace.delete(folder);
    }
  }

  private static long number(String[] arguments, int index, long otherwise) {
    return arguments.length > index ? Long.parseLong(arguments[index]) : otherwise;
  }

  // ---------------------------------------------------------------------------------------------
  // a burst after a quiet time
  // ---------------------------------------------------------------------------------------------

  private void bursts(List<Contender> contenders) throws Exception {
    Map<String, Throughput.Seen> last = new LinkedHashMap<>();
    PairedFigures figures = new PairedFigures(Contender.STOCK.title);
    for (Contender contender : contenders) {
      Throughput.Seen seen = burst(contender);
      last.put(contender.title, seen);
      figures.add(
          contender.title,
          Map.of(
              "MB/s", seen.megabytesPerSecond(),
              "p99 in ms", seen.p99Millis(),
              "most in ms", seen.maxMillis()));
    }
    print("burst of %d MiB:%n%s", size.burst() / MIB, figures.table());
    Path images = Files.createDirectories(Distribution.work().resolve("images"));
    BurstPlot.write(last, images);
    print("plots: %s", images);
  }

  private static void printSeconds(Contender contender, Throughput.Seen seen) {
    print(
        "%s: MB in each second: %s",
        contender.title,
        seen.seconds().stream()
            .map(second -> String.format(Locale.ROOT, "%.0f", second.megabytes()))
            .toList());
  }

  private Throughput.Seen burst(Contender contender) throws Exception {
    try (Run run = new Run(contender, 2, Map.of())) {
      // Old data first, as on a broker that has been up for a while; then a quiet time.
      run.mount.bytesPerSecond(0);
      Throughput.Seen before = run.send(size.pool());
      run.mount.bytesPerSecond(size.logFileBytes());
      TimeUnit.SECONDS.sleep(size.quietSeconds());
      run.printUsage("before the burst");
      if (contender == Contender.STILL) {
        Tiers.alter(run.broker, Map.of("strata.migration.threshold", "-1"));
      }
      Throughput.Seen burst = run.send(size.burst());
      run.printUsage("after the burst");
      print("%s: filled at %.0f MB/s", contender.title, before.megabytesPerSecond());
      printSeconds(contender, burst);
      return burst;
    }
  }

  // ---------------------------------------------------------------------------------------------
  // a steady load with retention
  // ---------------------------------------------------------------------------------------------

  private void steady(double pools) throws Exception {
    long perPartition = (long) (pools * size.pool() / PARTITIONS);
    Map<Contender, Double> rates = new LinkedHashMap<>();
    List<Contender> contenders = new ArrayList<>(List.of(Contender.STOCK, Contender.EAGER));
    if (pools <= 1) {
      // Above that the log directory is the limit, whatever the pool does.
      contenders.add(Contender.MEMORY);
    }
    for (Contender contender : contenders) {
      Map<String, String> retention = Map.of("retention.bytes", "" + perPartition);
      try (Run run = new Run(contender, pools, retention)) {
        run.mount.bytesPerSecond(contender == Contender.MEMORY ? 0 : size.logFileBytes());
        Throughput.Seen seen =
            Throughput.ofSeconds(run.broker.bootstrap(), TOPIC, PARTITIONS, size.steadySeconds());
        run.printUsage("at the end");
        printSeconds(contender, seen);
        rates.put(contender, secondHalf(contender, seen, PARTITIONS * perPartition));
      }
    }
    double stock = rates.getOrDefault(Contender.STOCK, 1.0);
    rates.forEach(
        (contender, rate) ->
            print(
                "steady load, retention %.1f pools: %s %.1f MB/s, %.2f of the log directory alone",
                pools, contender.title, rate, rate / stock));
  }

  /**
   * Prints how even the second half was, and returns its rate in MB/s: the first half fills the
   * pool and begins to delete.
   */
  private static double secondHalf(Contender contender, Throughput.Seen seen, long retained) {
    // The last one may be a part of a second.
    List<Double> half =
        seen.seconds().subList(seen.seconds().size() / 2, seen.seconds().size() - 1).stream()
            .map(Throughput.Second::megabytes)
            .toList();
    double mean = half.stream().mapToDouble(each -> each).average().orElse(0);
    print(
        "%s: %.1f times what is retained; seconds below half of the mean: %d of %d, the slowest"
            + " %.0f MB",
        contender.title,
        mean * half.size() * 1e6 / retained,
        half.stream().filter(each -> each < mean / 2).count(),
        half.size(),
        half.stream().mapToDouble(each -> each).min().orElse(0));
    return mean;
  }

  // ---------------------------------------------------------------------------------------------

  /** One broker on a slow log directory of its own. */
  private final class Run implements AutoCloseable {

    private final List<AutoCloseable> open = new ArrayList<>();
    private final Contender contender;
    private final LogDevice mount;
    private final StockBroker broker;

    /**
     * Starts the broker.
     *
     * @param pools the most that the log directory is to hold, in pools
     */
    Run(Contender contender, double pools, Map<String, String> topic) throws Exception {
      this.contender = contender;
      FullMemory.fill(folder);
      Path own = Files.createDirectories(folder.resolve("run-" + runs));
      Path device = Files.createDirectories(memory.resolve("run-" + runs++));
      int mebibytes = (int) (size.poolMebibytes() * (pools + SPARE_POOLS));
      mount = closing(LogDevice.journalled(device, mebibytes, 0));
      StockBroker.Builder builder =
          StockBroker.in(own)
              .forMeasuring()
              .set("log.dirs", mount.path().resolve("data").toString())
              .set("metadata.log.dir", Files.createDirectories(own.resolve("metadata")).toString())
              .set("log.segment.bytes", "" + Math.max(MIB, size.pool() / 64))
              // Each roll has a thread force the index, for seconds on a busy device. With fewer
              // threads deletions wait in their queue.
              .set("background.threads", "400")
              .set("log.retention.check.interval.ms", "500")
              .set("log.initial.task.delay.ms", "500")
              .set("log.segment.delete.delay.ms", "500");
      if (contender.hasPool()) {
        Path pool = memory.resolve("pool");
        Files.deleteIfExists(pool);
        open.add(() -> Files.deleteIfExists(pool));
        Pools.strata(
                "pool",
                "create",
                "--size",
                size.poolMebibytes() + "MiB",
                "--slots",
                "1024",
                pool.toString())
            .orFail();
        builder
            .strata(pool)
            .jmx()
            .set("strata.topics.exclude", "__.*")
            .set("strata.migration.mode", contender.mode);
      }
      broker = closing(builder.build());
      MemoryLimit limit = MemoryLimit.ofBytes("run", MEMORY);
      open.add(open.size() - 1, limit); // closed after the broker
      broker.start();
      limit.add(broker.pid());
      Topics.create(broker, TOPIC, PARTITIONS, topic);
    }

    private <T extends AutoCloseable> T closing(T resource) {
      open.add(resource);
      return resource;
    }

    Throughput.Seen send(long bytes) throws InterruptedException {
      return Throughput.ofBytes(broker.bootstrap(), TOPIC, PARTITIONS, bytes);
    }

    void printUsage(String when) throws IOException {
      if (contender.hasPool()) {
        print("%s, %s: %s", contender.title, when, Tiers.usage(broker));
      }
    }

    @Override
    public void close() {
      for (int i = open.size() - 1; i >= 0; i--) {
        try {
          open.get(i).close();
        } catch (Exception e) {
          throw new IllegalStateException("what " + contender + " left cannot be removed", e);
        }
      }
    }
  }

  @SuppressWarnings("SystemOut") // a benchmark's figures are its output
  private static void print(String format, Object... values) {
    System.out.println(String.format(Locale.ROOT, format, values));
  }
}
