package io.strata.kafka.nio;

import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.DosFileAttributes;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.GroupPrincipal;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.UserPrincipal;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The attributes of a hot segment: the log file's, with the size and the time of last modification
 * that the segment has.
 *
 * @param size the logical size in bytes
 * @param lastModified when the segment was last written to
 */
record HotAttributes(long size, FileTime lastModified) {

  private static final String SIZE = "size";
  private static final String LAST_MODIFIED = "lastModifiedTime";

  /** Returns whether the overlay would change any of {@code attributes}. */
  static boolean concerns(Map<String, Object> attributes) {
    return attributes.containsKey(SIZE) || attributes.containsKey(LAST_MODIFIED);
  }

  /** The log file's attributes by name, with ours in place of those that were asked for. */
  Map<String, Object> over(Map<String, Object> file) {
    Map<String, Object> attributes = new HashMap<>(file);
    attributes.replace(SIZE, size);
    attributes.replace(LAST_MODIFIED, lastModified);
    return attributes;
  }

  /** The log file's attributes, overlaid; those of an unknown type as they are. */
  <A extends BasicFileAttributes> A over(Class<A> type, A file) {
    if (type == BasicFileAttributes.class) {
      return type.cast(new Basic<>(file, this));
    }
    if (type == PosixFileAttributes.class) {
      return type.cast(new Posix((PosixFileAttributes) file, this));
    }
    if (type == DosFileAttributes.class) {
      return type.cast(new Dos((DosFileAttributes) file, this));
    }
    return file;
  }

  private static class Basic<A extends BasicFileAttributes> implements BasicFileAttributes {

    final A file;
    private final HotAttributes hot;

    Basic(A file, HotAttributes hot) {
      this.file = file;
      this.hot = hot;
    }

    @Override
    public long size() {
      return hot.size;
    }

    @Override
    public FileTime lastModifiedTime() {
      return hot.lastModified;
    }

    @Override
    public FileTime lastAccessTime() {
      return file.lastAccessTime();
    }

    @Override
    public FileTime creationTime() {
      return file.creationTime();
    }

    @Override
    public boolean isRegularFile() {
      return file.isRegularFile();
    }

    @Override
    public boolean isDirectory() {
      return file.isDirectory();
    }

    @Override
    public boolean isSymbolicLink() {
      return file.isSymbolicLink();
    }

    @Override
    public boolean isOther() {
      return file.isOther();
    }

    @Override
    public @Nullable Object fileKey() {
      return file.fileKey();
    }
  }

  private static final class Posix extends Basic<PosixFileAttributes>
      implements PosixFileAttributes {

    Posix(PosixFileAttributes file, HotAttributes hot) {
      super(file, hot);
    }

    @Override
    public UserPrincipal owner() {
      return file.owner();
    }

    @Override
    public GroupPrincipal group() {
      return file.group();
    }

    @Override
    public Set<PosixFilePermission> permissions() {
      return file.permissions();
    }
  }

  private static final class Dos extends Basic<DosFileAttributes> implements DosFileAttributes {

    Dos(DosFileAttributes file, HotAttributes hot) {
      super(file, hot);
    }

    @Override
    public boolean isReadOnly() {
      return file.isReadOnly();
    }

    @Override
    public boolean isHidden() {
      return file.isHidden();
    }

    @Override
    public boolean isArchive() {
      return file.isArchive();
    }

    @Override
    public boolean isSystem() {
      return file.isSystem();
    }
  }
}
