package io.strata.kafka.cli.doctor;

import io.strata.kafka.broker.TierSpecs;
import io.strata.kafka.cli.pool.SegmentInventory;
import io.strata.kafka.cli.pool.SegmentInventory.DrainSpace;
import io.strata.kafka.cli.status.Surroundings;
import io.strata.kafka.cli.terminal.ByteSize;
import io.strata.kafka.cli.terminal.Failures;
import io.strata.kafka.config.BrokerProperties;
import io.strata.kafka.config.StrataConfig;
import io.strata.kafka.config.StrataConfig.AckDurability;
import io.strata.kafka.config.key.MetaProperties;
import io.strata.kafka.memory.Durability;
import io.strata.kafka.memory.FileProbe;
import io.strata.kafka.memory.MemoryOpener;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.pool.CheckReport;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.PoolChecker;
import io.strata.kafka.pool.PoolInfo;
import io.strata.kafka.pool.words.PoolException;
import io.strata.kafka.pool.words.PoolSpec;
import io.strata.kafka.tier.HotTier;
import io.strata.kafka.tier.directory.Directories;
import io.strata.kafka.tier.directory.Marker;
import io.strata.kafka.tier.directory.NewestLogFiles;
import io.strata.kafka.tier.spec.TierSpec;
import io.strata.kafka.tier.start.MissingLogFiles;
import io.strata.kafka.tier.start.MissingPools;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Looks at a broker's log directories and pools, at what is in them, and at the limits of the
 * machine that they need. Writes nothing.
 */
public final class StorageCheck extends DoctorCheck {

  /** The least that Kafka's documentation recommends for a broker. */
  private static final long OPEN_FILES = 100_000;

  private static final Pattern OF_SEGMENTS =
      Pattern.compile("\\d{20}\\.(log|index|timeindex|txnindex)");

  private static final Pattern PMEM_DEVICE = Pattern.compile("/dev/(pmem[\\d.]+)(p\\d+)?");

  private final StrataConfig config;
  private final TierSpec spec;
  private final Map<UUID, Path> present = new HashMap<>();

  /** The log directories that Kafka takes offline, or does not find. */
  private final Set<Path> broken = new HashSet<>();

  /** The log directories without which Kafka itself does not start. */
  private final Set<String> unusable = new HashSet<>();

  public StorageCheck(
      Surroundings surroundings,
      BrokerProperties broker,
      StrataConfig config,
      OptionalLong process) {
    super(surroundings, broker, process);
    this.config = config;
    this.spec = TierSpecs.of(config, broker);
  }

  /** Looks at all of them. */
  public List<Diagnosis> run() throws IOException {
    user();
    spec.logDirectories().forEach(this::logDirectory);
    notFormatted();
    boolean none = broken.containsAll(broker.logDirs());
    for (Path directory : spec.logDirectories()) {
      if (none
          || broken.contains(broker.metadataLogDir())
          || !Files.isDirectory(broker.metadataLogDir())) {
        unusable.add("log directory " + directory);
      }
    }
    List<Path> missing = new ArrayList<>();
    for (Path pool : spec.pools()) {
      String what = "pool " + pool;
      try {
        Pool.requireSearchable(pool);
        if (Files.exists(pool)) {
          pool(what, pool);
        } else {
          missing.add(pool);
        }
      } catch (PoolException e) {
        refused(what, e);
      }
    }
    missing.forEach(pool -> missingPool("pool " + pool, pool));
    segments();
    if (process.isEmpty()) {
      start();
    }
    return found;
  }

  // -- the start

  /**
   * Tries the start itself. A refusal of the start is a failure, anything else a warning at most:
   * pools and log directories get one verdict.
   */
  private void start() {
    Optional<IOException> refusal = HotTier.refusal(spec, this::missingLogFiles);
    if (refusal.isPresent()) {
      fail(
          "start",
          Failures.messageOf(refusal.get()),
          "see 'When the broker does not start' in docs/operations.md");
      return;
    }
    found.replaceAll(
        each ->
            each.verdict() == Verdict.FAIL && !unusable.contains(each.what())
                ? new Diagnosis(Verdict.WARN, each.what(), each.found(), each.remedy())
                : each);
    ok("start", "opens these pools and log directories");
  }

