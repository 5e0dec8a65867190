package io.strata.kafka.tier.spec;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The text of a failure for messages, also where the JDK says it by the exception's class.
 * Stateless.
 */
public final class FailureText {

  private FailureText() {}

  /** The failure of a file, or what is refused because of it. */
  public static FileSystemException at(Path file, String reason) {
    return new FileSystemException(file.toString(), null, reason);
  }

  /** Returns the file at fault, if there is one, and what is wrong with it. */
  public static String of(IOException failure) {
    String message = Optional.ofNullable(failure.getMessage()).orElse("");
    if (failure instanceof FileSystemException file && file.getReason() == null) {
      return message + ": " + reason(file);
    }
    return message.isEmpty() ? failure.getClass().getSimpleName() : message;
  }

  private static String reason(FileSystemException failure) {
    if (failure instanceof NoSuchFileException) {
      return "no such file or directory";
    }
    if (failure instanceof AccessDeniedException) {
      return "permission denied";
    }
    return failure instanceof NotDirectoryException
        ? "not a directory"
        : failure.getClass().getSimpleName();
  }
}
