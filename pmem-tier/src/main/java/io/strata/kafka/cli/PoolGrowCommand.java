package io.strata.kafka.cli;

import io.strata.kafka.config.ByteAmount;
import io.strata.kafka.pool.Pool;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

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
    footer = {"", "Example:", "  strata pool grow --size 128GiB /mnt/pmem0/hot.pool"})
final class PoolGrowCommand extends StrataCommand {
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

  @Mixin private final Json json = new Json();

  @Override
  ExitCode run() throws Exception {
    Path target = place.resolve();
    try (Progress progress = Progress.onTerminal("growing " + target.getFileName())) {
      Pool.grow(target, size.bytes(), progress);
    }
    PoolReport.print(List.of(PoolReport.of(target)), json, out());
    return ExitCode.OK;
  }
}
