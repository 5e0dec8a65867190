package io.strata.kafka.cli;

import io.strata.kafka.config.ByteAmount;
import io.strata.kafka.pool.Pool;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code strata pool grow}. */
@Command(
    name = "grow",
    description = {
      """
      Makes a pool larger, with what it holds. The broker must be stopped. The number of slots \
      stays as it was created.\
      """,
      ""
    },
    footer = {"", "Example:", "  strata pool grow --size 128GiB /mnt/pmem0/hot.pool"},
    sortOptions = false,
    mixinStandardHelpOptions = true)
final class PoolGrowCommand implements Callable<Integer> {
  // Set by picocli, before anything is run.
  @SuppressWarnings("NullAway.Init")
  @Spec
  private CommandSpec spec;

  @Mixin private final PoolPlace place = new PoolPlace();

  // Required, and so set by picocli.
  @SuppressWarnings("NullAway.Init")
  @Option(
      names = "--size",
      required = true,
      paramLabel = "SIZE",
      converter = Main.Size.class,
      description = "The file's new size, larger than it is.")
  private ByteAmount size;

  @Mixin private final JsonOption json = new JsonOption();

  PoolGrowCommand() {}

  @Override
  public Integer call() throws Exception {
    Path target = place.resolve();
    try (Progress progress = Progress.onTerminal("growing " + target.getFileName())) {
      Pool.grow(target, size.bytes(), progress);
    }
    PoolReport.print(List.of(PoolReport.of(target)), json.given(), spec.commandLine().getOut());
    return ExitCode.OK.code();
  }
}
