package io.strata.kafka.it.bench;

import static io.strata.kafka.it.harness.Waiting.await;

import io.strata.kafka.it.harness.Distribution;
import io.strata.kafka.it.harness.Jmx;
import io.strata.kafka.it.harness.LogFiles;
import io.strata.kafka.it.harness.Pools;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.RemoteManager;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.TieredBrokers;
import io.strata.kafka.it.harness.Tiers;
import io.strata.kafka.it.harness.Topics;
import io.strata.kafka.it.harness.Workspace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;

/**
 * The remote tier against stock Kafka that reads from its own log directory, and against the
 * manager of Kafka's own tests, in turns: catching up on cold data, the first byte of an old
 * offset, copying; heap and threads of many segments. A benchmark, not a test: see
 * docs/benchmarks.md for the command.
 */
final class RemoteComparison {

  private static final long MIB = 1L << 20;
  private static final int PARTITIONS = 4;
  private static final int RECORD = 16_000;
  private static final int LOOKUPS = 60;
  private static final String TOPIC = "cold";
  private static final Duration LONG = Duration.ofMinutes(20);

  private final Path folder;
  private final long bytes;
  private final int rounds;
  private final int segmentMebibytes;
  private int runs;

  private RemoteComparison(Path folder, long bytes, int rounds, int segmentMebibytes) {
    this.folder = folder;
    this.bytes = bytes;
    this.rounds = rounds;
    this.segmentMebibytes = segmentMebibytes;
  }

  /** Who is compared. */
  private enum Contender {
    STOCK("stock Kafka, own log directory", Optional.empty(), false),
    LOCAL("LocalTieredStorage", Optional.of(RemoteManager.LOCAL), false),
    LOCAL_FORCED("LocalTieredStorage, forced", Optional.of(RemoteManager.LOCAL_FORCED), false),
    STRATA("Strata", Optional.of(RemoteManager.STRATA), false),
    STRATA_POOL("Strata, from the pool", Optional.of(RemoteManager.STRATA), true),
    OTHER("the other manager", Optional.of(RemoteManager.OTHER), false);

    private final String title;
    private final Optional<RemoteManager> manager;
    private final boolean pool;

    Contender(String title, Optional<RemoteManager> manager, boolean pool) {
      this.title = title;
      this.manager = manager;
      this.pool = pool;
    }
  }

  /**
   * Prints the figures.
   *
   * @param arguments MiB of cold data (4096), remote segments for heap and threads (10000), what to
   *     run: read, copy, many or all (all), rounds that count (9), and the segments' size in MiB (a
   *     32nd of the data, at most 128)
   */
  public static void main(String[] arguments) throws Exception {
    long mebibytes = arguments.length > 0 ? Long.parseLong(arguments[0]) : 4096;
    int segments = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 10_000;
    String what = arguments.length > 2 ? arguments[2] : "all";
    if (!List.of("read", "copy", "many", "all").contains(what)) {
      throw new IllegalArgumentException(
          "found '%s', expected read, copy, many or all".formatted(what));
    }
    int rounds = arguments.length > 3 ? Integer.parseInt(arguments[3]) : 9;
    Path folder = Files.createTempDirectory(Files.createDirectories(Distribution.work()), "bench-");
    try {
      int segmentMebibytes =
          arguments.length > 4
              ? Integer.parseInt(arguments[4])
              : (int) Math.max(1, Math.min(128, mebibytes / 32));
      RemoteComparison comparison =
          new RemoteComparison(folder, mebibytes * MIB, rounds, segmentMebibytes);
      if (what.equals("read") || what.equals("all")) {
        comparison.inTurns(
            comparison::prepareReading,
            comparison::read,
            Contender.LOCAL,
            Contender.STRATA,
            Contender.STOCK,
            Contender.OTHER);
      }
      if (what.equals("copy") || what.equals("all")) {
        comparison.inTurns(
            run -> {},
            comparison::copy,
            Contender.LOCAL_FORCED,
            Contender.LOCAL,
            Contender.STRATA,
            Contender.STRATA_POOL,
            Contender.OTHER);
      }
      if (what.equals("many") || what.equals("all")) {
        comparison.many(segments);
      }
    } finally {
      Workspace.delete(folder);
    }
  }

  private static void print(String format, Object... values) {
    System.out.println(String.format(Locale.ROOT, format, values));
  }

  /** What is done with a contender's broker before the rounds. */
  private interface Preparation {
    void prepare(Run run) throws Exception;
  }

