package io.strata.kafka.cli.pool;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.strata.kafka.broker.TierSpecs;
import io.strata.kafka.cli.terminal.BrokerStopped;
import io.strata.kafka.cli.terminal.ByteSize;
import io.strata.kafka.cli.terminal.CommandException;
import io.strata.kafka.cli.terminal.ConfigOption;
import io.strata.kafka.cli.terminal.Confirmation;
import io.strata.kafka.cli.terminal.ExitCode;
import io.strata.kafka.cli.terminal.Progress;
import io.strata.kafka.cli.terminal.StrataCommand;
import io.strata.kafka.config.BrokerProperties;
import io.strata.kafka.config.PoolType;
import io.strata.kafka.config.StrataConfig;
import io.strata.kafka.config.StrataKeys;
import io.strata.kafka.config.key.ByteAmount;
import io.strata.kafka.config.key.ConfigRefusedException;
import io.strata.kafka.config.key.Parsed;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.pool.CheckReport;
import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.PoolChecker;
import io.strata.kafka.pool.PoolReader;
import io.strata.kafka.pool.RepairReport;
import io.strata.kafka.pool.words.CheckFinding;
import io.strata.kafka.pool.words.PoolException;
import io.strata.kafka.pool.words.PoolOwner;
import io.strata.kafka.pool.words.PoolSpec;
import io.strata.kafka.tier.offline.AcceptedLoss;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Groups the commands about pool files. */
@Command(
    name = "pool",
    description = "Creates, shows, checks, grows and repairs pool files.",
    subcommands = {
      PoolCommand.Create.class,
      PoolCommand.Info.class,
      PoolCommand.Check.class,
      PoolCommand.Grow.class,
      PoolCommand.Repair.class,
      PoolCommand.Forget.class,
    })
public final class PoolCommand extends StrataCommand.Group {
  @Command(
      name = "create",
      description = {
        """
        Creates a pool file: allocates its blocks now, so that a full disk cannot surprise a \
        running broker, and formats it. Run it as the user that the broker runs as: the file \
        belongs to that user alone. One that root creates belongs to its directory's owner.\
        """,
        "",
        """
        With --config the pool is bound to that broker and its cluster, and takes its type and its \
        path from strata.pool.type and strata.pools unless they are given here.\
        """,
        ""
      },
      footer = {
        "",
        "Examples:",
        "  strata pool create --size 64GiB --config server.properties /mnt/pmem0/hot.pool",
        "  strata pool create --size 512MiB --type mapped --broker-id 1 /dev/shm/hot.pool"
      })
  static final class Create extends StrataCommand {
    @Parameters(paramLabel = "FILE", arity = "0..1", description = "The file; it must not exist.")
    private @Nullable Path file;

    @Option(names = "--path", paramLabel = "FILE", description = "The same as the parameter FILE.")
    private @Nullable Path path;

    // Required, and so set by picocli.
    @SuppressWarnings("NullAway.Init")
    @Option(
        names = "--size",
        required = true,
        paramLabel = "SIZE",
        converter = ByteSize.Converter.class,
        description = "The file's size, for example 64GiB.")
    private ByteAmount size;

    @Option(
        names = "--type",
        paramLabel = "TYPE",
        description =
            """
            How the broker will reach it: auto, pmem, mapped or file; auto by default. The \
            file is the same for all.\
            """)
    private @Nullable PoolType type;

    @Option(
        names = "--slots",
        paramLabel = "N",
        description = "Segments that it can hold at a time; one per MiB by default.")
    private @Nullable Integer slots;

    @Option(names = "--broker-id", paramLabel = "N", description = "The broker's node.id.")
    private @Nullable Integer brokerId;

    @Option(
        names = "--cluster-id",
        paramLabel = "ID",
        description = "The cluster's id, as in meta.properties.")
    private @Nullable String clusterId;

    @Mixin private final ConfigOption config = new ConfigOption();

