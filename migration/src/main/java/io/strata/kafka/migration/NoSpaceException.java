package io.strata.kafka.migration;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * A file system, or a quota on it, that has no space for what was to be written.
 *
 * <p>Strata throws it where it asks for the space itself. The exception of the JDK's own calls has
 * no {@code errno}, only the system's text for it, in the language of the JVM's environment: {@link
 * #isCauseOf} is the one place that knows those texts.
 */
public final class NoSpaceException extends FileSystemException {
  private static final long serialVersionUID = 1L;

  /** So many causes of causes are looked at. */
  private static final int DEPTH = 10;

  /** ENOSPC, EDQUOT, and ERROR_DISK_FULL of another system, in English. */
  private static final List<String> TEXTS =
      List.of("no space left on device", "quota exceeded", "not enough space on the disk");

  /**
   * A failure of the given file.
   *
   * @param reason what was found and expected, and what to do
   */
  public NoSpaceException(Path file, String reason) {
    super(file.toString(), null, reason);
  }

  /** Returns whether a failure, or what caused it, is that there is no space. */
  public static boolean isCauseOf(Throwable failure) {
    Throwable cause = failure;
    for (int depth = 0; cause != null && depth < DEPTH; depth++) {
      if (cause instanceof NoSpaceException || saysSo(cause)) {
        return true;
      }
      cause = cause.getCause();
    }
    return false;
  }

  private static boolean saysSo(Throwable cause) {
    if (!(cause instanceof IOException)) {
      return false;
    }
    String said = cause instanceof FileSystemException file ? file.getReason() : cause.getMessage();
    return said != null
        && (SystemText.ENOSPC.filter(said::contains).isPresent()
            || TEXTS.stream().anyMatch(said.toLowerCase(Locale.ROOT)::contains));
  }

  /** The system's text in this JVM's language: what a device says that is always full. */
  private static final class SystemText {
    static final Optional<String> ENOSPC = of("/dev/full");

    static Optional<String> of(String fullDevice) {
      // Past any file system provider, which may be the one that asks.
      try (java.io.FileOutputStream full = new java.io.FileOutputStream(fullDevice)) {
        full.write(0);
        return Optional.empty();
      } catch (java.io.FileNotFoundException e) {
        return Optional.empty(); // No Linux, or not allowed: the English texts have to do.
      } catch (IOException e) {
        return Optional.ofNullable(e.getMessage()).filter(text -> !text.isBlank());
      }
    }
  }
}
