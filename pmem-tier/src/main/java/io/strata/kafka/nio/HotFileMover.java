package io.strata.kafka.nio;

import io.strata.kafka.segment.view.SegmentTag;
import io.strata.kafka.tier.directory.SegmentFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.AccessMode;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.nio.file.spi.FileSystemProvider;
import java.util.Optional;
import java.util.Set;

/**
 * Copies and moves hot segments with all of their bytes. The JDK would copy the log file, which
 * holds none of them or only the tail, and with its attributes the tag that ties the log file to
 * its slot.
 *
 * <p>A copy is an ordinary file, and never hot. Unlike the JDK's, a copy is ended by an interrupt
 * of its thread, with {@link java.nio.channels.ClosedByInterruptException}.
 *
 * <p>Paths are the delegate's. Thread safety: immutable.
 */
final class HotFileMover {

  /** The prefix that a user-defined view leaves out of an attribute's name. */
  private static final String USER = "user.";

  private static final int BUFFER_BYTES = 256 * 1024;

  private final FileSystemProvider delegate;
  private final SegmentRouter router;

  HotFileMover(FileSystemProvider delegate, SegmentRouter router) {
    this.delegate = delegate;
    this.router = router;
  }

  /**
   * Copies {@code source}, the file itself, to {@code target}.
   *
   * @return false when the source is no longer hot; nothing has been done then
   */
  boolean copy(SegmentFiles files, Path source, Path target, CopyFlags flags) throws IOException {
    delegate.checkAccess(source, AccessMode.READ);
    Optional<FileChannel> opened = files.open(source, Set.of(StandardOpenOption.READ));
    if (opened.isEmpty()) {
      return false;
    }
    try (FileChannel bytes = opened.get()) {
      if (clearTarget(files, source, target, flags.replace())) {
        copyBytes(files, source, bytes, target, flags.attributes(), false);
      }
    }
    return true;
  }

  /**
   * Moves {@code source} to {@code target}: by a rename, and where that is not possible by a copy
   * that is forced to its medium before the source is deleted, since the source's bytes may have
   * been durable.
   *
   * @return false when the source is no longer hot; nothing has been done then
   */
  boolean move(SegmentFiles files, Path source, Path target, CopyFlags flags) throws IOException {
    if (!flags.atomic() && !clearTarget(source, target, flags.replace())) {
      return true;
    }
    if (SegmentFiles.maybeSegment(target)) {
      try {
        return files.move(source, target, StandardCopyOption.ATOMIC_MOVE);
      } catch (AtomicMoveNotSupportedException e) {
        if (flags.atomic()) {
          throw e;
        }
      }
    } else if (flags.atomic()) {
      throw new AtomicMoveNotSupportedException(
          source.toString(),
          target.toString(),
          "a hot segment can be renamed only to another segment's name");
    }
    Optional<FileChannel> opened = files.open(source, Set.of(StandardOpenOption.READ));
    if (opened.isEmpty()) {
      return false;
    }
    try (FileChannel bytes = opened.get()) {
      deleteReplaced(files, target);
      copyBytes(files, source, bytes, target, true, true);
    }
    if (!files.delete(source)) {
      delegate.delete(source);
    }
    return true;
  }

  /**
   * Deletes what a copy replaces. False when source and target are one file: nothing to do then.
   */
  private boolean clearTarget(SegmentFiles files, Path source, Path target, boolean replace)
      throws IOException {
    if (!clearTarget(source, target, replace)) {
      return false;
    }
    deleteReplaced(files, target);
    return true;
  }

  /**
   * Checks that the target may be replaced, and removes it if it is a directory, which a rename
   * would not replace. False when source and target are one file.
   */
  private boolean clearTarget(Path source, Path target, boolean replace) throws IOException {
    BasicFileAttributes existing = router.attributesItself(target);
    if (existing == null) {
      return true;
    }
    Object key = existing.fileKey();
    if (key != null && key.equals(attributes(source).fileKey())) {
      return false;
    }
    if (!replace) {
      throw new FileAlreadyExistsException(target.toString());
    }
    if (existing.isDirectory()) {
      delegate.delete(target);
    }
    return true;
  }

