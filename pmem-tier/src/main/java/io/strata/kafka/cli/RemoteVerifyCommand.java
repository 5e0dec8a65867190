package io.strata.kafka.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.strata.kafka.migration.ByteRateLimiter;
import io.strata.kafka.migration.remote.store.Scrubber;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code strata remote verify}. */
@Command(
    name = "verify",
    description = {
      """
      Checks the store without reading its data: that all directories are of one store and each \
      is there once, that each manifest is whole and each of its files is there with the right \
      length, and what was left over. Reads only, and works while brokers use the store.\
      """,
      "",
      """
      Exit code 1 if data is damaged or missing, or a directory is of another store; leftovers \
      and strange files do not count.\
      """,
      ""
    },
    footer = {"", "Example:", "  strata remote verify --config server.properties"},
    sortOptions = false,
    mixinStandardHelpOptions = true)
final class RemoteVerifyCommand implements Callable<Integer> {

  /** Younger leftovers may be another process's work under way. */
  private static final Duration ORPHAN_AGE = Duration.ofHours(1);

  // Set by picocli, before anything is run.
  @SuppressWarnings("NullAway.Init")
  @Spec
  private CommandSpec spec;

  @Mixin private final StorePlaces places = new StorePlaces();
  @Mixin private final SegmentSelection selection = new SegmentSelection();
  @Mixin private final JsonOption json = new JsonOption();

  RemoteVerifyCommand() {}

  @Override
  public Integer call() throws Exception {
    List<StorePlaces.Place> all = places.resolve();
    List<String> identities = StoreInventory.of(all, key -> false).findings();
    StoreCheck check;
    try (Progress progress = Progress.onTerminal("verifying")) {
      check = new StoreCheck(new ByteRateLimiter(System::nanoTime), progress, 0);
      for (StorePlaces.Place place : all) {
        check.run(
            place,
            new Scrubber.Options(
                Scrubber.Depth.LOOK,
                selection.chosen(),
                selection.everything(),
                false,
                ORPHAN_AGE));
      }
    }
    PrintWriter out = spec.commandLine().getOut();
    if (json.given()) {
      ObjectNode document = Json.object();
      check.addJson(document);
      ArrayNode findings = document.putArray("findings");
      identities.forEach(findings::add);
      Json.print(document, out);
    } else {
      check.printText(out);
      identities.forEach(out::println);
    }
    return (check.damaged() || !identities.isEmpty() ? ExitCode.FINDINGS : ExitCode.OK).code();
  }
}