    @Override
    protected ExitCode run() throws Exception {
      Optional<BrokerProperties> broker = config.loadForChange();
      Optional<StrataConfig> strata = Optional.empty();
      if (broker.isPresent()) {
        if (brokerId != null || clusterId != null) {
          throw CommandException.usage(
              "--config: found with --broker-id or --cluster-id, expected the one or the others");
        }
        Parsed<StrataConfig> read = broker.get().strataConfig();
        strata = isNamed() ? read.config() : Optional.of(read.orElseThrow());
        if (strata.isEmpty()) {
          read.problems().forEach(problem -> note(problem.message()));
        }
      }
      Path target = target(strata);
      PoolType wanted = type(strata, target);
      MemoryType poolType = wanted.fixed().orElse(MemoryType.MAPPED);
      PoolSpec pool = PoolSpec.of(target, poolType, size.bytes()).withOwner(owner(broker));
      if (slots != null) {
        pool = pool.withSlotCount(slots);
      }
      try (Progress progress = Progress.onTerminal("creating " + target.getFileName())) {
        Pool.create(pool, progress);
      }
      wanted
          .refusal(target)
          .ifPresent(refusal -> note("the broker will refuse %s: %s".formatted(target, refusal)));
      if (broker.isPresent()) {
        warnOfOtherUser(broker.get(), target);
        boolean added = broker.get().get(StrataKeys.POOLS.name()).isPresent();
        if (strata.map(config -> !config.pools().contains(target)).orElse(!added)) {
          note("next: add " + target + " to strata.pools in server.properties");
        }
      }
      PoolReport.print(List.of(PoolReport.of(target)), this);
      return ExitCode.OK;
    }

    /** Returns the given one, or that of the pool's tier; of the first if it is not listed. */
    private PoolType type(Optional<StrataConfig> strata, Path pool) {
      if (type != null) {
        return type;
      }
      if (strata.isEmpty()) {
        return PoolType.AUTO;
      }
      StrataConfig config = strata.get();
      return config.pools().contains(pool) ? config.poolType(pool) : config.tiers().get(0).type();
    }

    private boolean isNamed() {
      return file != null || path != null;
    }

    private Path target(Optional<StrataConfig> strata) throws CommandException {
      if (file != null && path != null) {
        throw CommandException.usage("--path: found with the parameter FILE, expected one of them");
      }
      Optional<Path> given = Optional.ofNullable(file).or(() -> Optional.ofNullable(path));
      if (given.isPresent()) {
        return given.get().toAbsolutePath().normalize();
      }
      return PoolCommand.PoolPlace.only(strata.map(StrataConfig::pools).orElse(List.of()));
    }

    /** Binds the pool to the known ids; the broker's first opening binds it to the others. */
    private PoolOwner owner(Optional<BrokerProperties> broker) {
      return broker
          .map(TierSpecs::ownerIn)
          .orElseGet(
              () ->
                  new PoolOwner(
                      brokerId == null ? OptionalInt.empty() : OptionalInt.of(brokerId),
                      Optional.ofNullable(clusterId)));
    }

    /** The commonest mistake: created by root, and then the broker may not open it. */
    private void warnOfOtherUser(BrokerProperties broker, Path pool) throws IOException {
      Path directory = broker.logDirs().get(0);
      if (!Files.isDirectory(directory)) {
        return;
      }
      UserPrincipal brokersUser = Files.getOwner(directory);
      UserPrincipal poolsUser = Files.getOwner(pool);
      if (!brokersUser.equals(poolsUser)) {
        note(
            """
            warning: %s belongs to %s, and the log directory %s to %s: run 'chown %s %s', or \
            the broker cannot open it\
            """
                .formatted(
                    pool,
                    poolsUser.getName(),
                    directory,
                    brokersUser.getName(),
                    brokersUser.getName(),
                    pool));
      }
    }
  }

  @Command(
      name = "info",
      description = {
        "Shows what a pool is and how full. Reads only, and works while the broker runs.",
        ""
      },
      footer = {
        "",
        "Examples:",
        "  strata pool info /mnt/pmem0/hot.pool",
        "  strata pool info --config server.properties --json"
      })
  static final class Info extends StrataCommand {
    @Mixin private final PoolPlaces files = new PoolPlaces();

    @Override
    protected ExitCode run() throws Exception {
      List<PoolReport> reports = new ArrayList<>();
      for (Path file : files.resolve()) {
        try {
          reports.add(PoolReport.of(file));
        } catch (PoolException e) {
          throw files.explained(e, file);
        }
      }
      PoolReport.print(reports, this);
      return ExitCode.OK;
    }
  }

