package io.strata.kafka.cli.terminal;

import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** A command: it writes to the command line's streams and ends with an exit code. */
@Command(sortOptions = false, mixinStandardHelpOptions = true)
public abstract class StrataCommand implements Callable<Integer> {
  /** The class that a JVM which runs a command is started with. */
  public static final String MAIN_CLASS = "io.strata.kafka.cli.Main";

  // Set by picocli, before anything is run.
  @SuppressWarnings("NullAway.Init")
  @Spec
  private CommandSpec spec;

  /** A command that only groups others: shows how to use it, as a wrong usage. */
  @Command(synopsisSubcommandLabel = "COMMAND")
  public abstract static class Group extends StrataCommand {
    @Override
    protected final ExitCode run() {
      throw new ParameterException(((StrataCommand) this).spec.commandLine(), "No command given");
    }
  }

  @Override
  public final Integer call() throws Exception {
    return run().code();
  }

  protected abstract ExitCode run() throws Exception;

  /** For results. */
  protected final PrintWriter out() {
    return spec.commandLine().getOut();
  }

  /** For everything else. */
  protected final PrintWriter err() {
    return spec.commandLine().getErr();
  }

  protected final void note(String text) {
    err().println("strata: " + text);
  }

  /** Notes each finding; without any the command ends well. */
  protected final ExitCode end(List<String> findings) {
    findings.forEach(this::note);
    return findings.isEmpty() ? ExitCode.OK : ExitCode.FINDINGS;
  }
}
