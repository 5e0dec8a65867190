package io.strata.kafka.tier;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Gives the remote tier's store the bytes of log files without copying them: a file of its own that
 * shares the log file's blocks until one of the two is changed, where the file system has such.
 *
 * <p>Thread safety: all methods may be called by any thread. The sharing itself is done under the
 * segment's writer lock, so that no change comes between.
 */
record BlockSharing(LogFileNames names, SegmentFinder segments, Cloning cloning) {

  /** As {@link io.strata.kafka.memory.Reflink#make}. */
  @FunctionalInterface
  interface Cloning {
    boolean make(Path source, Path target) throws IOException;
  }

  /**
   * See {@link io.strata.kafka.migration.remote.LocalSegments#share}.
   *
   * @param name the log file, below its directory's real path
   */
  @SuppressWarnings("try") // what is held is only to be released
  boolean share(Path name, Path target) throws IOException {
    if (Files.exists(target, LinkOption.NOFOLLOW_LINKS)) {
      throw new FileAlreadyExistsException(target.toString());
    }
    Optional<TieredSegment> known = segments.find(name);
    if (known.isEmpty()) {
      // No channel of ours is open on it, and none is opened while its name is held.
      try (LogFileNames.Held held = names.lock(name)) {
        known = segments.find(name);
        if (known.isEmpty()) {
          return isWhole(name, Files.size(name)) && cloning.make(name, target);
        }
      }
    }
    return shareKnown(known.get(), target);
  }

  private boolean shareKnown(TieredSegment known, Path target) throws IOException {
    if (known.inPool() && !Evictions.isClean(known)) {
      return false;
    }
    // First without a lock: most of what has not been written back, if anything.
    Directories.force(known.logFile());
    return names.with(
        known,
        file ->
            known
                .segment()
                .logFileShare(size -> isWhole(file, size) && cloning.make(file, target)));
  }

  private static boolean isWhole(Path file, long size) throws IOException {
    return size > 0 && Files.size(file) == size;
  }
}
