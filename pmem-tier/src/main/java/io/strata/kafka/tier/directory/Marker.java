package io.strata.kafka.tier.directory;

import io.strata.kafka.config.key.MetaProperties;
import io.strata.kafka.migration.FileStatus;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The marker of a log directory: its {@code meta.properties} is one that Kafka refuses, so that no
 * broker without Strata starts on log files that lack the newest records. The file system provider
 * answers with Kafka's own text instead.
 *
 * <p>Each change is a new file that takes the old one's place when it is durable: whatever comes in
 * between, the file is Kafka's own or a marked one.
 *
 * <p>Paths are the JDK's. Thread safety: stateless; one thread at a time changes a directory.
 */
public final class Marker {

  private Marker() {}

  /** Returns whether a path may name a marked file, by its last name alone; does no I/O. */
  public static boolean maybeMarked(Path path) {
    String name = path.toString();
    return name.endsWith(MetaProperties.FILE_NAME)
        && (name.length() == MetaProperties.FILE_NAME.length()
            || name.charAt(name.length() - MetaProperties.FILE_NAME.length() - 1) == '/');
  }

  /**
   * Kafka's own text of a marked file.
   *
   * @return empty if the file is not marked, or is not there
   * @throws IOException if it cannot be read, or a newer Strata has marked it; names the file
   */
  public static Optional<byte[]> read(Path file) throws IOException {
    byte[] text;
    try {
      text = Files.readAllBytes(file);
    } catch (NoSuchFileException e) {
      return Optional.empty();
    }
    return MarkedText.own(file, text);
  }

  /**
   * Refuses a log directory that a newer Strata has marked, before anything in it is changed. Any
   * other fault of the file is reported where its content is needed.
   */
  static void refuseNewer(Path directory) throws MarkedText.NewerMarkException {
    try {
      Optional<byte[]> unused = read(directory.resolve(MetaProperties.FILE_NAME));
    } catch (MarkedText.NewerMarkException e) {
      throw e;
    } catch (IOException unreadable) {
      return;
    }
  }

  /**
   * Returns whether a log directory is marked: it has been used with Strata, and not been drained.
   *
   * @throws IOException as {@link #read}
   */
  public static boolean isMarked(Path directory) throws IOException {
    return read(directory.resolve(MetaProperties.FILE_NAME)).isPresent();
  }

  /**
   * Puts a file in the place of a marked one, as a rename does, and marks it.
   *
   * @return false, and nothing done, when the target is not marked, or the source is
   */
  public static boolean replace(Path source, Path target) throws IOException {
    if (read(target).isEmpty()) {
      return false;
    }
    byte[] text = Files.readAllBytes(source);
    if (MarkedText.own(source, text).isPresent()) {
      return false;
    }
    FileContents.replace(target, MarkedText.of(text));
    Files.delete(source);
    return true;
  }

  /**
   * Returns whether a broker without Strata could have run on a log directory: Kafka has formatted
   * it, and there is no mark.
   */
  public static boolean isMissing(Path directory) throws IOException {
    Path file = directory.resolve(MetaProperties.FILE_NAME);
    return FileStatus.of(file).isPresent() && read(file).isEmpty();
  }

  /** Marks a log directory, durably; one that Kafka has not formatted has nothing to mark. */
  public static void mark(Path directory) throws IOException {
    if (isMissing(directory)) {
      Path file = directory.resolve(MetaProperties.FILE_NAME);
      FileContents.replace(
          file, MarkedText.of(MarkedText.withoutRemains(Files.readAllBytes(file))));
    }
  }

  /** Takes the mark off a log directory, durably. */
  public static void unmark(Path directory) throws IOException {
    Path file = directory.resolve(MetaProperties.FILE_NAME);
    Optional<byte[]> own = read(file);
    if (own.isPresent()) {
      FileContents.replace(file, own.get());
    }
  }
}