  /** What is measured in a contender's turn: figures by their names. */
  private interface Turn {
    Map<String, Double> measure(Run run, int round) throws Exception;
  }

  /**
   * Has the contenders take turns: a round for warming up, then those that count. Who begins
   * rotates. Ratios are those to the first contender, round by round.
   */
  private void inTurns(Preparation preparation, Turn turn, Contender... contenders)
      throws Exception {
    List<Run> open = new ArrayList<>();
    PairedFigures figures = new PairedFigures(contenders[0].title);
    try {
      for (Contender contender : contenders) {
        if (!contender.manager.map(RemoteManager::isThere).orElse(true)) {
          continue;
        }
        FullMemory.fill(folder);
        Run run = new Run(contender, segmentMebibytes);
        open.add(run);
        preparation.prepare(run);
      }
      for (int round = 0; round <= rounds; round++) {
        for (int i = 0; i < open.size(); i++) {
          Run run = open.get((i + round) % open.size());
          Map<String, Double> seen = turn.measure(run, round);
          print("round %d, %s: %s", round, run.contender.title, seen);
          if (round > 0) {
            figures.add(run.contender.title, seen);
          }
        }
      }
      System.out.print(figures.table());
    } finally {
      for (Run run : open) {
        run.close();
      }
    }
  }

  // ---------------------------------------------------------------------------------------------
  // reading
  // ---------------------------------------------------------------------------------------------

  private void prepareReading(Run run) throws Exception {
    boolean remote = run.contender.manager.isPresent();
    run.create(TOPIC, remote, "local.retention.bytes", "1");
    run.send(TOPIC, bytes);
    if (remote) {
      run.tier.awaitTiered(run.broker, TOPIC, PARTITIONS, 1);
    }
  }

  private Map<String, Double> read(Run run, int round) throws Exception {
    Map<String, Double> figures = new LinkedHashMap<>();
    run.restart();
    run.evict();
    run.consume("cold", figures);
    run.consume("warm", figures);
    run.restart();
    List<Long> offsets = run.offsets(round);
    figures.put("first byte after a restart, ms", run.firstByte(offsets));
    run.evict();
    figures.put("first byte cold, ms", run.firstByte(offsets));
    figures.put("first byte warm, ms", run.firstByte(offsets));
    return figures;
  }

  // ---------------------------------------------------------------------------------------------
  // copying
  // ---------------------------------------------------------------------------------------------

  private Map<String, Double> copy(Run run, int round) throws Exception {
    String topic = TOPIC + round;
    run.create(topic, false);
    run.send(topic, bytes);
    if (run.contender.pool) {
      Tiers.awaitClean(run.broker, run.broker.tiers().get(0));
    }
    double processorBefore = run.processorSeconds();
    long began = System.nanoTime();
    Topics.alter(run.broker, topic, Map.of("remote.storage.enable", "true"));
    long stored = run.awaitStored(topic);
    double seconds = (System.nanoTime() - began) / 1e9;
    double processor = run.processorSeconds() - processorBefore;
    Topics.delete(run.broker, topic);
    run.awaitNoSegments();
    Map<String, Double> figures = new LinkedHashMap<>();
    figures.put("copy, MB/s", stored / 1e6 / seconds);
    figures.put("copy, processor s per GiB", processor / (stored / (1024.0 * MIB)));
    return figures;
  }

  // ---------------------------------------------------------------------------------------------
  // many segments
  // ---------------------------------------------------------------------------------------------

  /**
   * Copies of small segments under new ids are what a broker and the commands have to list, to keep
   * and to read: a tenth of them first, to see how time and memory grow.
   */
  private void many(int segments) throws Exception {
    try (Run run = new Run(Contender.STRATA, 1)) {
      run.create(TOPIC, true, "local.retention.bytes", "1", "segment.bytes", "" + MIB);
      run.send(TOPIC, 8 * MIB);
      run.tier.awaitTiered(run.broker, TOPIC, PARTITIONS, 1);
      print(
          "%d remote segments: heap %.1f MiB, %d threads",
          run.tier.manager().segments(run.store).size(), run.heapMebibytes(), run.threads());
      for (int some : List.of(segments / 10, segments)) {
        RemoteSegments.multiply(run.store, some);
        long began = System.nanoTime();
        run.restart();
        run.awaitListed(some);
        print(
            "%d remote segments: stopped, started and listed in %.1f s, %.1f s of processor, heap"
                + " %.1f MiB, %d threads",
            some,
            (System.nanoTime() - began) / 1e9,
            run.processorSeconds(),
            run.heapMebibytes(),
            run.threads());
        for (String command : List.of("ls", "du", "scrub")) {
          began = System.nanoTime();
          String config = run.broker.propertiesFile().toString();
          Pools.strata("remote", command, "--config", config).orFail();
          print("  strata remote %s: %.1f s", command, (System.nanoTime() - began) / 1e9);
        }
      }
    }
  }

