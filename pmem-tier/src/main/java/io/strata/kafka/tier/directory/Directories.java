package io.strata.kafka.tier.directory;

import io.strata.kafka.memory.calls.Interrupts;
import io.strata.kafka.migration.FileStatus;
import io.strata.kafka.tier.spec.FailureText;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.util.List;
import java.util.Optional;
import java.util.stream.StreamSupport;

/** Makes what happened to files and to directory entries durable. Stateless. */
public final class Directories {

  /** How often a directory is looked for that is renamed at that moment. */
  private static final int ATTEMPTS = 1000;

  /** The end of the file that a crash leaves of a replacement; the next one writes over it. */
  private static final String REPLACING = ".strata";

  private Directories() {}

  /**
   * A file or directory could not be forced, now or before. The kernel says so once: a later force
   * that succeeds proves nothing, and none is tried.
   */
  public static final class ForceFailedException extends IOException {
    private static final long serialVersionUID = 1L;

    /** The force that failed. */
    ForceFailedException(IOException cause) {
      super(cause.getMessage(), cause);
    }

    /** The doubt that an earlier failed force leaves. */
    public ForceFailedException(Path file, IOException before) {
      super(
          "%s: a force of it has failed, and what that was for is in doubt until the restart: %s"
              .formatted(file, before.getMessage()),
          before);
    }
  }

  /** The directory of a file; of a root, itself. */
  public static Path of(Path file) {
    Path parent = file.getParent();
    return parent == null ? file : parent;
  }

  /** Returns what is in a directory, in the order in which its file system has it. */
  public static List<Path> list(Path directory) throws IOException {
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
      return StreamSupport.stream(entries.spliterator(), false).toList();
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
  }

  /** The name below its directory's real path; empty when there is no such directory. */
  public static Optional<Path> located(Path file) throws IOException {
    Path absolute = file.toAbsolutePath();
    Path parent = absolute.getParent();
    Path name = absolute.getFileName();
    if (parent == null || name == null) {
      return Optional.empty();
    }
    try {
      return Optional.of(parent.toRealPath().resolve(name));
    } catch (NoSuchFileException e) {
      return Optional.empty();
    }
  }

  /**
   * Forces a file or a directory, its metadata and attributes included.
   *
   * @throws ForceFailedException if that fails
   * @throws IOException if it cannot be opened; nothing is in doubt then
   */
  public static void force(Path file) throws IOException {
    // Also called in Kafka's threads, from a rename, which no interrupt ends half way.
    Interrupts.defer(
        () -> {
          try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            force(channel);
          }
          return file;
        });
  }

  /**
   * Forces an open file, its metadata and attributes included.
   *
   * @throws ForceFailedException if that fails
   * @throws IOException if it is closed; nothing is in doubt then
   */
  public static void force(FileChannel channel) throws IOException {
    try {
      channel.force(true);
    } catch (ClosedChannelException | FileSystemException notForced) {
      throw notForced;
    } catch (IOException e) {
      throw new ForceFailedException(e);
    }
  }

  /** As {@link #force}, if there is such a file. */
  public static void forceIfThere(Path file) throws IOException {
    try {
      force(file);
    } catch (NoSuchFileException absent) {
      return;
    }
  }

  /** Returns whether two names are of one file; false if one is not there. */
  public static boolean isSame(Path one, Path other) {
    try {
      return Files.isSameFile(one, other);
    } catch (IOException e) {
      return false;
    }
  }

  /**
   * A directory that is to be forced later, once, whatever it is called by then.
   *
   * @param path its name when it was opened
   * @param channel empty if it could not be opened: it is forced by its name then
   */
  public record Opened(Path path, Optional<FileChannel> channel) {

    /** The directory that has this name now. */
    public static Opened of(Path path) {
      try {
        return new Opened(path, Optional.of(FileChannel.open(path, StandardOpenOption.READ)));
      } catch (IOException e) {
        // No descriptor is left, or it is gone.
        return new Opened(path, Optional.empty());
      }
    }

    /**
     * Forces it, and what is above it if it is gone; and closes it, whatever comes of that.
     *
     * @throws ForceFailedException if that fails
     * @throws IOException if what is above it cannot be opened: to be called again
     */
    public void forceAndClose() throws IOException {
      if (channel.isPresent() && channel.get().isOpen()) {
        try (FileChannel opened = channel.get()) {
          opened.force(true);
        } catch (IOException e) {
          throw new ForceFailedException(e);
        }
      }
      forceNearest(path);
    }
  }

  /** Forces the directory, or the nearest one above it that is there. */
  public static void forceNearest(Path directory) throws IOException {
    for (int attempt = 1; ; attempt++) {
      Path existing = directory;
      while (!FileStatus.isDirectory(existing)) {
        Path parent = existing.getParent();
        if (parent == null) {
          return;
        }
        existing = parent;
      }
      try {
        force(existing);
        return;
      } catch (NoSuchFileException e) {
        // Renamed just now: look again.
        if (attempt == ATTEMPTS) {
          throw FailureText.at(existing, "it was renamed whenever it was to be forced");
        }
      }
    }
  }

  /**
   * Replaces what one of Kafka's own files has: a new file takes the old one's place when it is
   * durable, so that whatever comes in between, the one or the other is there. One thread at a time
   * replaces a file.
   *
   * @param file there; if it is a symbolic link, the file that it leads to is replaced
   */
  static void replace(Path file, byte[] contents) throws IOException {
    Path real = file.toRealPath();
    Path written = real.resolveSibling(real.getFileName() + REPLACING);
    Files.deleteIfExists(written);
    try (FileChannel channel =
        FileChannel.open(written, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      ByteBuffer bytes = ByteBuffer.wrap(contents);
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
      takeOwner(real, written);
      channel.force(true);
    } catch (IOException e) {
      try {
        Files.deleteIfExists(written);
      } catch (IOException suppressed) {
        e.addSuppressed(suppressed);
      }
      throw e;
    }
    Files.move(written, real, StandardCopyOption.ATOMIC_MOVE);
    force(of(real));
  }

  /** The command line may be another user's, and Kafka's is to read the file. */
  private static void takeOwner(Path from, Path to) throws IOException {
    PosixFileAttributeView view = Files.getFileAttributeView(to, PosixFileAttributeView.class);
    if (view == null) {
      return;
    }
    PosixFileAttributes old = Files.readAttributes(from, PosixFileAttributes.class);
    view.setPermissions(old.permissions());
    try {
      view.setGroup(old.group()); // Any user may who is of the group.
      view.setOwner(old.owner());
    } catch (FileSystemException notAllowed) {
      // Only root may; any other user's new file is as readable as one that Kafka writes.
      return;
    }
  }
}
