package io.strata.kafka.cli.terminal;

import io.strata.kafka.config.key.ConfigRefusedException;
import io.strata.kafka.memory.FileProbe;
import io.strata.kafka.pool.words.PoolException;
import io.strata.kafka.tier.spec.FailureText;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/** Turns what went wrong into one clear line on standard error and an exit code. */
public final class Failures implements IParameterExceptionHandler, IExecutionExceptionHandler {
  private final BooleanSupplier verbose;

  public Failures(BooleanSupplier verbose) {
    this.verbose = verbose;
  }

  @Override
  public int handleParseException(ParameterException e, String[] args) {
    CommandLine commandLine = e.getCommandLine();
    PrintWriter err = commandLine.getErr();
    err.println("strata: " + oneLine(Optional.ofNullable(e.getMessage()).orElse("wrong usage")));
    err.println(
        "See '" + commandLine.getCommandSpec().qualifiedName() + " --help' for how to use it.");
    return ExitCode.USAGE.code();
  }

  @Override
  public int handleExecutionException(Exception e, CommandLine commandLine, ParseResult result) {
    PrintWriter err = commandLine.getErr();
    messageOf(e).lines().forEach(line -> err.println("strata: " + line));
    if (verbose.getAsBoolean()) {
      e.printStackTrace(err);
    }
    return codeOf(unwrapped(e)).code();
  }

  private static String oneLine(String message) {
    return String.join(" ", message.lines().map(String::strip).toList());
  }

  private static ExitCode codeOf(Exception e) {
    if (e instanceof CommandException command) {
      return command.code();
    }
    if (e instanceof PoolException pool) {
      return pool.kind() == PoolException.Kind.INVALID_SPEC ? ExitCode.USAGE : ExitCode.REFUSED;
    }
    boolean refused = e instanceof ConfigRefusedException || e instanceof AccessDeniedException;
    return refused ? ExitCode.REFUSED : ExitCode.FAILED;
  }

  /** Returns the failure of a file that a stream had to pass on unchecked. */
  private static Exception unwrapped(Exception e) {
    boolean wraps = e instanceof UncheckedIOException || e instanceof DirectoryIteratorException;
    return wraps && e.getCause() instanceof IOException cause ? cause : e;
  }

  /** Returns why something failed: the first message in the chain of causes, or a class. */
  public static String reasonOf(Throwable failure) {
    Throwable e = failure;
    while (e.getMessage() == null && e.getCause() != null) {
      e = e.getCause();
    }
    return Optional.ofNullable(e.getMessage()).orElse(e.getClass().getSimpleName());
  }

  /** Returns one sentence on a failure, with the file that it is about. */
  public static String messageOf(Exception failure) {
    Exception e = unwrapped(failure);
    if (e instanceof AccessDeniedException denied) {
      Optional<String> file = Optional.ofNullable(denied.getFile());
      return "%s: permission denied for user %s (%s); run this as the user that the broker runs as"
          .formatted(
              file.orElse("a file"),
              System.getProperty("user.name", "?"),
              file.map(name -> FileProbe.ownership(Path.of(name))).orElse("of another user"));
    }
    if (e instanceof IOException file) {
      return FailureText.of(file);
    }
    if (e instanceof RuntimeException) {
      return "internal error: " + e + " (run again with --verbose for the stack trace)";
    }
    return Optional.ofNullable(e.getMessage()).orElse(e.toString());
  }
}
