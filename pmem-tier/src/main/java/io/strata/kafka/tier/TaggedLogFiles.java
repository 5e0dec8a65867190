package io.strata.kafka.tier;

import io.strata.kafka.segment.SegmentTag;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Finds the tagged files of a log directory. Reads only. */
public final class TaggedLogFiles {

  private TaggedLogFiles() {}

  /**
   * The files of the log directory's partitions that carry a tag, whatever Kafka calls them at the
   * moment.
   *
   * @param logDirectory a log directory's real path
   * @throws IOException if a partition's directory or a tag cannot be read; one that is no
   *     partition, as a file system's {@code lost+found}, is passed over then
   */
  public static List<TaggedLogFile> in(Path logDirectory) throws IOException {
    List<TaggedLogFile> found = new ArrayList<>();
    try (DirectoryStream<Path> partitions = Files.newDirectoryStream(logDirectory)) {
      for (Path partition : partitions) {
        try {
          if (isDirectory(partition)) {
            // A partition may be a symbolic link to another disk: Kafka follows it, and so do we.
            collect(partition.toRealPath(), found);
          }
        } catch (IOException e) {
          if (SegmentNames.maybePartition(partition)) {
            throw e;
          }
        }
      }
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
    return found;
  }

  /** As {@link Files#isDirectory}, but what cannot be looked at is an error and not a "no". */
  private static boolean isDirectory(Path partition) throws IOException {
    try {
      return Files.readAttributes(partition, BasicFileAttributes.class).isDirectory();
    } catch (NoSuchFileException goneOrDangling) {
      return false;
    }
  }

  private static void collect(Path partition, List<TaggedLogFile> found) throws IOException {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(partition)) {
      for (Path file : files) {
        if (!SegmentFiles.maybeSegment(file)) {
          continue;
        }
        Optional<SegmentTag> tag = Tags.of(file);
        if (tag.isPresent()) {
          found.add(new TaggedLogFile(file, tag.get()));
        }
      }
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
  }
}
