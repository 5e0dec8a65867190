package io.strata.kafka.tier;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Holds a segment's log file, and its name, while something is done to it: no rename and no
 * deletion through the provider comes in between, and one past it changes nothing ({@link
 * LogFile}).
 *
 * <p>Thread safety: all methods may be called by any thread. Two locks are taken, in this order:
 * the one that renaming a directory takes alone, and that of the file's name. A segment's writer
 * lock comes after them.
 */
final class HomeNames {

  private final PathLocks files = new PathLocks();
  private final ReentrantReadWriteLock directories = new ReentrantReadWriteLock();
  private final SegmentRegistry registry;

  HomeNames(SegmentRegistry registry) {
    this.registry = registry;
  }

  /** Holds one name. */
  PathLocks.Held lock(Path name) {
    return files.lock(name);
  }

  /** Holds two names. */
  PathLocks.Held lock(Path one, Path other) {
    return files.lock(one, other);
  }

  /** Keeps everybody else from homes while directories are renamed. */
  PathLocks.Held lockDirectories() {
    directories.writeLock().lock();
    return directories.writeLock()::unlock;
  }

  /**
   * Does something to the segment's log file.
   *
   * @throws NoSuchFileException as {@link LogFile#of} does
   */
  @SuppressWarnings("try") // what is held is only to be released
  <T> T with(TieredSegment segment, LogFile.Action<T> action) throws IOException {
    directories.readLock().lock();
    try {
      while (true) {
        Path home = segment.home();
        try (PathLocks.Held held = files.lock(home)) {
          if (!segment.home().equals(home)) {
            continue;
          }
          try (LogFile file = LogFile.of(segment, registry)) {
            return file.with(action);
          }
        }
      }
    } finally {
      directories.readLock().unlock();
    }
  }

  /**
   * Holds the segment's log file for longer than its name.
   *
   * @throws NoSuchFileException as {@link LogFile#of} does
   */
  @SuppressWarnings("try") // what is held is only to be released
  LogFile hold(TieredSegment segment) throws IOException {
    directories.readLock().lock();
    try (PathLocks.Held held = files.lock(segment.home())) {
      return LogFile.of(segment, registry);
    } finally {
      directories.readLock().unlock();
    }
  }

  /**
   * Notes by which name a segment's file was opened: it may have been renamed past the provider. A
   * rename of its directory that has come since knows better, and so does one under way.
   */
  void openedAs(TieredSegment segment, Path name) throws IOException {
    // Only tried for: whoever opens holds the file's name, which comes after this lock.
    if (name.equals(segment.home()) || !directories.readLock().tryLock()) {
      return;
    }
    try {
      if (leadsTo(name, segment) && !isOtherName(name, segment)) {
        registry.moved(segment, name);
      }
    } finally {
      directories.readLock().unlock();
    }
  }

  private static boolean leadsTo(Path name, TieredSegment segment) throws IOException {
    try {
      return keyOf(name).equals(segment.fileKey());
    } catch (NoSuchFileException renamed) {
      return false;
    }
  }

  /**
   * Whether a name of a segment's file is a second one, the segment's own being there, too: a hard
   * link that somebody has made.
   */
  static boolean isOtherName(Path name, TieredSegment segment) throws IOException {
    Path home = segment.home();
    if (Directories.located(name).equals(Optional.of(home))) {
      return false;
    }
    try {
      return Objects.equals(keyOf(home), keyOf(name));
    } catch (NoSuchFileException renamed) {
      return false;
    }
  }

  /** What the file system knows a file by, whatever its name: device and inode. */
  static Object keyOf(Path file) throws IOException {
    BasicFileAttributes attributes =
        Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    Object key = attributes.fileKey();
    return key == null ? file.toString() : key;
  }
}
