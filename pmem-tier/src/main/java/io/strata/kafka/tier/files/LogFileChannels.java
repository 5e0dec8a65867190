package io.strata.kafka.tier.files;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.util.Set;

/** Opens log files as plain files: the JDK's own channels, of which no segment knows. */
public final class LogFileChannels {

  private LogFileChannels() {}

  public static FileChannel toRead(Path logFile) throws IOException {
    return FileChannel.open(logFile, StandardOpenOption.READ);
  }

  /** For writing, and for reading back what was written. */
  public static FileChannel toWrite(Path logFile) throws IOException {
    return FileChannel.open(logFile, StandardOpenOption.READ, StandardOpenOption.WRITE);
  }

  /** As a segment's channel with these options needs it. */
  public static FileChannel under(Path logFile, Set<? extends OpenOption> options)
      throws IOException {
    return writes(options) ? toWrite(logFile) : toRead(logFile);
  }

  /** Returns whether a channel that is opened so may write. */
  public static boolean writes(Set<? extends OpenOption> options) {
    return options.contains(StandardOpenOption.WRITE)
        || options.contains(StandardOpenOption.APPEND);
  }

  /**
   * Makes an empty log file.
   *
   * @return false if there is one
   */
  public static boolean create(Path logFile, FileAttribute<?>... attributes) throws IOException {
    try {
      FileChannel.open(
              logFile, Set.of(StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW), attributes)
          .close();
      return true;
    } catch (FileAlreadyExistsException e) {
      return false;
    }
  }
}
