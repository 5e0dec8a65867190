package io.strata.kafka.migration.remote.store;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** What the store does with files, so that a power cut finds either the old or the new state. */
final class Disk {
  private Disk() {}

  /** Makes a directory's entries durable. */
  static void forceDirectory(Path directory) throws IOException {
    try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  /** Makes the bytes of files, and then their entries, durable: of all files in a directory. */
  static void forceAll(Path directory) throws IOException {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
      for (Path file : files) {
        force(file);
      }
    }
    forceDirectory(directory);
  }

  /** Makes a file's bytes durable, those of other processes, too. */
  static void force(Path file) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.force(true);
    }
  }

  /** Writes a file that is not there yet. */
  static void write(Path file, ByteBuffer bytes) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      writeFully(channel, bytes);
    }
  }

  /** Writes a file that is not there yet, and makes its bytes durable; not its entry. */
  static void writeNew(Path file, ByteBuffer bytes) throws IOException {
    write(file, bytes);
    force(file);
  }

  static void writeFully(FileChannel channel, ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      int unused = channel.write(bytes);
    }
  }

  /** Fills the buffer from a position, as far as the file has bytes; flips it. */
  static void readFully(FileChannel channel, ByteBuffer buffer, long position) throws IOException {
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

  /**
   * Makes a file that is not there yet.
   *
   * @param <X> what it may throw besides
   */
  @FunctionalInterface
  interface Making<X extends Exception> {
    void make(Path file) throws IOException, X;
  }

  /**
   * Gives a file new content: it has all of the old or all of the new at any moment, and nothing
   * else stays. The file that is there is never changed: it may share its blocks.
   */
  static <X extends Exception> void replaceUnforced(Path file, Making<X> content)
      throws IOException, X {
    Path part = file.resolveSibling(file.getFileName() + StoreNames.PART);
    boolean unused = Files.deleteIfExists(part);
    try {
      content.make(part);
      Path unusedPath = Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
    } finally {
      boolean unusedToo = Files.deleteIfExists(part);
    }
  }

  /** As {@link #replaceUnforced}, durably. */
  static <X extends Exception> void replace(Path file, Making<X> content) throws IOException, X {
    replaceUnforced(
        file,
        (Making<X>)
            part -> {
              content.make(part);
              force(part);
            });
    forceDirectory(parent(file));
  }

  /** As {@link #replace(Path, Making)}, of bytes in memory. */
  static void replace(Path file, byte[] bytes) throws IOException {
    replace(file, (Making<RuntimeException>) part -> write(part, ByteBuffer.wrap(bytes)));
  }

  /**
   * Makes a file that is not there, whole and durable, or not at all: of several that do it at
   * once, on several machines, too, one succeeds.
   *
   * @param nonce makes the temporary name one of this process
   * @throws java.nio.file.FileAlreadyExistsException if it is there
   */
  static void createExclusively(Path file, byte[] bytes, String nonce) throws IOException {
    Path part = file.resolveSibling(file.getFileName() + "." + nonce + StoreNames.PART);
    boolean unused = Files.deleteIfExists(part);
    writeNew(part, ByteBuffer.wrap(bytes));
    try {
      // A link fails where a rename would replace.
      Path unusedPath = Files.createLink(file, part);
    } finally {
      Files.delete(part);
    }
    forceDirectory(parent(file));
  }

  /**
   * Whether a file or directory is there.
   *
   * @throws IOException if that cannot be told: {@link Files#exists} takes every error for "no"
   */
  static boolean isThere(Path path) throws IOException {
    try {
      BasicFileAttributes unused =
          Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
      return true;
    } catch (NoSuchFileException e) {
      return false;
    } catch (FileSystemException e) {
      if (isBelowAFile(path)) {
        return false;
      }
      throw e;
    }
  }

  /** The JDK has no exception of its own for a path that goes on behind a file. */
  private static boolean isBelowAFile(Path path) {
    Path above = path.getParent();
    while (above != null) {
      if (Files.exists(above)) {
        return !Files.isDirectory(above);
      }
      above = above.getParent();
    }
    return false;
  }

  /** When a file was written last, by the clock of its file system; empty if it is not there. */
  static OptionalLong lastModified(Path file) throws IOException {
    try {
      return OptionalLong.of(Files.getLastModifiedTime(file).toMillis());
    } catch (NoSuchFileException e) {
      return OptionalLong.empty();
    }
  }

  /** Removes a tree that nobody sees any more; what cannot be removed now is left for later. */
  static void removeTreeIfPossible(Path top) {
    try {
      removeTree(top);
    } catch (IOException e) {
      // The next upkeep finds it in the trash or in staging.
      return;
    }
  }

  /** The directory that a file is in. */
  static Path parent(Path file) {
    return requireNonNull(file.toAbsolutePath().getParent());
  }

  /** Removes a file or a directory with all in it; others may be removing it, too. */
  static void removeTree(Path top) throws IOException {
    try {
      Path unused =
          Files.walkFileTree(
              top,
              new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
                    throws IOException {
                  boolean unused = Files.deleteIfExists(file);
                  return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult visitFileFailed(Path file, IOException e)
                    throws IOException {
                  if (e instanceof NoSuchFileException) {
                    return FileVisitResult.CONTINUE;
                  }
                  throw e;
                }

                @Override
                public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException e)
                    throws IOException {
                  if (e != null) {
                    throw e;
                  }
                  boolean unused = Files.deleteIfExists(directory);
                  return FileVisitResult.CONTINUE;
                }
              });
    } catch (NoSuchFileException e) {
      // Another broker was faster.
      return;
    }
  }

  /** Removes a directory if it is empty. */
  static boolean removeIfEmpty(Path directory) throws IOException {
    try {
      return Files.deleteIfExists(directory);
    } catch (DirectoryNotEmptyException e) {
      return false;
    }
  }
}
