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

  /** Whether the overlay would change any of {@code attributes}. */
  static boolean concerns(Map<String, Object> attributes) {
    return attributes.containsKey(SIZE) || attributes.containsKey(LAST_MODIFIED);
  }

  /** The log file's attributes by name, with ours in place of those that were asked for. */
  Map<String, Object> over(Map<String, Object> home) {
    Map<String, Object> attributes = new HashMap<>(home);
    attributes.replace(SIZE, size);
    attributes.replace(LAST_MODIFIED, lastModified);
    return attributes;
  }

  /** The log file's attributes, overlaid; those of an unknown type as they are. */
  <A extends BasicFileAttributes> A over(Class<A> type, A home) {
    if (type == BasicFileAttributes.class) {
      return type.cast(new Basic(home, this));
    }
    if (type == PosixFileAttributes.class) {
      return type.cast(new Posix((PosixFileAttributes) home, this));
    }
    if (type == DosFileAttributes.class) {
      return type.cast(new Dos((DosFileAttributes) home, this));
    }
    return home;
  }

  private static class Basic implements BasicFileAttributes {

    private final BasicFileAttributes home;
    private final HotAttributes hot;

    Basic(BasicFileAttributes home, HotAttributes hot) {
      this.home = home;
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
      return home.lastAccessTime();
    }

    @Override
    public FileTime creationTime() {
      return home.creationTime();
    }

    @Override
    public boolean isRegularFile() {
      return home.isRegularFile();
    }

    @Override
    public boolean isDirectory() {
      return home.isDirectory();
    }

    @Override
    public boolean isSymbolicLink() {
      return home.isSymbolicLink();
    }

    @Override
    public boolean isOther() {
      return home.isOther();
    }

    @Override
    public @Nullable Object fileKey() {
      return home.fileKey();
    }
  }

  private static final class Posix extends Basic implements PosixFileAttributes {

    private final PosixFileAttributes home;

    Posix(PosixFileAttributes home, HotAttributes hot) {
      super(home, hot);
      this.home = home;
    }

    @Override
    public UserPrincipal owner() {
      return home.owner();
    }

    @Override
    public GroupPrincipal group() {
      return home.group();
    }

    @Override
    public Set<PosixFilePermission> permissions() {
      return home.permissions();
    }
  }

  private static final class Dos extends Basic implements DosFileAttributes {

    private final DosFileAttributes home;

    Dos(DosFileAttributes home, HotAttributes hot) {
      super(home, hot);
      this.home = home;
    }

    @Override
    public boolean isReadOnly() {
      return home.isReadOnly();
    }

    @Override
    public boolean isHidden() {
      return home.isHidden();
    }

    @Override
    public boolean isArchive() {
      return home.isArchive();
    }

    @Override
    public boolean isSystem() {
      return home.isSystem();
    }
  }
}
