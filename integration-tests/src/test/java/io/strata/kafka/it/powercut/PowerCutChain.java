package io.strata.kafka.it.powercut;

import io.strata.kafka.it.harness.JavaProcess;
import io.strata.kafka.it.harness.Load;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.Topics;
import io.strata.kafka.it.kills.CampaignCluster;
import io.strata.kafka.it.powercut.CutKind.Layout;
import io.strata.kafka.it.powercut.GuestMachine.Boot;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;

/**
 * Cuts of one machine's power, one after the other, on the same disks: what was acknowledged before
 * the first must be there after the last. Not thread-safe.
 */
final class PowerCutChain implements AutoCloseable {

  private static final Duration COMMAND_LIMIT = Duration.ofMinutes(8);
  private static final Pattern RECOVERED =
      Pattern.compile("Recovered the hot tier in (\\d+) ms: (.*?) \\(");
  private static final int PARTITIONS = 3;

  /** The cut comes after so many acknowledged records at the least, and at the most. */
  private static final int MIN_RECORDS = 300;

  private static final int MAX_RECORDS = 8_000;

  /** And no later, however slow the machine is. */
  private static final long LOAD_LIMIT_NANOS = Duration.ofMinutes(2).toNanos();

  /** What fails is not sent again. */
  private static final Map<String, String> ONCE =
      Map.of(
          "acks", "all",
          "retries", "0",
          "enable.idempotence", "false",
          "max.in.flight.requests.per.connection", "1",
          "delivery.timeout.ms", "20000",
          "request.timeout.ms", "19000",
          "reconnect.backoff.max.ms", "500");

  /**
   * What fails is sent until it is there. One batch at a time: of a producer's batches a broker
   * that starts again knows the last one alone (Kafka's snapshot of producers has no other), and
   * takes the one before it for out of order when it is sent again. The producer then sends both as
   * new ones.
   */
  private static final Map<String, String> IDEMPOTENT =
      Map.of(
          "max.in.flight.requests.per.connection", "1",
          "delivery.timeout.ms", "900000",
          "max.block.ms", "900000",
          "request.timeout.ms", "10000", // QEMU takes connections before there is a broker
          "reconnect.backoff.max.ms", "500");

  private final PowerCutGuest guest;
  private final CutKind kind;
  private final Random random;
  private final long seed;
  private final Layout layout;
  private final Path folder;
  private final GuestMachine machine;
  private final List<RecordLedger> ledgers = new ArrayList<>();
  private final List<TransactionLoad> transactions = new ArrayList<>();

  /** By transactional id, how often markers were left out in earlier boots. */
  private final Map<String, Long> leftOutBefore = new HashMap<>();

  private Cut last;
  private long startNanos;
  private boolean kept;

  PowerCutChain(PowerCutGuest guest, CutKind kind, long seed) {
    this.guest = guest;
    this.kind = kind;
    this.seed = seed;
    this.random = new Random(seed);
    this.layout = kind.layout(seed);
    this.folder = guest.folder().resolve("cuts").resolve(kind.label() + "-" + seed);
    Map<String, String> properties = PowerCutGuest.properties();
    properties.putAll(kind.properties(layout));
    this.machine = new GuestMachine(guest.folder(), folder, properties);
    this.last = new Cut(layout, 0, 0, 0, 0, true, "did not start");
  }

  /**
   * One cut.
   *
   * @param acknowledged when the power went, in the whole chain
   * @param found records that were there afterwards
   * @param lost acknowledged ones that were not
   * @param duringStart further cuts, while the broker started
   * @param broken whether the machine could not be used any more
   * @param recovery what the broker said of it
   */
  record Cut(
      Layout layout,
      long acknowledged,
      long found,
      long lost,
      int duringStart,
      boolean broken,
      String recovery) {}

  /** Switches the machine on for the first time. */
  void begin() throws IOException, InterruptedException {
    guest.copyTo(folder);
    start();
  }

