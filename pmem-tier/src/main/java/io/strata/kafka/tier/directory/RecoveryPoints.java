package io.strata.kafka.tier.directory;

import io.strata.kafka.tier.spec.FailureText;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The offsets from which on Kafka recovers the logs of a log directory after an unclean stop, as
 * its file {@code recovery-point-offset-checkpoint} has them: version 0, a count, and a line for
 * each partition. A partition without a line is recovered from its beginning.
 *
 * <p>Not thread-safe.
 */
public final class RecoveryPoints {

  private static final String FILE_NAME = "recovery-point-offset-checkpoint";
  private static final String VERSION = "0";
  private static final int FIELDS = 3;

  private final Path file;

  /** The offsets by topic and partition, with a space between. */
  private final Map<String, Long> offsets;

  private boolean changed;

  private RecoveryPoints(Path file, Map<String, Long> offsets) {
    this.file = file;
    this.offsets = offsets;
  }

  /** Reads those of a log directory; there are none if it has no such file. */
  public static RecoveryPoints read(Path logDirectory) throws IOException {
    Path file = logDirectory.resolve(FILE_NAME);
    List<String> lines;
    try {
      lines = Files.readAllLines(file);
    } catch (NoSuchFileException e) {
      return new RecoveryPoints(file, new TreeMap<>());
    }
    Map<String, Long> offsets = new TreeMap<>();
    if (lines.isEmpty()) {
      return new RecoveryPoints(file, offsets); // As Kafka creates it.
    }
    try {
      if (!lines.get(0).equals(VERSION) || Integer.parseInt(lines.get(1)) != lines.size() - 2) {
        throw malformed(file);
      }
      for (String line : lines.subList(2, lines.size())) {
        String[] fields = line.split(" ", -1);
        if (fields.length != FIELDS) {
          throw malformed(file);
        }
        offsets.put(fields[0] + " " + fields[1], Long.parseLong(fields[2]));
      }
    } catch (NumberFormatException | IndexOutOfBoundsException e) {
      throw malformed(file);
    }
    return new RecoveryPoints(file, offsets);
  }

  private static FileSystemException malformed(Path file) {
    return FailureText.at(
        file,
        """
        found no checkpoint of version 0 with as many lines as it says; delete the file, and Kafka \
        recovers all logs of this log directory from their beginning\
        """);
  }

  /** Has Kafka recover a partition from {@code offset} on, or from where it would anyway. */
  public void lower(String topic, int partition, long offset) {
    String key = topic + " " + partition;
    Long before = offsets.get(key);
    if (before != null && before > offset) {
      offsets.put(key, offset);
      changed = true;
    }
  }

  /** Writes them, durably, if there is anything to change. */
  public void write() throws IOException {
    if (!changed) {
      return;
    }
    StringBuilder text = new StringBuilder();
    text.append(VERSION).append('\n').append(offsets.size()).append('\n');
    offsets.forEach((key, offset) -> text.append(key).append(' ').append(offset).append('\n'));
    Directories.replace(file, text.toString().getBytes(StandardCharsets.UTF_8));
    changed = false;
  }
}
