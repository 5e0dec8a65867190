package io.strata.kafka.nio;

import io.strata.kafka.tier.directory.SegmentFiles;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotLinkException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.spi.FileSystemProvider;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Which file an operation ends at, and whether that file may be a segment.
 *
 * <p>A segment is recognized by its own name, so a symbolic link is followed first, as the kernel
 * would, whether the link or the segment has such a name. Links among the directories need no care:
 * the tier compares real directories.
 *
 * <p>Paths are the delegate's. Thread safety: immutable.
 */
final class SegmentRouter {

  /** The number of links that Linux follows before it fails with ELOOP. */
  private static final int MOST_LINKS = 40;

  /**
   * Reasons of paths that lead nowhere. In another language than the JDK's own they are thrown
   * here: the same failure, which names one path where the operation itself may name two.
   */
  private static final List<String> NO_PATH =
      List.of("Not a directory", "Too many levels of symbolic links");

  private final FileSystemProvider delegate;

  SegmentRouter(FileSystemProvider delegate) {
    this.delegate = delegate;
  }

  /**
   * For an operation on a file that must exist.
   *
   * @param followLinks whether it is on what a symbolic link leads to, or on the link itself
   * @return empty when it is no segment for sure, and so the delegate's alone
   */
  Optional<Path> existing(Path path, boolean followLinks) throws IOException {
    return route(path, followLinks, false);
  }

  /** For an operation on an existing file itself, be it a symbolic link or not. */
  Optional<Path> itself(Path path) throws IOException {
    return SegmentFiles.maybeSegment(path) ? route(path, false, false) : Optional.empty();
  }

  /** For an operation that may create its file. */
  Optional<Path> existingOrNew(Path path, boolean followLinks) throws IOException {
    return route(path, followLinks, true);
  }

  private Optional<Path> route(Path path, boolean followLinks, boolean maybeNew)
      throws IOException {
    Path file = path;
    for (int links = 0; links <= MOST_LINKS; links++) {
      BasicFileAttributes attributes = attributesItself(file);
      if (attributes == null ? maybeNew : attributes.isRegularFile()) {
        return SegmentFiles.maybeSegment(file) ? Optional.of(file) : Optional.empty();
      }
      if (!followLinks || attributes == null || !attributes.isSymbolicLink()) {
        return Optional.empty();
      }
      try {
        file = file.resolveSibling(delegate.readSymbolicLink(file));
      } catch (NoSuchFileException | NotLinkException e) {
        return Optional.empty(); // Gone or replaced meanwhile: the delegate decides.
      }
    }
    return Optional.empty();
  }

  /**
   * Attributes without following a link; null when there is no such file.
   *
   * @throws IOException if that cannot be told: the log file of a hot segment must not be taken for
   *     the segment because a disk has failed for a moment
   */
  @Nullable BasicFileAttributes attributesItself(Path path) throws IOException {
    try {
      return delegate.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    } catch (NoSuchFileException | AccessDeniedException e) {
      return null; // The operation itself meets the same failure, and reports it.
    } catch (FileSystemException e) {
      if (NO_PATH.stream().anyMatch(reason -> String.valueOf(e.getReason()).contains(reason))) {
        return null;
      }
      throw e;
    }
  }
}
