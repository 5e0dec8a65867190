package io.strata.kafka.it.soak;

import static io.strata.kafka.it.harness.Waiting.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.Pools;
import io.strata.kafka.it.harness.Reading;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.RemoteManager;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.TieredBrokers;
import io.strata.kafka.it.harness.Tiers;
import io.strata.kafka.it.harness.Topics;
import io.strata.kafka.it.harness.Workspace;
import io.strata.kafka.it.kills.CampaignLedger;
import io.strata.kafka.it.kills.CampaignLedger.Kind;
import io.strata.kafka.it.kills.CampaignLoad;
import io.strata.kafka.it.kills.CampaignReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.TopicPartition;

/**
 * A stock broker with Strata under all kinds of load for as long as one likes, sampled all the
 * while: heap, descriptors, threads and pool stay what they are once it has warmed up, and when all
 * topics are deleted nothing is left of them.
 */
final class Soak {

  private static final int CHURNED = 3;
  private static final List<String> MOVED =
      List.of("retained", "compacted", "transactional", "plain");

  /** The share of the samples that is not looked at. */
  private static final double WARM_UP = 0.3;

  private final Duration length;
  private final Duration between;
  private final Duration killEvery;
  private final Random random;
  private final Path folder;
  private final StockBroker broker;
  private final TieredBrokers remote;
  private final List<SoakSample> samples = new ArrayList<>();
  private final List<CampaignLedger> ledgers = new ArrayList<>();
  private final List<CampaignLoad> loads = new ArrayList<>();
  private final List<Reading> readers = new ArrayList<>();
  private int churned;

  private Soak(Builder builder) throws Exception {
    length = builder.length;
    between = builder.between;
    killEvery = builder.killEvery;
    random = new Random(builder.seed);
    folder = builder.folder;
    Path pool = Pools.create(builder.pools.resolve("soak.pool"), "128MiB", 1024);
    remote =
        TieredBrokers.over(
                Files.createDirectories(folder.resolve("store-0")),
                Files.createDirectories(folder.resolve("store-1")))
            .with(RemoteManager.STRATA);
    broker =
        remote
            .withPools(Files.createDirectories(folder.resolve("broker")), pool)
            .logDirectories(2)
            .set("rsm.config.level-0.capacity", "32MiB")
            .set("strata.migration.threshold", "0.3")
            // Kafka keeps a file open for each remote segment whose indexes it has; of a GiB unless
            // said, which takes hours to fill.
            .set("remote.log.index.file.cache.total.size.bytes", "65536")
            .set("log.index.size.max.bytes", "262144")
            .set("log.cleaner.min.cleanable.ratio", "0.2")
            .set("log.cleaner.dedupe.buffer.size", "8388608")
            // It is not killed for failover, and a busy machine must not fence it.
            .set("broker.session.timeout.ms", "30000")
            .build();
  }

  /**
   * The settings of a soak.
   *
   * @param killEvery how often the broker is killed; zero for never
   */
  record Builder(
      Path folder, Path pools, Duration length, Duration between, Duration killEvery, long seed) {}

  /** Runs one; throws if something grows, or an error is met. */
  static List<SoakSample> run(Builder builder) throws Exception {
    Soak soak = new Soak(builder);
    try {
      soak.broker.start();
      soak.run(builder.seed);
    } finally {
      soak.broker.close();
    }
    return soak.samples;
  }

  private void run(long seed) throws Exception {
    begin(seed);
    long start = System.nanoTime();
    long sample = start;
    long killed = start;
    write(SoakSample.csvHeader());
    while (System.nanoTime() - start < length.toNanos()) {
      TimeUnit.MILLISECONDS.sleep(200);
      loads.forEach(CampaignLoad::assertRunning);
      readers.forEach(Reading::assertRunning);
      if (!killEvery.isZero() && System.nanoTime() - killed > killEvery.toNanos()) {
        killed = System.nanoTime();
        broker.kill();
        TimeUnit.SECONDS.sleep(2);
        broker.start();
      }
      if (System.nanoTime() - sample >= between.toNanos()) {
        sample = System.nanoTime();
        churn();
        SoakSample taken = SoakSample.take(broker, (sample - start) / 1e9);
        samples.add(taken);
        write(taken.csv());
      }
    }
    end();
    assertNothingGrows();
  }

  private void begin(long seed) throws Exception {
    load(Kind.RETAINED, "retained", 1_500_000, seed, Map.of("retention.bytes", "20000000"));
    Map<String, String> tiered =
        new HashMap<>(TieredBrokers.topic("retention.bytes", "40000000", "retention.ms", "600000"));
    load(Kind.RETAINED, "tiered", 700_000, seed, tiered);
    load(Kind.COMPACTED, "compacted", 400_000, seed, Map.of("cleanup.policy", "compact"));
    load(Kind.TRANSACTIONAL, "transactional", 400_000, seed, Map.of("retention.bytes", "10000000"));
    load(Kind.PLAIN, "plain", 400_000, seed, Map.of("retention.bytes", "10000000"));
  }

  private void load(Kind kind, String name, int rate, long seed, Map<String, String> config)
      throws Exception {
    Topics.create(broker, name, 2, config);
    CampaignLedger ledger = new CampaignLedger(name, kind, 2);
    ledgers.add(ledger);
    loads.add(CampaignLoad.start(ledger, broker.bootstrap(), 0, 1, rate, seed + loads.size()));
    readers.add(read(ledger, Reading.Start.TAIL));
    readers.add(read(ledger, Reading.Start.BEGINNING));
  }

