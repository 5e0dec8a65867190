package io.strata.kafka.migration.remote.faults;

import io.strata.kafka.migration.remote.faults.FaultyFileSystem.Operation;
import java.io.IOException;
import java.net.URI;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.AccessMode;
import java.nio.file.CopyOption;
import java.nio.file.DirectoryStream;
import java.nio.file.FileStore;
import java.nio.file.FileSystem;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileAttributeView;
import java.nio.file.spi.FileSystemProvider;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;

/** Asks for faults, and then the real file system. */
final class FaultyProvider extends FileSystemProvider {

  private final FaultyFileSystem files;

  FaultyProvider(FaultyFileSystem files) {
    this.files = files;
  }

  private Path asked(Operation operation, Path path) throws IOException {
    Path real = FaultyPath.unwrap(path);
    files.ask(operation, real);
    return real;
  }

  private static Operation operation(Set<? extends OpenOption> options) {
    return options.contains(StandardOpenOption.WRITE) ? Operation.WRITE : Operation.READ;
  }

  @Override
  public String getScheme() {
    return "faulty";
  }

  @Override
  public FileSystem newFileSystem(URI uri, Map<String, ?> env) {
    throw new UnsupportedOperationException();
  }

  @Override
  public FileSystem getFileSystem(URI uri) {
    throw new UnsupportedOperationException();
  }

  @Override
  public Path getPath(URI uri) {
    throw new UnsupportedOperationException();
  }

  @Override
  public SeekableByteChannel newByteChannel(
      Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
      throws IOException {
    return Files.newByteChannel(asked(operation(options), path), options, attributes);
  }

  @Override
  public FileChannel newFileChannel(
      Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
      throws IOException {
    Path real = asked(operation(options), path);
    FileChannel opened = FileChannel.open(real, options, attributes);
    return files.asksInFiles() ? new FaultyChannel(files, real, opened) : opened;
  }

  @Override
  public DirectoryStream<Path> newDirectoryStream(
      Path directory, DirectoryStream.Filter<? super Path> filter) throws IOException {
    Path asked = asked(Operation.LIST, directory);
    DirectoryStream<Path> real =
        asked.getFileSystem().provider().newDirectoryStream(asked, entry -> true);
    return new DirectoryStream<>() {
      @Override
      public Iterator<Path> iterator() {
        Iterator<Path> each = real.iterator();
        return new Iterator<>() {
          @Override
          public boolean hasNext() {
            return each.hasNext();
          }

          @Override
          public Path next() {
            return files.wrap(each.next());
          }
        };
      }

      @Override
      public void close() throws IOException {
        real.close();
      }
    };
  }

  @Override
  public void createDirectory(Path directory, FileAttribute<?>... attributes) throws IOException {
    Path unused = Files.createDirectory(asked(Operation.WRITE, directory), attributes);
  }

  @Override
  public void createLink(Path link, Path existing) throws IOException {
    Path unused = Files.createLink(asked(Operation.WRITE, link), asked(Operation.READ, existing));
  }

  @Override
  public void delete(Path path) throws IOException {
    Files.delete(asked(Operation.WRITE, path));
  }

  @Override
  public void copy(Path source, Path target, CopyOption... options) throws IOException {
    Path unused =
        Files.copy(asked(Operation.READ, source), asked(Operation.WRITE, target), options);
  }

  @Override
  public void move(Path source, Path target, CopyOption... options) throws IOException {
    Path unused =
        Files.move(asked(Operation.WRITE, source), asked(Operation.WRITE, target), options);
  }

  @Override
  public boolean isSameFile(Path path, Path other) throws IOException {
    return Files.isSameFile(asked(Operation.READ, path), asked(Operation.READ, other));
  }

  @Override
  public boolean isHidden(Path path) throws IOException {
    return Files.isHidden(asked(Operation.READ, path));
  }

  @Override
  public FileStore getFileStore(Path path) throws IOException {
    return Files.getFileStore(asked(Operation.READ, path));
  }

  @Override
  public void checkAccess(Path path, AccessMode... modes) throws IOException {
    Path real = asked(Operation.READ, path);
    real.getFileSystem().provider().checkAccess(real, modes);
  }

  @Override
  public <V extends FileAttributeView> V getFileAttributeView(
      Path path, Class<V> type, LinkOption... options) {
    return Files.getFileAttributeView(FaultyPath.unwrap(path), type, options);
  }

  @Override
  public <A extends BasicFileAttributes> A readAttributes(
      Path path, Class<A> type, LinkOption... options) throws IOException {
    return Files.readAttributes(asked(Operation.READ, path), type, options);
  }

  @Override
  public Map<String, Object> readAttributes(Path path, String attributes, LinkOption... options)
      throws IOException {
    return Files.readAttributes(asked(Operation.READ, path), attributes, options);
  }

  @Override
  public void setAttribute(Path path, String attribute, Object value, LinkOption... options)
      throws IOException {
    Path unused = Files.setAttribute(asked(Operation.WRITE, path), attribute, value, options);
  }
}
