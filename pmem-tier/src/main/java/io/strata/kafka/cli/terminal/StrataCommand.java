package io.strata.kafka.cli.terminal;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * A command: it writes its result, as text or as one JSON document, to the command line's streams,
 * and ends with an exit code.
 */
@Command(sortOptions = false, mixinStandardHelpOptions = true)
public abstract class StrataCommand implements Callable<Integer> {
  /** The class that a JVM which runs a command is started with. */
  public static final String MAIN_CLASS = "io.strata.kafka.cli.Main";

  private static final ObjectMapper MAPPER =
      new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

  // Set by picocli, before anything is run.
  @SuppressWarnings("NullAway.Init")
  @Spec
  private CommandSpec spec;

  @Option(names = "--json", order = 1, description = "Print JSON, with sizes in bytes.")
  private boolean json;

  /** A command that only groups others: shows how to use it, as a wrong usage. */
  @Command(
      sortOptions = false,
      mixinStandardHelpOptions = true,
      synopsisSubcommandLabel = "COMMAND")
  public abstract static class Group implements Callable<Integer> {
    // Set by picocli, before anything is run.
    @SuppressWarnings("NullAway.Init")
    @Spec
    private CommandSpec spec;

    @Override
    public final Integer call() {
      throw new ParameterException(spec.commandLine(), "No command given");
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

  /** Returns whether the result is to be JSON. */
  protected final boolean json() {
    return json;
  }

  /** Prints a result: fills a document if JSON was asked for, otherwise writes text. */
  public final void print(Consumer<ObjectNode> document, Consumer<PrintWriter> text) {
    if (!json) {
      text.accept(out());
      return;
    }
    ObjectNode root = MAPPER.createObjectNode();
    document.accept(root);
    try {
      out().println(MAPPER.writeValueAsString(root));
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a tree of plain values is always JSON", e);
    }
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