  private Reading read(CampaignLedger ledger, Reading.Start start) {
    return Reading.atLeisure(
        ledger.topic(), ledger.partitions(), broker.bootstrap(), start, ledger::check);
  }

  /**
   * A topic comes, is written and read, and goes; the settings of the migration change; a partition
   * moves.
   */
  private void churn() throws Exception {
    String name = "churned-" + churned;
    RecordLedger ledger = Tiers.topic(broker, name, 4);
    ledger.produce(broker.bootstrap(), 400, 5_000);
    assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(400);
    if (churned >= CHURNED) {
      Topics.delete(broker, "churned-" + (churned - CHURNED));
    }
    churned++;
    Tiers.alter(
        broker,
        Map.of(
            "strata.migration.mode", random.nextBoolean() ? "eager" : "threshold",
            "strata.migration.promote", "" + random.nextBoolean(),
            "strata.migration.threshold", random.nextBoolean() ? "0.3" : "0.5"));
    move();
  }

  /** A partition goes to one of the two log directories, perhaps the one that it is in. */
  private void move() throws InterruptedException {
    String topic = MOVED.get(random.nextInt(MOVED.size()));
    Path to = broker.logDirectories().get(random.nextInt(2));
    Topics.move(broker, to, List.of(new TopicPartition(topic, random.nextInt(2))));
  }

  private void end() throws Exception {
    loads.forEach(CampaignLoad::close);
    readers.forEach(Reading::close);
    for (CampaignLedger ledger : ledgers) {
      CampaignReader.verify(ledger, broker.bootstrap());
    }
    Tiers.awaitQuiet(broker);
    Tiers.assertAccounting(broker);
    Tiers.deleteTopics(broker);
    await()
        .untilAsserted(
            () ->
                assertThat(Tiers.usage(broker).used())
                    .as("bytes in the pool when all topics are deleted")
                    .isZero());
    remote.awaitNothingOf("tiered");
    Tiers.audit(broker);
    SoakPlot.write(samples, folder.resolve("soak.png"));
  }

  /** Of the last process, when it has warmed up. */
  private void assertNothingGrows() {
    long last = samples.get(samples.size() - 1).pid();
    List<SoakSample> all = samples.stream().filter(s -> s.pid() == last).toList();
    List<SoakSample> warm = all.subList((int) (all.size() * WARM_UP), all.size());
    assertThat(warm).as("samples of a broker that has warmed up").hasSizeGreaterThan(5);
    for (SoakSample.Figure figure : SoakSample.Figure.values()) {
      double drift = SoakSample.drift(warm, figure);
      assertThat(drift)
          .as(
              "growth of '%s' from the first third of %d samples to the last, its median being"
                  + " %.1f",
              figure.title(), warm.size(), SoakSample.median(warm, figure))
          .isLessThan(slack() * tolerance(figure, SoakSample.median(warm, figure)));
    }
  }

  /** Topics fill to what they retain in minutes; a short soak can only see what leaks fast. */
  private double slack() {
    return length.compareTo(Duration.ofMinutes(5)) < 0 ? 4 : 1;
  }

  private static double tolerance(SoakSample.Figure figure, double median) {
    return switch (figure) {
      case HEAP, DIRECT -> Math.max(10, 0.1 * median);
      case ANONYMOUS -> Math.max(40, 0.1 * median);
      case DESCRIPTORS -> Math.max(40, 0.1 * median);
      case THREADS -> Math.max(10, 0.1 * median);
      // It follows what is retained and what is in the pool.
      case DISK -> Math.max(100, 0.25 * median);
      // What is in the pool follows the load; that it is all given back is looked at in the end.
      case POOL, DIRTY, SEGMENTS -> Double.MAX_VALUE;
    };
  }

  private void write(String line) throws IOException {
    Files.writeString(
        folder.resolve("soak.csv"),
        line + "\n",
        UTF_8,
        StandardOpenOption.CREATE,
        StandardOpenOption.APPEND);
  }

  /** Arguments: minutes, seconds between samples, minutes between kills (0: none), folder. */
  public static void main(String[] arguments) throws Exception {
    Path folder = Files.createDirectories(Path.of(arguments[3]).toAbsolutePath());
    Path pools = Files.createTempDirectory(Path.of("/dev/shm"), "strata-soak-");
    try {
      List<SoakSample> samples =
          run(
              new Builder(
                  folder,
                  pools,
                  Duration.ofSeconds((long) (Double.parseDouble(arguments[0]) * 60)),
                  Duration.ofSeconds(Long.parseLong(arguments[1])),
                  Duration.ofSeconds((long) (Double.parseDouble(arguments[2]) * 60)),
                  Long.getLong("strata.it.seed", System.nanoTime())));
      print(samples);
    } finally {
      Workspace.delete(pools);
    }
  }

  @SuppressWarnings("SystemOut") // its figures are its output
  private static void print(List<SoakSample> samples) {
    List<SoakSample> warm = samples.subList((int) (samples.size() * WARM_UP), samples.size());
    for (SoakSample.Figure figure : SoakSample.Figure.values()) {
      System.out.println(
          String.format(
              Locale.ROOT,
              "%-22s median %9.1f, drift %+8.1f",
              figure.title(),
              SoakSample.median(warm, figure),
              SoakSample.drift(warm, figure)));
    }
  }
}
