package io.strata.kafka.cli.pool;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.strata.kafka.broker.TierSpecs;
import io.strata.kafka.cli.terminal.BrokerStopped;
import io.strata.kafka.cli.terminal.CommandException;
import io.strata.kafka.cli.terminal.ConfigOption;
import io.strata.kafka.cli.terminal.Confirmation;
import io.strata.kafka.cli.terminal.ExitCode;
import io.strata.kafka.cli.terminal.StrataCommand;
import io.strata.kafka.cli.terminal.Table;
import io.strata.kafka.config.BrokerProperties;
import io.strata.kafka.config.StrataConfig;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.PoolReader;
import io.strata.kafka.pool.words.PoolException;
import io.strata.kafka.pool.words.PoolOwner;
import io.strata.kafka.segment.view.SegmentTag;
import io.strata.kafka.tier.directory.Directories;
import io.strata.kafka.tier.directory.LogDirectory;
import io.strata.kafka.tier.directory.Moments;
import io.strata.kafka.tier.offline.AcceptedLoss;
import io.strata.kafka.tier.spec.TierSpec;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code strata accept-loss}. */
@Command(
    name = "accept-loss",
    description = {
      """
      For a lost pool: names the partitions that had records in it and the offset from which on \
      each may lack some, deletes their segments after the one that has that offset, and has the \
      broker's next start recover them, as after a power failure. Kafka then replicates the rest \
      from the other replicas. The same for segments whose slot 'strata pool repair' has freed. \
      The broker must be stopped.\
      """,
      "",
      """
      What no other replica has is lost, also what comes after the first missing record: keep a \
      copy of the directory of a partition that has no other replica. Without --yes it shows what \
      is lost and changes nothing.\
      """,
      "",
      "A log directory that it cannot read is named and left alone, with exit code 1.",
      ""
    },
    footer = {"", "Example:", "  strata accept-loss --config server.properties --yes"})
public final class AcceptLossCommand extends StrataCommand {
  /** The refusals that a lost pool is recognized by; one that may not be read is not lost. */
  private static final Set<PoolException.Kind> LOST =
      EnumSet.of(
          PoolException.Kind.MISSING,
          PoolException.Kind.NOT_A_POOL,
          PoolException.Kind.TRUNCATED,
          PoolException.Kind.CORRUPT);

  private static final String NOT_FOUND =
      """
      lost: pool %s: found no file with this identity at any path that the configuration or a log \
      directory names: %s\
      """;

  /** The pools that log files name, and no file has. */
  private final Set<UUID> lost = new TreeSet<>();

  /** The pools that log files name, and the configuration does not, by their files. */
  private final Map<UUID, Path> misplaced = new TreeMap<>();

  /**
   * The pools that are where the log directories have recorded them: the broker's last start knew
   * where they are, whatever a configuration says since.
   */
  private final Map<UUID, Path> recorded = new HashMap<>();

  /** The pools that log files or log directories name. */
  private final Set<UUID> named = new TreeSet<>();

  /** The reasons for which the next start is refused all the same, and wrong arguments. */
  private final List<String> stillRefused = new ArrayList<>();

  @Mixin private final ConfigOption config = new ConfigOption();

  @Option(
      names = "--pool",
      paramLabel = "UUID",
      description =
          """
          Take this pool for lost though its file is there, an older copy of it, say; may be \
          given several times.\
          """)
  private List<UUID> lostPools = new ArrayList<>();

  @Option(
      names = "--log-directory",
      paramLabel = "DIR",
      description =
          """
          Give up what the pools have of this log directory: it is older than they are, restored \
          from a snapshot, say. Its log files stay, as far as they are whole; may be given \
          several times.\
          """)
  private List<Path> givenUp = new ArrayList<>();

  @Mixin private final Confirmation confirmation = new Confirmation();

