package io.strata.kafka.crash;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Views of a {@link SimInode}'s attributes. Thread safety: none. */
final class SimAttributes {

  private SimAttributes() {}

  /** What a file is at this moment. */
  record Values(long size, boolean isDirectory, FileTime lastModifiedTime, Object fileKey)
      implements BasicFileAttributes {

    Values(SimInode inode) {
      this(inode.size(), inode.directory, inode.modified, inode.id);
    }

    @Override
    public FileTime lastAccessTime() {
      return lastModifiedTime;
    }

    @Override
    public FileTime creationTime() {
      return lastModifiedTime;
    }

    @Override
    public boolean isRegularFile() {
      return !isDirectory;
    }

    @Override
    public boolean isSymbolicLink() {
      return false;
    }

    @Override
    public boolean isOther() {
      return false;
    }
  }

  /** Times; of no interest to a crash. */
  record Basic(SimFileSystem disk, Path path) implements BasicFileAttributeView {

    @Override
    public String name() {
      return "basic";
    }

    @Override
    public BasicFileAttributes readAttributes() throws IOException {
      return new Values(disk.inode(path));
    }

    @Override
    public void setTimes(
        @Nullable FileTime modified, @Nullable FileTime accessed, @Nullable FileTime created)
        throws IOException {
      if (modified != null) {
        disk.inode(path).modified = modified;
      }
    }
  }

  /** Extended attributes. */
  record User(SimFileSystem disk, Path path) implements UserDefinedFileAttributeView {

    @Override
    public String name() {
      return "user";
    }

    @Override
    public List<String> list() throws IOException {
      SimInode inode = disk.inode(path);
      disk.call(Call.ATTRIBUTE_READ, path);
      return inode.attributeNames();
    }

    private byte[] value(String attribute) throws IOException {
      SimInode inode = disk.inode(path);
      disk.call(Call.ATTRIBUTE_READ, path);
      return inode
          .attribute(attribute)
          .orElseThrow(() -> new FileSystemException(path.toString(), null, "No data available"));
    }

    @Override
    public int size(String attribute) throws IOException {
      return value(attribute).length;
    }

    @Override
    public int read(String attribute, ByteBuffer target) throws IOException {
      byte[] value = value(attribute);
      target.put(value);
      return value.length;
    }

    @Override
    public int write(String attribute, ByteBuffer source) throws IOException {
      byte[] value = new byte[source.remaining()];
      source.get(value);
      SimInode inode = disk.inode(path);
      disk.call(Call.ATTRIBUTE_WRITE, path);
      disk.attribute(inode, attribute, Optional.of(value));
      return value.length;
    }

    @Override
    public void delete(String attribute) throws IOException {
      byte[] unused = value(attribute);
      disk.call(Call.ATTRIBUTE_DELETE, path);
      disk.attribute(disk.inode(path), attribute, Optional.empty());
    }
  }
}