  // ---------------------------------------------------------------------------------------------

  /** One broker with its store. */
  private final class Run implements AutoCloseable {

    private final Contender contender;
    private final TieredBrokers tier;
    private final Path own;
    private final Path store;
    private final StockBroker broker;
    private final Optional<Path> pool;
    private final int segmentMebibytes;

    Run(Contender contender, int segmentMebibytes) throws Exception {
      this.contender = contender;
      this.segmentMebibytes = segmentMebibytes;
      own = Files.createDirectories(folder.resolve("run-" + runs++));
      store = Files.createDirectories(own.resolve("store"));
      tier = TieredBrokers.over(store).with(contender.manager.orElse(RemoteManager.STRATA));
      StockBroker.Builder builder;
      if (contender.pool) {
        pool = Optional.of(Path.of("/dev/shm/strata-bench-" + System.nanoTime() + ".pool"));
        Pools.strata(
            "pool",
            "create",
            "--size",
            (bytes / MIB * 3 / 2 + 512) + "MiB",
            "--slots",
            "1024",
            pool.get().toString());
        builder = tier.withPools(own.resolve("broker"), pool.get());
        builder.set("strata.migration.threshold", "0");
      } else {
        pool = Optional.empty();
        builder =
            contender.manager.isPresent()
                ? tier.alone(own.resolve("broker"))
                : Tiers.plain(own.resolve("broker")).jmx();
      }
      builder
          .set("log.retention.check.interval.ms", "1000")
          .jvmOption("-Xmx1g")
          .jvmOption("-XX:TieredStopAtLevel=4");
      broker = builder.build().start();
    }

    void create(String topic, boolean remote, String... more) throws Exception {
      Map<String, String> config =
          new HashMap<>(
              Map.of("segment.bytes", "" + segmentMebibytes * MIB, "file.delete.delay.ms", "100"));
      if (remote) {
        config.put("remote.storage.enable", "true");
      }
      for (int i = 0; remote && i < more.length; i += 2) {
        config.put(more[i], more[i + 1]);
      }
      Topics.create(broker, topic, PARTITIONS, config);
    }

    void send(String topic, long total) throws Exception {
      byte[] value = new byte[RECORD];
      new Random(7).nextBytes(value);
      try (Producer<byte[], byte[]> producer =
          RecordLedger.producer(
              broker.bootstrap(), Map.of("batch.size", "262144", "linger.ms", "5"))) {
        for (long sent = 0, i = 0; sent < total; sent += RECORD, i++) {
          var unused =
              producer.send(new ProducerRecord<>(topic, (int) (i % PARTITIONS), null, value));
        }
      }
    }

    void restart() throws Exception {
      int unused = broker.stop();
      StockBroker unusedToo = broker.start();
    }

    private Consumer<byte[], byte[]> consumer() {
      return RecordLedger.consumer(
          broker.bootstrap(),
          Map.of("fetch.max.bytes", "" + 8 * MIB, "max.partition.fetch.bytes", "" + MIB));
    }

    private List<TopicPartition> partitions() {
      return IntStream.range(0, PARTITIONS).mapToObj(p -> new TopicPartition(TOPIC, p)).toList();
    }

    /** Drops what the page cache has of this broker's files, and has other pages in its place. */
    void evict() throws IOException, InterruptedException {
      Process drop =
          new ProcessBuilder(
                  "sh",
                  "-c",
                  "sync; find . -type f -exec dd status=none of={} oflag=nocache"
                      + " conv=notrunc,fdatasync count=0 ';'")
              .directory(own.toFile())
              .inheritIO()
              .start();
      if (drop.waitFor() != 0) {
        throw new IOException("the page cache of " + own + " was not dropped: cold would be warm");
      }
      FullMemory.fill(folder);
    }

