package io.strata.kafka.it.kills;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.Pools;
import io.strata.kafka.it.harness.RemoteManager;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.TieredBrokers;
import io.strata.kafka.it.harness.Tiers;
import io.strata.kafka.it.harness.Topics;
import io.strata.kafka.it.remote.StoreAudit;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;

/**
 * The brokers of one round: one node, or three with three replicas of everything, of which two must
 * be in sync. The controller has a JVM of its own, which stays: a node that is both finds itself
 * leading when it starts again after {@code kill -9}, and then for a moment not, and whatever
 * transaction is being committed in that moment Kafka takes for one of deleted partitions, leaves
 * its markers out, and aborts it later, though the commit was acknowledged. Not thread-safe.
 */
public final class CampaignCluster implements AutoCloseable {

  /** Stock Kafka without Strata: what fails there too, is no fault of ours. */
  private static final boolean STOCK = Boolean.getBoolean("strata.it.campaign.stock");

  /** What Kafka logs, at INFO, when it leaves out a transaction's markers. */
  public static final Pattern LEFT_OUT =
      Pattern.compile("send transaction markers for (\\S+), these partitions are likely deleted");

  private final CampaignShape shape;
  private final StockBroker controller;
  private final Path folder;
  private final List<StockBroker> brokers = new ArrayList<>();
  private final Optional<TieredBrokers> remote;
  private final Path pools;

  private CampaignCluster(
      CampaignShape shape,
      StockBroker controller,
      Optional<TieredBrokers> remote,
      Path folder,
      Path pools) {
    this.shape = shape;
    this.controller = controller;
    this.folder = folder;
    this.remote = remote;
    this.pools = pools;
  }

  /**
   * Starts one.
   *
   * @param folder for all but the pools
   */
  public static CampaignCluster start(CampaignShape shape, Path folder, Path pools)
      throws Exception {
    Optional<TieredBrokers> remote =
        shape.remote() && !STOCK
            ? Optional.of(
                TieredBrokers.over(
                        Files.createDirectories(folder.resolve("store-0")),
                        Files.createDirectories(folder.resolve("store-1")))
                    .with(RemoteManager.STRATA))
            : Optional.empty();
    CampaignCluster cluster =
        new CampaignCluster(shape, controller(folder, remote.isPresent()), remote, folder, pools);
    try {
      StockBroker unused = cluster.controller.start();
      for (int id = 2; id <= shape.nodes() + 1; id++) {
        cluster.brokers.add(cluster.builder(id).joining(cluster.controller, id).build());
      }
      cluster.startAll();
    } catch (Throwable t) {
      cluster.close();
      throw t;
    }
    return cluster;
  }

  private static StockBroker controller(Path folder, boolean remote) throws Exception {
    StockBroker.Builder builder =
        Tiers.plain(Files.createDirectories(folder.resolve("controller"))).controllerAlone();
    // It is the one that says which topics may have it.
    builder.set("remote.log.storage.system.enable", "" + remote);
    return builder.build();
  }

  private StockBroker.Builder builder(int id) throws IOException {
    Path home = Files.createDirectories(folder.resolve("broker-" + id));
    StockBroker.Builder builder;
    if (STOCK) {
      builder = Tiers.plain(home);
    } else {
      Path place = shape.type().equals("mapped") ? pools : home;
      Path pool = Pools.create(place.resolve("hot-" + id + ".pool"), "24MiB", 256, shape.type());
      builder = Tiers.broker(home, pool);
      builder.set("strata.pool.type", shape.type());
      if (shape.two()) {
        Path ssd = Pools.create(pools.resolve("ssd-" + id + ".pool"), "32MiB", 256);
        builder.secondTier(ssd).set("strata.tier.ssd.type", "mapped");
      }
      shape.settings().forEach(builder::set);
      remote.ifPresent(tier -> configureRemote(builder, tier));
    }
    String replicas = Integer.toString(shape.nodes());
    return builder
        .set("log.index.size.max.bytes", "262144")
        .set("log.cleaner.min.cleanable.ratio", "0.1")
        .set("log.cleaner.dedupe.buffer.size", "8388608")
        .set("offsets.topic.replication.factor", replicas)
        .set("transaction.state.log.replication.factor", replicas)
        .set("transaction.state.log.min.isr", shape.nodes() > 1 ? "2" : "1")
        .set("transaction.abort.timed.out.transaction.cleanup.interval.ms", "1000")
        .set("replica.lag.time.max.ms", "4000")
        .set("leader.imbalance.check.interval.seconds", "5")
        .set("group.min.session.timeout.ms", "3000")
        .set("rlmm.config.remote.log.metadata.topic.replication.factor", replicas);
  }