  private Boot boot() {
    return new Boot(
        "run",
        kind.hasStrata(),
        kind.jvmOptions(random.nextLong()),
        kind.hasShadow() ? Optional.of(guest.shadow()) : Optional.empty());
  }

  /** Switches it on, and waits for the broker; returns what it says of its recovery. */
  private String start() throws IOException, InterruptedException {
    long begun = System.nanoTime();
    machine.start(boot());
    Matcher unused =
        machine.await(
            Pattern.compile(PowerCutGuest.STARTED + "|BROKER ENDED"), PowerCutGuest.BOOT_LIMIT);
    if (!machine.lines(List.of("BROKER ENDED")).isEmpty()) {
      throw new AssertionError("the broker did not start:\n" + JavaProcess.tail(machine.said()));
    }
    startNanos = System.nanoTime() - begun;
    if (!kind.hasStrata()) {
      return "";
    }
    require(kind.durability());
    if (kind.hasShadow()) {
      require("SHADOW over /pmem/");
    }
    Matcher recovered = machine.await(RECOVERED, COMMAND_LIMIT);
    return recovered.group(2).replaceAll(", 0 [^,]*", "");
  }

  private void require(String text) throws IOException {
    if (machine.lines(List.of(text)).isEmpty()) {
      throw new AssertionError("no '" + text + "' in what the broker said:\n" + machine.said());
    }
  }

  /** Sends, cuts, switches on again, looks for every record. */
  Cut cut(boolean lastOne) throws IOException, InterruptedException {
    int number = ledgers.size();
    if (!kind.hasStrata()) {
      ledgers.clear(); // what stock Kafka has lost stays lost
    }
    RecordLedger once = ledger("once-" + number);
    RecordLedger idempotent = ledger("idempotent-" + number);
    List<Load> loads = new ArrayList<>();
    int duringStart;
    try {
      Load.Shape small = new Load.Shape(800, 100, 2_000);
      loads.add(Load.start(once, machine.bootstrap(), small, random.nextLong(), ONCE));
      if (kind.hasStrata()) {
        Load.Shape large = Load.Shape.ofBytesPerSecond(2 << 20);
        loads.add(
            Load.start(idempotent, machine.bootstrap(), large, random.nextLong(), IDEMPOTENT));
        String name = "transactions-" + number;
        createTopic(name);
        transactions.add(TransactionLoad.start(name, PARTITIONS, machine.bootstrap()));
      }
      awaitAcknowledged(MIN_RECORDS + random.nextInt(MAX_RECORDS - MIN_RECORDS));
      cutPower();
      long acknowledged = acknowledged();
      String spilled =
          machine.lines(List.of("goes on in its log file")).isEmpty() ? "" : ", spilled";
      last = new Cut(layout, acknowledged, 0, 0, 0, true, "did not start again");
      CompletableFuture<Void> failing = CompletableFuture.runAsync(loads.get(0)::close);
      duringStart = cutDuringStart();
      String recovery = start() + spilled;
      failing.join();
      loads.get(loads.size() - 1).close();
      transactions.forEach(TransactionLoad::close);
      last = new Cut(layout, acknowledged, 0, 0, duringStart, true, recovery);
    } catch (Throwable t) {
      abandon(loads, t);
      throw t;
    }
    if (kind.hasStrata()) {
      idempotent.assertNoneFailed();
    }
    verify();
    check("check", "CHECKED");
    if (lastOne) {
      check("stop", "STOPPED");
      check("check", "CHECKED");
      machine.tell("off");
      machine.awaitOff(COMMAND_LIMIT);
    }
    return last;
  }

  /** How many records, not how long: so that a seed means the same on a slow machine. */
  private void awaitAcknowledged(int records) throws InterruptedException {
    long enough = acknowledged() + records;
    long end = System.nanoTime() + LOAD_LIMIT_NANOS;
    while (acknowledged() < enough && System.nanoTime() < end) {
      TimeUnit.MILLISECONDS.sleep(5);
    }
  }

