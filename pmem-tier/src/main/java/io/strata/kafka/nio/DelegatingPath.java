package io.strata.kafka.nio;

import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.WatchEvent;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import org.jspecify.annotations.Nullable;

/**
 * A path of the delegate, tagged with our file system, so that {@code Files} asks our provider.
 *
 * <p>Arguments may be paths of either kind, ours or the delegate's. Results are ours. Only {@link
 * #equals} keeps the kinds apart: the delegate's path would never be equal to ours. The interface's
 * default methods are left as they are.
 */
final class DelegatingPath implements Path {

  private final DelegatingFileSystem fileSystem;
  private final Path delegate;

  DelegatingPath(DelegatingFileSystem fileSystem, Path delegate) {
    this.fileSystem = fileSystem;
    this.delegate = delegate;
  }

  /** The delegate's path behind {@code path}; any other path (or null) as it is. */
  static Path unwrap(Path path) {
    return path instanceof DelegatingPath ours ? ours.delegate : path;
  }

  private Path wrap(Path path) {
    return path == delegate ? this : fileSystem.wrap(path);
  }

  private @Nullable Path wrapNullable(@Nullable Path path) {
    return path == null ? null : wrap(path);
  }

  @Override
  public FileSystem getFileSystem() {
    return fileSystem;
  }

  @Override
  public boolean isAbsolute() {
    return delegate.isAbsolute();
  }

  @Override
  public @Nullable Path getRoot() {
    return wrapNullable(delegate.getRoot());
  }

  @Override
  public @Nullable Path getFileName() {
    return wrapNullable(delegate.getFileName());
  }

  @Override
  public @Nullable Path getParent() {
    return wrapNullable(delegate.getParent());
  }

  @Override
  public int getNameCount() {
    return delegate.getNameCount();
  }

  @Override
  public Path getName(int index) {
    return wrap(delegate.getName(index));
  }

  @Override
  public Path subpath(int beginIndex, int endIndex) {
    return wrap(delegate.subpath(beginIndex, endIndex));
  }

  @Override
  public boolean startsWith(Path other) {
    return delegate.startsWith(unwrap(other));
  }

  @Override
  public boolean endsWith(Path other) {
    return delegate.endsWith(unwrap(other));
  }

  @Override
  public Path normalize() {
    return wrap(delegate.normalize());
  }

  @Override
  public Path resolve(Path other) {
    return wrap(delegate.resolve(unwrap(other)));
  }

  @Override
  public Path resolveSibling(Path other) {
    return wrap(delegate.resolveSibling(unwrap(other)));
  }

  @Override
  public Path relativize(Path other) {
    return wrap(delegate.relativize(unwrap(other)));
  }

  @Override
  public URI toUri() {
    return delegate.toUri();
  }

  @Override
  public Path toAbsolutePath() {
    return wrap(delegate.toAbsolutePath());
  }

  @Override
  public Path toRealPath(LinkOption... options) throws IOException {
    return wrap(delegate.toRealPath(options));
  }

  /** Not the delegate's: its file system is no longer the default one, so it would refuse. */
  @Override
  public File toFile() {
    return new File(delegate.toString());
  }

  @Override
  public WatchKey register(
      WatchService watcher, WatchEvent.Kind<?>[] events, WatchEvent.Modifier... modifiers)
      throws IOException {
    if (watcher instanceof DelegatingWatchService ours) {
      return ours.register(delegate, events, modifiers);
    }
    return delegate.register(watcher, events, modifiers);
  }

  @Override
  public int compareTo(Path other) {
    return delegate.compareTo(unwrap(other));
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof DelegatingPath path
        && fileSystem.equals(path.fileSystem)
        && delegate.equals(path.delegate);
  }

  @Override
  public int hashCode() {
    return delegate.hashCode();
  }

  @Override
  public String toString() {
    return delegate.toString();
  }
}
