package io.strata.kafka.tier.directory;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.strata.kafka.config.key.MetaProperties;
import io.strata.kafka.migration.FileStatus;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The marker of a log directory: its {@code meta.properties} is one that Kafka refuses, so that no
 * broker without Strata starts on log files that lack the newest records. The file system provider
 * answers with Kafka's own text instead.
 *
 * <p>The text of a marked file: Kafka's own, unchanged, between two lines of comments, and after it
 * a {@code version} that Kafka does not know. The last of two values of a key counts, so that Kafka
 * refuses the file and shows the value in its log; a script that looks for the cluster's id in the
 * file still finds it.
 *
 * <pre>
 * #strata-marker 1
 * #... what this is, and what to do
 * #strata-begin
 * ... Kafka's own text ...
 * #strata-end
 * version=In use by Strata. ...
 * </pre>
 *
 * <p>Each change is a new file that takes the old one's place when it is durable: whatever comes in
 * between, the file is Kafka's own or a marked one.
 *
 * <p>Paths are the JDK's. Thread safety: stateless; one thread at a time changes a directory.
 */
public final class Marker {

  private static final int VERSION = 1;
  private static final String FIRST = "#strata-marker ";
  private static final String BEGIN = "\n#strata-begin\n";
  private static final String END = "\n#strata-end\n";

  private static final Pattern FIRST_LINE = Pattern.compile("#strata-marker ([0-9]{1,9})\n.*");

  private static final String HEAD =
      FIRST
          + VERSION
          + """

          #
          # This Kafka log directory is in use by Strata: its newest records are in Strata's pools, and
          # the log files here lack them. A broker without Strata would take the log files for all there
          # is, and lose records. It refuses this file instead, because of the version at the end.
          #
          # To start the broker, give it all of
          #   - Strata's jar in Kafka's libs,
          #   - the strata.* keys and the reporter in its properties file,
          #   - -Djava.nio.file.spi.DefaultFileSystemProvider=io.strata.kafka.nio.StrataFileSystemProvider
          #     in KAFKA_OPTS.
          # To run Kafka without Strata again, stop the broker and run
          #   strata drain --config <server.properties>
          # It brings all records to the log files, and takes the mark off this file as its last step.
          #
          # Do not take the mark off by hand: records would be lost. Kafka's own text, as brokers and tools
          # with the option above see it, is between the next two lines that begin with #strata.
          #\
          """;

  private static final String REFUSED = "version=In use by Strata.";

  private static final String TAIL =
      REFUSED
          + " Start Kafka with Strata's jar and its option in KAFKA_OPTS, or run"
          + " 'strata drain' first; this file's comments say more\n";

  private Marker() {}

  /** Returns whether a path may name a marked file, by its last name alone; does no I/O. */
  public static boolean maybeMarked(Path path) {
    String name = path.toString();
    return name.endsWith("/" + MetaProperties.FILE_NAME) || name.equals(MetaProperties.FILE_NAME);
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
    return own(file, text);
  }

  /**
   * Refuses a log directory that a newer Strata has marked, before anything in it is changed. Any
   * other fault of the file is reported where its content is needed.
   */
  static void refuseNewer(Path directory) throws NewerMarkException {
    try {
      Optional<byte[]> unused = read(directory.resolve(MetaProperties.FILE_NAME));
    } catch (NewerMarkException e) {
      throw e;
    } catch (IOException unreadable) {
      return;
    }
  }

  /** Returns whether a log directory is marked: it has been used with Strata and not drained. */
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
    if (own(source, text).isPresent()) {
      return false;
    }
    Directories.replace(target, marked(text));
    Files.delete(source);
    return true;
  }

  /** Returns whether a broker without Strata could have run here: formatted, and not marked. */
  public static boolean isMissing(Path directory) throws IOException {
    Path file = directory.resolve(MetaProperties.FILE_NAME);
    return FileStatus.of(file).isPresent() && read(file).isEmpty();
  }

  /** Marks a log directory, durably; one that Kafka has not formatted has nothing to mark. */
  public static void mark(Path directory) throws IOException {
    if (isMissing(directory)) {
      Path file = directory.resolve(MetaProperties.FILE_NAME);
      Directories.replace(file, marked(withoutRemains(Files.readAllBytes(file))));
    }
  }

  /** Takes the mark off a log directory, durably. */
  public static void unmark(Path directory) throws IOException {
    Path file = directory.resolve(MetaProperties.FILE_NAME);
    Optional<byte[]> own = read(file);
    if (own.isPresent()) {
      Directories.replace(file, own.get());
    }
  }

  /** A newer Strata has marked a file: this one cannot know what is in the pools. */
  static final class NewerMarkException extends FileSystemException {
    private static final long serialVersionUID = 1L;

    private NewerMarkException(Path file, int found) {
      super(
          file.toString(),
          null,
          "found Strata's mark of version %d, expected %d: a newer Strata wrote it; use that one"
              .formatted(found, VERSION));
    }
  }

  /** Marks Kafka's own text. */
  private static byte[] marked(byte[] own) {
    // One character a byte: whatever the text is, it comes back as it was.
    return (HEAD + BEGIN + new String(own, ISO_8859_1) + END + TAIL).getBytes(ISO_8859_1);
  }

  /**
   * Kafka's own text in a marked one.
   *
   * @param file that has the text, for the exception
   * @return empty if the text is not marked, or not any more: Kafka would read it
   * @throws NewerMarkException if a newer version has marked it
   */
  private static Optional<byte[]> own(Path file, byte[] text) throws NewerMarkException {
    String all = new String(text, ISO_8859_1);
    if (!all.startsWith(FIRST)) {
      return Optional.empty();
    }
    Matcher first = FIRST_LINE.matcher(all.substring(0, Math.min(all.length(), 32)));
    if (first.lookingAt() && Integer.parseInt(first.group(1)) > VERSION) {
      throw new NewerMarkException(file, Integer.parseInt(first.group(1)));
    }
    int begin = all.indexOf(BEGIN);
    int end = all.lastIndexOf(END);
    if (begin < 0 || end < begin + BEGIN.length() || !all.startsWith(REFUSED, end + END.length())) {
      // Kafka would read it: what it refuses has been taken off.
      return Optional.empty();
    }
    return Optional.of(all.substring(begin + BEGIN.length(), end).getBytes(ISO_8859_1));
  }

  /** Returns what is left of a text that is not marked without the remains of a mark. */
  private static byte[] withoutRemains(byte[] text) {
    String all = new String(text, ISO_8859_1);
    int begin = all.indexOf(BEGIN);
    if (!all.startsWith(FIRST) || begin < 0) {
      return text;
    }
    int end = all.lastIndexOf(END);
    int from = begin + BEGIN.length();
    return all.substring(from, end < from ? all.length() : end).getBytes(ISO_8859_1);
  }
}