  private void cutPower() throws IOException, InterruptedException {
    machine.cut();
    countLeftOut(leftOutBefore);
  }

  /** Adds what the present boot's broker has said. */
  private void countLeftOut(Map<String, Long> times) throws IOException {
    Matcher line = CampaignCluster.LEFT_OUT.matcher(machine.said());
    while (line.find()) {
      times.merge(line.group(1), 1L, Long::sum);
    }
  }

  private void verify() throws IOException {
    long found = 0;
    long lost = 0;
    for (RecordLedger ledger : ledgers) {
      RecordLedger.Left left = ledger.left(machine.bootstrap());
      found += left.records();
      lost += left.lost();
    }
    Map<String, Long> leftOut = new HashMap<>(leftOutBefore);
    countLeftOut(leftOut);
    for (TransactionLoad load : transactions) {
      RecordLedger.Left left = load.left(leftOut.getOrDefault(load.id(), 0L));
      found += left.records();
      lost += left.lost();
    }
    last =
        new Cut(
            layout, last.acknowledged(), found, lost, last.duringStart(), false, last.recovery());
  }

  /** Every third time, the power goes again while the broker starts, at any moment of it. */
  private int cutDuringStart() throws IOException, InterruptedException {
    int cuts = 0;
    while (random.nextInt(3) == 0) {
      machine.start(boot());
      TimeUnit.NANOSECONDS.sleep((long) (startNanos * 1.2 * random.nextDouble()));
      cutPower();
      cuts++;
    }
    return cuts;
  }

  private void check(String command, String answer) throws IOException, InterruptedException {
    if (!kind.hasStrata() && command.equals("check")) {
      return;
    }
    int code = machine.ask(command, answer, COMMAND_LIMIT);
    if (code != 0 && !command.equals("stop")) {
      throw new AssertionError(
          command + " ended with " + code + ":\n" + JavaProcess.tail(machine.said()));
    }
  }

  /** The ledgers' producers may wait for a broker that will not come back. */
  private static void abandon(List<Load> loads, Throwable cause) {
    for (Load load : loads) {
      Thread closing = new Thread(load::close, "abandoned");
      closing.setDaemon(true);
      closing.setUncaughtExceptionHandler((thread, t) -> cause.addSuppressed(t));
      closing.start();
    }
  }

  private long acknowledged() {
    return ledgers.stream().mapToLong(RecordLedger::acknowledged).sum()
        + transactions.stream().mapToLong(TransactionLoad::acknowledged).sum() * PARTITIONS;
  }

  private RecordLedger ledger(String name) throws InterruptedException {
    createTopic(name);
    RecordLedger ledger = new RecordLedger(name, PARTITIONS, seed + ledgers.size());
    ledgers.add(ledger);
    return ledger;
  }

  private void createTopic(String name) throws InterruptedException {
    Map<String, Object> settings = new HashMap<>();
    settings.put(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, machine.bootstrap());
    settings.put(CommonClientConfigs.DEFAULT_API_TIMEOUT_MS_CONFIG, "110000");
    try (Admin admin = Admin.create(settings)) {
      Topics.create(admin, new NewTopic(name, PARTITIONS, (short) 1).configs(layout.topicConfig()));
    }
  }

  /** What is known of a cut that could not be finished. */
  Cut unfinished() {
    return last;
  }

  /** Keeps disks and consoles for a closer look. */
  void keep() {
    kept = true;
  }

  @Override
  public void close() {
    machine.close();
    if (!kept) {
      try {
        GuestMachine.run(
            List.of(
                "rm",
                "-f",
                folder.resolve("disk.img").toString(),
                folder.resolve("pmem.img").toString()));
      } catch (IOException e) {
        throw new AssertionError("cannot remove the disks in " + folder, e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
