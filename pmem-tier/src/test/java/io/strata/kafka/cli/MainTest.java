package io.strata.kafka.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.strata.kafka.cli.remote.RemoteCommandsTest;
import io.strata.kafka.cli.status.StatusCommandTest;
import io.strata.kafka.cli.terminal.ExitCode;
import io.strata.kafka.cli.terminal.Failures;
import io.strata.kafka.config.GeneratedPage;
import io.strata.kafka.memory.MemoryDirectory;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;

/** Usage, help and version; and the reference page. */
public class MainTest {

  /** On a disk: of a pool in memory a command has more to say. */
  @TempDir(factory = MemoryDirectory.OnDisk.class)
  Path directory;

  @Test
  void showsItsVersion() {
    assertThat(CommandLineRun.of("--version").succeeds().out()).startsWith("strata ");
  }

  @ParameterizedTest
  @ValueSource(strings = {"--help", "help", "pool --help", "help pool", "pool create --help"})
  void showsHelpOnStandardOutput(String line) {
    assertThat(CommandLineRun.of((Object[]) line.split(" ")).succeeds().out())
        .contains("Usage: strata");
  }

  @Test
  void helpOfACommandHasAnExample() {
    assertThat(CommandLineRun.of("pool", "create", "--help").out())
        .contains("Example")
        .contains("--size");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "pool",
        "nonsense",
        "pool nonsense",
        "pool create",
        "pool create --size",
        "pool create --size big x",
        "pool create --size 64m",
        "pool create --size 64m --type ramdisk x",
        "pool create --size 64m --slots x x",
        "pool info",
        "pool info --nonsense x",
        "segments",
        "segments --override a=b",
        "segments --config /no/such/file",
        "status --watch 0",
        "status --watch x",
        "status --count 1",
        "status --pid 1 --jmx localhost:1",
        "plan",
        "plan --ingest 5G --reserve 1GB",
        "remote",
        "remote ls",
        "remote nonsense",
      })
  void wrongUsageIsOneLineAndAHint(String line) {
    Object[] args = line.isEmpty() ? new Object[0] : line.split(" ");

    CommandLineRun run = CommandLineRun.of(args).fails(ExitCode.USAGE);

    assertThat(run.err().lines().count()).isLessThanOrEqualTo(2);
  }

  @Test
  void namesTheOptionAndWhatItExpected() {
    assertThat(CommandLineRun.of("pool", "create", "--size", "big", "x").err())
        .contains("--size")
        .contains("found 'big' (not a number with a unit), expected an amount of bytes, for");
    assertThat(CommandLineRun.of("pool", "create", "--size", "64MiB", "--type", "x", "y").err())
        .contains("--type")
        .contains("found 'x', expected auto, pmem, mapped or file");
  }

  @Test
  void verboseShowsTheStackTrace() {
    Path missing = directory.resolve("missing");
    assertThat(CommandLineRun.of("pool", "info", missing).fails(ExitCode.REFUSED).err())
        .contains(missing.toString());
    assertThat(CommandLineRun.of("pool", "info", missing, "--verbose").err()).contains("\tat ");
    assertThat(CommandLineRun.of("--verbose", "pool", "info", missing).err()).contains("\tat ");
  }

  @Test
  void aMissingPermissionIsARefusalOnWhateverFile() {
    for (Exception each :
        List.of(
            new AccessDeniedException("/mnt/pool"),
            new UncheckedIOException(new AccessDeniedException("/mnt/pool")),
            new DirectoryIteratorException(new AccessDeniedException("/mnt/pool")))) {
      assertThat(failure(each))
          .startsWith("3 strata: /mnt/pool: permission denied for user ")
          .contains("; run this as the user that the broker runs as");
    }
    assertThat(failure(new FileSystemException("/mnt/pool", null, "Input/output error")))
        .isEqualToIgnoringNewLines("4 strata: /mnt/pool: Input/output error");
  }

  private static String failure(Exception e) {
    CommandLine commandLine = Main.commandLine();
    StringWriter err = new StringWriter();
    commandLine.setErr(new PrintWriter(err, true));
    int code =
        new Failures(() -> false)
            .handleExecutionException(e, commandLine, commandLine.parseArgs("help"));
    return "%d %s".formatted(code, err);
  }

  @Test
  void referencePageIsUpToDate() throws IOException {
    StringBuilder page = new StringBuilder("# Command line\n\n");
    page.append(
        """
        <!-- Generated from io.strata.kafka.cli: see docs/contributing.md. -->

        The jar is the command line too; with the script `examples/bin/strata`, or `java -jar` and the jar in its place,
        the examples below work as they stand. Results go to standard output, everything else to standard error; with
        `--json` the output is one JSON document (with `status --watch` one each time), with sizes in bytes. Sizes of pools are
        given as `4GiB`, `500GB` or in bytes: KiB, MiB and GiB are powers of 1024, kB, MB and GB of 1000.

        | exit code | meaning |
        |---|---|
        """);
    for (ExitCode code : ExitCode.values()) {
      page.append(String.format(Locale.ROOT, "| %d | %s |%n", code.code(), code.meaning()));
    }
    append(page, Main.commandLine());
    page.append(JSON);
    GeneratedPage.check("reference/cli.md", page.toString());
  }

  /** What scripts may rely on. {@link #jsonFieldsAreThoseOfThePage} holds it against the output. */
  private static final String JSON =
      """

      ## JSON

      Fields may be added in later versions; those below stay.

      | command | fields |
      |---|---|
      | `pool create`, `pool info`, `pool grow` | `pools[]`: `path`, `id`, `brokerId` and `clusterId` (if bound), \
      `layoutVersion`, `created`, `durability` (`POWER`, `FORCE`, `PROCESS`), `sizeBytes`, `dataBytes`, `usedBytes`, \
      `freeBytes`, `committedBytes`, `slots`, `segments`, `deletingSegments` |
      | `pool check` | `pools[]`: `path`, `usable`, `segments`, `deletingSegments`, `freeSlots`, `usedBytes`, `findings[]`: \
      `severity` (`WARNING`, `ERROR`), `slot` (if one), `position`, `found`, `expected` |
      | `pool repair` | `path`, `done`, `freedSlots[]`, `findings[]` as above |
      | `segments` | `segments[]` (not with `--totals`): `topic`, `partition`, `baseOffset`, `replica` (`CURRENT`, `FUTURE`, \
      `DELETED`, `STRAY`), `stage` (`LIVE`, `DELETED`, `CLEANED`, `SWAP`), `state` (`HOT`, `SPILLED`, `LOGDIRS`, `UNREACHABLE`), \
      `pool` (if one), `bytesInPool`, `bytesInLogFile`, `bytesOnlyInPool`, `file`; `total`: `segments`, \
      `hot`, `clean`, `spilled`, `logdirs`, `unreachable`, \
      `bytesInPool`, `bytesInLogFile`, `bytesOnlyInPool`; `pools[]`: `path`, `segments`, `bytesInPool`, `usedBytes`, `freeBytes`; `findings[]` |
      | `status` | `broker`, `pid`, `version`, `time`, `health` (0, 1 or 2), `reasons[]`; `metrics`: by type and tags (`Tier,tier=hot`), \
      then by the names of the [metrics](metrics.md), of a distribution for each attribute (`DestageSeconds.99thPercentile`), with the \
      rates over the interval `DestagedBytesPerSecond` and `PromotedBytesPerSecond` of tiers, `CopiedBytesPerSecond` and \
      `FetchedBytesPerSecond` of remote levels; what is not known is missing; `settings`: by key |
      | `plan` | each result by its name in the table, in bytes, bytes per second, seconds or as a share; `null` for "for \
      ever" |
      | `doctor` | `checks[]`: `verdict` (`ok`, `warn`, `fail`), `what`, `found`, `remedy`; `failed`, `warned` |
      | `drain` | `complete`, `segments`, `bytes`, `kept[]`, `skipped[]` |
      | `accept-loss` | `done`, `partitions[]`: `topic`, `partition`, `fromOffset`, `directory`, `dropped` (files); `skipped[]`: `logDirectory`, `reason` |
      | `remote ls` | `storeId`, `clusterId`, `segments[]`: `topic`, `topicId`, `partition`, `startOffset`, `endOffset`, `id`, \
      `bytes`, `totalBytes`, `brokerId`, `created`, `maxTimestampMillis`, `chunkBytes`, `copies[]`: `level` (with `--config`), \
      `directory`, `path`, `storedBytes`, `hasLog`, `moving`, `damaged`, `cold` (`none`, `begun`, `done`); `findings[]` |
      | `remote du` | `partitions[]` (not with `--totals`): `topic`, `partition`, `level`, `segments`, `bytes`; `levels[]`: \
      `level`, `segments`, `bytes`; `total`: `segments`, `bytes`; `findings[]` |
      | `remote verify`, `remote scrub` | `directories[]`: `level` (with `--config`), `path`, `segments`, `files`, `readBytes`, \
      `findings[]`: `kind` (`corrupt`, `missing`, `unreadable`, `foreign`, `stranger`, `orphan`, `unconfirmed`), `path`, \
      `message`; `removed[]`; `findings[]`; with `--bootstrap-server` `kafka`: `gap` (if not all could be read), `unneeded[]`: \
      `kind` (`deleted`, `unfinished`, `deleting`), `path`, `bytes`; `unknown[]`: the same; `young`; `lost[]`: `topic`, `partition`, \
      `startOffset`, `endOffset`, `id`; `removed[]`, `kept[]` |
      """;

  @Test
  void jsonFieldsAreThoseOfThePage() throws IOException {
    Path pool = directory.resolve("hot.pool");
    Path config = directory.resolve("server.properties");
    Path partition = Files.createDirectories(directory.resolve("logs/t-0"));
    Files.createFile(partition.resolve("00000000000000000000.log"));
    Files.writeString(
        config, "node.id=1\nlog.dirs=" + partition.getParent() + "\nstrata.pools=" + pool + "\n");
    List<Object[]> commands =
        List.of(
            new Object[] {"pool", "create", "--size", "8MiB", pool, "--cluster-id", "c", "--json"},
            new Object[] {"pool", "check", "--config", config, "--json"},
            new Object[] {"pool", "repair", pool, "--json"},
            new Object[] {"segments", "--config", config, "--json"},
            new Object[] {"drain", "--config", config, "--json"},
            new Object[] {"accept-loss", "--config", config, "--json"});
    for (Object[] command : commands) {
      Set<String> fields = new TreeSet<>();
      collectFields(CommandLineRun.of(command).succeeds().json(), fields);
      assertThat(fields).isNotEmpty().allMatch(field -> JSON.contains("`" + field), "documented");
    }
  }

  @Test
  void jsonFieldsOfTheStatusAreThoseOfThePage() throws IOException {
    assertThat(StatusCommandTest.fields()).isNotEmpty().allMatch(f -> JSON.contains("`" + f));
  }

  @Test
  void jsonFieldsOfTheStoreAreThoseOfThePage() throws IOException, InterruptedException {
    assertThat(RemoteCommandsTest.fields(directory))
        .isNotEmpty()
        .allMatch(f -> JSON.contains("`" + f));
  }

  public static void collectFields(JsonNode node, Set<String> fields) {
    node.fieldNames().forEachRemaining(fields::add);
    node.forEach(child -> collectFields(child, fields));
  }

  private static void append(StringBuilder page, CommandLine command) {
    page.append("\n## ").append(command.getCommandSpec().qualifiedName()).append("\n\n```\n");
    page.append(command.getUsageMessage(Ansi.OFF).stripTrailing().replaceAll("(?m) +$", ""));
    page.append("\n```\n");
    command
        .getSubcommands()
        .forEach(
            (name, subcommand) -> {
              if (!name.equals("help")) {
                append(page, subcommand);
              }
            });
  }
}