  private static void configureRemote(StockBroker.Builder builder, TieredBrokers tier) {
    tier.configure(builder)
        .set("rsm.config.level-0.capacity", "12MiB")
        .set("rsm.config.migration.threshold", "0");
  }

  /** Starts those that do not run, together, and waits until all have started. */
  void startAll() throws Exception {
    List<StockBroker> started = new ArrayList<>();
    for (StockBroker broker : brokers) {
      if (!broker.isRunning()) {
        broker.close();
        started.add(broker.startWithoutWaiting());
      }
    }
    for (StockBroker broker : started) {
      StockBroker unused = broker.awaitStarted();
    }
  }

  List<StockBroker> brokers() {
    return List.copyOf(brokers);
  }

  public String bootstrap() {
    return brokers.stream().map(StockBroker::bootstrap).collect(Collectors.joining(","));
  }

  /**
   * Whether a topic of the kind has its sealed segments in the remote store. With replicas, none
   * whose producers have a state that must outlive a segment: a follower of Kafka 4.3.1 that starts
   * behind what is in the store deletes the producer snapshot that it has just fetched from there
   * ({@code ProducerStateManager.truncateFullyAndReloadSnapshots} removes it by its offset), and
   * then knows of no transaction that was under way, nor of a sequence. As a leader it indexes an
   * aborted transaction from the segment's beginning only, and readers see the rest.
   */
  boolean isRemote(CampaignLedger.Kind kind) {
    return remote.isPresent()
        && (shape.nodes() > 1
            ? kind == CampaignLedger.Kind.PLAIN
            : kind == CampaignLedger.Kind.IDEMPOTENT || kind == CampaignLedger.Kind.TRANSACTIONAL);
  }

  /** Creates a topic of the kind, and waits until every partition answers. */
  public CampaignLedger topic(String name, CampaignLedger.Kind kind, int partitions)
      throws InterruptedException {
    Map<String, String> config = new HashMap<>(isRemote(kind) ? TieredBrokers.topic() : Map.of());
    config.put("min.insync.replicas", shape.nodes() > 1 ? "2" : "1");
    if (kind == CampaignLedger.Kind.COMPACTED) {
      config.put("cleanup.policy", "compact");
    } else if (kind == CampaignLedger.Kind.RETAINED) {
      config.put("retention.bytes", "3000000");
    }
    NewTopic topic = new NewTopic(name, partitions, (short) shape.nodes()).configs(config);
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap()))) {
      Topics.create(admin, topic);
    }
    return new CampaignLedger(name, kind, partitions);
  }

  /** How often the brokers' logs say, for each transactional id, that markers were left out. */
  public Map<String, Long> leftOut() {
    Map<String, Long> times = new TreeMap<>();
    try (Stream<Path> files = Files.walk(folder, 2)) {
      for (Path file :
          files.filter(f -> f.getFileName().toString().matches("server-.*")).toList()) {
        try (Stream<String> lines = Files.lines(file)) {
          lines
              .map(LEFT_OUT::matcher)
              .filter(Matcher::find)
              .forEach(line -> times.merge(line.group(1), 1L, Long::sum));
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return times;
  }

  /** Looks at the pools of a broker that does not run, as they lie. */
  void checkPools(StockBroker dead) {
    if (!STOCK) {
      dead.strata("pool", "check").orFail();
    }
  }

  /** Nothing is sent any more: waits until nothing moves, counts, stops, and counts again. */
  void audit() throws Exception {
    if (!STOCK) {
      for (StockBroker broker : brokers) {
        Tiers.awaitQuiet(broker);
        Tiers.assertAccounting(broker);
      }
    }
    for (StockBroker broker : brokers) {
      int unused = broker.stop();
    }
    if (!STOCK) {
      for (StockBroker broker : brokers) {
        Tiers.audit(broker);
      }
    }
    if (remote.isPresent()) {
      for (Path directory : remote.get().directories()) {
        assertThat(StoreAudit.assertNothingPartial(directory)).isNotNegative();
      }
    }
  }

  int remoteSegments() throws IOException {
    return remote.isPresent() ? remote.get().segments().size() : 0;
  }

  /** What is in the pools stays with the logs. */
  void keepPools(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(pools)) {
      for (Path pool : files.toList()) {
        Files.copy(pool, folder.resolve(pool.getFileName().toString()));
      }
    }
  }

  @Override
  public void close() {
    brokers.forEach(StockBroker::close);
    controller.close();
  }
}
