package io.strata.kafka.it.powercut;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.Load;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.RemoteManager;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.TieredBrokers;
import io.strata.kafka.it.harness.Topics;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewPartitionReassignment;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.TopicPartition;
import org.awaitility.Awaitility;
import org.awaitility.core.ThrowingRunnable;

/**
 * Two brokers, each with its own client of one NFS server that has their remote tier: under load a
 * client loses its network; the server goes and comes back, with and without what it knew of its
 * clients; a broker dies. Every record is read back from either broker. Run by {@code
 * powercut/run.sh --nfs}.
 */
final class NfsOutages implements AutoCloseable {

  private static final Duration LIMIT = Duration.ofMinutes(10);
  private static final Duration OUTAGE = Duration.ofSeconds(60);

  /** Records of 1 to 16 KB, in segments of 1 MiB. */
  private static final int SOME_SEGMENTS = 200;

  /** Bytes per second, of each topic. */
  private static final long LOAD = 80 << 10;

  private static final Pattern MOVER = Pattern.compile("Broker (\\d) is now the one that moves");

  private static final Map<String, String> PATIENT =
      Map.of(
          "delivery.timeout.ms", "1200000",
          "max.block.ms", "1200000",
          "request.timeout.ms", "15000",
          "reconnect.backoff.max.ms", "500");

  private final Path folder;
  private final GuestMachine machine;
  private final Admin admin;

  /** The first one's leader is broker 1 at the beginning, the other one's broker 2. */
  private final List<RecordLedger> ledgers;

  private NfsOutages(Path guest, long seed) throws IOException, InterruptedException {
    folder = guest.resolve("nfs");
    format();
    machine = new GuestMachine(guest, folder, List.of(properties(1), properties(2)));
    admin =
        Admin.create(
            Map.of(
                CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG,
                machine.bootstrap(),
                CommonClientConfigs.DEFAULT_API_TIMEOUT_MS_CONFIG,
                "110000"));
    ledgers = List.of(new RecordLedger("led-by-1", 1, seed), new RecordLedger("led-by-2", 1, seed));
  }

  /** Arguments: guest folder, seed. */
  public static void main(String[] arguments) throws Exception {
    long seed = Long.parseLong(arguments[1]);
    PowerCuts.say("NFS, seed " + seed);
    try (NfsOutages outages = new NfsOutages(Path.of(arguments[0]), seed)) {
      outages.run(seed);
      PowerCuts.say("NFS: as promised");
    } catch (IOException | RuntimeException | AssertionError e) {
      PowerCuts.say("  FAILED");
      e.printStackTrace();
      System.exit(1); // The clients' threads go on.
    }
    System.exit(0);
  }

  private static Map<String, String> properties(int id) {
    Map<String, String> all = PowerCutGuest.properties();
    all.put("node.id", "" + id);
    all.put("process.roles", id == 1 ? "broker,controller" : "broker");
    all.put("log.dirs", "/data/broker-" + id);
    // Two brokers share a slow machine: a live one must not be taken for a dead one.
    all.put("broker.session.timeout.ms", "60000");
    all.put("broker.heartbeat.interval.ms", "5000");
    all.put("replica.socket.timeout.ms", "120000");
    all.put("replica.lag.time.max.ms", "120000");
    all.put("log.initial.task.delay.ms", "1000");
    all.put("log.retention.check.interval.ms", "2000");
    all.put("auto.leader.rebalance.enable", "false");
    all.put("remote.log.storage.system.enable", "true");
    all.put("remote.log.storage.manager.class.name", RemoteManager.STRATA.className());
    all.put("remote.log.metadata.manager.listener.name", "PLAINTEXT");
    all.put("remote.log.manager.task.interval.ms", "1000");
    all.put("rlmm.config.remote.log.metadata.topic.replication.factor", "2");
    all.put("rlmm.config.remote.log.metadata.topic.min.isr", "1"); // One broker copies alone.
    all.put("rlmm.config.remote.log.metadata.topic.num.partitions", "2");
    all.put("rlmm.config.remote.log.metadata.initialization.retry.interval.ms", "10000");
    all.put("rlmm.config.remote.log.metadata.initialization.retry.max.timeout.ms", "600000");
    all.put("rsm.config.levels", "fast,slow");
    all.put("rsm.config.fast.directories", "/mnt/" + id + "/fast");
    all.put("rsm.config.fast.capacity", "12MiB");
    all.put("rsm.config.slow.directories", "/mnt/" + id + "/slow");
    all.put("rsm.config.migration.threshold", "0");
    return all;
  }

