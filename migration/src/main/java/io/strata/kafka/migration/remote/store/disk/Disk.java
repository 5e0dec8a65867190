package io.strata.kafka.migration.remote.store.disk;

import static java.util.Objects.requireNonNull;

import io.strata.kafka.migration.FileStatus;
import io.strata.kafka.migration.remote.store.layout.StoreNames;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Optional;

/** The store's changes of files, so that a power cut finds either the old or the new state. */
public final class Disk {
  private Disk() {}

  public static void forceDirectory(Path directory) throws IOException {
    try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  /**
   * Makes the bytes of files, and then their entries, durable: of all files in a directory. The
   * pace is asked before each.
   */
  public static void forceAll(Path directory, BytePace pace)
      throws IOException, InterruptedException {
    for (Path file : StoreListing.entries(directory)) {
      pace.before(1);
      force(file);
    }
    forceDirectory(directory);
  }

  /** Makes a file's bytes durable, those of other processes too. */
  public static void force(Path file) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.force(true);
    }
  }

  public static void write(Path file, ByteBuffer bytes) throws IOException {
    try (FileChannel channel = create(file)) {
      writeFully(channel, bytes);
    }
  }

  /** Makes a file that is not there yet. */
  public static FileChannel create(Path file) throws IOException {
    return FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
  }

  public static void writeFully(FileChannel channel, ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      int unused = channel.write(bytes);
    }
  }

  /** Fills the buffer from a position, as far as the file has bytes; flips it. */
  public static void readFully(FileChannel channel, ByteBuffer buffer, long position)
      throws IOException {
    long at = position;
    while (buffer.hasRemaining()) {
      int count = channel.read(buffer, at);
      if (count < 0) {
        break;
      }
      at += count;
    }
    buffer.flip();
  }

  /** Makes a file that is not there yet. */
  @FunctionalInterface
  public interface Making<X extends Exception> {
    void make(Path file) throws IOException, X;
  }

  private static Path part(Path file, String nonce) {
    return file.resolveSibling(file.getFileName() + nonce + StoreNames.PART);
  }

  /**
   * Gives a file new content, durably: it has all of the old or all of the new at any moment, and
   * nothing else stays. Several may do it at once, on several machines too: each makes a file of
   * its own, and the last one stays.
   */
  public static <X extends Exception> void replace(Path file, Making<X> content)
      throws IOException, X {
    replaceBy(part(file, "." + StoreNames.randomId()), file, content);
  }

  /**
   * Gives a small file new content, durably, as {@link #replace(Path, Making)} does. One process
   * does it at a time: it writes over what a killed one has left.
   */
  public static void replace(Path file, byte[] bytes) throws IOException {
    Path part = part(file, "");
    boolean unused = Files.deleteIfExists(part);
    replaceBy(part, file, (Making<RuntimeException>) made -> write(made, ByteBuffer.wrap(bytes)));
  }

  /** Looks for what keeps a file from being replaced. */
  @FunctionalInterface
  public interface Obstacle {
    Optional<String> look() throws IOException;
  }

  /**
   * Gives a small file new content, durably, as {@link #replace(Path, Making)} does, unless
   * something is in the way.
   *
   * @param obstacle asked directly before the rename: what comes before may hang for long
   * @return what is in the way; empty if the file was replaced
   */
  public static Optional<String> replaceUnless(Path file, byte[] bytes, Obstacle obstacle)
      throws IOException {
    Path part = part(file, "." + StoreNames.randomId());
    try {
      write(part, ByteBuffer.wrap(bytes));
      force(part);
      Optional<String> found = obstacle.look();
      if (found.isPresent()) {
        return found;
      }
      Path unused = Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
    } finally {
      boolean unused = Files.deleteIfExists(part);
    }
    forceDirectory(parent(file));
    return Optional.empty();
  }

  private static <X extends Exception> void replaceBy(Path part, Path file, Making<X> content)
      throws IOException, X {
    try {
      content.make(part);
      force(part);
      Path unused = Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
    } finally {
      boolean unused = Files.deleteIfExists(part);
    }
    forceDirectory(parent(file));
  }

  /**
   * Makes a file that is not there, whole and durable, or not at all: of several that do it at
   * once, on several machines too, one succeeds.
   *
   * @throws java.nio.file.FileAlreadyExistsException if it is there
   */
  public static void createExclusively(Path file, byte[] bytes) throws IOException {
    Path part = part(file, "." + StoreNames.randomId());
    write(part, ByteBuffer.wrap(bytes));
    force(part);
    try {
      // A link fails where a rename would replace.
      Path unusedPath = Files.createLink(file, part);
    } finally {
      Files.delete(part);
    }
    forceDirectory(parent(file));
  }

  public static Path parent(Path file) {
    return requireNonNull(file.toAbsolutePath().getParent());
  }

  /**
   * Removes a file or a directory with all in it; others may be removing it too.
   *
   * @throws IOException if something cannot be removed; all else is
   */
  public static void removeTree(Path top) throws IOException {
    Optional<IOException> problem = Optional.empty();
    if (FileStatus.isDirectory(top, LinkOption.NOFOLLOW_LINKS)) {
      for (Path entry : StoreListing.entries(top)) {
        try {
          removeTree(entry);
        } catch (IOException e) {
          problem = problem.or(() -> Optional.of(e));
        }
      }
    }
    if (problem.isPresent()) {
      throw problem.get();
    }
    boolean unused = Files.deleteIfExists(top);
  }

  static boolean removeIfEmpty(Path directory) throws IOException {
    try {
      return Files.deleteIfExists(directory);
    } catch (DirectoryNotEmptyException e) {
      return false;
    }
  }
}