  @Override
  // The lock is only to be released.
  @SuppressWarnings("try")
  protected ExitCode run() throws Exception {
    BrokerProperties broker = config.requireForChange();
    StrataConfig strata = broker.strataConfig().orElseThrow();
    Set<Path> directories = new LinkedHashSet<>(broker.logDirs());
    directories.add(broker.metadataLogDir());
    try (BrokerStopped stopped = BrokerStopped.require(List.copyOf(directories))) {
      boolean yes = confirmation.given();
      TierSpec tier = TierSpecs.of(strata, broker);
      requireConfigured(directories);
      AcceptedLoss.Plan plan = plan(tier, directories);
      requireConfigured(broker, tier);
      Collection<Path> pools = givenUp.isEmpty() ? List.of() : poolsThatAreThere(tier).values();
      Map<Path, AcceptedLoss.GivenUp> slots = slotsOfGivenUp(directories);
      List<AcceptedLoss.Skipped> failed = List.of();
      if (yes) {
        for (Path pool : pools) {
          // A refusal comes before the first change.
          Pool.open(pool, MemoryType.MAPPED, PoolOwner.ANY).close();
        }
        failed = AcceptedLoss.run(plan);
        for (AcceptedLoss.Skipped each : failed) {
          slots.keySet().removeIf(directory -> Directories.isSame(each.logDirectory(), directory));
        }
      }
      int segments = giveUp(slots, pools, yes);
      AcceptedLoss.Plan shown = plan.without(failed);
      boolean done = yes ? failed.isEmpty() : plan.lacking().isEmpty();
      print(document -> describe(shown, done, document), to -> print(shown, yes, to));
      if (yes) {
        noteNext(tier);
      }
      for (AcceptedLoss.Skipped each : plan.skipped()) {
        note(
            "log directory %s was not looked at: %s".formatted(each.logDirectory(), each.reason()));
      }
      for (AcceptedLoss.Skipped each : failed) {
        note(
            "log directory %s was not changed to the end, repeat the command for it: %s"
                .formatted(each.logDirectory(), each.reason()));
      }
      if (!givenUp.isEmpty()) {
        note(
            "the pools' %d segments of %s %s discarded"
                .formatted(segments, givenUp, yes ? "were" : "would be"));
      }
      if (!yes && (!plan.losses().isEmpty() || segments > 0)) {
        confirmation.require(
            """
            found no --yes, expected it to go on without the records that %d partitions may lack; \
            bring the pool back if you can, or repeat with --yes\
            """
                .formatted(plan.lacking().size()));
      }
      return plan.skipped().isEmpty() && failed.isEmpty() && stillRefused.isEmpty()
          ? ExitCode.OK
          : ExitCode.FINDINGS;
    }
  }

  /** A pool that is there is not lost, whatever the configuration names. */
  private void requireConfigured(BrokerProperties broker, TierSpec tier) throws CommandException {
    if (!misplaced.isEmpty()) {
      throw CommandException.refused(
          """
          %s: found pools that are not lost, where the log directories say that they are: %s; \
          expected them in strata.pools (or strata.tier.<name>.pools), which names %s; correct it, \
          or take one for lost by --pool; nothing has been changed\
          """
              .formatted(broker.source(), misplaced, tier.config().pools()));
    }
  }

  private void requireConfigured(Set<Path> directories) throws IOException, CommandException {
    for (Path each : givenUp) {
      if (directories.stream().noneMatch(known -> Directories.isSame(known, each))) {
        throw CommandException.refused(
            "--log-directory: found %s, expected one of log.dirs: %s".formatted(each, directories));
      }
    }
  }

  private boolean isGivenUp(Path directory) {
    return givenUp.stream().anyMatch(each -> Directories.isSame(each, directory));
  }

  private static Map<UUID, Path> poolsThatAreThere(TierSpec tier) throws IOException {
    try (PoolReaders pools = PoolReaders.open(tier.config().pools())) {
      return pools.paths();
    }
  }

  /** Asked while the log files have their tags; a directory without identity has no slots. */
  private Map<Path, AcceptedLoss.GivenUp> slotsOfGivenUp(Set<Path> directories) throws IOException {
    Map<Path, AcceptedLoss.GivenUp> slots = new LinkedHashMap<>();
    List<Path> others = directories.stream().filter(each -> !isGivenUp(each)).toList();
    for (Path directory : givenUp) {
      Optional<LogDirectory> known = LogDirectory.find(directory.toRealPath());
      if (known.isPresent()) {
        slots.put(
            directory, AcceptedLoss.GivenUp.of(known.get().id(), Optional.of(directory), others));
      }
    }
    return slots;
  }

  /** After the log files have lost their tags. */
  private static int giveUp(
      Map<Path, AcceptedLoss.GivenUp> slots, Collection<Path> pools, boolean yes)
      throws IOException {
    int segments = 0;
    for (Map.Entry<Path, AcceptedLoss.GivenUp> each : slots.entrySet()) {
      segments += AcceptedLoss.forgetAll(pools, each.getKey(), each.getValue(), yes);
    }
    return segments;
  }

  private AcceptedLoss.Plan plan(TierSpec tier, Set<Path> directories) throws IOException {
    Set<Path> searched = new TreeSet<>();
    for (Path directory : directories) {
      look(directory, searched);
    }
    try (PoolReaders pools = PoolReaders.open(tier.config().pools())) {
      for (PoolException refusal : pools.refusals()) {
        requireLost(refusal);
        note("lost: " + refusal.getMessage());
      }
      for (Moments.Difference each : Moments.among(pools.paths().values(), directories)) {
        if (!lostPools.contains(each.poolId()) && !isGivenUp(each.directory())) {
          stillRefused.add(
              "pool %s: %s; %s".formatted(each.pool(), each.description(), each.remedy()));
        }
      }
      AcceptedLoss.Plan plan =
          AcceptedLoss.plan(directories, (directory, file) -> isLost(pools, directory, file.tag()));
      Set<Path> all = new LinkedHashSet<>(tier.config().pools());
      all.addAll(searched);
      lost.forEach(id -> note(NOT_FOUND.formatted(id, all)));
      for (UUID each : lostPools) {
        if (pools.find(each).isEmpty() && !named.contains(each)) {
          stillRefused.add(
              "--pool: found %s, expected the UUID of a pool that the log directories name"
                  .formatted(each));
        }
      }
      stillRefused.forEach(this::note);
      return plan;
    }
  }

