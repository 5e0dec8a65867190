package io.strata.kafka.tier.files;

import io.strata.kafka.memory.calls.PinnedFile;
import io.strata.kafka.segment.view.SegmentTag;
import io.strata.kafka.tier.directory.Directories;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;

/**
 * A segment's log file, held open and known to be that segment's: the one door through which the
 * tier changes a log file when it is not Kafka that asks. Kafka's LogLoader renames and deletes by
 * {@code java.io.File}, so that no lock of ours keeps a name where it is.
 *
 * <p>The tag on the file proves a segment with bytes in a pool, or one that has just left it; the
 * inode proves one without a tag, while a descriptor of ours is open on it. A path, and an inode
 * without an open descriptor, prove nothing. Two files may carry one tag, when one is a copy with
 * the other's attributes: an inode that is not the segment's refutes.
 *
 * <p>Thread safety: used by one thread.
 */
public record LogFile(Path name, PinnedFile pinned) implements Closeable {

  /** A change of a log file, which {@code file} leads to: a path for this call alone. */
  public interface Action<T> {
    T run(Path file) throws IOException;
  }

  /**
   * Holds a segment's log file.
   *
   * @throws NoSuchFileException when the file is not where it was last seen: deleted, renamed, or
   *     replaced past the provider. The segment's slot stays: the file may have another name, and
   *     only recovery, which looks at all of them, can decide
   */
  public static LogFile of(TieredSegment segment, SegmentRegistry registry) throws IOException {
    Path name = segment.logFile();
    boolean done = false;
    PinnedFile pinned = pin(segment, name);
    try {
      LogFile file = new LogFile(name, pinned);
      if (!file.isOf(segment, registry)) {
        segment.missing(true);
        throw new NoSuchFileException(
            name.toString(), null, "another file has taken the place of the segment's");
      }
      segment.missing(false);
      done = true;
      return file;
    } finally {
      if (!done) {
        pinned.close();
      }
    }
  }

  private static PinnedFile pin(TieredSegment segment, Path name) throws IOException {
    try {
      return PinnedFile.of(name);
    } catch (NoSuchFileException e) {
      segment.missing(true);
      throw e;
    }
  }

  private boolean isOf(TieredSegment segment, SegmentRegistry registry) throws IOException {
    Object key = Files.readAttributes(pinned.path(), BasicFileAttributes.class).fileKey();
    return segment.fileKey().equals(key)
        && SegmentTag.read(pinned.path())
            .map(tag -> registry.find(tag).filter(segment::equals).isPresent())
            .orElseGet(() -> !segment.inPool() && segment.isHeld());
  }

  /** Does something to the file. */
  public <T> T with(Action<T> action) throws IOException {
    try {
      return action.run(pinned.path());
    } catch (FileSystemException e) {
      if (!pinned.path().toString().equals(e.getFile())) {
        throw e;
      }
      // The path by the name that an operator knows.
      FileSystemException named =
          e instanceof AccessDeniedException
              ? new AccessDeniedException(name.toString(), e.getOtherFile(), e.getReason())
              : new FileSystemException(name.toString(), e.getOtherFile(), e.getReason());
      named.initCause(e);
      throw named;
    }
  }

  /** Makes the file's bytes and attributes durable. */
  public void force() throws IOException {
    Directories.force(pinned.path());
  }

  @Override
  public void close() throws IOException {
    pinned.close();
  }
}