  /** The disk: two formatted log directories, and the empty directories of the store. */
  private void format() throws IOException, InterruptedException {
    GuestMachine.run(List.of("rm", "-rf", folder.toString()));
    Path tree = Files.createDirectories(folder.resolve("tree"));
    StockBroker first = StockBroker.in(folder.resolve("broker-1")).build();
    StockBroker second = StockBroker.in(folder.resolve("broker-2")).joining(first, 2).build();
    Files.move(first.logDirectory(), tree.resolve("broker-1"));
    Files.move(second.logDirectory(), tree.resolve("broker-2"));
    Path fast = Files.createDirectories(tree.resolve("export").resolve("fast"));
    Path unused = Files.createDirectories(fast.resolveSibling("slow"));
    PowerCutGuest.formatDisk(tree, folder.resolve("disk.img"));
    // The machine has an NVDIMM too; it is not used here.
    GuestMachine.run(List.of("truncate", "-s", "128M", folder.resolve("pmem.img").toString()));
  }

  // ---------------------------------------------------------------------------------------------

  private void run(long seed) throws IOException, InterruptedException {
    machine.start(new GuestMachine.Boot("nfs", true, List.of(), Optional.empty()));
    Matcher unused = machine.await(Pattern.compile("GUEST BOOTED"), PowerCutGuest.BOOT_LIMIT);
    machine.lines(List.of("GUEST mounted")).forEach(PowerCuts::say);
    for (int id = 1; id <= 2; id++) {
      ask("broker " + id);
      awaitStarted(id);
    }
    int refused = machine.lines(List.of("BROKER ENDED")).size();
    createTopic(ledgers.get(0), 1, 2);
    createTopic(ledgers.get(1), 2, 1);
    List<Load> loads = new ArrayList<>();
    for (RecordLedger ledger : ledgers) {
      Load.Shape shape = Load.Shape.ofBytesPerSecond(LOAD);
      loads.add(Load.start(ledger, machine.bootstrap(), shape, seed, PATIENT));
    }
    Awaitility.await()
        .atMost(LIMIT)
        .until(() -> ledgers.stream().allMatch(ledger -> ledger.acknowledged() >= SOME_SEGMENTS));
    awaitCopied("at first");
    unused = machine.await(MOVER, LIMIT);

    aClientIsCutOff();
    theServerIsAway();
    theServerForgetsItsClients();
    aLeaderDies();

    loads.forEach(Load::close);
    ledgers.forEach(RecordLedger::assertNoneFailed);
    for (int id = 1; id <= 2; id++) {
      awaitLeader(id, 1, 2);
      verify("in the end, led by broker " + id, RecordLedger::verify);
      ask("strata_remote " + id + " scrub");
    }
    assertThat(machine.lines(List.of("CorruptChunkException", "CorruptManifestException")))
        .isEmpty();
    assertThat(machine.lines(List.of("BROKER ENDED")))
        .as("brokers that ended")
        .hasSize(refused + 1);
  }

  private void theServerIsAway() throws IOException, InterruptedException {
    long before = acknowledged();
    long began = System.nanoTime();
    ask("unserve");
    assertReadsWhatIsLocal();
    TimeUnit.NANOSECONDS.sleep(began + OUTAGE.toNanos() - System.nanoTime());
    long meanwhile = acknowledged() - before;
    assertThat(meanwhile).as("records acknowledged meanwhile").isPositive();
    ask("serve");
    say("the server was away, " + meanwhile + " records acknowledged meanwhile", began);
    awaitCopied("after that");
  }

  /** New records are read; old ones may wait, and the consumer's call returns all the same. */
  private void assertReadsWhatIsLocal() throws InterruptedException {
    for (RecordLedger ledger : ledgers) {
      TopicPartition partition = partition(ledger);
      try (Consumer<byte[], byte[]> consumer = consumer(partition)) {
        consumer.seek(partition, offset(partition, OffsetSpec.latest()));
        Awaitility.await()
            .atMost(LIMIT)
            .until(() -> !consumer.poll(Duration.ofSeconds(1)).isEmpty());
      }
      try (Consumer<byte[], byte[]> consumer = consumer(partition)) {
        consumer.seekToBeginning(List.of(partition));
        long began = System.nanoTime();
        int read = consumer.poll(Duration.ofSeconds(5)).count();
        say("a poll of " + partition + "'s oldest records had " + read, began);
        assertThat(System.nanoTime() - began).isLessThan(LIMIT.toNanos());
      }
    }
  }

  private Consumer<byte[], byte[]> consumer(TopicPartition partition) {
    Consumer<byte[], byte[]> consumer = RecordLedger.consumer(machine.bootstrap(), Map.of());
    consumer.assign(List.of(partition));
    return consumer;
  }

  /** Copies are under way all the time; what the clients have locked is lost. */
  private void theServerForgetsItsClients() throws IOException, InterruptedException {
    long began = System.nanoTime();
    ask("unserve_and_forget");
    ask("serve");
    say("the server forgot its clients", began);
    awaitCopied("after that");
    verify("after that", RecordLedger::verifyOldest);
  }

  /** The one that moves: the other one takes over, and copies and moves on. */
  private void aClientIsCutOff() throws IOException, InterruptedException {
    int cut = mover();
    int other = 3 - cut;
    long began = System.nanoTime();
    ask("connect " + cut + " down");
    Awaitility.await().atMost(LIMIT).ignoreExceptions().until(() -> mover() == other);
    say("broker " + cut + " was cut off, and broker " + other + " took over", began);
    awaitCopied("meanwhile", ledgers.get(other - 1));
    ask("await_move");
    say("broker " + other + " moved segments", began);
    ask("connect " + cut + " up");
    awaitCopied("after that");
  }

