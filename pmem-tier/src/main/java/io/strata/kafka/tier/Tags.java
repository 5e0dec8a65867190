package io.strata.kafka.tier;

import io.strata.kafka.segment.SegmentTag;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.Optional;

/** The tag of a file that may not be there. */
final class Tags {

  private Tags() {}

  /** Empty when the file has no tag, or does not exist. */
  static Optional<SegmentTag> of(Path file) throws IOException {
    try {
      return SegmentTag.read(file);
    } catch (NoSuchFileException | NotDirectoryException absent) {
      return Optional.empty();
    }
  }
}
