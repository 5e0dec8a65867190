package io.strata.kafka.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.strata.kafka.config.BrokerProperties;
import io.strata.kafka.config.StrataConfig;
import io.strata.kafka.pool.PoolException;
import io.strata.kafka.segment.SegmentTag;
import io.strata.kafka.tier.SetAside;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Clock;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code strata set-aside}. */
@Command(
    name = "set-aside",
    description = {
      """
      For a lost pool: moves the partitions that had segments in it out of the log directories, \
      to a folder beside each of them, so that the broker starts and Kafka replicates them from \
      their other replicas. Nothing is deleted. The same for segments whose slot 'strata pool \
      repair' has freed. The broker must be stopped.\
      """,
      "",
      """
      A partition without another replica is lost to Kafka: what is left of it stays in the \
      folder beside. Without --yes it shows what it would do.\
      """,
      "",
      "A log directory that it cannot read is named and left alone, with exit code 1.",
      ""
    },
    footer = {"", "Example:", "  strata set-aside --config server.properties --yes"},
    sortOptions = false,
    mixinStandardHelpOptions = true)
final class SetAsideCommand implements Callable<Integer> {
  /**
   * The refusals that a lost pool is recognized by; one that may not be read, for example, is not
   * lost.
   */
  private static final Set<PoolException.Kind> LOST =
      EnumSet.of(
          PoolException.Kind.MISSING,
          PoolException.Kind.NOT_A_POOL,
          PoolException.Kind.TRUNCATED,
          PoolException.Kind.CORRUPT);

  private static final DateTimeFormatter TIMESTAMP =
      DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'").withZone(ZoneOffset.UTC);

  // Set by picocli, before anything is run.
  @SuppressWarnings("NullAway.Init")
  @Spec
  private CommandSpec spec;

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

  @Mixin private final Confirmation confirmation = new Confirmation();

  @Mixin private final JsonOption json = new JsonOption();

  SetAsideCommand() {}

  @Override
  // What is held is only to be released.
  @SuppressWarnings("try")
  public Integer call() throws Exception {
    BrokerProperties broker = config.require();
    StrataConfig strata = broker.strataConfig().orElseThrow();
    Set<Path> directories = new LinkedHashSet<>(broker.logDirs());
    directories.add(broker.metadataLogDir());
    try (BrokerStopped stopped = BrokerStopped.require(List.copyOf(directories))) {
      boolean yes = confirmation.given();
      SetAside.Plan plan = plan(strata, directories);
      if (yes) {
        SetAside.run(plan);
      }
      print(plan, yes, spec.commandLine().getOut());
      if (yes) {
        printNext(strata.pools());
      }
      for (SetAside.Skipped skipped : plan.skipped()) {
        spec.commandLine()
            .getErr()
            .println(
                "strata: log directory %s was not looked at: %s"
                    .formatted(skipped.logDirectory(), skipped.reason()));
      }
      if (!yes && !plan.isEmpty()) {
        confirmation.require(
            """
            found no --yes, expected it to move %d partitions; bring the pool back if you can, or \
            repeat with --yes\
            """
                .formatted(plan.moves().size()));
      }
      return (plan.skipped().isEmpty() ? ExitCode.OK : ExitCode.FINDINGS).code();
    }
  }

  private SetAside.Plan plan(StrataConfig strata, Set<Path> directories) throws IOException {
    try (PoolReaders pools = PoolReaders.open(strata.pools())) {
      PrintWriter err = spec.commandLine().getErr();
      for (PoolException refusal : pools.refusals()) {
        if (!LOST.contains(refusal.kind())) {
          throw refusal;
        }
        err.println("strata: lost: " + refusal.getMessage());
      }
      for (OlderPool pool : OlderPool.among(pools.paths(), directories)) {
        if (!lostPools.contains(pool.id())) {
          err.println(
              """
              strata: pool %s %s; bring the current file back, or, if it is lost, repeat with \
              --pool %s\
              """
                  .formatted(pool.file(), pool.description(), pool.id()));
        }
      }
      return SetAside.plan(
          new ArrayList<>(directories),
          home -> isLost(home.tag(), pools),
          "set-aside-" + TIMESTAMP.format(Clock.systemUTC().instant()));
    }
  }

  /** Says what is left to do with the pools that were taken for lost. */
  private void printNext(List<Path> files) throws IOException {
    try (PoolReaders pools = PoolReaders.open(files)) {
      Map<Path, UUID> open = new HashMap<>();
      pools.paths().forEach((id, file) -> open.put(file, id));
      for (Path file : files) {
        UUID id = open.get(file);
        if (id == null || lostPools.contains(id)) {
          spec.commandLine()
              .getErr()
              .println(
                  """
                  strata: pool %s is lost; next, before the broker starts: %screate a new one \
                  with 'strata pool create'\
                  """
                      .formatted(
                          file,
                          Files.exists(file, LinkOption.NOFOLLOW_LINKS)
                              ? "move the file away and "
                              : ""));
        }
      }
    }
  }

  private boolean isLost(SegmentTag tag, PoolReaders pools) {
    return lostPools.contains(tag.pool()) || pools.hasLost(tag);
  }

  private void print(SetAside.Plan plan, boolean yes, PrintWriter out) {
    if (json.given()) {
      ObjectNode document = Json.object();
      document.put("done", yes || plan.isEmpty());
      ArrayNode array = document.putArray("partitions");
      for (SetAside.Move move : plan.moves()) {
        ObjectNode node = array.addObject();
        node.put("from", move.partition().toString());
        node.put("to", move.target().toString());
      }
      ArrayNode untagged = document.putArray("untagged");
      plan.wholeHomes().forEach(home -> untagged.add(home.toString()));
      ArrayNode skipped = document.putArray("skipped");
      for (SetAside.Skipped each : plan.skipped()) {
        ObjectNode node = skipped.addObject();
        node.put("logDirectory", each.logDirectory().toString());
        node.put("reason", each.reason());
      }
      Json.print(document, out);
      return;
    }
    if (plan.isEmpty()) {
      out.println(
          plan.skipped().isEmpty()
              ? "No segment has lost its bytes: nothing to set aside."
              : "Nothing to set aside in the log directories that could be read.");
      return;
    }
    Table table =
        new Table()
            .column(yes ? "MOVED" : "WOULD MOVE", Table.Align.LEFT)
            .column("TO", Table.Align.LEFT);
    plan.moves().forEach(move -> table.row(move.partition().toString(), move.target().toString()));
    if (!plan.moves().isEmpty()) {
      table.print(out);
    }
    if (!plan.wholeHomes().isEmpty()) {
      out.println(
          "%d other segments are whole in their log files: only their tags %s removed."
              .formatted(plan.wholeHomes().size(), yes ? "were" : "would be"));
    }
  }
}
