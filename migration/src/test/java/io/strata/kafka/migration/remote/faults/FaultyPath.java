package io.strata.kafka.migration.remote.faults;

import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.WatchEvent;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import org.jspecify.annotations.Nullable;

/** A real path in a {@link FaultyFileSystem}. */
record FaultyPath(FaultyFileSystem files, Path real) implements Path {

  private Path wrap(Path other) {
    return new FaultyPath(files, other);
  }

  private @Nullable Path wrapIfThere(@Nullable Path other) {
    return other == null ? null : wrap(other);
  }

  static Path unwrap(Path path) {
    return path instanceof FaultyPath faulty ? faulty.real : path;
  }

  @Override
  public FileSystem getFileSystem() {
    return files;
  }

  @Override
  public boolean isAbsolute() {
    return real.isAbsolute();
  }

  @Override
  public @Nullable Path getRoot() {
    return wrapIfThere(real.getRoot());
  }

  @Override
  public @Nullable Path getFileName() {
    return wrapIfThere(real.getFileName());
  }

  @Override
  public @Nullable Path getParent() {
    return wrapIfThere(real.getParent());
  }

  @Override
  public int getNameCount() {
    return real.getNameCount();
  }

  @Override
  public Path getName(int index) {
    return wrap(real.getName(index));
  }

  @Override
  public Path subpath(int begin, int end) {
    return wrap(real.subpath(begin, end));
  }

  @Override
  public boolean startsWith(Path other) {
    return real.startsWith(unwrap(other));
  }

  @Override
  public boolean endsWith(Path other) {
    return real.endsWith(unwrap(other));
  }

  @Override
  public Path normalize() {
    return wrap(real.normalize());
  }

  @Override
  public Path resolve(Path other) {
    return wrap(real.resolve(unwrap(other)));
  }

  @Override
  public Path relativize(Path other) {
    return wrap(real.relativize(unwrap(other)));
  }

  @Override
  public URI toUri() {
    return real.toUri();
  }

  @Override
  public Path toAbsolutePath() {
    return wrap(real.toAbsolutePath());
  }

  @Override
  public Path toRealPath(LinkOption... options) throws IOException {
    return wrap(real.toRealPath(options));
  }

  @Override
  public WatchKey register(
      WatchService watcher, WatchEvent.Kind<?>[] events, WatchEvent.Modifier... modifiers) {
    throw new UnsupportedOperationException();
  }

  @Override
  public int compareTo(Path other) {
    return real.compareTo(unwrap(other));
  }

  @Override
  public String toString() {
    return real.toString();
  }
}
