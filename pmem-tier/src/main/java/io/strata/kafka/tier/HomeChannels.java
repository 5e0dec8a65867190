package io.strata.kafka.tier;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

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
}
