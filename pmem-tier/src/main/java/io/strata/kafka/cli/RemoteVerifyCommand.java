package io.strata.kafka.cli;

import io.strata.kafka.migration.ByteRateLimiter;
import io.strata.kafka.migration.remote.store.Scrubber;
import java.time.Duration;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

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
    footer = {"", "Example:", "  strata remote verify --config server.properties"})
final class RemoteVerifyCommand extends StrataCommand {

  /** Younger leftovers may be another process's work under way. */
  private static final Duration ORPHAN_AGE = Duration.ofHours(1);

  @Mixin private final StorePlaces places = new StorePlaces();
  @Mixin private final Json json = new Json();

  @Override
  ExitCode run() throws Exception {
    List<StorePlaces.Place> all = places.resolve();
    List<String> identities = StoreInventory.of(all, key -> false).findings();
    StoreCheck check;
    try (Progress progress = Progress.onTerminal("verifying")) {
      check = new StoreCheck(new ByteRateLimiter(System::nanoTime), progress, 0);
      check.run(
          all,
          new Scrubber.Options(
              Scrubber.Depth.LOOK, places.chosen(), places.everything(), false, ORPHAN_AGE));
    }
    json.print(
        out(),
        document -> {
          check.describe(document);
          identities.forEach(document.putArray("findings")::add);
        },
        out -> {
          check.print(out);
          identities.forEach(out::println);
        });
    return check.damaged() || !identities.isEmpty() ? ExitCode.FINDINGS : ExitCode.OK;
  }
}
