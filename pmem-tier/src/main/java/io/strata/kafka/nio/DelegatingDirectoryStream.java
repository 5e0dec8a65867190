package io.strata.kafka.nio;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Path;
import java.util.Iterator;

/**
 * The delegate's directory stream, with our paths. Never a {@code SecureDirectoryStream}, which the
 * JDK leaves optional: its operations are relative to an open directory, where a segment cannot be
 * told by its path.
 */
final class DelegatingDirectoryStream implements DirectoryStream<Path> {

  private final DelegatingFileSystem fileSystem;
  private final DirectoryStream<Path> delegate;

  DelegatingDirectoryStream(DelegatingFileSystem fileSystem, DirectoryStream<Path> delegate) {
    this.fileSystem = fileSystem;
    this.delegate = delegate;
  }

  @Override
  public Iterator<Path> iterator() {
    Iterator<Path> entries = delegate.iterator();
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
    delegate.close();
  }
}
