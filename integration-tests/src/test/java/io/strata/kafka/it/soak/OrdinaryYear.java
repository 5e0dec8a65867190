package io.strata.kafka.it.soak;

import static io.strata.kafka.it.harness.Waiting.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.Installed;
import io.strata.kafka.it.harness.Jmx;
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
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.TopicPartition;

/**
 * Ordinary work on one broker with pools, two log directories and a store: a seeded random walk
 * over the documented operations. After each, every record that was acknowledged is there, or still
 * to be read at the end of a run of operations; no start is refused, and no log directory is
 * offline.
 *
 * <p>Thread safety: used by one thread.
 */
final class OrdinaryYear {

  private static final int FEWEST = 200;
  private static final int MOST = 4_000;
  private static final int BETWEEN_FULL_READS = 6;

  /**
   * A broker that has just started may refuse a producer's first batch and take those behind it,
   * with or without Strata: then it refuses the first one for ever.
   */
  private static final Map<String, String> ONE_BY_ONE =
      Map.of("max.in.flight.requests.per.connection", "1");

  /** One day's work. */
  private interface Work {
    void run() throws Exception;
  }

  private final Workspace work;
  private final Random random;
  private final Map<String, Work> works = new TreeMap<>();
  private final Map<String, Integer> done = new TreeMap<>();
  private final List<RecordLedger> ledgers = new ArrayList<>();
  private final List<Path> pools = new ArrayList<>();
  private final Path store;
  private final StockBroker broker;
  private Map<String, String> withStrata = Map.of();
  private int made;

  OrdinaryYear(Workspace work, long seed) throws Exception {
    this.work = work;
    this.random = new Random(seed);
    this.store = Files.createDirectories(work.folder("store").resolve("ssd"));
    pools.add(work.newPool("pool-0", "24MiB", 96));
    broker =
        work.closing(
            TieredBrokers.over(store)
                .with(RemoteManager.STRATA)
                .withPools(work.folder("broker"), pools.get(0))
                .logDirectories(2)
                .set("strata.pool.create", "16MiB")
                .set("strata.migration.threshold", "0.3")
                .set("rsm.config.fetch.timeout.ms", "5000")
                // A loaded machine is no reason to fence it, which ends an idempotent producer.
                .set("broker.session.timeout.ms", "60000")
                .build());
    works.put("produce", this::produce);
    works.put("produce much", this::produceMuch);
    works.put("topic", this::topic);
    works.put("delete a topic", this::deleteTopic);
    works.put("restart", this::restart);
    works.put("kill", this::kill);
    works.put("grow a pool", this::growPool);
    works.put("add a pool", this::addPool);
    works.put("remove a pool", this::removePool);
    works.put("keys", this::keys);
    works.put("bad keys", this::badKeys);
    works.put("reassign", this::reassign);
    works.put("exchange a log directory", this::exchangeLogDirectory);
    works.put("drain, stock, back", this::drain);
    works.put("commands beside the broker", this::commands);
    works.put("commands while it is down", this::commandsWhileDown);
    works.put("store away", this::storeAway);
  }

