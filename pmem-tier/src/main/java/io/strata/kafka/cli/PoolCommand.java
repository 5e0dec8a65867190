package io.strata.kafka.cli;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Groups the commands about pool files. */
@Command(
    name = "pool",
    description = "Creates, shows, checks, grows and repairs pool files.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {
      PoolCreateCommand.class,
      PoolInfoCommand.class,
      PoolCheckCommand.class,
      PoolGrowCommand.class,
      PoolRepairCommand.class,
      PoolForgetCommand.class,
    })
final class PoolCommand implements Runnable {
  // Set by picocli, before anything is run.
  @SuppressWarnings("NullAway.Init")
  @Spec
  private CommandSpec spec;

  PoolCommand() {}

  @Override
  public void run() {
    throw new CommandLine.ParameterException(spec.commandLine(), "No command given");
  }
}
