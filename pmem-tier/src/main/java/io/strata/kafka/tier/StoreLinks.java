package io.strata.kafka.tier;

import io.strata.kafka.segment.StoreLink;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;

/**
 * Breaks the links between homes and the remote tier's store, before a broker runs that knows
 * nothing of them: it would cut the store's objects along with its own segments.
 *
 * <p>Thread safety: stateless; used with no broker running.
 */
final class StoreLinks {

  private StoreLinks() {}

  /**
   * Gives every object of the store that shares its bytes with a file of this log directory a file
   * of its own.
   *
   * @param logDirectory a log directory's real path
   * @return how many there were
   * @throws IOException if one could not be copied, the disk being full perhaps; those before it
   *     have been
   */
  static int breakAll(Path logDirectory) throws IOException {
    int broken = 0;
    try (DirectoryStream<Path> partitions = Files.newDirectoryStream(logDirectory)) {
      for (Path partition : partitions) {
        // It may be a symbolic link to another disk, as Kafka has it.
        if (Files.isDirectory(partition)) {
          broken += breakIn(partition.toRealPath());
        }
      }
      return broken;
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
  }

  private static int breakIn(Path partition) throws IOException {
    int broken = 0;
    try (DirectoryStream<Path> files = Files.newDirectoryStream(partition)) {
      for (Path file : files) {
        if (SegmentFiles.maybeSegment(file)
            && Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
          broken += StoreLink.unshareIfThere(file) ? 1 : 0;
          StoreLink.forget(file);
        }
      }
      return broken;
    }
  }
}
