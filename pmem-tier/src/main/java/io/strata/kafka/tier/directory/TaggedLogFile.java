package io.strata.kafka.tier.directory;

import io.strata.kafka.migration.FileStatus;
import io.strata.kafka.segment.view.SegmentTag;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A file in a log directory that carries a segment's tag. Immutable.
 *
 * @param file the file's real path
 * @param named its path below the directory that was walked: a partition may be a symbolic link to
 *     a directory that has another name
 * @param tag what its extended attribute names
 */
public record TaggedLogFile(Path file, Path named, SegmentTag tag) {

  /** The tag of a file; empty when it has none, or does not exist. */
  public static Optional<SegmentTag> tagOf(Path file) throws IOException {
    try {
      return SegmentTag.read(file);
    } catch (NoSuchFileException | NotDirectoryException absent) {
      return Optional.empty();
    }
  }

  /**
   * The files of the log directory's partitions that carry a tag, whatever Kafka calls them at the
   * moment.
   *
   * @param logDirectory a log directory's real path
   * @throws IOException if a partition's directory or a tag cannot be read; one that is no
   *     partition, as a file system's {@code lost+found}, is skipped then
   */
  public static List<TaggedLogFile> in(Path logDirectory) throws IOException {
    List<TaggedLogFile> found = new ArrayList<>();
    for (Path partition : Directories.list(logDirectory)) {
      try {
        if (FileStatus.isDirectory(partition)) {
          // A partition may be a symbolic link to another disk: Kafka follows it, and so do we.
          collect(partition, found);
        }
      } catch (IOException e) {
        if (SegmentNames.maybePartition(partition)) {
          throw e;
        }
      }
    }
    return found;
  }

  private static void collect(Path partition, List<TaggedLogFile> found) throws IOException {
    for (Path file : Directories.list(partition.toRealPath())) {
      if (SegmentFiles.maybeSegment(file)) {
        Path named = partition.resolve(file.getFileName());
        tagOf(file).ifPresent(tag -> found.add(new TaggedLogFile(file, named, tag)));
      }
    }
  }
}
