package io.strata.kafka.memory;

import com.sun.jna.LastErrorException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Files that share their blocks until one of them is changed (ioctl_ficlone(2)): XFS and btrfs have
 * them. Stateless.
 *
 * <p>Thread safety: may be called by any thread.
 */
public final class Reflink {

  private static final int NOT_PERMITTED = 1;
  private static final int BAD_DESCRIPTOR = 9;
  private static final int OTHER_FILE_SYSTEM = 18;
  private static final int INVALID = 22;
  private static final int NOT_A_DEVICE = 25;
  private static final int NOT_IMPLEMENTED = 38;
  private static final int NOT_SUPPORTED = 95;

  private Reflink() {}

  /**
   * Makes {@code target} a file with the bytes that {@code source} has at this moment, durably.
   *
   * @param source a file of the JDK's own default file system
   * @param target the same; must not exist
   * @return false if that cannot be done here; there is no target then
   * @throws java.nio.file.FileAlreadyExistsException if the target exists
   * @throws IOException if it fails; there is no target then
   */
  public static boolean make(Path source, Path target) throws IOException {
    if (!LibC.available()) {
      return false;
    }
    Path made = Files.createFile(target);
    boolean done = false;
    try {
      done = shareBlocks(source, made);
      if (done) {
        force(made);
      }
      return done;
    } catch (IOException | RuntimeException e) {
      done = false;
      throw e;
    } finally {
      if (!done) {
        Files.deleteIfExists(made);
      }
    }
  }

  private static boolean shareBlocks(Path source, Path target) throws IOException {
    try {
      LibC.shareBlocks(source, target);
      return true;
    } catch (LastErrorException e) {
      switch (e.getErrorCode()) {
        case NOT_PERMITTED,
            BAD_DESCRIPTOR,
            OTHER_FILE_SYSTEM,
            INVALID,
            NOT_A_DEVICE,
            NOT_IMPLEMENTED,
            NOT_SUPPORTED -> {
          return false;
        }
        default -> {
          FileSystemException failure =
              new FileSystemException(
                  target.toString(), source.toString(), "cannot share blocks: " + e.getMessage());
          failure.initCause(e);
          throw failure;
        }
      }
    }
  }

  private static void force(Path file) throws IOException {
    Path unused =
        Interrupts.defer(
            () -> {
              try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                channel.force(true);
              }
              return file;
            });
  }
}