    /** Reads everything from the beginning. */
    void consume(String name, Map<String, Double> figures) throws Exception {
      try (Consumer<byte[], byte[]> consumer = consumer()) {
        consumer.assign(partitions());
        consumer.seekToBeginning(partitions());
        Map<TopicPartition, Long> ends = consumer.endOffsets(partitions());
        long total = ends.values().stream().mapToLong(Long::longValue).sum();
        List<Long> gaps = new ArrayList<>();
        long began = System.nanoTime();
        long last = began;
        long seen = 0;
        while (seen < total && System.nanoTime() - began < LONG.toNanos()) {
          ConsumerRecords<byte[], byte[]> records = consumer.poll(Duration.ofSeconds(1));
          if (!records.isEmpty()) {
            long now = System.nanoTime();
            gaps.add(now - last);
            last = now;
            seen += records.count();
          }
        }
        double seconds = (System.nanoTime() - began) / 1e9;
        gaps.sort(null);
        if (seen < total) {
          throw new AssertionError("found " + seen + " records, expected " + total);
        }
        figures.put("catch-up " + name + ", MB/s", seen * (double) RECORD / 1e6 / seconds);
        figures.put(
            "catch-up " + name + ", p99 between polls, ms",
            gaps.get((int) (gaps.size() * 0.99)) / 1e6);
      }
    }

    List<Long> offsets(int round) {
      Random random = new Random(11 + round);
      try (Consumer<byte[], byte[]> consumer = consumer()) {
        long end = consumer.endOffsets(partitions()).values().stream().min(Long::compare).get();
        return random.longs(LOOKUPS, 0, end * 8 / 10).boxed().toList();
      }
    }

    /** The median time from a seek to the first record, in milliseconds. */
    double firstByte(List<Long> offsets) {
      List<Double> times = new ArrayList<>();
      for (int i = 0; i < offsets.size(); i++) {
        TopicPartition partition = new TopicPartition(TOPIC, i % PARTITIONS);
        try (Consumer<byte[], byte[]> consumer = consumer()) {
          consumer.assign(List.of(partition));
          // Connections and metadata are not what is measured.
          long unused = consumer.endOffsets(List.of(partition)).size();
          consumer.seek(partition, offsets.get(i));
          long began = System.nanoTime();
          while (consumer.poll(Duration.ofSeconds(10)).isEmpty()) {
            if (System.nanoTime() - began > LONG.toNanos()) {
              throw new AssertionError("nothing at offset " + offsets.get(i));
            }
          }
          times.add((System.nanoTime() - began) / 1e6);
        }
      }
      times.sort(null);
      return times.get(times.size() / 2);
    }

    /** Waits until the store has every sealed segment; their bytes. */
    long awaitStored(String topic) throws Exception {
      int sealed = sealedSegments(topic);
      long end = System.nanoTime() + LONG.toNanos();
      while (System.nanoTime() < end) {
        if (tier.manager().segments(store).size() >= sealed && sealed > 0) {
          return storedBytes();
        }
        Thread.sleep(20);
      }
      throw new AssertionError("expected " + sealed + " segments in the store");
    }

    void awaitNoSegments() {
      await().atMost(LONG).until(() -> tier.manager().segments(store).isEmpty());
    }

    private long storedBytes() throws IOException {
      long stored = 0;
      for (RemoteManager.Segment segment : tier.manager().segments(store)) {
        stored += Files.exists(segment.log()) ? Files.size(segment.log()) : 0;
      }
      return stored;
    }

    private int sealedSegments(String topic) throws IOException {
      int sealed = 0;
      for (int p = 0; p < PARTITIONS; p++) {
        sealed += LogFiles.segments(LogFiles.partition(broker, topic, p)).size() - 1;
      }
      return sealed;
    }

    double processorSeconds() throws IOException {
      return attribute("java.lang:type=OperatingSystem", "ProcessCpuTime") / 1e9;
    }

    long threads() throws IOException {
      return (long) attribute("java.lang:type=Threading", "ThreadCount");
    }

    private double attribute(String name, String attribute) throws IOException {
      return Jmx.attributes(broker, name, attribute).values().iterator().next().doubleValue();
    }

    /** After a collection. */
    double heapMebibytes() throws IOException {
      return Jmx.heapAfterCollection(broker) / (double) MIB;
    }

    /** Waits until the broker knows so many segments of its store. */
    void awaitListed(int segments) {
      await()
          .atMost(LONG)
          .pollInterval(Duration.ofMillis(100))
          .until(() -> Jmx.sum(broker, "type=RemoteLevel,name=Segments,level=*") >= segments);
    }

    @Override
    public void close() throws IOException {
      broker.close();
      if (pool.isPresent()) {
        try (Stream<Path> files = Files.list(Path.of("/dev/shm"))) {
          String name = pool.get().getFileName().toString();
          for (Path file :
              files.filter(f -> f.getFileName().toString().startsWith(name)).toList()) {
            Files.deleteIfExists(file);
          }
        }
      }
      Workspace.delete(store);
    }
  }
}
