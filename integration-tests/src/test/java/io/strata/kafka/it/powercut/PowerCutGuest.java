package io.strata.kafka.it.powercut;

import io.strata.kafka.it.harness.StockBroker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;

/** What all machines of a campaign begin with: formatted, with empty pools. */
final class PowerCutGuest {

  /** Machines without hardware help are slow, and share the host with other work. */
  static final Duration BOOT_LIMIT = Duration.ofMinutes(10);

  static final Pattern STARTED = Pattern.compile("Kafka Server started");

  private static final Duration PREPARE_LIMIT = Duration.ofMinutes(15);
  private static final long PMEM_BYTES = 1L << 30;

  private final Path folder;
  private final Path shadow;

  PowerCutGuest(Path folder, Path shadow) {
    this.folder = folder;
    this.shadow = shadow;
  }

  Path folder() {
    return folder;
  }

  /** The classes that put the shadow around a pool's memory. */
  Path shadow() {
    return shadow;
  }

  /** What every broker has. */
  static Map<String, String> properties() {
    Map<String, String> all = new TreeMap<>();
    all.put("process.roles", "broker,controller");
    all.put("node.id", "1");
    all.put("controller.quorum.voters", "1@127.0.0.1:9093");
    all.put("controller.listener.names", "CONTROLLER");
    all.put("inter.broker.listener.name", "PLAINTEXT");
    all.put("listener.security.protocol.map", "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT");
    all.put("log.dirs", "/data/kafka");
    all.put("offsets.topic.replication.factor", "1");
    all.put("offsets.topic.num.partitions", "1");
    all.put("transaction.state.log.replication.factor", "1");
    all.put("transaction.state.log.min.isr", "1");
    all.put("transaction.state.log.num.partitions", "1");
    all.put("share.coordinator.state.topic.replication.factor", "1");
    all.put("share.coordinator.state.topic.min.isr", "1");
    all.put("group.initial.rebalance.delay.ms", "0");
    // A slow machine on a busy host: no event each half second, and no haste.
    all.put("metadata.max.idle.interval.ms", "0");
    all.put("initial.broker.registration.timeout.ms", "600000");
    all.put("broker.session.timeout.ms", "9000");
    all.put("broker.heartbeat.interval.ms", "2000");
    return all;
  }

  /** Makes the disks that each chain copies, unless they were made for this jar. */
  void prepare() throws IOException, InterruptedException {
    Path payload = folder.resolve("payload");
    Path stamp = folder.resolve("template").resolve("stamp");
    String of = sha256(payload.resolve("strata.jar")) + sha256(payload.resolve("guest-run.sh"));
    if (Files.exists(stamp) && Files.readString(stamp).equals(of)) {
      return;
    }
    Path template = Files.createDirectories(folder.resolve("template"));
    Files.deleteIfExists(stamp);
    format(template);
    GuestMachine.run(List.of("rm", "-f", template.resolve("pmem.img").toString()));
    GuestMachine.run(
        List.of("truncate", "-s", "" + PMEM_BYTES, template.resolve("pmem.img").toString()));
    try (GuestMachine machine = new GuestMachine(folder, template, properties())) {
      machine.start(new GuestMachine.Boot("prepare", true, List.of(), Optional.empty()));
      var unused = machine.await(Pattern.compile("GUEST PREPARED"), PREPARE_LIMIT);
      machine.awaitOff(BOOT_LIMIT);
      requireDurability(machine, "/pmem/large.pool mapped POWER");
      requireDurability(machine, "/pmem/llpl.pool pmem POWER");
      requireDurability(machine, "/data/disk.pool mapped FORCE");
    }
    refusesADisk();
    Files.writeString(stamp, of);
  }

  private static void requireDurability(GuestMachine machine, String expected) throws IOException {
    if (machine.lines(List.of("GUEST CREATED " + expected)).isEmpty()) {
      throw new AssertionError(
          "expected '" + expected + "', found " + machine.lines(List.of("GUEST CREATED")));
    }
    PowerCuts.say("pool, type and durability in the guest: " + expected);
  }

  /** A log directory, formatted on the host, becomes the file system of a disk. */
  private static void format(Path template) throws IOException, InterruptedException {
    Path tree = template.resolve("tree");
    GuestMachine.run(List.of("rm", "-rf", tree.toString(), template.resolve("kafka").toString()));
    StockBroker formatted = StockBroker.in(template.resolve("kafka")).build();
    Files.createDirectories(tree);
    Files.move(formatted.logDirectory(), tree.resolve("kafka"));
    formatDisk(tree, template.resolve("disk.img"));
  }

  /** Makes a disk with the files of the tree. */
  static void formatDisk(Path tree, Path image) throws IOException, InterruptedException {
    Files.deleteIfExists(image);
    GuestMachine.run(
        List.of(
            "mke2fs",
            "-q",
            "-t",
            "ext4",
            "-b",
            "4096",
            "-E",
            "root_owner=0:0",
            "-d",
            tree.toString(),
            image.toString(),
            "2G"));
  }

  /** Copies the disks into a folder. */
  void copyTo(Path target) throws IOException, InterruptedException {
    GuestMachine.run(List.of("rm", "-rf", target.toString()));
    Files.createDirectories(target);
    for (String image : List.of("disk.img", "pmem.img")) {
      GuestMachine.run(
          List.of(
              "cp",
              "--sparse=always",
              folder.resolve("template").resolve(image).toString(),
              target.resolve(image).toString()));
    }
  }

  /** A pool that the power can take is refused when DAX is asked for. */
  private void refusesADisk() throws IOException, InterruptedException {
    Path target = folder.resolve("refusal");
    copyTo(target);
    Map<String, String> properties = properties();
    properties.putAll(CutKind.STRATA.properties(CutKind.Layout.PLAIN));
    properties.put("strata.pools", "/data/disk.pool");
    try (GuestMachine machine = new GuestMachine(folder, target, properties)) {
      machine.start(new GuestMachine.Boot("run", true, List.of(), Optional.empty()));
      var unused = machine.await(Pattern.compile("GUEST BROKER ENDED"), BOOT_LIMIT);
      if (machine.lines(List.of("strata.require.dax=true")).isEmpty() || started(machine)) {
        throw new AssertionError(
            "a broker with strata.require.dax=true and a pool on a disk said\n" + machine.said());
      }
    }
    PowerCuts.say("strata.require.dax=true refuses the pool on the virtio disk");
    GuestMachine.run(List.of("rm", "-rf", target.toString()));
  }

  private static boolean started(GuestMachine machine) throws IOException {
    return STARTED.matcher(machine.said()).find();
  }

  private static String sha256(Path file) throws IOException {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      return HexFormat.of().formatHex(digest.digest(Files.readAllBytes(file)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }
}
