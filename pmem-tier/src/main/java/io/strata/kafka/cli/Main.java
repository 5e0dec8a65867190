package io.strata.kafka.cli;

import io.strata.kafka.broker.JdkFileSystem;
import io.strata.kafka.cli.doctor.DoctorCommand;
import io.strata.kafka.cli.pool.AcceptLossCommand;
import io.strata.kafka.cli.pool.DrainCommand;
import io.strata.kafka.cli.pool.PoolCommand;
import io.strata.kafka.cli.pool.SegmentsCommand;
import io.strata.kafka.cli.remote.RemoteCommand;
import io.strata.kafka.cli.status.StatusCommand;
import io.strata.kafka.cli.terminal.ByteSize;
import io.strata.kafka.cli.terminal.ExitCode;
import io.strata.kafka.cli.terminal.Failures;
import io.strata.kafka.cli.terminal.PrintableWriter;
import io.strata.kafka.cli.terminal.StrataCommand;
import io.strata.kafka.config.PoolType;
import io.strata.kafka.config.key.ByteAmount;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.util.Optional;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/**
 * The command line {@code strata}.
 *
 * <p>Results go to standard output, everything else to standard error. Nothing here but {@code
 * status} needs the broker to run; what changes a pool or a log directory needs it to be stopped,
 * and is refused otherwise.
 */
@Command(
    name = "strata",
    description =
        """
        Administers the tiers of a Kafka broker: its pools, the store of its remote tier, and \
        what lives where.\
        """,
    versionProvider = Main.Version.class,
    subcommands = {
      PoolCommand.class,
      SegmentsCommand.class,
      StatusCommand.class,
      PlanCommand.class,
      DoctorCommand.class,
      DrainCommand.class,
      AcceptLossCommand.class,
      VerifyCommand.class,
      RemoteCommand.class,
      HelpCommand.class,
      AutoComplete.GenerateCompletion.class,
    })
public final class Main extends StrataCommand.Group {
  @Option(
      names = "--verbose",
      order = 1,
      scope = ScopeType.INHERIT,
      description = "Show the stack trace of a failure.")
  private boolean verbose;

  Main() {}

  /** Runs a command and ends the JVM with its exit code. */
  public static void main(String[] args) {
    // The encoding of the terminal, not the one that sources and files have.
    Charset charset = Charset.defaultCharset();
    PrintWriter out = new PrintWriter(System.out, true, charset);
    PrintWriter err = new PrintWriter(System.err, true, charset);
    int code = run(out, err, args);
    out.flush();
    err.flush();
    System.exit(code);
  }

  static int run(PrintWriter out, PrintWriter err, String... args) {
    if (JdkFileSystem.providerActive()) {
      // The provider shows a segment as whole, and its log file is not.
      err.println(
          """
          strata: found Strata's provider (-Djava.nio.file.spi.DefaultFileSystemProvider) in this \
          command's own JVM, expected it in the broker's alone: take it out of STRATA_OPTS, \
          JAVA_TOOL_OPTIONS and JDK_JAVA_OPTIONS for the command, and leave it in KAFKA_OPTS; \
          nothing has been changed\
          """);
      return ExitCode.REFUSED.code();
    }
    int code =
        commandLine()
            .setOut(new PrintableWriter(out))
            .setErr(new PrintableWriter(err))
            .execute(args);
    if (!out.checkError() || code != ExitCode.OK.code()) {
      return code;
    }
    // A script would take what it has read for the whole.
    err.println(
        """
        strata: standard output: not all of the result could be written: its disk is full, or \
        its reader has ended\
        """);
    return ExitCode.FAILED.code();
  }

  static CommandLine commandLine() {
    Main main = new Main();
    Failures failures = new Failures(() -> main.verbose);
    CommandLine commandLine = new CommandLine(main);
    commandLine
        .getCommandSpec()
        .usageMessage()
        .exitCodeListHeading("%nExit codes, of every command:%n")
        .exitCodeList(ExitCode.list());
    return commandLine
        .registerConverter(ByteAmount.class, text -> ByteSize.parse(text, ByteAmount::parseRate))
        .registerConverter(PoolType.class, Main::poolType)
        .setUsageHelpAutoWidth(false)
        .setUsageHelpWidth(100)
        .setParameterExceptionHandler(failures)
        .setExecutionExceptionHandler(failures);
  }

  private static PoolType poolType(String text) {
    try {
      return PoolType.parse(text);
    } catch (IllegalArgumentException e) {
      throw new CommandLine.TypeConversionException(
          "found '%s', expected auto, pmem, mapped or file".formatted(text));
    }
  }

  static final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
      String version =
          Optional.ofNullable(Main.class.getPackage().getImplementationVersion())
              .orElse("(not built as a jar)");
      return new String[] {"strata " + version};
    }
  }
}
