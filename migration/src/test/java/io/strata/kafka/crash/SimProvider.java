package io.strata.kafka.crash;

import java.io.IOException;
import java.net.URI;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.AccessMode;
import java.nio.file.CopyOption;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileStore;
import java.nio.file.FileSystem;
import java.nio.file.FileSystemException;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileAttributeView;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.nio.file.spi.FileSystemProvider;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The operations of a {@link SimFileSystem}. Thread safety: none. */
final class SimProvider extends FileSystemProvider {

  private final SimFileSystem disk;

  SimProvider(SimFileSystem disk) {
    this.disk = disk;
  }

  @Override
  public String getScheme() {
    return "sim";
  }

  @Override
  public FileSystem newFileSystem(URI uri, Map<String, ?> environment) {
    throw new UnsupportedOperationException();
  }

  @Override
  public FileSystem getFileSystem(URI uri) {
    return disk;
  }

  @Override
  public Path getPath(URI uri) {
    return disk.getPath(uri.getPath());
  }

  @Override
  public SeekableByteChannel newByteChannel(
      Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
      throws IOException {
    return newFileChannel(path, options, attributes);
  }

  @Override
  public FileChannel newFileChannel(
      Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
      throws IOException {
    boolean write = options.contains(StandardOpenOption.WRITE);
    SimInode inode = disk.find(path);
    if (inode != null && options.contains(StandardOpenOption.CREATE_NEW)) {
      throw new FileAlreadyExistsException(path.toString());
    }
    if (inode == null) {
      if (!write
          || !(options.contains(StandardOpenOption.CREATE)
              || options.contains(StandardOpenOption.CREATE_NEW))) {
        throw new NoSuchFileException(path.toString());
      }
      inode = disk.create(path, false);
    } else {
      disk.call(Call.OPEN, path);
    }
    if (inode.directory && write) {
      throw new FileSystemException(path.toString(), null, "Is a directory");
    }
    if (write && options.contains(StandardOpenOption.TRUNCATE_EXISTING)) {
      disk.truncate(inode, 0);
    }
    return new SimChannel(disk, path, inode, write);
  }

  @Override
  public DirectoryStream<Path> newDirectoryStream(
      Path directory, DirectoryStream.Filter<? super Path> filter) throws IOException {
    SimInode inode = disk.inode(directory);
    disk.call(Call.LIST, directory);
    if (!inode.directory) {
      throw new NotDirectoryException(directory.toString());
    }
    List<Path> paths = new ArrayList<>();
    for (String name : inode.entries.keySet()) {
      Path path = directory.resolve(name);
      if (filter.accept(path)) {
        paths.add(path);
      }
    }
    disk.open().add(directory.toString());
    return new DirectoryStream<>() {
      private boolean closed;

      @Override
      public Iterator<Path> iterator() {
        return paths.iterator();
      }

      @Override
      public void close() {
        if (!closed) {
          closed = true;
          boolean unused = disk.open().remove(directory.toString());
        }
      }
    };
  }

  @Override
  public void createDirectory(Path directory, FileAttribute<?>... attributes) throws IOException {
    SimInode unused = disk.create(directory, true);
  }

  @Override
  public void createLink(Path link, Path existing) throws IOException {
    disk.link(link, existing);
  }

  @Override
  public void delete(Path path) throws IOException {
    disk.delete(path);
  }

  @Override
  public void copy(Path source, Path target, CopyOption... options) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void move(Path source, Path target, CopyOption... options) throws IOException {
    Set<CopyOption> asked = Set.of(options);
    disk.rename(
        source,
        target,
        asked.contains(StandardCopyOption.ATOMIC_MOVE)
            || asked.contains(StandardCopyOption.REPLACE_EXISTING));
  }

  @Override
  public boolean isSameFile(Path path, Path other) throws IOException {
    return disk.inode(path) == disk.inode(other);
  }

  @Override
  public boolean isHidden(Path path) {
    return false;
  }

  @Override
  public FileStore getFileStore(Path path) {
    return new SimStore(disk, path);
  }

  @Override
  public void checkAccess(Path path, AccessMode... modes) throws IOException {
    SimInode unused = disk.inode(path);
  }

  @Override
  public <V extends FileAttributeView> @Nullable V getFileAttributeView(
      Path path, Class<V> type, LinkOption... options) {
    if (type == UserDefinedFileAttributeView.class) {
      return type.cast(new SimAttributes.User(disk, path));
    }
    return type == BasicFileAttributeView.class
        ? type.cast(new SimAttributes.Basic(disk, path))
        : null;
  }

  @Override
  public <A extends BasicFileAttributes> A readAttributes(
      Path path, Class<A> type, LinkOption... options) throws IOException {
    SimInode inode = disk.inode(path);
    disk.call(Call.STATUS, path);
    return type.cast(new SimAttributes.Values(inode));
  }

  @Override
  public Map<String, Object> readAttributes(Path path, String names, LinkOption... options) {
    throw new UnsupportedOperationException(names);
  }

  @Override
  public void setAttribute(Path path, String name, Object value, LinkOption... options) {
    throw new UnsupportedOperationException(name);
  }
}
