package io.strata.kafka.migration;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Optional;

/**
 * Looks at what a name is. {@link Files#exists} and its like take every failure for "no": a disk
 * that fails for a moment would have a file made again, or taken for another one. Here such a
 * failure is thrown.
 *
 * <p>Thread safety: stateless.
 */
public final class FileStatus {

  private FileStatus() {}

  /**
   * Returns the attributes of what has a name; empty if nothing has.
   *
   * @throws IOException if that cannot be told
   */
  public static Optional<BasicFileAttributes> of(Path path, LinkOption... options)
      throws IOException {
    try {
      return Optional.of(Files.readAttributes(path, BasicFileAttributes.class, options));
    } catch (NoSuchFileException e) {
      return Optional.empty();
    } catch (FileSystemException e) {
      if (isBelowAFile(path)) {
        return Optional.empty();
      }
      throw e;
    }
  }

  /**
   * Returns whether something has a name, be it a symbolic link that leads nowhere.
   *
   * @throws IOException if that cannot be told
   */
  public static boolean isThere(Path path) throws IOException {
    return of(path, LinkOption.NOFOLLOW_LINKS).isPresent();
  }

  /**
   * Returns whether there is such a directory.
   *
   * @throws IOException if that cannot be told
   */
  public static boolean isDirectory(Path path, LinkOption... options) throws IOException {
    return of(path, options).filter(BasicFileAttributes::isDirectory).isPresent();
  }

  /**
   * Returns whether there is such a regular file.
   *
   * @throws IOException if that cannot be told
   */
  public static boolean isRegularFile(Path path, LinkOption... options) throws IOException {
    return of(path, options).filter(BasicFileAttributes::isRegularFile).isPresent();
  }

  /** The JDK has no exception of its own for a path that goes on behind a file. */
  private static boolean isBelowAFile(Path path) {
    Path above = path.getParent();
    while (above != null) {
      try {
        return !Files.readAttributes(above, BasicFileAttributes.class).isDirectory();
      } catch (IOException e) {
        // It is below a file, too, or cannot be looked at: what is above it says more.
        above = above.getParent();
      }
    }
    return false;
  }
}
