package io.strata.kafka.tier;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;

/**
 * A directory that is to be forced later, once, whatever it is called by then.
 *
 * <p>Thread safety: none.
 */
final class OpenedDirectory {

  private final Path path;
  private final Optional<FileChannel> channel;

  private OpenedDirectory(Path path, Optional<FileChannel> channel) {
    this.path = path;
    this.channel = channel;
  }

  /** The directory that has this name now. */
  static OpenedDirectory of(Path path) {
    try {
      return new OpenedDirectory(
          path, Optional.of(FileChannel.open(path, StandardOpenOption.READ)));
    } catch (IOException e) {
      // No descriptor is left, or it is gone: by its name, then.
      return new OpenedDirectory(path, Optional.empty());
    }
  }

  /** Forces it, and what is above it if it is gone; and closes it, whatever comes of that. */
  void forceAndClose() throws IOException {
    if (channel.isPresent()) {
      try (FileChannel opened = channel.get()) {
        opened.force(true);
      } catch (IOException e) {
        throw new Directories.ForceFailedException(e);
      }
    }
    Directories.forceNearest(path);
  }
}
