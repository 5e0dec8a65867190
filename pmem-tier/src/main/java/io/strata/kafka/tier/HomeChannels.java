package io.strata.kafka.tier;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.util.Set;

/**
 * Opens homes as plain files: the JDK's own channels, of which no segment knows.
 *
 * <p>Thread safety: stateless.
 */
final class HomeChannels {

  private HomeChannels() {}

  static FileChannel toRead(Path home) throws IOException {
    return FileChannel.open(home, StandardOpenOption.READ);
  }

  /** For writing, and for reading back what was written. */
  static FileChannel toWrite(Path home) throws IOException {
    return FileChannel.open(home, StandardOpenOption.READ, StandardOpenOption.WRITE);
  }

  /** As a segment's channel with these options needs it. */
  static FileChannel under(Path home, Set<? extends OpenOption> options) throws IOException {
    return writes(options) ? toWrite(home) : toRead(home);
  }

  /** Whether a channel that is opened so may write. */
  static boolean writes(Set<? extends OpenOption> options) {
    return options.contains(StandardOpenOption.WRITE)
        || options.contains(StandardOpenOption.APPEND);
  }

  /**
   * Makes an empty home.
   *
   * @return false if there is one
   */
  static boolean create(Path home, FileAttribute<?>... attributes) throws IOException {
    try {
      FileChannel.open(
              home, Set.of(StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW), attributes)
          .close();
      return true;
    } catch (FileAlreadyExistsException e) {
      return false;
    }
  }
}