  private void deleteReplaced(SegmentFiles files, Path target) throws IOException {
    Optional<Path> segment = router.itself(target);
    if (segment.isEmpty() || !files.delete(segment.get())) {
      delegate.deleteIfExists(target);
    }
  }

  private void copyBytes(
      SegmentFiles files,
      Path source,
      FileChannel bytes,
      Path target,
      boolean withAttributes,
      boolean durably)
      throws IOException {
    try (FileChannel copy =
        delegate.newFileChannel(
            target,
            Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
            permissions(source))) {
      ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES);
      while (bytes.read(buffer.clear()) >= 0) {
        buffer.flip();
        while (buffer.hasRemaining()) {
          copy.write(buffer);
        }
      }
      if (withAttributes) {
        copyAttributes(files, source, target);
      }
      if (durably) {
        copy.force(true);
      }
    } catch (IOException | RuntimeException e) {
      deleteHalf(target, e);
      throw e;
    }
  }

  private void deleteHalf(Path target, Exception failure) {
    if (failure instanceof FileAlreadyExistsException) {
      return; // Another program's.
    }
    try {
      delegate.deleteIfExists(target);
    } catch (IOException e) {
      failure.addSuppressed(e);
    }
  }

  private BasicFileAttributes attributes(Path file) throws IOException {
    return delegate.readAttributes(file, BasicFileAttributes.class);
  }

  /** The source's permissions, for a file that is created; the process's umask applies. */
  private FileAttribute<?>[] permissions(Path source) throws IOException {
    if (!hasPosixAttributes(source)) {
      return new FileAttribute<?>[0];
    }
    return new FileAttribute<?>[] {
      PosixFilePermissions.asFileAttribute(
          delegate.readAttributes(source, PosixFileAttributes.class).permissions())
    };
  }

  private boolean hasPosixAttributes(Path file) {
    return delegate.getFileAttributeView(file, PosixFileAttributeView.class) != null;
  }

  /** Like the JDK: times must be copied; the rest is copied where it can be. */
  private void copyAttributes(SegmentFiles files, Path source, Path target) throws IOException {
    BasicFileAttributes attributes = attributes(source);
    FileTime lastModified = files.lastModified(source).orElseGet(attributes::lastModifiedTime);
    if (hasPosixAttributes(source)) {
      copyOwner(source, target);
    }
    copyUserAttributes(source, target);
    delegate
        .getFileAttributeView(target, BasicFileAttributeView.class)
        .setTimes(lastModified, attributes.lastAccessTime(), attributes.creationTime());
  }

  private void copyOwner(Path source, Path target) {
    try {
      PosixFileAttributes attributes = delegate.readAttributes(source, PosixFileAttributes.class);
      PosixFileAttributeView view =
          delegate.getFileAttributeView(target, PosixFileAttributeView.class);
      view.setPermissions(attributes.permissions());
      view.setOwner(attributes.owner());
      view.setGroup(attributes.group());
    } catch (IOException ignored) {
      // Only root may give a file away; the copy then is the copier's, as with the JDK.
    }
  }

  /** All but the tag: two files must never claim one slot. */
  private void copyUserAttributes(Path source, Path target) {
    try {
      UserDefinedFileAttributeView from =
          delegate.getFileAttributeView(source, UserDefinedFileAttributeView.class);
      UserDefinedFileAttributeView to =
          delegate.getFileAttributeView(target, UserDefinedFileAttributeView.class);
      for (String name : from.list()) {
        if (!(USER + name).equals(SegmentTag.ATTRIBUTE)) {
          ByteBuffer value = ByteBuffer.allocate(from.size(name));
          from.read(name, value);
          to.write(name, value.flip());
        }
      }
    } catch (IOException ignored) {
      // The target's file system may have no user attributes; the JDK's copy drops them too.
    }
  }
}
