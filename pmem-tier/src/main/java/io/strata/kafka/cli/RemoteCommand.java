package io.strata.kafka.cli;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Groups the commands about the remote tier's store. */
@Command(
    name = "remote",
    description =
        "Lists, sums up and checks the store of the remote tier, while brokers use it or not.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {
      RemoteLsCommand.class,
      RemoteDuCommand.class,
      RemoteVerifyCommand.class,
      RemoteScrubCommand.class,
    })
final class RemoteCommand implements Runnable {
  // Set by picocli, before anything is run.
  @SuppressWarnings("NullAway.Init")
  @Spec
  private CommandSpec spec;

  RemoteCommand() {}

  @Override
  public void run() {
    throw new CommandLine.ParameterException(spec.commandLine(), "No command given");
  }
}