  /** The start goes on without them. */
  private void missingLogFiles(MissingLogFiles missing) {
    missing(
        missing.first(),
        """
        bring them back with their extended attributes before the next start: when the broker has \
        run for ten minutes, the one after it frees their bytes\
        """);
    missing(
        missing.again(),
        """
        bring them back with their extended attributes, or the next start frees their bytes, as \
        of log files that were deleted on purpose\
        """);
  }

  private void missing(List<String> files, String remedy) {
    if (!files.isEmpty()) {
      warn(
          "log files",
          "%d of segments in the pools are missing (%s%s)"
              .formatted(files.size(), files.get(0), files.size() > 1 ? " and others" : ""),
          remedy);
    }
  }

  // -- permissions

  /** Root may do what the broker's user may not. */
  private void user() throws IOException {
    String user = System.getProperty("user.name", "?");
    for (Path directory : broker.logDirs()) {
      if (Files.isDirectory(directory)) {
        String owner = Files.getOwner(directory).getName();
        if (user.equals("root") && !owner.equals(user)) {
          warn(
              "user",
              "this runs as root, and log directory %s belongs to %s: what %s may not do is not found"
                  .formatted(directory, owner, owner),
              "run it as that user: sudo -u %s strata doctor".formatted(owner));
          return;
        }
      }
    }
  }

  private void refused(String what, PoolException e) {
    fail(
        what,
        String.valueOf(e.getMessage()).replaceFirst("^" + Pattern.quote(what + ": "), ""),
        "");
  }

  // -- log directories

  private void logDirectory(Path directory) {
    String what = "log directory " + directory;
    int before = found.size();
    try {
      Optional<Path> barred = barred(directory);
      if (!Files.isDirectory(directory)) {
        fail(
            what,
            "is not there",
            "mount its file system, or run 'kafka-storage.sh format' on a new broker");
      } else if (!Files.isWritable(directory)) {
        found.add(notWritable(what, directory, FileProbe.isReadOnly(directory)));
      } else if (barred.isPresent()) {
        found.add(notWritable(what, barred.get(), false));
      } else if (!Files.getFileStore(directory).supportsFileAttributeView("user")) {
        fail(
            what,
            "its file system (%s) takes no user extended attributes"
                .formatted(Files.getFileStore(directory).type()),
            "use ext4, XFS or Btrfs, without the mount option nouser_xattr");
      } else {
        ok(
            what,
            Marker.isMarked(directory)
                ? "is marked as used with Strata"
                : "is not marked as used with Strata: its log files have all bytes");
      }
    } catch (IOException e) {
      fail(what, Failures.messageOf(e), "repair it before the broker starts");
    }
    if (found.get(before).verdict() == Verdict.FAIL) {
      broken.add(directory);
    }
  }

  /**
   * Kafka starts with a log directory that it cannot read, and with none that has no {@code
   * meta.properties}: one that is missing, or a mount point without its file system.
   */
  private void notFormatted() {
    List<Path> without =
        spec.logDirectories().stream()
            .filter(each -> Files.notExists(each.resolve(MetaProperties.FILE_NAME)))
            .toList();
    if (without.size() == spec.logDirectories().size()) {
      return; // A new broker, which is formatted later.
    }
    for (Path directory : without) {
      String what = "log directory " + directory;
      unusable.add(what);
      if (broken.add(directory)) {
        fail(
            what,
            "has no meta.properties, and other log directories have: Kafka does not start",
            """
            mount its file system; if it is new, run 'kafka-storage.sh format --ignore-formatted' \
            with the cluster's id\
            """);
      }
    }
  }

  /**
   * Returns a partition's directory, or a log or an index in it, that this user may not read and
   * write: Kafka opens them for both. Empty if there is none, or no log directory.
   */
  private static Optional<Path> barred(Path logDirectory) throws IOException {
    if (!Files.isDirectory(logDirectory) || !isOpenTo(logDirectory)) {
      return Optional.empty();
    }
    for (Path partition : NewestLogFiles.partitions(logDirectory)) {
      if (isBarred(partition) || (Files.isDirectory(partition) && !Files.isExecutable(partition))) {
        return Optional.of(partition);
      }
      try {
        for (Path file : Directories.list(partition)) {
          if (OF_SEGMENTS.matcher(String.valueOf(file.getFileName())).matches() && isBarred(file)) {
            return Optional.of(file);
          }
        }
      } catch (NoSuchFileException expected) {
        // A running broker has renamed or deleted it just now.
      }
    }
    return Optional.empty();
  }