  @Command(
      name = "check",
      description = {
        """
        Verifies a pool's metadata: superblocks, slots, extents. Reads only, and works while the \
        broker runs. Exit code 1 if a pool cannot be opened for writing as it is; warnings, which \
        the next start puts right, do not count.\
        """,
        ""
      },
      footer = {
        "",
        "Examples:",
        "  strata pool check /mnt/pmem0/hot.pool",
        "  strata pool check --config server.properties --json"
      })
  static final class Check extends StrataCommand {
    @Mixin private final PoolPlaces files = new PoolPlaces();

    private record Checked(Path file, CheckReport report) {}

    @Override
    protected ExitCode run() throws Exception {
      List<Checked> pools = new ArrayList<>();
      for (Path file : files.resolve()) {
        Checked pool = new Checked(file, PoolChecker.check(file));
        pools.add(pool);
        if (!json()) {
          // At once: the next pool may not be readable at all.
          print(file, pool.report(), out());
        }
      }
      print(
          document -> {
            ArrayNode array = document.putArray("pools");
            pools.forEach(pool -> describe(pool.file(), pool.report(), array.addObject()));
          },
          printed -> {});
      return pools.stream().allMatch(pool -> pool.report().usable())
          ? ExitCode.OK
          : ExitCode.FINDINGS;
    }

    private static void describe(Path file, CheckReport report, ObjectNode node) {
      node.put("path", file.toString());
      node.put("usable", report.usable());
      node.put("segments", report.liveSlots());
      node.put("deletingSegments", report.deletingSlots());
      node.put("freeSlots", report.freeSlots());
      node.put("usedBytes", report.usedBytes());
      describe(report.findings(), node.putArray("findings"));
    }

    static void describe(List<CheckFinding> findings, ArrayNode array) {
      for (CheckFinding finding : findings) {
        ObjectNode node = array.addObject();
        node.put("severity", finding.severity().name());
        finding.slot().ifPresent(slot -> node.put("slot", slot));
        node.put("position", finding.position());
        node.put("found", finding.found());
        node.put("expected", finding.expected());
      }
    }

    static void print(Path file, CheckReport report, PrintWriter out) {
      int deleting = report.deletingSlots();
      out.printf(
          "%s: %s, %s segments, %s used%s%n",
          file,
          report.clean() ? "sound" : report.usable() ? "usable" : "damaged",
          report.liveSlots(),
          ByteSize.format(report.usedBytes()),
          deleting > 0 ? ", " + deleting + " segments being deleted" : "");
      print(report.findings(), out);
    }

    static void print(List<CheckFinding> findings, PrintWriter out) {
      for (CheckFinding finding : findings) {
        out.printf(
            "  %s%s at %s: found %s, expected %s%n",
            finding.severity().name().toLowerCase(Locale.ROOT),
            finding.slot().isPresent() ? ": slot " + finding.slot().getAsInt() : ":",
            finding.position(),
            finding.found(),
            finding.expected());
      }
    }
  }

  @Command(
      name = "grow",
      description = {
        """
        Makes a pool larger, with what it holds. The broker must be stopped. The number of slots \
        stays as it was created.\
        """,
        ""
      },
      footer = {"", "Example:", "  strata pool grow --size 128GiB /mnt/pmem0/hot.pool"})
  static final class Grow extends StrataCommand {
    @Mixin private final PoolPlace place = new PoolPlace();

    // Required, and so set by picocli.
    @SuppressWarnings("NullAway.Init")
    @Option(
        names = "--size",
        required = true,
        paramLabel = "SIZE",
        converter = ByteSize.Converter.class,
        description = "The file's new size, larger than it is.")
    private ByteAmount size;

    @Override
    @SuppressWarnings("try") // what is held is only to be released
    protected ExitCode run() throws Exception {
      Path target = place.resolve();
      try (BrokerStopped stopped = place.brokerStopped();
          Progress progress = Progress.onTerminal("growing " + target.getFileName())) {
        Pool.grow(target, size.bytes(), progress);
      }
      PoolReport.print(List.of(PoolReport.of(target)), this);
      return ExitCode.OK;
    }
  }

  @Command(
      name = "repair",
      description = {
        """
        Makes a damaged pool usable: frees the damaged slots. What their segments had in the pool \
        is discarded; all other segments stay. The broker must be stopped. Without --yes it shows \
        what it would do.\
        """,
        "",
        """
        Then 'strata segments' shows the segments that have lost bytes as unreachable, and 'strata \
        accept-loss' has their partitions recovered, so that Kafka replicates what is missing. The \
        broker refuses to start before that is done.\
        """,
        ""
      },
      footer = {"", "Example:", "  strata pool repair --yes /mnt/pmem0/hot.pool"})
  static final class Repair extends StrataCommand {
    @Mixin private final PoolPlace place = new PoolPlace();
    @Mixin private final Confirmation confirmation = new Confirmation();

