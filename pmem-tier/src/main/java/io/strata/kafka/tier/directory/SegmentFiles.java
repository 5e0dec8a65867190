package io.strata.kafka.tier.directory;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.CopyOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileTime;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * Answers the file system provider's questions about a file that may be a segment.
 *
 * <p>A file is <em>hot</em> while some of its bytes are in a pool; its log file, the ordinary file
 * at the same path, then holds some of them or none: copies, what was evicted, what has spilled.
 * Each method answers for a hot file and declines every other, as the defaults here decline all: an
 * empty result or {@code false} means that the provider must do what the JDK would have done, and
 * that nothing has been changed.
 *
 * <p>All paths that cross this interface are the JDK's own (unwrapped), absolute or relative as the
 * application gave them; the directories in them may be symbolic links. The last name is not a
 * symbolic link: the provider follows those first (or, where an operation is on the link itself,
 * does not ask), save for a target of {@link #move}. Implementations use the JDK's paths as well,
 * so that nothing they do with a file comes back here.
 *
 * <p>Failures are the exceptions of {@link java.nio.file.Files}: {@link
 * java.nio.file.NoSuchFileException}, {@link java.nio.file.AccessDeniedException} and so on. An
 * implementation that does not know whether a file is hot throws, and never declines: a declined
 * hot file would be read without its newest records.
 *
 * <p>Thread safety: all methods may be called by any number of threads.
 */
public interface SegmentFiles {

  /**
   * Returns whether {@code path} may name a segment, by its last name alone: 20 digits and {@code
   * .log}, with one of Kafka's suffixes {@code .deleted}, {@code .cleaned} and {@code .swap} or
   * none. Does no I/O, reads no configuration, and allocates nothing where the path has its string
   * at hand, as the JDK's have.
   */
  static boolean maybeSegment(Path path) {
    return SegmentNames.maybeSegment(path.toString());
  }

  /**
   * Returns whether {@code path} names one of the files in which Kafka keeps offsets by partition
   * ({@code *-offset-checkpoint}). Looks at the name only. Kafka replaces these files only after it
   * has loaded all logs, or when it shuts down because the start has failed.
   */
  static boolean isCheckpoint(Path path) {
    return path.toString().endsWith("-offset-checkpoint");
  }

  /**
   * Opens {@code file} if it is hot, or is to be created and placed in a pool.
   *
   * @param options as for {@link FileChannel#open(Path, Set, FileAttribute...)}, such as the JDK
   *     accepts together; never {@link java.nio.file.StandardOpenOption#DELETE_ON_CLOSE} or {@link
   *     java.nio.file.LinkOption#NOFOLLOW_LINKS}, and without write or append neither creation nor
   *     truncation
   * @param attributes given to the log file when it is created
   * @return empty when the file is not ours
   */
  default Optional<FileChannel> open(
      Path file, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
      throws IOException {
    return Optional.empty();
  }

  /**
   * The logical size in bytes of a hot file, that is the length a stock broker's file would have;
   * empty when the file is not hot.
   */
  default OptionalLong size(Path file) throws IOException {
    return OptionalLong.empty();
  }

  /** Returns when a hot file was last written to; empty when the file is not hot. */
  default Optional<FileTime> lastModified(Path file) throws IOException {
    return Optional.empty();
  }

  /**
   * Sets the time that {@link #lastModified} returns, in the log file and wherever else it is kept,
   * so that no earlier append comes back over it.
   *
   * @return false when the file is not hot
   */
  default boolean setLastModified(Path file, FileTime time) throws IOException {
    return false;
  }

  /**
   * Deletes a hot file, and frees its space when the last reader is gone.
   *
   * @return false when the caller is to delete it
   */
  default boolean delete(Path file) throws IOException {
    return false;
  }

  /**
   * Moves a file or a directory, as {@link java.nio.file.Files#move} does. Called for every move
   * whose source or target may be a segment, or whose source is a directory. A rename keeps the
   * inode, and so the extended attribute that ties the log file to its slot: channels that are open
   * on the file, or on files in the directory, stay valid. A hot file that an atomic move replaces
   * is freed; without {@code ATOMIC_MOVE} the provider has deleted it before.
   *
   * <p>The source is never a symbolic link, the target may be one (and is then replaced itself). A
   * hot file is moved only with {@link java.nio.file.StandardCopyOption#ATOMIC_MOVE} among {@code
   * options}; across file systems that throws {@link
   * java.nio.file.AtomicMoveNotSupportedException}, and the provider copies the file's bytes
   * instead.
   *
   * @return false when nothing has been done; where neither is ours it may have been moved all the
   *     same, so that the rename is known to be over
   */
  default boolean move(Path source, Path target, CopyOption... options) throws IOException {
    return false;
  }

  /**
   * Notes that Kafka has loaded all logs. Until then it may truncate what a power failure has torn,
   * and what is torn looks corrupt. May be called any number of times.
   */
  default void logsLoaded() {}
}
