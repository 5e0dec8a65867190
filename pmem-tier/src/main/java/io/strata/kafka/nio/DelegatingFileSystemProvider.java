package io.strata.kafka.nio;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.AccessMode;
import java.nio.file.CopyOption;
import java.nio.file.DirectoryStream;
import java.nio.file.FileStore;
import java.nio.file.FileSystem;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileAttributeView;
import java.nio.file.spi.FileSystemProvider;
import java.util.Iterator;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import org.jspecify.annotations.Nullable;

/**
 * A provider that forwards everything to another, translating paths both ways; it adds nothing.
 *
 * <p>{@code exists} and {@code readAttributesIfExists}, which JDK 20 added, are not overridden:
 * they do not exist on the baseline, and their defaults ask {@link #checkAccess} and {@link
 * #readAttributes}.
 */
abstract class DelegatingFileSystemProvider extends FileSystemProvider {

  private final FileSystemProvider delegate;
  private final DelegatingFileSystem fileSystem;

  /** Runs while the JVM boots: does no more than it must. */
  DelegatingFileSystemProvider(FileSystemProvider delegate) {
    this.delegate = delegate;
    this.fileSystem =
        new DelegatingFileSystem(this, delegate.getFileSystem(URI.create("file:///")));
  }

  /** The provider that is forwarded to. */
  final FileSystemProvider delegate() {
    return delegate;
  }

  /** The delegate's path behind {@code path}; any other path as it is. */
  static Path unwrap(Path path) {
    return DelegatingPath.unwrap(path);
  }

  @Override
  public String getScheme() {
    return delegate.getScheme();
  }

  @Override
  public FileSystem newFileSystem(URI uri, Map<String, ?> env) throws IOException {
    return delegate.newFileSystem(uri, env);
  }

  @Override
  public FileSystem newFileSystem(Path path, Map<String, ?> env) throws IOException {
    return delegate.newFileSystem(unwrap(path), env);
  }

  /** The one file system; the delegate refuses a URI that is not its own. */
  @Override
  public FileSystem getFileSystem(URI uri) {
    delegate.getFileSystem(uri);
    return fileSystem;
  }

  @Override
  public Path getPath(URI uri) {
    return fileSystem.wrap(delegate.getPath(uri));
  }

  @Override
  public InputStream newInputStream(Path path, OpenOption... options) throws IOException {
    return delegate.newInputStream(unwrap(path), options);
  }

  @Override
  public OutputStream newOutputStream(Path path, OpenOption... options) throws IOException {
    return delegate.newOutputStream(unwrap(path), options);
  }

  @Override
  public FileChannel newFileChannel(
      Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
      throws IOException {
    return delegate.newFileChannel(unwrap(path), options, attributes);
  }

  @Override
  public AsynchronousFileChannel newAsynchronousFileChannel(
      Path path,
      Set<? extends OpenOption> options,
      @Nullable ExecutorService executor,
      FileAttribute<?>... attributes)
      throws IOException {
    return delegate.newAsynchronousFileChannel(unwrap(path), options, executor, attributes);
  }

  @Override
  public SeekableByteChannel newByteChannel(
      Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
      throws IOException {
    return delegate.newByteChannel(unwrap(path), options, attributes);
  }

  @Override
  public DirectoryStream<Path> newDirectoryStream(
      Path directory, DirectoryStream.Filter<? super Path> filter) throws IOException {
    Objects.requireNonNull(filter, "filter");
    return new Entries(
        delegate.newDirectoryStream(
            unwrap(directory), entry -> filter.accept(fileSystem.wrap(entry))));
  }

  /**
   * The delegate's directory stream, with our paths. Never a {@code SecureDirectoryStream}, which
   * the JDK leaves optional: its operations are relative to an open directory, where a segment
   * cannot be recognized by its path.
   */
  private final class Entries implements DirectoryStream<Path> {
    private final DirectoryStream<Path> stream;

    Entries(DirectoryStream<Path> stream) {
      this.stream = stream;
    }

    @Override
    public Iterator<Path> iterator() {
      Iterator<Path> entries = stream.iterator();
      return new Iterator<>() {
        @Override
        public boolean hasNext() {
          return entries.hasNext();
        }

        @Override
        public Path next() {
          return fileSystem.wrap(entries.next());
        }

        @Override
        public void remove() {
          entries.remove();
        }
      };
    }

    @Override
    public void close() throws IOException {
      stream.close();
    }
  }

  @Override
  public void createDirectory(Path directory, FileAttribute<?>... attributes) throws IOException {
    delegate.createDirectory(unwrap(directory), attributes);
  }

  @Override
  public void createSymbolicLink(Path link, Path target, FileAttribute<?>... attributes)
      throws IOException {
    delegate.createSymbolicLink(unwrap(link), unwrap(target), attributes);
  }

  @Override
  public void createLink(Path link, Path existing) throws IOException {
    delegate.createLink(unwrap(link), unwrap(existing));
  }

  @Override
  public Path readSymbolicLink(Path link) throws IOException {
    return fileSystem.wrap(delegate.readSymbolicLink(unwrap(link)));
  }

  @Override
  public void delete(Path path) throws IOException {
    delegate.delete(unwrap(path));
  }

  @Override
  public boolean deleteIfExists(Path path) throws IOException {
    return delegate.deleteIfExists(unwrap(path));
  }

  @Override
  public void copy(Path source, Path target, CopyOption... options) throws IOException {
    delegate.copy(unwrap(source), unwrap(target), options);
  }

  @Override
  public void move(Path source, Path target, CopyOption... options) throws IOException {
    delegate.move(unwrap(source), unwrap(target), options);
  }

  @Override
  public boolean isSameFile(Path path, Path other) throws IOException {
    return delegate.isSameFile(unwrap(path), unwrap(other));
  }

  @Override
  public boolean isHidden(Path path) throws IOException {
    return delegate.isHidden(unwrap(path));
  }

  @Override
  public FileStore getFileStore(Path path) throws IOException {
    return delegate.getFileStore(unwrap(path));
  }

  @Override
  public void checkAccess(Path path, AccessMode... modes) throws IOException {
    delegate.checkAccess(unwrap(path), modes);
  }

  @Override
  public <V extends FileAttributeView> @Nullable V getFileAttributeView(
      Path path, Class<V> type, LinkOption... options) {
    return delegate.getFileAttributeView(unwrap(path), type, options);
  }

  @Override
  public <A extends BasicFileAttributes> A readAttributes(
      Path path, Class<A> type, LinkOption... options) throws IOException {
    return delegate.readAttributes(unwrap(path), type, options);
  }

  @Override
  public Map<String, Object> readAttributes(Path path, String attributes, LinkOption... options)
      throws IOException {
    return delegate.readAttributes(unwrap(path), attributes, options);
  }

  @Override
  public void setAttribute(
      Path path, String attribute, @Nullable Object value, LinkOption... options)
      throws IOException {
    delegate.setAttribute(unwrap(path), attribute, value, options);
  }
}