    @Override
    @SuppressWarnings("try") // what is held is only to be released
    protected ExitCode run() throws Exception {
      Path target = place.resolve();
      CheckReport before = PoolChecker.check(target);
      if (before.info().isEmpty()) {
        // No slot can be found, whatever is confirmed.
        throw CommandException.refused(
            "this cannot be repaired: %s".formatted(before.findings().get(0).found()));
      }
      boolean confirmed = confirmation.given() || (before.usable() && !confirmation.lookOnly());
      if (!confirmed) {
        print(
            document -> describe(target, false, List.of(), before.findings(), document),
            out -> Check.print(target, before, out));
        confirmation.require(
            """
            %s: found a damaged pool, expected --yes to discard what its damaged slots held; \
            restore the pool if you can, or repeat with --yes\
            """
                .formatted(target));
        return ExitCode.OK;
      }
      RepairReport report;
      try (BrokerStopped stopped = place.brokerStopped()) {
        report = Pool.repair(target);
      }
      print(
          document -> describe(target, true, report.freedSlots(), report.findings(), document),
          out -> {
            String repaired = ": repaired, %d damaged slots freed";
            boolean sound = report.findings().isEmpty();
            String done = sound ? ": sound, nothing to repair" : repaired;
            out.println(target + done.formatted(report.freedSlots().size()));
            Check.print(report.findings(), out);
          });
      if (!report.freedSlots().isEmpty()) {
        note(
            """
            next, before the broker starts: 'strata accept-loss --config <server.properties>', for \
            the partitions that have lost bytes\
            """);
      }
      return ExitCode.OK;
    }

    private static void describe(
        Path pool,
        boolean done,
        List<Integer> freed,
        List<CheckFinding> findings,
        ObjectNode document) {
      document.put("path", pool.toString());
      document.put("done", done);
      freed.forEach(document.putArray("freedSlots")::add);
      Check.describe(findings, document.putArray("findings"));
    }
  }

  @Command(
      name = "forget",
      description = {
        """
        Discards the segments of a log directory that is lost for good, after its disk was \
        replaced, say: frees their slots. The broker, which refuses to start with such segments in \
        a pool, names the directory. The broker must be stopped. Without --yes it shows what it \
        would do. A segment whose log file is in one of the broker's present log directories stays.\
        """,
        ""
      },
      footer = {
        "",
        "Example:",
        """
          strata pool forget --config server.properties \
        --directory 5a0d1a2e-8d3c-4d0f-9b6e-0f4c6b1f2a77 --yes /mnt/pmem0/hot.pool\
        """
      })
  static final class Forget extends StrataCommand {
    @Mixin private final PoolPlace place = new PoolPlace();

    // Required, and so set by picocli.
    @SuppressWarnings("NullAway.Init")
    @Option(
        names = "--directory",
        required = true,
        paramLabel = "UUID",
        description = "The log directory, by the UUID that the broker's refusal names.")
    private UUID directory;

    @Option(
        names = "--segment",
        paramLabel = "PATH",
        description =
            """
            Only this segment, by its path in the log directory, as a message names it; may be \
            given several times.\
            """)
    private List<String> only = new ArrayList<>();

    @Mixin private final Confirmation confirmation = new Confirmation();

    @Override
    @SuppressWarnings("try") // what is held is only to be released
    protected ExitCode run() throws Exception {
      Path target = place.resolve();
      boolean yes = confirmation.given();
      List<Path> logDirectories = place.config.requireForChange().logDirs();
      List<String> segments;
      try (BrokerStopped stopped = place.brokerStopped()) {
        AcceptedLoss.GivenUp givenUp =
            AcceptedLoss.GivenUp.of(directory, Optional.empty(), logDirectories).only(only);
        segments = AcceptedLoss.forget(target, givenUp, yes);
      }
      List<String> unknown = only.stream().filter(path -> !segments.contains(path)).toList();
      print(
          document -> {
            document.put("path", target.toString());
            document.put("directory", directory.toString());
            document.put("done", unknown.isEmpty() && (yes || segments.isEmpty()));
            segments.forEach(document.putArray("segments")::add);
          },
          out -> {
            segments.forEach(out::println);
            String count = segments.size() == 1 ? "1 segment" : segments.size() + " segments";
            out.println(count + (yes ? " discarded" : " would be discarded"));
          });
      unknown.forEach(
          path ->
              note(
                  """
                  --segment: found no segment %s of this log directory in the pool, expected a \
                  path in the log directory, as the broker's message names it, whose log file is \
                  in no present log directory\
                  """
                      .formatted(path)));
      if (!yes && !segments.isEmpty()) {
        confirmation.require(
            """
            found no --yes, expected it to discard %s segments; put the log directory back if you \
            can, or repeat with --yes\
            """
                .formatted(segments.size()));
      }
      return unknown.isEmpty() ? ExitCode.OK : ExitCode.FINDINGS;
    }
  }

