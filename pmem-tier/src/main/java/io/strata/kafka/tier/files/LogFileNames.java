package io.strata.kafka.tier.files;

import io.strata.kafka.tier.directory.Directories;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.stream.Stream;

/**
 * Holds a segment's log file, and its name, while something is done to it: no rename and no
 * deletion through the provider comes in between, and one past it changes nothing ({@link
 * LogFile}). The creation, deletion and renaming of one name come one after the other. No lock is
 * held while bytes are read or appended.
 *
 * <p>Each log directory has locks of its own: a disk that hangs holds up nothing elsewhere.
 *
 * <p>Thread safety: all methods may be called by any thread. Two locks are taken, in this order:
 * that of its log directory, which renaming a directory there takes alone, and that of the file's
 * name. A thread that takes two of one kind takes them in their order. A segment's writer lock
 * comes after them.
 */
public final class LogFileNames {

  private static final int STRIPES = 64;

  /** The locks by log directory. */
  private final ConcurrentMap<Path, ReentrantReadWriteLock> directories = new ConcurrentHashMap<>();

  private final ConcurrentMap<Stripe, ReentrantLock> files = new ConcurrentHashMap<>();

  private final SegmentRegistry registry;

  public LogFileNames(SegmentRegistry registry) {
    this.registry = registry;
  }

  /** Releases what was taken. */
  public interface Held extends AutoCloseable {
    @Override
    void close();
  }

  /** Some of the names in a log directory: they have one lock. */
  private record Stripe(Path logDirectory, int number) implements Comparable<Stripe> {
    private static final Comparator<Stripe> ORDER =
        Comparator.comparing(Stripe::logDirectory).thenComparing(Stripe::number);

    static Stripe of(Path name) {
      int number = Math.floorMod(name.toString().hashCode(), STRIPES);
      return new Stripe(logDirectoryOf(name), number);
    }

    @Override
    public int compareTo(Stripe other) {
      return ORDER.compare(this, other);
    }
  }

  /** Holds names. */
  public Held lock(Path... names) {
    List<ReentrantLock> locks =
        Stream.of(names)
            .map(Stripe::of)
            .distinct()
            .sorted()
            .map(stripe -> files.computeIfAbsent(stripe, unused -> new ReentrantLock()))
            .toList();
    locks.forEach(ReentrantLock::lock);
    return () -> locks.forEach(ReentrantLock::unlock);
  }

  /** Keeps other threads from log files in a log directory while a directory in it is renamed. */
  public Held lockDirectories(Path source, Path target) {
    List<ReentrantReadWriteLock.WriteLock> locks =
        Stream.of(source, target)
            .map(Directories::of)
            .distinct()
            .sorted()
            .map(logDirectory -> lockOf(logDirectory).writeLock())
            .toList();
    locks.forEach(ReentrantReadWriteLock.WriteLock::lock);
    return () -> locks.forEach(ReentrantReadWriteLock.WriteLock::unlock);
  }

  private ReentrantReadWriteLock lockOf(Path logDirectory) {
    return directories.computeIfAbsent(logDirectory, path -> new ReentrantReadWriteLock());
  }

  private static Path logDirectoryOf(Path name) {
    return Directories.of(Directories.of(name));
  }

  /** Returns what keeps the directory of a log file from being renamed. */
  private ReentrantReadWriteLock.ReadLock directoryOf(Path logFile) {
    return lockOf(logDirectoryOf(logFile)).readLock();
  }

  /**
   * Does something to the segment's log file.
   *
   * @throws NoSuchFileException as {@link LogFile#of} does
   */
  public <T> T with(TieredSegment segment, LogFile.Action<T> action) throws IOException {
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
  public LogFile hold(TieredSegment segment) throws IOException {
    return holding(segment, () -> LogFile.of(segment, registry));
  }

  private interface Work<T> {
    T run() throws IOException;
  }

  @SuppressWarnings("try") // what is held is only to be released
  private <T> T holding(TieredSegment segment, Work<T> work) throws IOException {
    while (true) {
      Path logFile = segment.logFile();
      ReentrantReadWriteLock.ReadLock directory = directoryOf(logFile);
      directory.lock();
      try (Held held = lock(logFile)) {
        if (segment.logFile().equals(logFile)) {
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
  public void openedAs(TieredSegment segment, Path name) throws IOException {
    // Only tried for: an open holds the file's name, which comes after this lock.
    ReentrantReadWriteLock.ReadLock directory = directoryOf(name);
    if (name.equals(segment.logFile()) || !directory.tryLock()) {
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

  /**
   * Returns whether a file is the one that the segment knows; a copy of it may carry the same tag.
   */
  public static boolean leadsTo(Path name, TieredSegment segment) throws IOException {
    return keyIfThere(name).equals(Optional.of(segment.fileKey()));
  }

  /**
   * Returns whether a name of a segment's file is a second one, the segment's own being there too:
   * a hard link that was made.
   */
  public static boolean isOtherName(Path name, TieredSegment segment) throws IOException {
    Path logFile = segment.logFile();
    if (Directories.located(name).equals(Optional.of(logFile))) {
      return false;
    }
    Optional<Object> key = keyIfThere(logFile);
    return key.isPresent() && key.equals(keyIfThere(name));
  }

  /** Returns what the file system knows a file by, whatever its name: device and inode. */
  public static Object keyOf(Path file) throws IOException {
    BasicFileAttributes attributes =
        Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    return Objects.requireNonNull(attributes.fileKey());
  }

  /** As {@link #keyOf}; empty if there is no such file. */
  public static Optional<Object> keyIfThere(Path file) throws IOException {
    try {
      return Optional.of(keyOf(file));
    } catch (NoSuchFileException gone) {
      return Optional.empty();
    }
  }
}
