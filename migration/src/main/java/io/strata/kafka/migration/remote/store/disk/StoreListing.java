package io.strata.kafka.migration.remote.store.disk;

import io.strata.kafka.migration.FileStatus;
import io.strata.kafka.migration.remote.store.layout.SegmentKey;
import io.strata.kafka.migration.remote.store.layout.StoreNames;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Finds the segments of a directory by listing it. */
public final class StoreListing {
  private StoreListing() {}

  /** Is notified of what is found. */
  public interface Visitor<X extends Exception> {
    /** A segment's directory. */
    void segment(SegmentKey key, Path directory, BasicFileAttributes attributes)
        throws IOException, X;

    /**
     * Something below {@code topics} that cannot be looked at: segments may be in it, and it is
     * left out.
     */
    void unlisted(Path path, IOException failure);

    /** Something below {@code topics} that is not a segment's, by its name. */
    default void stranger(Path path) {}
  }

  /**
   * Lists a directory of the store. Segments that come or go meanwhile may be in it or not. A topic
   * or a partition that cannot be listed hides no other.
   *
   * @throws IOException if {@code topics} cannot be listed; a visitor's exceptions pass
   */
  public static <X extends Exception> void list(Path directory, Visitor<X> visitor)
      throws IOException, X {
    Path topics = directory.resolve(StoreNames.TOPICS);
    if (!FileStatus.isDirectory(topics)) {
      throw new NoSuchFileException(topics.toString());
    }
    for (Path topic : entries(topics)) {
      for (Path topicId : below(topic, visitor)) {
        for (Path partition : below(topicId, visitor)) {
          for (Path segment : below(partition, visitor)) {
            Optional<SegmentKey> key =
                StoreNames.parse(name(topic), name(topicId), name(partition), name(segment));
            Optional<BasicFileAttributes> found = attributes(segment, visitor);
            if (key.isPresent() && found.filter(BasicFileAttributes::isDirectory).isPresent()) {
              visitor.segment(key.get(), segment, found.get());
            } else if (found.isPresent()) {
              visitor.stranger(segment);
            }
          }
        }
      }
    }
  }

  /** Returns the names of the topics that have been in a directory; none if it is not there. */
  public static List<String> topics(Path directory) throws IOException {
    return entries(directory.resolve(StoreNames.TOPICS)).stream().map(StoreListing::name).toList();
  }

  private static List<Path> below(Path directory, Visitor<?> visitor) {
    Optional<BasicFileAttributes> found = attributes(directory, visitor);
    if (found.isEmpty()) {
      return List.of();
    }
    if (!found.get().isDirectory()) {
      visitor.stranger(directory);
      return List.of();
    }
    try {
      return entries(directory);
    } catch (IOException e) {
      visitor.unlisted(directory, e);
      return List.of();
    }
  }

  /** Returns what is known of an entry; empty if it has just been removed, or cannot be read. */
  private static Optional<BasicFileAttributes> attributes(Path entry, Visitor<?> visitor) {
    try {
      return FileStatus.of(entry, LinkOption.NOFOLLOW_LINKS);
    } catch (IOException e) {
      visitor.unlisted(entry, e);
      return Optional.empty();
    }
  }

  /** A directory's entries; none if it has just been removed. */
  public static List<Path> entries(Path directory) throws IOException {
    List<Path> entries = new ArrayList<>();
    try (DirectoryStream<Path> stream = Files.newDirectoryStream(directory)) {
      stream.forEach(entries::add);
    } catch (NoSuchFileException | NotDirectoryException e) {
      return List.of();
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
    entries.sort(null);
    return entries;
  }

  public static String name(Path path) {
    return String.valueOf(path.getFileName());
  }
}
