package io.strata.kafka.it;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * The remote tier against stock Kafka that reads from its own log directory, and against the
 * manager of Kafka's own tests: catching up on cold data, copying, the first byte of an old offset,
 * heap and threads of many segments. A benchmark, not a test: see docs/benchmarks.md for the
 * command.
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
  private int runs;

  private RemoteComparison(Path folder, long bytes) {
    this.folder = folder;
    this.bytes = bytes;
  }

  /** Who is compared. */
  private enum Contender {
    STOCK("stock Kafka, own log directory", Optional.empty(), false),
    LOCAL("LocalTieredStorage", Optional.of(RemoteManager.LOCAL), false),
    STRATA("Strata", Optional.of(RemoteManager.STRATA), false),
    STRATA_POOL("Strata, from the pool, copied", Optional.of(RemoteManager.STRATA), true),
    STRATA_CLEAN("Strata, clean segments", Optional.of(RemoteManager.STRATA), true);

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
   * @param arguments MiB of cold data (4096), remote segments for heap and threads (10000), and
   *     what to run: read, copy, many or all (all)
   */
  public static void main(String[] arguments) throws Exception {
    long mebibytes = arguments.length > 0 ? Long.parseLong(arguments[0]) : 4096;
    int segments = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 10_000;
    String what = arguments.length > 2 ? arguments[2] : "all";
    Path folder = Files.createTempDirectory(Files.createDirectories(Distribution.work()), "bench-");
    try {
      RemoteComparison comparison = new RemoteComparison(folder, mebibytes * MIB);
      if (!what.equals("copy") && !what.equals("many")) {
        for (Contender contender : List.of(Contender.STOCK, Contender.LOCAL, Contender.STRATA)) {
          comparison.read(contender);
        }
      }
      if (!what.equals("read") && !what.equals("many")) {
        for (Contender contender :
            List.of(Contender.LOCAL, Contender.STRATA_POOL, Contender.STRATA_CLEAN)) {
          comparison.copy(contender);
        }
      }
      if (!what.equals("read") && !what.equals("copy")) {
        comparison.many(segments);
      }
    } finally {
      Workspace.delete(folder);
    }
  }

  private static void print(String format, Object... values) {
    System.out.println(String.format(Locale.ROOT, format, values));
  }

  // ---------------------------------------------------------------------------------------------
  // reading
  // ---------------------------------------------------------------------------------------------

  private void read(Contender contender) throws Exception {
    try (Run run = new Run(contender, (int) Math.max(1, Math.min(128, bytes / MIB / 32)))) {
      run.create(contender.manager.isPresent(), "local.retention.bytes", "1");
      run.send(bytes);
      if (contender.manager.isPresent()) {
        run.tier.awaitTiered(run.broker, TOPIC, PARTITIONS, 1);
      }
      run.restart();
      dropCaches();
      Seen cold = run.consume();
      Seen warm = run.consume();
      print(
          "catch-up of %d MiB, %-32s cold %6.0f MB/s, fetch p99 %6.1f ms; again %6.0f MB/s, p99"
              + " %6.1f ms",
          bytes / MIB,
          contender.title,
          cold.megabytesPerSecond,
          cold.p99Millis,
          warm.megabytesPerSecond,
          warm.p99Millis);
      run.restart();
      dropCaches();
      List<Long> offsets = run.offsets();
      double first = run.firstByte(offsets);
      double again = run.firstByte(offsets);
      run.restart();
      double restarted = run.firstByte(offsets);
      print(
          "first byte of %d old offsets, %-32s median cold %6.1f ms, warm %6.1f ms, after a restart"
              + " %6.1f ms",
          LOOKUPS, contender.title, first, again, restarted);
    }
  }

  /** What a consumer saw. */
  private record Seen(double megabytesPerSecond, double p99Millis) {}

  private static void dropCaches() {
    try {
      new ProcessBuilder("sync").start().waitFor();
      Files.writeString(Path.of("/proc/sys/vm/drop_caches"), "3");
    } catch (IOException e) {
      print("the page cache cannot be dropped (%s): cold is as warm as it is", e.toString());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  // ---------------------------------------------------------------------------------------------
  // copying
  // ---------------------------------------------------------------------------------------------

  private void copy(Contender contender) throws Exception {
    try (Run run = new Run(contender, (int) Math.max(1, Math.min(128, bytes / MIB / 32)))) {
      run.create(false);
      run.send(bytes);
      if (contender == Contender.STRATA_CLEAN) {
        Tiers.awaitClean(run.broker, run.broker.tiers().get(0));
      }
      double processorBefore = run.processorSeconds();
      long began = System.nanoTime();
      Topics.alter(run.broker, TOPIC, Map.of("remote.storage.enable", "true"));
      long stored = run.awaitStored();
      double seconds = (System.nanoTime() - began) / 1e9;
      print(
          "copy of %d MiB, %-32s %6.0f MB/s, processor %5.2f s per GiB",
          stored / MIB,
          contender.title,
          stored / 1e6 / seconds,
          (run.processorSeconds() - processorBefore) / (stored / (1024.0 * MIB)));
    }
  }

  // ---------------------------------------------------------------------------------------------
  // many segments
  // ---------------------------------------------------------------------------------------------

  /** Copies of one small segment under new ids are what a broker with many has to list and keep. */
  private void many(int segments) throws Exception {
    for (Contender contender : List.of(Contender.LOCAL, Contender.STRATA)) {
      try (Run run = new Run(contender, 1)) {
        run.create(true, "local.retention.bytes", "1", "segment.bytes", "" + MIB);
        run.send(8 * MIB);
        run.tier.awaitTiered(run.broker, TOPIC, PARTITIONS, 1);
        double heapBefore = run.heapMebibytes();
        long threadsBefore = run.threads();
        if (contender == Contender.STRATA) {
          run.multiply(segments);
        }
        run.restart();
        Thread.sleep(5_000);
        print(
            "%d remote segments, %-32s heap %.1f MiB (%.1f MiB with some), threads %d (%d)",
            contender == Contender.STRATA ? segments : 8,
            contender.title,
            run.heapMebibytes(),
            heapBefore,
            run.threads(),
            threadsBefore);
      }
    }
  }

  // ---------------------------------------------------------------------------------------------

  /** One broker with its store. */
  private final class Run implements AutoCloseable {

    private final TieredBrokers tier;
    private final Path store;
    private final StockBroker broker;
    private final Optional<Path> pool;
    private final int segmentMebibytes;

    Run(Contender contender, int segmentMebibytes) throws Exception {
      this.segmentMebibytes = segmentMebibytes;
      Path own = Files.createDirectories(folder.resolve("run-" + runs++));
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
        builder.set("strata.migration.threshold", contender == Contender.STRATA_CLEAN ? "0" : "-1");
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

    void create(boolean remote, String... more) throws Exception {
      Map<String, String> config =
          new HashMap<>(
              Map.of("segment.bytes", "" + segmentMebibytes * MIB, "file.delete.delay.ms", "100"));
      if (remote) {
        config.put("remote.storage.enable", "true");
      }
      for (int i = 0; remote && i < more.length; i += 2) {
        config.put(more[i], more[i + 1]);
      }
      Topics.create(broker, TOPIC, PARTITIONS, config);
    }

    void send(long total) throws Exception {
      byte[] value = new byte[RECORD];
      new Random(7).nextBytes(value);
      try (Producer<byte[], byte[]> producer =
          new KafkaProducer<>(
              Map.of(
                  "bootstrap.servers", broker.bootstrap(),
                  "batch.size", "262144",
                  "linger.ms", "5"),
              new ByteArraySerializer(),
              new ByteArraySerializer())) {
        for (long sent = 0, i = 0; sent < total; sent += RECORD, i++) {
          var unused =
              producer.send(new ProducerRecord<>(TOPIC, (int) (i % PARTITIONS), null, value));
        }
      }
    }

    void restart() throws Exception {
      int unused = broker.stop();
      StockBroker unusedToo = broker.start();
    }

    private Consumer<byte[], byte[]> consumer() {
      return new KafkaConsumer<>(
          Map.of(
              "bootstrap.servers", broker.bootstrap(),
              "fetch.max.bytes", "" + 8 * MIB,
              "max.partition.fetch.bytes", "" + MIB),
          new ByteArrayDeserializer(),
          new ByteArrayDeserializer());
    }

    private List<TopicPartition> partitions() {
      return IntStream.range(0, PARTITIONS).mapToObj(p -> new TopicPartition(TOPIC, p)).toList();
    }

    /** Reads everything from the beginning. */
    Seen consume() throws Exception {
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
        return new Seen(
            seen * (double) RECORD / 1e6 / seconds, gaps.get((int) (gaps.size() * 0.99)) / 1e6);
      }
    }

    List<Long> offsets() {
      Random random = new Random(11);
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
    long awaitStored() throws Exception {
      int sealed = sealedSegments();
      long end = System.nanoTime() + LONG.toNanos();
      while (System.nanoTime() < end) {
        if (tier.manager().segments(store).size() >= sealed && sealed > 0) {
          return storedBytes();
        }
        Thread.sleep(20);
      }
      throw new AssertionError("expected " + sealed + " segments in the store");
    }

    private long storedBytes() throws IOException {
      long stored = 0;
      for (RemoteManager.Segment segment : tier.manager().segments(store)) {
        stored += Files.exists(segment.log()) ? Files.size(segment.log()) : 0;
      }
      return stored;
    }

    private int sealedSegments() throws IOException {
      int sealed = 0;
      for (int p = 0; p < PARTITIONS; p++) {
        sealed += LogFiles.segments(LogFiles.partition(broker, TOPIC, p)).size() - 1;
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
    double heapMebibytes() throws Exception {
      Process process =
          new ProcessBuilder("jcmd", "" + broker.pid(), "GC.heap_info")
              .redirectErrorStream(true)
              .start();
      process.getInputStream().readAllBytes();
      Process collect =
          new ProcessBuilder("jcmd", "" + broker.pid(), "GC.run").redirectErrorStream(true).start();
      collect.getInputStream().readAllBytes();
      process =
          new ProcessBuilder("jcmd", "" + broker.pid(), "GC.heap_info")
              .redirectErrorStream(true)
              .start();
      String info = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      // The young and the old generation; what follows is not the heap.
      return java.util.regex.Pattern.compile("generation.* used (\\d+)K")
              .matcher(info)
              .results()
              .mapToLong(found -> Long.parseLong(found.group(1)))
              .sum()
          / 1024.0;
    }

    /** Copies one segment's directory under other ids, as if Kafka had copied as many. */
    void multiply(int segments) throws Exception {
      RemoteSegments.multiply(store, segments);
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
