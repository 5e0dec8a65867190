package io.strata.kafka.tier.directory;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The text of a marked {@code meta.properties}: Kafka's own, unchanged, between two lines of
 * comments, and after it a {@code version} that Kafka does not know. The last of two values of a
 * key counts, so that Kafka refuses the file and shows the value in its log; a script that looks
 * for the cluster's id in the file still finds it.
 *
 * <pre>
 * #strata-marker 1
 * #... what this is, and what to do
 * #strata-begin
 * ... Kafka's own text ...
 * #strata-end
 * version=In use by Strata. ...
 * </pre>
 */
final class MarkedText {

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

  private MarkedText() {}

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
  static byte[] of(byte[] own) {
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
  static Optional<byte[]> own(Path file, byte[] text) throws NewerMarkException {
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
  static byte[] withoutRemains(byte[] text) {
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
