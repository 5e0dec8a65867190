package io.strata.kafka.nio;

import io.strata.kafka.tier.directory.SegmentFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.CopyOption;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileTime;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A tier for the provider's tests: the bytes of a hot file are in a file of their own, tied to the
 * inode of an empty log file. Paths are the JDK's.
 */
final class FakeTier implements SegmentFiles {

  private final Path pool;
  private final Predicate<Path> placement;
  private final Map<Object, Path> hot = new ConcurrentHashMap<>();
  private final AtomicInteger placed = new AtomicInteger();
  private final AtomicInteger freed = new AtomicInteger();
  private volatile boolean logsLoaded;

  /**
   * A tier without segments.
   *
   * @param pool an empty directory
   * @param placement which new files become hot
   */
  FakeTier(Path pool, Predicate<Path> placement) {
    this.pool = pool;
    this.placement = placement;
  }

  /** Files placed so far. */
  int placed() {
    return placed.get();
  }

  @Override
  public void logsLoaded() {
    logsLoaded = true;
  }

  boolean hasLoadedLogs() {
    return logsLoaded;
  }

  /** Hot files at this moment. */
  int hotFiles() {
    return placed.get() - freed.get();
  }

  @Override
  public Optional<FileChannel> open(
      Path file, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
      throws IOException {
    Object key = key(file);
    boolean creates =
        (options.contains(StandardOpenOption.WRITE) || options.contains(StandardOpenOption.APPEND))
            && (options.contains(StandardOpenOption.CREATE)
                || options.contains(StandardOpenOption.CREATE_NEW));
    if (key == null) {
      if (!creates || !placement.test(file)) {
        return Optional.empty();
      }
      Set<OpenOption> creation = new HashSet<>(options);
      creation.removeAll(
          Set.of(
              StandardOpenOption.READ,
              StandardOpenOption.APPEND,
              StandardOpenOption.TRUNCATE_EXISTING));
      creation.add(StandardOpenOption.WRITE);
      Files.newByteChannel(file, creation, attributes).close();
      Path bytes = Files.createFile(pool.resolve("slot-" + placed.incrementAndGet()));
      hot.put(Objects.requireNonNull(key(file)), bytes);
      return Optional.of(FileChannel.open(bytes, withoutCreation(options)));
    }
    Path bytes = hot.get(key);
    if (bytes == null) {
      return Optional.empty();
    }
    if (creates && options.contains(StandardOpenOption.CREATE_NEW)) {
      throw new FileAlreadyExistsException(file.toString());
    }
    return Optional.of(FileChannel.open(bytes, withoutCreation(options)));
  }

  private static Set<OpenOption> withoutCreation(Set<? extends OpenOption> options) {
    Set<OpenOption> rest = new HashSet<>(options);
    rest.remove(StandardOpenOption.CREATE);
    rest.remove(StandardOpenOption.CREATE_NEW);
    return rest;
  }

  @Override
  public OptionalLong size(Path file) throws IOException {
    Path bytes = bytes(file);
    return bytes == null ? OptionalLong.empty() : OptionalLong.of(Files.size(bytes));
  }

  @Override
  public Optional<FileTime> lastModified(Path file) throws IOException {
    Path bytes = bytes(file);
    return bytes == null ? Optional.empty() : Optional.of(Files.getLastModifiedTime(bytes));
  }

  @Override
  public boolean setLastModified(Path file, FileTime time) throws IOException {
    Path bytes = bytes(file);
    if (bytes != null) {
      Files.setLastModifiedTime(bytes, time);
    }
    return bytes != null;
  }

  @Override
  public boolean delete(Path file) throws IOException {
    Object key = key(file);
    if (key == null || !hot.containsKey(key)) {
      return false;
    }
    Files.delete(file);
    free(key);
    return true;
  }

  @Override
  public boolean move(Path source, Path target, CopyOption... options) throws IOException {
    Object moved = key(source);
    Object replaced = key(target);
    Files.move(source, target, options);
    if (replaced != null && !replaced.equals(moved)) {
      free(replaced);
    }
    return true;
  }

  private void free(Object key) {
    Path bytes = hot.remove(key);
    if (bytes != null) {
      freed.incrementAndGet();
      try {
        Files.delete(bytes);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private @Nullable Path bytes(Path file) {
    Object key = key(file);
    return key == null ? null : hot.get(key);
  }

  private static @Nullable Object key(Path file) {
    try {
      return Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
          .fileKey();
    } catch (IOException e) {
      return null;
    }
  }
}
