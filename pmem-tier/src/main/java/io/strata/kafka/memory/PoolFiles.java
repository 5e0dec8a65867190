package io.strata.kafka.memory;

import com.sun.jna.LastErrorException;
import io.strata.kafka.memory.calls.LibC;
import io.strata.kafka.migration.NoSpaceException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * Extends the files that memories are opened on.
 *
 * <p>Their blocks are allocated at once: a store under a mapping whose block cannot be allocated
 * would be a fault, and a full device must not show in the middle of an append.
 *
 * <p>Stateless. Two threads must not extend the same file at the same time.
 */
public final class PoolFiles {
  private static final int NO_SPACE = 28;
  private static final int NOT_SUPPORTED = 95;
  private static final int ZEROS_LENGTH = 1 << 20;

  /** Whether the blocks of a file are written once. */
  @FunctionalInterface
  interface ToWrite {
    boolean test(Path file) throws IOException;
  }

  private PoolFiles() {}

  /**
   * Makes a file longer, with zeros, all of its new blocks allocated, and durably so when this
   * returns. On any exception the file has its old length.
   *
   * <p>On a DAX file system zeros are written too: the first store into a page that was only
   * allocated would wait for the file system's journal.
   *
   * @param newSize in bytes, above the present size
   */
  public static void extend(Path file, long newSize, ProgressListener progress) throws IOException {
    extend(file, newSize, FileProbe::isDax, progress);
  }

  /** Visible to its test. */
  static void extend(Path file, long newSize, ToWrite toWrite, ProgressListener progress)
      throws IOException {
    long size = Files.size(file);
    if (newSize <= size) {
      throw new IllegalArgumentException(
          "The new size of " + file + " must be above its " + size + " bytes: " + newSize);
    }
    try {
      reserve(file, size, newSize - size, toWrite, progress);
    } catch (IOException | RuntimeException e) {
      try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
        FileChannel unused = channel.truncate(size);
      } catch (IOException suppressed) {
        e.addSuppressed(suppressed);
      }
      throw e;
    }
  }

  /** The bytes that a file occupies on its medium; empty when this cannot be found out here. */
  public static OptionalLong allocatedBytes(Path file) throws IOException {
    if (!LibC.available()) {
      return OptionalLong.empty();
    }
    try {
      return LibC.allocatedBytes(file);
    } catch (LastErrorException e) {
      throw new IOException("Cannot look at " + file + ": " + e.getMessage(), e);
    }
  }

  /**
   * Allocates the blocks of a file that are not; its bytes stay. Not durable before the file is
   * forced.
   *
   * @return why that cannot be done; empty if it has been
   */
  public static Optional<String> fillHoles(Path file) throws IOException {
    try {
      return allocateBlocks(file, 0, Files.size(file))
          ? Optional.empty()
          : Optional.of("its file system cannot");
    } catch (NoSpaceException e) {
      return Optional.of(String.valueOf(e.getReason()));
    }
  }

  private static void reserve(
      Path file, long position, long length, ToWrite toWrite, ProgressListener progress)
      throws IOException {
    // Asked for first, since an allocation that fails half-way fills the device for a while.
    long usable = Files.getFileStore(file).getUsableSpace();
    if (usable < length) {
      throw noSpace(file, length, usable);
    }
    if (!LibC.available() || !allocateBlocks(file, position, length) || toWrite.test(file)) {
      writeZeros(file, position, length, progress);
    }
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.force(true);
    }
  }

  /** False when the file system cannot allocate without writing. */
  private static boolean allocateBlocks(Path file, long position, long length) throws IOException {
    try {
      LibC.allocate(file, position, length);
      return true;
    } catch (LastErrorException e) {
      if (e.getErrorCode() == NOT_SUPPORTED) {
        return false;
      }
      if (e.getErrorCode() == NO_SPACE) {
        NoSpaceException failure = noSpace(file, length, Files.getFileStore(file).getUsableSpace());
        failure.initCause(e);
        throw failure;
      }
      throw new IOException(
          "Cannot allocate " + length + " bytes for " + file + ": " + e.getMessage(), e);
    }
  }

  private static NoSpaceException noSpace(Path file, long length, long usable) {
    return new NoSpaceException(
        file,
        "found %d bytes usable on its file system, expected %d: free space, or choose a smaller size"
            .formatted(usable, length));
  }

  /** Writes zeros in place of an allocation; visible to its test. */
  static void writeZeros(Path file, long position, long length, ProgressListener progress)
      throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      ByteBuffer zeros = ByteBuffer.allocateDirect((int) Math.min(ZEROS_LENGTH, length));
      for (long done = 0; done < length; ) {
        zeros.clear().limit((int) Math.min(zeros.capacity(), length - done));
        done += channel.write(zeros, position + done);
        progress.progress(done, length);
      }
    }
  }

  /** With what a file is created that only its owner may read and write; a umask may take more. */
  public static FileAttribute<?>[] ownerOnly(Path file) {
    Set<String> views = file.getFileSystem().supportedFileAttributeViews();
    return views.contains("posix")
        ? new FileAttribute<?>[] {
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
        }
        : new FileAttribute<?>[0];
  }
}
