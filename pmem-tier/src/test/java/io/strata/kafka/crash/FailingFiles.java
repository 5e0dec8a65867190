package io.strata.kafka.crash;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.AccessMode;
import java.nio.file.CopyOption;
import java.nio.file.DirectoryStream;
import java.nio.file.FileStore;
import java.nio.file.FileSystem;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileAttributeView;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.lucene.tests.mockfile.FilterFileChannel;
import org.apache.lucene.tests.mockfile.FilterFileSystemProvider;

/**
 * The JDK's file system, each of whose calls a test may have fail: as the JDK fails, with an
 * exception that names the file where the JDK's does.
 *
 * <p>Thread safety: as that of the calls.
 */
public final class FailingFiles extends FilterFileSystemProvider {

  private static final Path DESCRIPTORS = Path.of("/proc/self/fd");

  private final Calls calls;

  /**
   * Makes the calls of a file system ask first.
   *
   * @param calls is told of each
   */
  public FailingFiles(FileSystem jdk, Calls calls) {
    super("file", jdk);
    this.calls = calls;
  }

  /** The file system. */
  public FileSystem files() {
    return fileSystem;
  }

  private void before(Call call, Path path) throws IOException {
    try {
      int unused = calls.before(call, name(path), 0);
    } catch (IOException e) {
      throw new FileSystemException(path.toString(), null, e.getMessage());
    }
  }

  /** What a descriptor leads to has a name. */
  private String name(Path path) throws IOException {
    Path file = toDelegate(path);
    return (file.startsWith(DESCRIPTORS) ? Files.readSymbolicLink(file) : file).toString();
  }

