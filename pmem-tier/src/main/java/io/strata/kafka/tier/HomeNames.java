package io.strata.kafka.tier;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.stream.Stream;

/**
 * Holds a segment's log file, and its name, while something is done to it: no rename and no
 * deletion through the provider comes in between, and one past it changes nothing ({@link
 * LogFile}).
 *
 * <p>Thread safety: all methods may be called by any thread. Two locks are taken, in this order:
 * that of its log directory, which renaming a directory there takes alone, and that of the file's
 * name. A segment's writer lock comes after them.
 */
final class HomeNames {

  private final PathLocks files = new PathLocks();

  /** One for each log directory: a disk that hangs holds up nothing elsewhere. */
  private final ConcurrentMap<Path, ReentrantReadWriteLock> directories = new ConcurrentHashMap<>();

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

  /** Keeps everybody else from homes in a log directory while a directory in it is renamed. */
  PathLocks.Held lockDirectories(Path source, Path target) {
    List<Lock> locks =
        Stream.of(source, target)
            .map(Directories::of)
            .distinct()
            .sorted()
            .map(logDirectory -> (Lock) lockOf(logDirectory).writeLock())
            .toList();
    locks.forEach(Lock::lock);
    return () -> locks.forEach(Lock::unlock);
  }

  private ReentrantReadWriteLock lockOf(Path logDirectory) {
    return directories.computeIfAbsent(logDirectory, path -> new ReentrantReadWriteLock());
  }

  /** What keeps the directory of a log file from being renamed. */
  private Lock directoryOf(Path home) {
    return lockOf(Directories.of(Directories.of(home))).readLock();
  }

  /**
   * Does something to the segment's log file.
   *
   * @throws NoSuchFileException as {@link LogFile#of} does
   */
  <T> T with(TieredSegment segment, LogFile.Action<T> action) throws IOException {
    return holding(
        segment,
        () -> {
          try (LogFile file = LogFile.of(segment, registry)) {
            return file.with(action);
          }
        });
  }

  /**
   * Holds the segment's log file for longer than its name.
   *
   * @throws NoSuchFileException as {@link LogFile#of} does
   */
  LogFile hold(TieredSegment segment) throws IOException {
    return holding(segment, () -> LogFile.of(segment, registry));
  }

  private interface Work<T> {
    T run() throws IOException;
  }

  @SuppressWarnings("try") // what is held is only to be released
  private <T> T holding(TieredSegment segment, Work<T> work) throws IOException {
    while (true) {
      Path home = segment.home();
      Lock directory = directoryOf(home);
      directory.lock();
      try (PathLocks.Held held = files.lock(home)) {
        if (segment.home().equals(home)) {
          return work.run();
        }
      } finally {
        directory.unlock();
      }
    }
  }

  /**
   * Notes by which name a segment's file was opened: it may have been renamed past the provider. A
   * rename of its directory that has come since knows better, and so does one under way.
   */
  void openedAs(TieredSegment segment, Path name) throws IOException {
    // Only tried for: whoever opens holds the file's name, which comes after this lock.
    Lock directory = directoryOf(name);
    if (name.equals(segment.home()) || !directory.tryLock()) {
      return;
    }
    try {
      if (leadsTo(name, segment) && !isOtherName(name, segment)) {
        registry.moved(segment, name);
      }
    } finally {
      directory.unlock();
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