  /** Names pools: files, or those of a broker's configuration. */
  static final class PoolPlaces {
    @Parameters(
        paramLabel = "FILE",
        arity = "0..*",
        description = "Pool files; those of strata.pools if --config is given instead.")
    private List<Path> files = new ArrayList<>();

    @Mixin private final ConfigOption config = new ConfigOption();

    private boolean createdByTheBroker;

    /** At least one file, absolute. */
    List<Path> resolve() throws IOException, CommandException, ConfigRefusedException {
      Optional<BrokerProperties> broker = config.load();
      if (broker.isPresent() != files.isEmpty()) {
        throw CommandException.usage(
            "FILE: found %s --config, expected one of them"
                .formatted(files.isEmpty() ? "neither a file nor" : "both files and"));
      }
      if (broker.isEmpty()) {
        return files.stream().map(file -> file.toAbsolutePath().normalize()).toList();
      }
      StrataConfig read = broker.get().strataConfig().orElseThrow();
      createdByTheBroker = read.poolCreate().isPresent();
      return read.pools();
    }

    /** A failure of one of the files, with what to do that fits the configuration. */
    Exception explained(PoolException failure, Path file) {
      return createdByTheBroker && failure.kind() == PoolException.Kind.MISSING
          ? CommandException.refused(
              """
              pool %s: found no such file, expected a pool: mount its file system, correct the path, \
              or start the broker, which creates it as strata.pool.create says\
              """
                  .formatted(file))
          : failure;
    }
  }

  /** Names one pool: its file, or the only one of a broker's configuration. */
  static final class PoolPlace {
    @Parameters(
        paramLabel = "FILE",
        arity = "0..1",
        description = "The pool file; that of strata.pools if it is left out.")
    private @Nullable Path file;

    @Mixin private final ConfigOption config = new ConfigOption();

    Path resolve() throws IOException, CommandException, ConfigRefusedException {
      if (file != null) {
        return file.toAbsolutePath().normalize();
      }
      Optional<BrokerProperties> broker = config.load();
      return only(
          broker.isPresent() ? broker.get().strataConfig().orElseThrow().pools() : List.of());
    }

    /**
     * Sees to it that no broker runs on the log directories, if a configuration names them, and
     * that it is the configuration of the pool's owner: another broker's log directories say
     * nothing of what is needed in this pool.
     */
    BrokerStopped brokerStopped() throws Exception {
      Optional<BrokerProperties> broker = config.loadForChange();
      if (broker.isPresent()) {
        requireOwner(broker.get());
      }
      return BrokerStopped.require(broker.map(BrokerProperties::logDirs).orElse(List.of()));
    }

    private void requireOwner(BrokerProperties broker) throws Exception {
      PoolOwner expected = TierSpecs.ownerIn(broker);
      Path target = resolve();
      try (PoolReader pool = Pool.openReadOnly(target)) {
        PoolOwner found = pool.info().owner();
        if (found.contradicts(expected)) {
          throw CommandException.refused(
              """
              pool %s: found a pool of %s, expected one of %s, whose configuration is %s: name \
              the configuration of the pool's owner; nothing has been changed\
              """
                  .formatted(target, found, expected, broker.source()));
        }
      }
    }

    static Path only(List<Path> pools) throws CommandException {
      if (pools.size() != 1) {
        throw CommandException.usage(
            """
            FILE: found nothing, expected the pool's file, or a --config with exactly one file in \
            strata.pools (it has %s)\
            """
                .formatted(pools.size()));
      }
      return pools.get(0);
    }
  }
}
