package io.strata.kafka.cli;

import io.strata.kafka.migration.remote.store.StoreIdentity;
import io.strata.kafka.migration.remote.store.StoreInspection;
import java.io.PrintWriter;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code strata remote retire}. */
@Command(
    name = "retire",
    description = {
      """
      Says that a directory of the store is lost, or was taken out of it for good. A broker that \
      is not configured with a directory of the store deletes no segment, since that directory \
      may have it; a retired one does not count. It is refused when it is named again with what \
      it has: segments may have been deleted since.\
      """,
      "",
      "Notes it in each of the given directories; brokers see it at once.",
      ""
    },
    footer = {
      "",
      "Example:",
      "  strata remote retire Tk2X9vRzQ1uYb0sK3hJm7A --config server.properties"
    },
    sortOptions = false,
    mixinStandardHelpOptions = true)
final class RemoteRetireCommand implements Callable<Integer> {

  // Set by picocli, before anything is run.
  @SuppressWarnings("NullAway.Init")
  @Spec
  private CommandSpec spec;

  @SuppressWarnings("NullAway.Init")
  @Parameters(
      paramLabel = "DIRECTORY-ID",
      description = "The directory's id, as the broker's log names it.")
  private String directoryId;

  @Mixin private final StorePlaces places = new StorePlaces();

  RemoteRetireCommand() {}

  @Override
  public Integer call() throws Exception {
    List<StorePlaces.Place> all = places.resolve();
    PrintWriter out = spec.commandLine().getOut();
    // Before anything is noted: a retirement cannot be taken back.
    List<StorePlaces.Place> there = new ArrayList<>();
    for (StorePlaces.Place place : all) {
      try {
        if (StoreIdentity.read(place.directory()).directoryId().equals(directoryId)) {
          throw new UsageException(
              """
              %s: found directory %s itself, expected one that is not configured any more: take \
              it out of rsm.config.levels first\
              """
                  .formatted(place.directory(), directoryId));
        }
        there.add(place);
      } catch (NoSuchFileException e) {
        out.println(place.directory() + ": is not there, or no directory of a store: left out");
      }
    }
    if (there.isEmpty()) {
      throw new UsageException("found no directory of a store to note it in, expected one");
    }
    for (StorePlaces.Place place : there) {
      try {
        StoreInspection.retire(place.directory(), directoryId);
      } catch (IllegalArgumentException e) {
        throw new UsageException(String.valueOf(e.getMessage()));
      }
      out.println(place.directory() + ": noted that " + directoryId + " is retired");
    }
    return ExitCode.OK.code();
  }
}
