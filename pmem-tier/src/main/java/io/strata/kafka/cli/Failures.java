package io.strata.kafka.cli;

import io.strata.kafka.config.ConfigRefusedException;
import io.strata.kafka.pool.PoolException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.TypeConversionException;

/** Turns what went wrong into one clear line on standard error and an exit code. */
final class Failures implements IParameterExceptionHandler, IExecutionExceptionHandler {
  private final BooleanSupplier verbose;

  Failures(BooleanSupplier verbose) {
    this.verbose = verbose;
  }

  /** Wraps a converter of an option's value, so that its own message is shown. */
  static <T> T converted(Supplier<T> converter) {
    try {
      return converter.get();
    } catch (IllegalArgumentException e) {
      throw new TypeConversionException(Optional.ofNullable(e.getMessage()).orElse("malformed"));
    }
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
    return codeOf(e).code();
  }

  private static String oneLine(String message) {
    return String.join(" ", message.lines().map(String::strip).toList());
  }

  private static ExitCode codeOf(Exception e) {
    Optional<IOException> wrapped = wrapped(e);
    if (wrapped.isPresent()) {
      return codeOf(wrapped.get());
    }
    if (e instanceof UsageException) {
      return ExitCode.USAGE;
    }
    if (e instanceof PoolException pool) {
      return pool.kind() == PoolException.Kind.INVALID_SPEC ? ExitCode.USAGE : ExitCode.REFUSED;
    }
    if (e instanceof ConfigRefusedException
        || e instanceof RefusedException
        || e instanceof AccessDeniedException) {
      return ExitCode.REFUSED;
    }
    return ExitCode.FAILED;
  }

  /** Returns the failure of a file that a stream had to pass on unchecked. */
  private static Optional<IOException> wrapped(Exception e) {
    if (e instanceof UncheckedIOException unchecked) {
      return Optional.ofNullable(unchecked.getCause());
    }
    return e instanceof DirectoryIteratorException listing
        ? Optional.ofNullable(listing.getCause())
        : Optional.empty();
  }

  /** Returns one sentence on a failure, with the file that it is about. */
  static String messageOf(Exception e) {
    Optional<IOException> wrapped = wrapped(e);
    if (wrapped.isPresent()) {
      return messageOf(wrapped.get());
    }
    Optional<String> message = Optional.ofNullable(e.getMessage());
    // The JDK's file exceptions have the file's name for a message and their class for a reason.
    if (e instanceof NoSuchFileException) {
      return message.orElse("a file") + ": no such file or directory";
    }
    if (e instanceof AccessDeniedException) {
      return "%s: permission denied; run this as the user that the broker runs as"
          .formatted(message.orElse("a file"));
    }
    if (e instanceof FileSystemException || e instanceof IOException) {
      return message.orElse(e.getClass().getSimpleName());
    }
    if (e instanceof RuntimeException) {
      return "internal error: " + e + " (run again with --verbose for the stack trace)";
    }
    return message.orElse(e.toString());
  }
}