  /** Looks at each recorded path; throws if what is there cannot be: it may be the pool. */
  private void look(Path directory, Set<Path> searched) throws IOException {
    Optional<LogDirectory> known =
        Files.isDirectory(directory) ? LogDirectory.find(directory.toRealPath()) : Optional.empty();
    if (known.isEmpty()) {
      return;
    }
    for (Map.Entry<UUID, Path> each : known.get().recordedPools().entrySet()) {
      named.add(each.getKey());
      searched.add(each.getValue());
      try (PoolReader pool = Pool.openReadOnly(each.getValue())) {
        if (pool.info().id().equals(each.getKey())) {
          recorded.put(each.getKey(), each.getValue());
        }
      } catch (PoolException e) {
        requireLost(e);
      }
    }
  }

  private static void requireLost(PoolException refusal) throws PoolException {
    if (!LOST.contains(refusal.kind())) {
      throw refusal;
    }
  }

  private boolean isLost(PoolReaders pools, Path directory, SegmentTag tag) {
    named.add(tag.pool());
    return isGivenUp(directory) || lostPools.contains(tag.pool()) || hasLost(pools, tag);
  }

  /**
   * Returns whether a segment's bytes are gone. Bytes in a pool that a log directory names, and the
   * configuration does not, are not gone: {@link #requireConfigured} refuses.
   */
  private boolean hasLost(PoolReaders pools, SegmentTag tag) {
    if (pools.find(tag.pool()).isEmpty()) {
      Path there = recorded.get(tag.pool());
      if (there != null) {
        misplaced.put(tag.pool(), there);
        return false;
      }
      lost.add(tag.pool());
    }
    return pools.hasLost(tag);
  }

  /** Says what is left to do with the pools that were taken for lost. */
  private void noteNext(TierSpec tier) throws IOException {
    Map<UUID, Path> there = poolsThatAreThere(tier);
    there.keySet().removeAll(lostPools);
    for (Path file : tier.config().pools()) {
      if (!there.containsValue(file)) {
        note(
            """
            pool %s is lost; next, before the broker starts: %screate a new one with 'strata \
            pool create'\
            """
                .formatted(
                    file,
                    Files.exists(file, LinkOption.NOFOLLOW_LINKS)
                        ? "move the file away and "
                        : ""));
      }
    }
  }

  private static void describe(AcceptedLoss.Plan plan, boolean done, ObjectNode document) {
    document.put("done", done);
    ArrayNode partitions = document.putArray("partitions");
    for (AcceptedLoss.Loss loss : plan.lacking()) {
      ObjectNode node = partitions.addObject();
      node.put("topic", loss.topic());
      node.put("partition", loss.partition());
      node.put("fromOffset", loss.fromOffset());
      node.put("directory", loss.directory().toString());
      node.put("dropped", loss.dropped().size());
      node.put("droppedBytes", loss.droppedBytes());
      node.put("droppedFromOffset", loss.droppedOffsets().from());
      node.put("droppedToOffset", loss.droppedOffsets().end());
    }
    ArrayNode skipped = document.putArray("skipped");
    for (AcceptedLoss.Skipped each : plan.skipped()) {
      ObjectNode node = skipped.addObject();
      node.put("logDirectory", each.logDirectory().toString());
      node.put("reason", each.reason());
    }
  }

  private static void print(AcceptedLoss.Plan plan, boolean yes, PrintWriter out) {
    List<AcceptedLoss.Loss> losses = plan.lacking();
    if (losses.isEmpty()) {
      out.println(
          plan.skipped().isEmpty()
              ? "No segment has lost its pool or its slot: no loss to accept."
              : "No loss to accept in the log directories that could be read.");
      return;
    }
    String files = yes ? ">FILES DELETED" : ">FILES TO DELETE";
    Table table =
        new Table(
            "PARTITION",
            ">MAY LACK RECORDS FROM OFFSET",
            files,
            ">BYTES",
            ">THEIR OFFSETS",
            "DIRECTORY");
    for (AcceptedLoss.Loss loss : losses) {
      String partition = loss.topic() + "-" + loss.partition();
      table.row(
          partition,
          loss.fromOffset(),
          loss.dropped().size(),
          loss.droppedBytes(),
          loss.dropped().isEmpty()
              ? "-"
              : loss.droppedOffsets().from() + " to " + loss.droppedOffsets().end(),
          loss.directory());
    }
    table.print(out);
    out.printf(
        "%s %d files of %d bytes in %d of %d partitions.%n",
        yes ? "Deleted" : "Would delete",
        losses.stream().mapToInt(loss -> loss.dropped().size()).sum(),
        losses.stream().mapToLong(AcceptedLoss.Loss::droppedBytes).sum(),
        losses.stream().filter(loss -> !loss.dropped().isEmpty()).count(),
        losses.size());
    if (yes) {
      out.println(
          """
          The broker's next start recovers these partitions; other replicas, where there are any, \
          bring back what is missing.\
          """);
    }
  }
}
