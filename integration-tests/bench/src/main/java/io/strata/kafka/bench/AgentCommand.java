package io.strata.kafka.bench;

import io.strata.kafka.bench.agent.AgentMain;
import java.io.IOException;
import java.io.PrintStream;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/** {@code strata-bench agent}: the other end of a connection to a host. */
@Command(
    name = "agent",
    hidden = true,
    mixinStandardHelpOptions = true,
    description = "Runs clients for a coordinator, which starts it.")
final class AgentCommand implements Callable<Integer> {

  @Override
  public Integer call() throws IOException {
    PrintStream reports = System.out;
    // Whatever a library prints is no report.
    System.setOut(System.err);
    AgentMain.run(System.in, reports);
    return 0;
  }
}
