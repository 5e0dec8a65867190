package io.strata.kafka.tier.offline;

import io.strata.kafka.pool.Pool;
import io.strata.kafka.pool.PoolReader;
import io.strata.kafka.segment.ReadOnlySegment;
import io.strata.kafka.segment.view.SegmentTag;
import io.strata.kafka.tier.directory.LogDirectory;
import io.strata.kafka.tier.directory.SegmentFiles;
import io.strata.kafka.tier.directory.TaggedLogFile;
import io.strata.kafka.tier.spec.FailureText;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileTime;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * The segments as a tool's JVM sees them: read from the pool, and never written.
 *
 * <p>The pool of a segment is found by what the broker recorded on the log directory, so that a
 * tool needs no configuration. Files that are not hot are the JDK's business, also for writing;
 * deleting or renaming a hot one is too, since the broker's recovery goes by the tag that the log
 * file carries.
 *
 * <p>Thread safety: all methods may be called by any thread.
 */
public final class ReadOnlyTier implements SegmentFiles {

  private final ConcurrentMap<UUID, PoolReader> pools = new ConcurrentHashMap<>();

  /** A tier that opens a pool when the first of its segments is read. */
  public ReadOnlyTier() {}

  @Override
  public Optional<FileChannel> open(
      Path file, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
      throws IOException {
    Optional<ReadOnlySegment> segment = find(file);
    if (segment.isEmpty()) {
      return Optional.empty();
    }
    if (options.contains(StandardOpenOption.WRITE) || options.contains(StandardOpenOption.APPEND)) {
      throw new AccessDeniedException(
          file.toString(),
          null,
          "this segment's bytes are in a pool, which only a broker writes to: stop the broker and"
              + " run 'strata drain' first");
    }
    FileChannel logFile = FileChannel.open(file, StandardOpenOption.READ);
    return Optional.of(segment.get().open(logFile, options));
  }

  @Override
  public OptionalLong size(Path file) throws IOException {
    Optional<ReadOnlySegment> segment = find(file);
    if (segment.isEmpty()) {
      return OptionalLong.empty();
    }
    try (FileChannel logFile = FileChannel.open(file, StandardOpenOption.READ)) {
      return OptionalLong.of(segment.get().size(logFile));
    }
  }

  /**
   * The log file's, which the broker keeps right; an append of the last seconds may not show in it
   * yet.
   */
  @Override
  public Optional<FileTime> lastModified(Path file) throws IOException {
    return find(file).isPresent() ? Optional.of(Files.getLastModifiedTime(file)) : Optional.empty();
  }

  private Optional<ReadOnlySegment> find(Path file) throws IOException {
    Optional<SegmentTag> tag = TaggedLogFile.tagOf(file);
    while (tag.isPresent()) {
      ReadOnlySegment segment = new ReadOnlySegment(pool(tag.get(), file), tag.get());
      if (segment.slot().isPresent()) {
        return Optional.of(segment);
      }
      // A slot that has moved on says that the bytes are in the log file, or in another slot, which
      // the tag names by now.
      Optional<SegmentTag> again = TaggedLogFile.tagOf(file);
      if (again.equals(tag)) {
        return Optional.empty();
      }
      tag = again;
    }
    return Optional.empty();
  }

  private PoolReader pool(SegmentTag tag, Path file) throws IOException {
    PoolReader known = pools.get(tag.pool());
    if (known != null) {
      return known;
    }
    Path path = recordedPath(tag, file);
    PoolReader opened = Pool.openReadOnly(path);
    if (!opened.info().id().equals(tag.pool())) {
      opened.close();
      throw new FileSystemException(
          file.toString(),
          path.toString(),
          "its bytes are in pool %s, and that file now holds pool %s"
              .formatted(tag.pool(), opened.info().id()));
    }
    PoolReader raced = pools.putIfAbsent(tag.pool(), opened);
    if (raced != null) {
      opened.close();
      return raced;
    }
    return opened;
  }

  private static Path recordedPath(SegmentTag tag, Path file) throws IOException {
    Path parent = file.toAbsolutePath().getParent();
    if (parent == null) {
      throw new NoSuchFileException(file.toString());
    }
    Path partition = parent.toRealPath();
    // A segment lies two levels below its log directory; those that Kafka's tests place, one.
    for (Path directory = partition; directory != null; directory = directory.getParent()) {
      Optional<LogDirectory> logDirectory = LogDirectory.find(directory);
      if (logDirectory.isPresent()) {
        Map<UUID, Path> recorded = logDirectory.get().recordedPools();
        Path path = recorded.get(tag.pool());
        if (path != null) {
          return path;
        }
      }
    }
    throw FailureText.at(
        file,
        """
        its bytes are in pool %s, and no directory above it records where that pool is: run the \
        tool on the log directory that the broker used\
        """
            .formatted(tag.pool()));
  }
}