  private static boolean isBarred(Path file) {
    return !isOpenTo(file) && Files.exists(file);
  }

  private static boolean isOpenTo(Path file) {
    return Files.isReadable(file) && Files.isWritable(file);
  }

  // -- pools

  /** Says why a file or directory cannot be written to: its mount, or its owner. */
  static Diagnosis notWritable(String what, Path file, boolean readOnly) throws IOException {
    if (readOnly) {
      return new Diagnosis(
          Verdict.FAIL,
          what,
          "its file system is mounted read-only",
          "look at the kernel's log (dmesg), then 'mount -o remount,rw' it");
    }
    return new Diagnosis(
        Verdict.FAIL,
        what,
        "%s belongs to %s, and user %s may not read and write it"
            .formatted(
                file, Files.getOwner(file).getName(), System.getProperty("user.name", "(unknown)")),
        "run this as the user that the broker runs as, or correct the owner");
  }

  private void pool(String what, Path file) throws IOException {
    CheckReport report = PoolChecker.check(file);
    Optional<PoolInfo> info = report.info();
    if (!report.usable() || info.isEmpty()) {
      fail(
          what,
          "cannot be used: %s".formatted(report.findings().get(0)),
          "see 'strata pool check %s'".formatted(file));
    } else if (info.get().owner().contradicts(spec.owner())) {
      fail(
          what,
          "is a pool of %s, and this is %s".formatted(info.get().owner(), spec.owner()),
          "name this broker's own pool");
    } else if (!Files.isWritable(file)) {
      found.add(notWritable(what, file, FileProbe.isReadOnly(file)));
    } else {
      soundPool(what, file, info.get(), report);
    }
  }

  private void soundPool(String what, Path file, PoolInfo info, CheckReport report)
      throws IOException {
    present.put(info.id(), file);
    MemoryType type = config.poolType(file).on(file);
    Optional<String> unavailable = MemoryOpener.unavailable(type);
    if (unavailable.isPresent()) {
      fail(
          what,
          "type %s cannot be used: %s".formatted(type.configName(), unavailable.get()),
          "install what is missing, or set the type to auto");
      return;
    }
    boolean dax = type != MemoryType.FILE && info.durability() == Durability.POWER;
    boolean lost = FileProbe.isMemoryBacked(file);
    if (config.requireDax() && !dax && config.tiers().get(0).pools().contains(file)) {
      fail(
          what,
          "strata.require.dax=true, and the pool would not survive a power failure",
          "mount its file system with -o dax, or take the key out");
    } else if (config.durability() == AckDurability.ACK && lost) {
      fail(
          what,
          "strata.durability=ack, and the pool is on a memory-backed file system",
          "move it to a device, or take the key out");
    } else {
      warnUnless(
          !lost,
          what,
          "%s%s, type %s, %s of %s used, %s of %s slots%s"
              .formatted(
                  dax
                      ? "survives a power failure with every append"
                      : lost
                          ? "is in memory and survives no restart of the machine"
                          : "survives a power failure with what Kafka has flushed",
                  beside(file),
                  type.configName(),
                  ByteSize.format(report.usedBytes()),
                  ByteSize.format(info.dataSize()),
                  report.liveSlots() + report.deletingSlots(),
                  info.slotCount(),
                  lost ? "" : node(file)),
          "a restart of the machine empties it: put it on NVMe or persistent memory");
    }
  }

  /** Says so where appends and the copies down go to one file system. */
  private String beside(Path file) throws IOException {
    FileStore store = Files.getFileStore(file);
    for (Path directory : broker.logDirs()) {
      if (Files.isDirectory(directory) && Files.getFileStore(directory).equals(store)) {
        return ", on the file system of %s, so that copies down compete with appends"
            .formatted(directory);
      }
    }
    return "";
  }