  @Override
  public FileChannel newFileChannel(
      Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
      throws IOException {
    boolean creates =
        options.contains(StandardOpenOption.CREATE)
            || options.contains(StandardOpenOption.CREATE_NEW);
    before(creates && !Files.exists(toDelegate(path)) ? Call.CREATE : Call.OPEN, path);
    FileChannel channel = super.newFileChannel(path, options, attributes);
    return new FailingChannel(channel, name(path), Files.isDirectory(toDelegate(path)));
  }

  private final class FailingChannel extends FilterFileChannel {
    private final String name;
    private final Call force;

    FailingChannel(FileChannel channel, String name, boolean directory) {
      super(channel);
      this.name = name;
      this.force = directory ? Call.DIRECTORY_FORCE : Call.FILE_FORCE;
    }

    private interface Write {
      int of(ByteBuffer source) throws IOException;
    }

    private int write(ByteBuffer source, Write write) throws IOException {
      int length = calls.before(Call.WRITE, name, source.remaining());
      int limit = source.limit();
      source.limit(source.position() + length);
      try {
        return write.of(source);
      } finally {
        source.limit(limit);
      }
    }

    @Override
    public int write(ByteBuffer source) throws IOException {
      return write(source, super::write);
    }

    @Override
    public int write(ByteBuffer source, long position) throws IOException {
      return write(source, part -> super.write(part, position));
    }

    @Override
    public int read(ByteBuffer target) throws IOException {
      int unused = calls.before(Call.READ, name, 0);
      return super.read(target);
    }

    @Override
    public int read(ByteBuffer target, long position) throws IOException {
      int unused = calls.before(Call.READ, name, 0);
      return super.read(target, position);
    }

    @Override
    public long transferTo(long position, long count, WritableByteChannel target)
        throws IOException {
      int unused = calls.before(Call.READ, name, 0);
      return super.transferTo(position, count, target);
    }

    @Override
    public FileChannel truncate(long length) throws IOException {
      int unused = calls.before(Call.TRUNCATE, name, 0);
      return super.truncate(length);
    }

    @Override
    public void force(boolean metaData) throws IOException {
      int unused = calls.before(force, name, 0);
      super.force(metaData);
    }
  }

  @Override
  public SeekableByteChannel newByteChannel(
      Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
      throws IOException {
    return newFileChannel(path, options, attributes);
  }

  @Override
  public InputStream newInputStream(Path path, OpenOption... options) throws IOException {
    return Channels.newInputStream(newByteChannel(path, Set.of(options)));
  }

  @Override
  public OutputStream newOutputStream(Path path, OpenOption... options) throws IOException {
    Set<OpenOption> writing =
        new HashSet<>(
            options.length > 0
                ? Set.of(options)
                : Set.of(StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING));
    writing.add(StandardOpenOption.WRITE);
    return Channels.newOutputStream(newByteChannel(path, writing));
  }

  @Override
  public void createDirectory(Path directory, FileAttribute<?>... attributes) throws IOException {
    before(Call.CREATE, directory);
    super.createDirectory(directory, attributes);
  }

  @Override
  public void delete(Path path) throws IOException {
    before(Call.UNLINK, path);
    super.delete(path);
  }

  @Override
  public boolean deleteIfExists(Path path) throws IOException {
    before(Call.UNLINK, path);
    return super.deleteIfExists(path);
  }

  @Override
  public void move(Path source, Path target, CopyOption... options) throws IOException {
    before(Call.RENAME, source);
    super.move(source, target, options);
  }

  @Override
  public DirectoryStream<Path> newDirectoryStream(
      Path directory, DirectoryStream.Filter<? super Path> filter) throws IOException {
    before(Call.LIST, directory);
    return super.newDirectoryStream(directory, filter);
  }

  @Override
  public void checkAccess(Path path, AccessMode... modes) throws IOException {
    before(Call.STATUS, path);
    super.checkAccess(path, modes);
  }

  @Override
  public <A extends BasicFileAttributes> A readAttributes(
      Path path, Class<A> type, LinkOption... options) throws IOException {
    before(Call.STATUS, path);
    return super.readAttributes(path, type, options);
  }

  @Override
  public Map<String, Object> readAttributes(Path path, String attributes, LinkOption... options)
      throws IOException {
    before(Call.STATUS, path);
    return super.readAttributes(path, attributes, options);
  }

  @Override
  public void setAttribute(Path path, String attribute, Object value, LinkOption... options)
      throws IOException {
    before(Call.ATTRIBUTE_WRITE, path);
    super.setAttribute(path, attribute, value, options);
  }

  @Override
  public FileStore getFileStore(Path path) throws IOException {
    before(Call.SPACE, path);
    return super.getFileStore(path);
  }

  @Override
  public <V extends FileAttributeView> V getFileAttributeView(
      Path path, Class<V> type, LinkOption... options) {
    V view = super.getFileAttributeView(path, type, options);
    if (view instanceof UserDefinedFileAttributeView attributes) {
      return type.cast(new FailingAttributes(this, path, attributes));
    }
    return type == BasicFileAttributeView.class
        ? type.cast(new FailingTimes(this, path, (BasicFileAttributeView) view))
        : view;
  }

  private record FailingTimes(FailingFiles files, Path path, BasicFileAttributeView view)
      implements BasicFileAttributeView {

    @Override
    public String name() {
      return view.name();
    }

    @Override
    public BasicFileAttributes readAttributes() throws IOException {
      files.before(Call.STATUS, path);
      return view.readAttributes();
    }

    @Override
    public void setTimes(FileTime modified, FileTime accessed, FileTime created)
        throws IOException {
      files.before(Call.ATTRIBUTE_WRITE, path);
      view.setTimes(modified, accessed, created);
    }
  }

  private record FailingAttributes(FailingFiles files, Path path, UserDefinedFileAttributeView view)
      implements UserDefinedFileAttributeView {

    @Override
    public String name() {
      return view.name();
    }

    @Override
    public List<String> list() throws IOException {
      files.before(Call.ATTRIBUTE_READ, path);
      return view.list();
    }

    @Override
    public int size(String name) throws IOException {
      files.before(Call.ATTRIBUTE_READ, path);
      return view.size(name);
    }

    @Override
    public int read(String name, ByteBuffer target) throws IOException {
      files.before(Call.ATTRIBUTE_READ, path);
      return view.read(name, target);
    }

    @Override
    public int write(String name, ByteBuffer source) throws IOException {
      files.before(Call.ATTRIBUTE_WRITE, path);
      return view.write(name, source);
    }

    @Override
    public void delete(String name) throws IOException {
      files.before(Call.ATTRIBUTE_DELETE, path);
      view.delete(name);
    }
  }
}
