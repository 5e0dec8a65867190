package io.strata.kafka.tier;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.util.Optional;

/** Says in a message what the JDK says by an exception's class. Stateless. */
final class FailureText {

  private FailureText() {}

  /** Returns the file at fault, if there is one, and what is wrong with it. */
  static String of(IOException failure) {
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
