package io.strata.kafka.it.kills;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.Tiers;
import io.strata.kafka.it.kills.CampaignLedger.Kind;
import io.strata.kafka.it.kills.CampaignLedger.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * A round of the campaign: brokers that are killed and stopped at random while records are sent in
 * every way, read, compacted, deleted, moved between tiers and copied to a remote store; after each
 * cycle what was acknowledged is looked for from where the last cycle left off, and after the last
 * one from the beginning. Not thread-safe.
 */
final class KillCampaign implements AutoCloseable {

  private static final int PARTITIONS = 2;
  private static final int TRANSACTIONAL_LOADS = 2;

  /** More than {@code broker.session.timeout.ms} of these brokers. */
  private static final long FENCED_MILLIS = 2_200;

  private final CampaignShape shape;
  private final Random random;
  private final long seed;
  private final Path log;
  private final CampaignCluster cluster;
  private final List<CampaignLedger> ledgers = new ArrayList<>();
  private final List<CampaignReader> readers = new ArrayList<>();
  private final List<CampaignLoad> loads = new ArrayList<>();
  private final CampaignGroup group;

  /** What each process had moved when it was last asked: down, up, evicted, and found no space. */
  private final Map<Long, List<Long>> moved = new HashMap<>();

  private KillCampaign(
      CampaignShape shape, CampaignCluster cluster, Random random, long seed, Path log)
      throws InterruptedException {
    this.shape = shape;
    this.cluster = cluster;
    this.random = random;
    this.seed = seed;
    this.log = log;
    for (Kind kind : Kind.values()) {
      String name = kind.name().toLowerCase(Locale.ROOT);
      ledgers.add(cluster.topic(name, kind, PARTITIONS));
    }
    for (CampaignLedger ledger : ledgers) {
      readers.add(new CampaignReader(ledger, cluster.bootstrap(), cluster::leftOut));
      int count = ledger.kind() == Kind.TRANSACTIONAL ? TRANSACTIONAL_LOADS : 1;
      for (int i = 0; i < count; i++) {
        loads.add(
            CampaignLoad.start(
                ledger, cluster.bootstrap(), i, count, rate(ledger.kind()), seed + loads.size()));
      }
    }
    group =
        CampaignGroup.start(
            ledgers.stream().filter(l -> l.kind() == Kind.IDEMPOTENT).findFirst().orElseThrow(),
            cluster.bootstrap());
  }

  /**
   * Starts brokers and loads.
   *
   * @param folder of the round
   * @param log gets a line for each cycle
   */
  static KillCampaign start(int nodes, long seed, Path folder, Path pools, Path log)
      throws Exception {
    Random random = new Random(seed);
    CampaignShape shape = CampaignShape.draw(nodes, random);
    CampaignCluster cluster = CampaignCluster.start(shape, folder, pools);
    try {
      KillCampaign campaign = new KillCampaign(shape, cluster, random, seed, log);
      campaign.write("seed " + seed + ": " + shape);
      return campaign;
    } catch (Throwable t) {
      cluster.close();
      throw t;
    }
  }

  private int rate(Kind kind) {
    int each = shape.nodes() > 1 ? 250_000 : 600_000;
    return kind == Kind.TRANSACTIONAL || kind == Kind.COMPACTED ? each / 2 : each;
  }

  // ---------------------------------------------------------------------------------------------
  // a cycle
  // ---------------------------------------------------------------------------------------------

  /** What may happen to brokers. */
  private enum Deed {
    KILL,
    KILL_IN_START,
    KILL_TWO,
    KILL_ALL,
    PAUSE,
    PAUSE_LONG,
    PAUSE_ALL,
    PAUSE_AND_KILL,
    STOP
  }

  /** As often as they are here. */
  private static final List<Deed> TO_ONE_NODE =
      List.of(
          Deed.KILL,
          Deed.KILL,
          Deed.KILL,
          Deed.KILL,
          Deed.KILL,
          Deed.KILL_IN_START,
          Deed.PAUSE,
          Deed.PAUSE,
          Deed.PAUSE_LONG,
          Deed.PAUSE_AND_KILL,
          Deed.STOP);

