package io.strata.kafka.tier.directory;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;

/**
 * Replaces the contents of one of Kafka's own files: a new file takes the old one's place when it
 * is durable, so that whatever comes in between, the one or the other is there.
 *
 * <p>Thread safety: stateless; one thread at a time replaces a file.
 */
final class FileContents {

  /** The file that a crash leaves of a replacement; the next one writes over it. */
  private static final String SUFFIX = ".strata";

  private FileContents() {}

  /**
   * Replaces what a file has, durably.
   *
   * @param file there; if it is a symbolic link, the file that it leads to is replaced
   */
  static void replace(Path file, byte[] contents) throws IOException {
    Path real = file.toRealPath();
    Path written = real.resolveSibling(real.getFileName() + SUFFIX);
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
    Directories.force(Directories.of(real));
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
