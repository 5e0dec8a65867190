package io.strata.kafka.nio;

import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.FileSystem;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.nio.file.WatchService;
import java.nio.file.attribute.UserPrincipalLookupService;
import java.nio.file.spi.FileSystemProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** The delegate's file system, whose paths lead back to our provider. */
final class DelegatingFileSystem extends FileSystem {

  private final FileSystemProvider provider;
  private final FileSystem delegate;

  DelegatingFileSystem(FileSystemProvider provider, FileSystem delegate) {
    this.provider = provider;
    this.delegate = delegate;
  }

  /**
   * Our path for the delegate's {@code path}; one of ours as it is. (The JDK answers a URI of the
   * form {@code file:/a} through {@code File.toPath}, and so with a path of the default file
   * system: ours.)
   */
  Path wrap(Path path) {
    return path instanceof DelegatingPath ours && ours.getFileSystem() == this
        ? path
        : new DelegatingPath(this, path);
  }

  @Override
  public FileSystemProvider provider() {
    return provider;
  }

  @Override
  public void close() throws IOException {
    delegate.close();
  }

  @Override
  public boolean isOpen() {
    return delegate.isOpen();
  }

  @Override
  public boolean isReadOnly() {
    return delegate.isReadOnly();
  }

  @Override
  public String getSeparator() {
    return delegate.getSeparator();
  }

  @Override
  public Iterable<Path> getRootDirectories() {
    List<Path> roots = new ArrayList<>();
    for (Path root : delegate.getRootDirectories()) {
      roots.add(wrap(root));
    }
    return List.copyOf(roots);
  }

  @Override
  public Iterable<FileStore> getFileStores() {
    return delegate.getFileStores();
  }

  @Override
  public Set<String> supportedFileAttributeViews() {
    return delegate.supportedFileAttributeViews();
  }

  @Override
  public Path getPath(String first, String... more) {
    return wrap(delegate.getPath(first, more));
  }

  @Override
  public PathMatcher getPathMatcher(String syntaxAndPattern) {
    PathMatcher matcher = delegate.getPathMatcher(syntaxAndPattern);
    return path -> matcher.matches(DelegatingPath.unwrap(path));
  }

  @Override
  public UserPrincipalLookupService getUserPrincipalLookupService() {
    return delegate.getUserPrincipalLookupService();
  }

  @Override
  public WatchService newWatchService() throws IOException {
    return new DelegatingWatchService(this, delegate.newWatchService());
  }
}
