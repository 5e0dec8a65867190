package io.strata.kafka.bench;

import io.strata.kafka.bench.agent.ToolVersion;
import io.strata.kafka.bench.scenario.ScenarioException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.Charset;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/**
 * The command line {@code strata-bench}. Results go to files and standard output, progress and
 * complaints to standard error. Exit codes: 0 all went well, 1 a run has failed, 2 wrong arguments
 * or a wrong scenario.
 */
@Command(
    name = "strata-bench",
    description = "Loads Kafka clusters as scenarios say, measures, and compares.",
    versionProvider = BenchMain.Version.class,
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {
      RunCommand.class,
      CompareCommand.class,
      PairedCommand.class,
      KeysCommand.class,
      AgentCommand.class,
      HelpCommand.class,
    })
public final class BenchMain implements Runnable {
  static final int FAILED = 1;
  static final int WRONG = 2;

  // Set by picocli, before anything is run.
  @SuppressWarnings("NullAway.Init")
  @Spec
  private CommandSpec spec;

  @Option(
      names = "--verbose",
      scope = ScopeType.INHERIT,
      description = "Show the stack trace of a failure.")
  private boolean verbose;

  BenchMain() {}

  /** Runs a command and ends the JVM with its exit code. */
  public static void main(String[] args) {
    // The encoding of the terminal, not the one that files have.
    Charset charset = Charset.defaultCharset();
    PrintWriter out = new PrintWriter(System.out, true, charset);
    PrintWriter err = new PrintWriter(System.err, true, charset);
    int code = run(out, err, args);
    out.flush();
    err.flush();
    System.exit(code);
  }

  /** Runs a command and returns its exit code. */
  static int run(PrintWriter out, PrintWriter err, String... args) {
    return commandLine().setOut(out).setErr(err).execute(args);
  }

  static CommandLine commandLine() {
    BenchMain main = new BenchMain();
    return new CommandLine(main)
        .setExecutionExceptionHandler(
            (failure, line, result) -> {
              if (main.verbose) {
                failure.printStackTrace(line.getErr());
              }
              line.getErr().println("strata-bench: " + message(failure));
              return failure instanceof ScenarioException ? WRONG : FAILED;
            });
  }

  private static String message(Exception failure) {
    if (failure instanceof ScenarioException) {
      return String.valueOf(failure.getMessage());
    }
    return failure instanceof IOException || failure instanceof UncheckedIOException
        ? "input or output failed: " + failure.getMessage()
        : failure.toString();
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "Missing command: see strata-bench --help");
  }

  /** Reads the version from the jar. */
  static final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
      return new String[] {"strata-bench " + ToolVersion.text()};
    }
  }
}