  private static final List<Deed> TO_THREE_NODES =
      List.of(
          Deed.KILL,
          Deed.KILL,
          Deed.KILL,
          Deed.KILL_IN_START,
          Deed.KILL_TWO,
          Deed.KILL_ALL,
          Deed.PAUSE,
          Deed.PAUSE_LONG,
          Deed.PAUSE_LONG,
          Deed.PAUSE_ALL,
          Deed.PAUSE_AND_KILL,
          Deed.STOP);

  /** Waits a while, kills or stops something, has it back, and looks for every record. */
  void cycle(String number) throws Exception {
    long before = acknowledged();
    long begin = System.nanoTime();
    long wait = 300L + random.nextInt(1_700);
    boolean change = random.nextInt(4) == 0;
    String mode = random.nextBoolean() ? "eager" : "threshold";
    List<Deed> deeds = shape.nodes() > 1 ? TO_THREE_NODES : TO_ONE_NODE;
    Deed deed = deeds.get(random.nextInt(deeds.size()));
    List<StockBroker> order = new ArrayList<>(cluster.brokers());
    Collections.shuffle(order, random);
    String what = "cycle " + number + ": " + deed + " " + ids(order, deed);
    try {
      if (change) {
        alterMode(mode);
      }
      TimeUnit.MILLISECONDS.sleep(wait);
      countMoves();
      commit(deed, order);
      long down = System.nanoTime();
      awaitFenced(deed, down);
      cluster.startAll();
      long up = System.nanoTime();
      verify();
      write(
          String.format(
              Locale.ROOT,
              "%s after %d ms; back in %.1f s, verified in %.1f s; acknowledged %,d (+%,d), found"
                  + " %,d; transactions %,d committed, %,d aborted, %,d unknown, %,d forgotten by"
                  + " Kafka; cycle %.1f s",
              what,
              wait,
              (up - down) / 1e9,
              (System.nanoTime() - up) / 1e9,
              acknowledged(),
              acknowledged() - before,
              readers.stream().mapToLong(CampaignReader::records).sum(),
              transactions(Outcome.COMMITTED),
              transactions(Outcome.ABORTED),
              transactions(Outcome.UNKNOWN),
              transactions(Outcome.FORGOTTEN),
              (System.nanoTime() - begin) / 1e9));
    } catch (Throwable t) {
      write(what + " FAILED: " + t);
      throw new AssertionError(what + ", " + shape, t);
    }
  }

  private void commit(Deed deed, List<StockBroker> victims) throws Exception {
    switch (deed) {
      case KILL -> kill(victims.get(0));
      case KILL_IN_START -> {
        StockBroker victim = victims.get(0);
        victim.kill();
        StockBroker unused = victim.startWithoutWaiting();
        TimeUnit.MILLISECONDS.sleep(500 + random.nextInt(3_000));
        victim.kill();
      }
      case KILL_TWO -> {
        victims.get(0).kill();
        TimeUnit.MILLISECONDS.sleep(random.nextInt(1_000));
        victims.get(1).kill();
      }
      case KILL_ALL -> {
        for (StockBroker victim : victims) {
          victim.kill();
        }
      }
      case PAUSE -> pause(victims.subList(0, 1), 50 + random.nextInt(1_200));
      case PAUSE_LONG -> pause(victims.subList(0, 1), 2_500 + random.nextInt(4_000));
      case PAUSE_ALL -> pause(victims, 200 + random.nextInt(3_000));
      case PAUSE_AND_KILL -> {
        StockBroker victim = victims.get(0);
        victim.pause();
        TimeUnit.MILLISECONDS.sleep(random.nextInt(4_000));
        victim.kill();
      }
      case STOP -> {
        int unused = victims.get(0).stop();
      }
      default -> throw new IllegalArgumentException("not known: " + deed);
    }
  }

  /**
   * Until the controller takes the dead for dead: one that starts earlier takes itself for the
   * leader that it was, and see {@link CampaignCluster} for what comes of that.
   */
  private static void awaitFenced(Deed deed, long down) throws InterruptedException {
    if (deed.name().contains("KILL")) {
      long passed = (System.nanoTime() - down) / 1_000_000;
      TimeUnit.MILLISECONDS.sleep(Math.max(0, FENCED_MILLIS - passed));
    }
  }

