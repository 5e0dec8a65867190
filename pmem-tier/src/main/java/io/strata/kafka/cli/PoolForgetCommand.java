package io.strata.kafka.cli;

import io.strata.kafka.tier.Forget;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code strata pool forget}. */
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
final class PoolForgetCommand extends StrataCommand {
  @Mixin private final PoolPlace place = new PoolPlace();

  // Required, and so set by picocli.
  @SuppressWarnings("NullAway.Init")
  @Option(
      names = "--directory",
      required = true,
      paramLabel = "UUID",
      description = "The log directory, by the UUID that the broker's refusal names.")
  private UUID directory;

  @Mixin private final Confirmation confirmation = new Confirmation();

  @Mixin private final Json json = new Json();

  @Override
  ExitCode run() throws Exception {
    Path target = place.resolve();
    boolean yes = confirmation.given();
    List<String> segments = Forget.run(target, directory, place.requireConfig().logDirs(), yes);
    json.print(
        out(),
        document -> {
          document.put("path", target.toString());
          document.put("directory", directory.toString());
          document.put("done", yes || segments.isEmpty());
          segments.forEach(document.putArray("segments")::add);
        },
        out -> {
          segments.forEach(out::println);
          String count = segments.size() == 1 ? "1 segment" : segments.size() + " segments";
          out.println(count + (yes ? " discarded" : " would be discarded"));
        });
    if (!yes && !segments.isEmpty()) {
      confirmation.require(
          """
          found no --yes, expected it to discard %s segments; put the log directory back if you \
          can, or repeat with --yes\
          """
              .formatted(segments.size()));
    }
    return ExitCode.OK;
  }
}