  /** Works for so long, and returns what was done how often. */
  Map<String, Integer> run(Duration time) throws Exception {
    broker.start();
    topic();
    topic();
    long end = System.nanoTime() + time.toNanos();
    List<String> names = new ArrayList<>(works.keySet());
    for (int i = 1; System.nanoTime() < end; i++) {
      String name = names.get(random.nextInt(names.size()));
      long start = System.nanoTime();
      try {
        Objects.requireNonNull(works.get(name)).run();
        produce();
        if (i % BETWEEN_FULL_READS == 0) {
          readAll();
        }
        assertWell();
      } catch (Exception | AssertionError e) {
        throw new AssertionError("work %d, %s, after %s: %s".formatted(i, name, done, e), e);
      }
      done.merge(name, 1, Integer::sum);
      System.out.printf(
          "%4d %-28s %,9d ms, %,d records%n",
          i, name, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start), acknowledged());
    }
    readAll();
    drain();
    readAll();
    return Collections.unmodifiableMap(done);
  }

  private long acknowledged() {
    return ledgers.stream().mapToLong(RecordLedger::acknowledged).sum();
  }

  private <T> T any(List<T> of) {
    return of.get(random.nextInt(of.size()));
  }

  private void readAll() {
    Tiers.verify(broker, ledgers.toArray(new RecordLedger[0]));
  }

  /** Kafka has taken nothing offline. */
  private void assertWell() throws IOException {
    for (String offline :
        List.of(
            "kafka.log:type=LogManager,name=OfflineLogDirectoryCount",
            "kafka.server:type=ReplicaManager,name=OfflineReplicaCount")) {
      assertThat(Jmx.attributes(broker, offline, "Value").values().toString())
          .as(offline)
          .isEqualTo("[0]");
    }
  }

  // ---------------------------------------------------------------------------------------------
  // records and topics
  // ---------------------------------------------------------------------------------------------

  private void produce() {
    RecordLedger ledger = any(ledgers);
    ledger.produce(broker.bootstrap(), FEWEST + random.nextInt(MOST / 4), 1_000, ONE_BY_ONE);
  }

  private void produceMuch() {
    for (RecordLedger ledger : ledgers) {
      ledger.produce(broker.bootstrap(), MOST, 1_000, ONE_BY_ONE);
    }
  }

  private void topic() throws Exception {
    if (ledgers.size() >= 6) {
      return;
    }
    String name = "topic-" + made++;
    Map<String, String> config = new HashMap<>(Map.of("segment.bytes", "" + Tiers.SEGMENT));
    if (made % 2 == 0) {
      config.putAll(
          TieredBrokers.topic("local.retention.bytes", "" + random.nextInt(4) * Tiers.SEGMENT));
    }
    int partitions = 1 + random.nextInt(3);
    RecordLedger ledger = Tiers.topic(broker, name, partitions, config);
    ledgers.add(ledger);
    ledger.produce(broker.bootstrap(), MOST, 1_000, ONE_BY_ONE);
  }

  private void deleteTopic() throws Exception {
    if (ledgers.size() > 2) {
      RecordLedger gone = ledgers.remove(random.nextInt(ledgers.size()));
      awaitRemoteMetadata(gone);
      Topics.delete(broker, gone.topic());
      // Kafka 4.3.1 that is told to stop while it deletes a tiered topic waits for its own closed
      // listener, a minute for each remote segment.
      await()
          .until(
              () ->
                  broker.logDirectories().stream()
                          .noneMatch(dir -> Files.exists(dir.resolve(gone.topic() + "-0")))
                      && !Files.exists(store.resolve("topics").resolve(gone.topic())));
    }
  }

  /**
   * Waits until Kafka knows the topic's remote segments: a topic that is deleted before leaves them
   * in the store, as the page on the remote tier says.
   */
  private void awaitRemoteMetadata(RecordLedger ledger) throws Exception {
    Map<TopicPartition, OffsetSpec> first = new HashMap<>();
    for (int p = 0; p < ledger.partitions(); p++) {
      first.put(new TopicPartition(ledger.topic(), p), OffsetSpec.forTimestamp(0));
    }
    try (Admin admin = broker.admin()) {
      await()
          .ignoreExceptions()
          .until(() -> Topics.await(admin.listOffsets(first).all()).size() == first.size());
    }
  }

  // ---------------------------------------------------------------------------------------------
  // the broker's life, and its pools
  // ---------------------------------------------------------------------------------------------

  private void restart() throws Exception {
    broker.restart();
  }

  private void kill() throws Exception {
    if (random.nextBoolean()) {
      broker.kill();
    } else {
      broker.killWhileItStops(Duration.ofMillis(random.nextInt(1_000)));
    }
    broker.start();
  }

  private void growPool() throws Exception {
    Path pool = any(pools);
    long bytes = Files.size(pool) + (8L << 20);
    if (bytes <= 96L << 20) {
      broker.stop();
      Pools.strata("pool", "grow", "--size", (bytes >> 20) + "MiB", pool.toString()).orFail();
      broker.start();
    }
  }

  private void addPool() throws Exception {
    if (pools.size() < 3) {
      broker.stop();
      Path pool = work.pool("pool-" + made++);
      if (random.nextBoolean()) {
        Path unused = Pools.create(pool, "16MiB", 64);
      }
      pools.add(pool);
      usePools();
      broker.start();
    }
  }

  private void removePool() throws Exception {
    if (pools.size() > 1) {
      broker.stop();
      strata("drain");
      Path gone = pools.remove(random.nextInt(pools.size()));
      usePools();
      broker.start();
      Files.delete(gone);
    }
  }

  private void usePools() throws IOException {
    broker.set("strata.pools", String.join(",", pools.stream().map(Path::toString).toList()));
    broker.writeProperties();
  }

  private void drain() throws Exception {
    broker.stop();
    strata("drain");
    withStrata = broker.properties();
    // Segments that are in the store alone need Strata's manager.
    Map<String, String> stock = new TreeMap<>(withStrata);
    stock.keySet().removeIf(key -> key.startsWith("strata."));
    stock.remove("metric.reporters");
    broker.setAll(stock).installed(Installed.JAR).start();
    produce();
    if (random.nextBoolean()) {
      broker.kill();
    } else {
      broker.stop();
    }
    broker.setAll(withStrata).installed(Installed.JAR_AND_FLAG).start();
  }

  // ---------------------------------------------------------------------------------------------
  // keys
  // ---------------------------------------------------------------------------------------------

  private void keys() throws Exception {
    Map<String, String> change =
        any(
            List.of(
                Map.of("strata.migration.threshold", any(List.of("0", "0.2", "0.5", "-1"))),
                Map.of("strata.migration.mode", any(List.of("eager", "threshold"))),
                Map.of("strata.migration.promote", "" + random.nextBoolean()),
                Map.of("strata.migration.rate.down", any(List.of("4MiB", "1GiB"))),
                Map.of("strata.spill.force", any(List.of("auto", "never"))),
                Map.of("log.retention.ms", "8640000000")));
    if (random.nextBoolean()) {
      Tiers.alter(broker, change);
    } else {
      Tiers.reset(broker, change.keySet().toArray(new String[0]));
    }
  }

  private void badKeys() throws InterruptedException {
    Map<String, String> change =
        any(
            List.of(
                Map.of("strata.migration.threshold", "77"),
                Map.of("strata.migration.mode", "lazy"),
                Map.of("strata.pools", "/elsewhere"),
                Map.of("strata.migration.rate.down", "80M"),
                Map.of("log.retention.ms", "abc")));
    try (Admin admin = broker.admin()) {
      Tiers.alter(admin, broker, change).get();
      throw new AssertionError("accepted " + change);
    } catch (ExecutionException refused) {
      assertThat(refused).as("%s", change).hasMessageContaining(change.keySet().iterator().next());
    }
  }

  // ---------------------------------------------------------------------------------------------
  // log directories
  // ---------------------------------------------------------------------------------------------

  private void reassign() throws Exception {
    RecordLedger ledger = any(ledgers);
    moveTo(any(broker.logDirectories()), List.of(ledger));
  }

  /** All replicas leave a log directory, which is taken out; an empty one takes its place. */
  private void exchangeLogDirectory() throws Exception {
    List<Path> all = broker.logDirectories();
    Path gone = all.get(1);
    moveTo(all.get(0), ledgers);
    Set<TopicPartition> others =
        Objects.requireNonNull(Topics.logDirectories(broker).get(gone.toString()))
            .replicaInfos()
            .keySet();
    if (!others.isEmpty()) {
      Topics.move(broker, all.get(0), others);
      Topics.awaitMoved(broker, all.get(0), others);
    }
    broker.stop();
    Path fresh = all.get(0).resolveSibling("data-" + (100 + made++));
    broker.set("log.dirs", all.get(0) + "," + fresh);
    if (random.nextBoolean()) {
      broker.set("log.dirs", all.get(0).toString()).start();
      produce();
      broker.stop();
      broker.set("log.dirs", all.get(0) + "," + fresh);
    }
    broker.format("--ignore-formatted").start();
  }

  private void moveTo(Path directory, List<RecordLedger> which) throws Exception {
    List<TopicPartition> moved = new ArrayList<>();
    for (RecordLedger ledger : which) {
      for (int p = 0; p < ledger.partitions(); p++) {
        moved.add(new TopicPartition(ledger.topic(), p));
      }
    }
    Topics.move(broker, directory, moved);
    any(which).produce(broker.bootstrap(), FEWEST, 1_000);
    Topics.awaitMoved(broker, directory, moved);
  }

  // ---------------------------------------------------------------------------------------------
  // commands, and the store
  // ---------------------------------------------------------------------------------------------

  private void strata(String... command) {
    broker.strata(command).orFail();
  }

  private void commands() throws Exception {
    strata("status");
    strata("segments", "--totals");
    Pools.strata("pool", "info", any(pools).toString()).orFail();
    strata("remote", "ls");
    strata("remote", "verify");
    for (String refused : List.of("drain", "accept-loss")) {
      assertThat(broker.strata(refused).exitCode())
          .as("exit code of %s beside a running broker", refused)
          .isEqualTo(3);
    }
  }

  private void commandsWhileDown() throws Exception {
    broker.stop();
    strata("segments", "--totals");
    strata("remote", "verify");
    for (Path pool : pools) {
      Pools.strata("pool", "check", pool.toString()).orFail();
    }
    assertThat(broker.strata("accept-loss", "--dry-run").output()).contains("no loss to accept");
    broker.start();
  }

  /** Its file system goes for some seconds, and is mounted again. */
  private void storeAway() throws Exception {
    Path hidden = store.resolveSibling("hidden");
    Files.move(store, hidden);
    try {
      TimeUnit.MILLISECONDS.sleep(500 + random.nextInt(5_000));
      produce();
    } finally {
      Files.move(hidden, store);
    }
  }
}
