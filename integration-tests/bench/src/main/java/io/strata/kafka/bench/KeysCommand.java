package io.strata.kafka.bench;

import io.strata.kafka.bench.scenario.ScenarioFile;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code strata-bench keys}. */
@Command(
    name = "keys",
    mixinStandardHelpOptions = true,
    description = "Prints every key of a scenario, with its default.")
final class KeysCommand implements Runnable {
  // Set by picocli, before anything is run.
  @SuppressWarnings("NullAway.Init")
  @Spec
  private CommandSpec spec;

  @Override
  public void run() {
    spec.commandLine().getOut().print(ScenarioFile.keys());
    spec.commandLine().getOut().flush();
  }
}