  /** Returns where on the machine a pool's device is; empty where there is one place only. */
  private String node(Path file) throws IOException {
    Matcher device = PMEM_DEVICE.matcher(Files.getFileStore(file).name());
    if (!device.matches()
        || !Files.exists(surroundings.root().resolve("sys/devices/system/node/node1"))) {
      return "";
    }
    OptionalLong node =
        surroundings.number("sys/block/%s/device/numa_node".formatted(device.group(1)));
    return node.isPresent()
        ? ", on NUMA node %d of several: have one pool for each node".formatted(node.getAsLong())
        : "";
  }

  private void missingPool(String what, Path file) {
    if (Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
      fail(what, "is a link to a file that is not there", "mount its file system");
    } else if (config.poolCreate().isPresent()) {
      poolToCreate(what, file, config.poolCreate().getAsLong());
    } else {
      fail(
          what,
          "is not there",
          """
          mount its file system; for a first start create it with 'strata pool create', or set \
          strata.pool.create; if it is lost, see 'strata accept-loss --help'\
          """);
    }
  }

  private void poolToCreate(String what, Path file, long size) {
    Optional<String> obstacle = MissingPools.obstacle(spec, present);
    if (obstacle.isPresent()) {
      fail(
          what,
          "is not there, and strata.pool.create does not create it: " + obstacle.get(),
          "bring the pool back; if it is lost, see 'strata accept-loss --help'");
      return;
    }
    try {
      Pool.requireCreatable(PoolSpec.of(file, MemoryType.MAPPED, size));
      ok(
          what,
          "is not there; the next start creates it with %s%s"
              .formatted(ByteSize.format(size), beside(Directories.of(file))));
    } catch (PoolException e) {
      refused(what, e);
    } catch (IOException e) {
      fail(what, Failures.messageOf(e), "repair its file system");
    }
  }

  // -- segments, and what they need of the machine

  private void segments() throws IOException {
    int segments;
    List<DrainSpace> space;
    try (SegmentInventory inventory = new SegmentInventory(List.copyOf(present.values()))) {
      space = inventory.drainSpace(broker.logDirs());
      segments = inventory.entries().size();
      segments(inventory.findings(), segments);
    }
    for (DrainSpace each : space) {
      warnUnless(
          each.isEnough(),
          "space in " + each.store(),
          "%s free; the pools have %s that the log files lack"
              .formatted(ByteSize.format(each.free()), ByteSize.format(each.needed())),
          "make space: 'strata drain' would not find enough, and a full pool soon would not");
    }
    openFiles(segments);
    mappings(segments);
  }

  private void segments(List<String> findings, int segments) {
    if (findings.isEmpty()) {
      ok("segments", "%d, and each is where it should be".formatted(segments));
    } else if (present.size() < spec.pools().size()) {
      warn(
          "segments",
          "%d, of which not all were found: not all pools are there".formatted(segments),
          "bring the pools back first");
    } else {
      findings.forEach(
          text ->
              fail("segments", text, "see 'When the broker does not start' in docs/operations.md"));
    }
  }

  private void openFiles(int segments) {
    String whose = process.isPresent() ? Long.toString(process.getAsLong()) : "self";
    long needed = Math.max(OPEN_FILES, 2L * segments);
    surroundings
        .openFiles(whose)
        .ifPresent(
            limit ->
                warnUnless(
                    limit >= needed,
                    "open files",
                    "%s for %s, with %d segments"
                        .formatted(
                            limit == Long.MAX_VALUE ? "no limit" : limit,
                            process.isPresent() ? "the broker" : "this shell",
                            segments),
                    "set LimitNOFILE in the broker's unit, or ulimit -n, to %d or more"
                        .formatted(needed)));
  }

  /** Kafka maps the indexes of each segment, and Strata a pool in pieces of up to 1 GiB. */
  private void mappings(int segments) {
    long needed = 4L * segments + 10_000;
    surroundings
        .number("proc/sys/vm/max_map_count")
        .ifPresent(
            limit ->
                warnUnless(
                    limit >= needed,
                    "vm.max_map_count",
                    "%d, with %d segments".formatted(limit, segments),
                    "sysctl -w vm.max_map_count=%d".formatted(2 * needed)));
  }
}