  /** The other one goes on with what has been copied, and the dead one comes back. */
  private void aLeaderDies() throws IOException, InterruptedException {
    awaitLeader(2, 1, 2);
    long began = System.nanoTime();
    ask("broker_dies 2");
    awaitState(1, Set.of(1));
    say("broker 2 was killed, and broker 1 leads", began);
    awaitCopied("after that");
    ask("broker 2");
    awaitStarted(3);
    awaitState(1, Set.of(1, 2));
    say("broker 2 is back", began);
    awaitCopied("after that");
  }

  // ---------------------------------------------------------------------------------------------

  /** Has one broker lead both partitions. */
  private void awaitLeader(int leader, Integer... replicas) throws InterruptedException {
    List<Integer> order =
        Stream.of(replicas).sorted(Comparator.comparing(id -> id != leader)).toList();
    Map<TopicPartition, Optional<NewPartitionReassignment>> assignment = new HashMap<>();
    for (RecordLedger ledger : ledgers) {
      assignment.put(partition(ledger), Optional.of(new NewPartitionReassignment(order)));
    }
    Topics.await(admin.alterPartitionReassignments(assignment).all());
    awaitAsserted(
        () -> {
          // The result has an error for a partition that it leads already.
          Topics.await(
              admin.electLeaders(ElectionType.PREFERRED, assignment.keySet()).partitions());
          assertState(leader, Set.of(replicas));
        });
  }

  private void awaitState(int leader, Set<Integer> inSync) {
    awaitAsserted(() -> assertState(leader, inSync));
  }

  private static void awaitAsserted(ThrowingRunnable assertion) {
    Awaitility.await()
        .atMost(LIMIT)
        .pollInterval(Duration.ofSeconds(1))
        .ignoreExceptions()
        .untilAsserted(assertion);
  }

  private void assertState(int leader, Set<Integer> inSync) throws InterruptedException {
    for (RecordLedger ledger : ledgers) {
      Topics.assertState(admin, ledger.topic(), leader, inSync);
    }
  }

  private static TopicPartition partition(RecordLedger ledger) {
    return new TopicPartition(ledger.topic(), 0);
  }

  private void awaitStarted(int times) throws IOException, InterruptedException {
    String started = "(?s)(" + PowerCutGuest.STARTED + ".*){" + times + "}";
    Matcher unused = machine.await(Pattern.compile(started), PowerCutGuest.BOOT_LIMIT);
  }

  private void ask(String command) throws IOException, InterruptedException {
    assertThat(machine.ask(command, "DONE", LIMIT)).as(command).isZero();
  }

  /** The broker that was the last one to say that it moves. */
  private int mover() throws IOException {
    return MOVER
        .matcher(machine.said())
        .results()
        .mapToInt(line -> Integer.parseInt(line.group(1)))
        .reduce(0, (before, next) -> next);
  }

  private void createTopic(RecordLedger ledger, Integer... replicas) throws InterruptedException {
    Topics.create(admin, ledger.topic(), TieredBrokers.topic(), replicas);
  }

  private long offset(TopicPartition partition, OffsetSpec which) throws InterruptedException {
    return Topics.await(admin.listOffsets(Map.of(partition, which)).partitionResult(partition))
        .offset();
  }

  /** Waits until all that is there now is in the store; the load goes on. */
  private void awaitCopied(String when) throws InterruptedException {
    for (RecordLedger ledger : ledgers) {
      awaitCopied(when, ledger);
    }
  }

  private void awaitCopied(String when, RecordLedger ledger) throws InterruptedException {
    long began = System.nanoTime();
    TopicPartition partition = partition(ledger);
    long end = offset(partition, OffsetSpec.latest());
    Awaitility.await()
        .atMost(LIMIT)
        .pollInterval(Duration.ofSeconds(1))
        .ignoreExceptions()
        .until(() -> offset(partition, OffsetSpec.latestTiered()) >= end);
    say("%s: %s was copied up to offset %d".formatted(when, partition, end), began);
  }

  private void verify(String when, BiFunction<RecordLedger, String, RecordLedger.Verified> how) {
    for (RecordLedger ledger : ledgers) {
      long began = System.nanoTime();
      long records = how.apply(ledger, machine.bootstrap()).records();
      say("%s: %d records of %s read, none lost".formatted(when, records, ledger.topic()), began);
    }
  }

  private long acknowledged() {
    return ledgers.stream().mapToLong(RecordLedger::acknowledged).sum();
  }

  private static void say(String what, long began) {
    PowerCuts.say(
        "%s  (%d s)".formatted(what, TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - began)));
  }

  /** Its console stays. */
  @Override
  public void close() {
    machine.close();
    admin.close(Duration.ofSeconds(1));
  }
}