  private void kill(StockBroker victim) throws Exception {
    victim.kill();
    if (random.nextInt(4) == 0) {
      cluster.checkPools(victim);
    }
  }

  private static void pause(List<StockBroker> victims, int millis) throws Exception {
    for (StockBroker victim : victims) {
      victim.pause();
    }
    TimeUnit.MILLISECONDS.sleep(millis);
    for (StockBroker victim : victims) {
      victim.resume();
    }
  }

  private void alterMode(String mode) throws InterruptedException {
    StockBroker broker = cluster.brokers().get(0);
    if (broker.properties().containsKey("strata.pools")) {
      Tiers.alter(broker, Map.of("strata.migration.mode", mode));
    }
  }

  /** A broker counts from its start, and is about to end. */
  private void countMoves() throws IOException {
    for (StockBroker broker : cluster.brokers()) {
      if (broker.properties().containsKey("strata.pools")) {
        List<Long> now = new ArrayList<>(Tiers.moved(broker));
        now.add(Tiers.overflows(broker));
        moved.merge(broker.pid(), now, (before, after) -> after);
      }
    }
  }

  private long moved(int which) {
    return moved.values().stream().mapToLong(totals -> totals.get(which)).sum();
  }

  private String ids(List<StockBroker> order, Deed deed) {
    long victims =
        switch (deed) {
          case KILL_TWO -> 2;
          case KILL_ALL, PAUSE_ALL -> order.size();
          default -> 1;
        };
    return order.stream().limit(victims).map(b -> b.property("node.id")).toList().toString();
  }

  private void verify() {
    loads.forEach(CampaignLoad::assertRunning);
    group.assertRunning();
    readers.forEach(CampaignReader::catchUp);
  }

  // ---------------------------------------------------------------------------------------------
  // the end
  // ---------------------------------------------------------------------------------------------

  /** Ends the loads, reads everything from the beginning, and counts what is in the pools. */
  void end() throws Exception {
    try {
      loads.forEach(CampaignLoad::close);
      long all = 0;
      for (CampaignLedger ledger : ledgers) {
        try (CampaignReader whole =
            new CampaignReader(ledger, cluster.bootstrap(), cluster::leftOut)) {
          whole.catchUp();
          whole.assertNothingInPart();
          all += whole.records();
          if (ledger.kind() == Kind.IDEMPOTENT) {
            awaitGroup(whole.records());
          }
        }
      }
      for (CampaignReader reader : readers) {
        reader.catchUp();
        reader.assertNothingInPart();
        reader.close();
      }
      group.close();
      countMoves();
      cluster.audit();
      write(
          String.format(
              Locale.ROOT,
              "seed %d: %,d records from the beginning, all is there; at least %,d bytes down, %,d"
                  + " up, %,d evicted, no space %,d times; %d segments in the remote store",
              seed,
              all,
              moved(0),
              moved(1),
              moved(2),
              moved(3),
              cluster.remoteSegments()));
    } catch (Throwable t) {
      write("the end FAILED: " + t);
      throw new AssertionError("at the end of the round, " + shape, t);
    }
  }

  private void awaitGroup(long records) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(2);
    while (group.position() != records) {
      group.assertRunning();
      if (System.nanoTime() > deadline) {
        throw new AssertionError("the group is at " + group.position() + " of " + records);
      }
      TimeUnit.MILLISECONDS.sleep(100);
    }
  }

  /** After a failure: the pools stay with the logs. */
  void keepPools(Path folder) throws IOException {
    cluster.close();
    cluster.keepPools(folder);
  }

  @Override
  public void close() {
    cluster.close();
  }

  private long acknowledged() {
    return ledgers.stream().mapToLong(CampaignLedger::acknowledged).sum();
  }

  private long transactions(Outcome outcome) {
    return ledgers.stream().mapToLong(ledger -> ledger.transactions(outcome)).sum();
  }

  private void write(String line) throws IOException {
    Files.writeString(
        log, line + "\n", UTF_8, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
  }
}
