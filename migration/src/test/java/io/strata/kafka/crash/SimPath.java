package io.strata.kafka.crash;

import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.WatchEvent;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A path of a {@link SimFileSystem}: names between slashes; there are no links. Immutable. */
public class SimPath implements Path {

  private final SimFileSystem fileSystem;
  private final boolean absolute;
  private final List<String> names;
  private final String text;

  SimPath(SimFileSystem fileSystem, boolean absolute, List<String> names) {
    this.fileSystem = fileSystem;
    this.absolute = absolute;
    this.names = List.copyOf(names);
    this.text = (absolute ? "/" : "") + String.join("/", names);
  }

  /** The same path; for one that does more when it is asked. */
  protected SimPath(Path other) {
    this(((SimPath) other).fileSystem, other.isAbsolute(), ((SimPath) other).names);
  }

  static SimPath parse(SimFileSystem fileSystem, String text) {
    List<String> names = new ArrayList<>();
    for (String name : text.split("/", -1)) {
      if (!name.isEmpty()) {
        names.add(name);
      }
    }
    return new SimPath(fileSystem, text.startsWith("/"), names);
  }

  List<String> names() {
    return names;
  }

  private SimPath with(boolean isAbsolute, List<String> newNames) {
    return new SimPath(fileSystem, isAbsolute, newNames);
  }

  @Override
  public FileSystem getFileSystem() {
    return fileSystem;
  }

  SimFileSystem disk() {
    return fileSystem;
  }

  @Override
  public boolean isAbsolute() {
    return absolute;
  }

  @Override
  public @Nullable Path getRoot() {
    return absolute ? with(true, List.of()) : null;
  }

  @Override
  public @Nullable Path getFileName() {
    return names.isEmpty() ? null : with(false, names.subList(names.size() - 1, names.size()));
  }

  @Override
  public @Nullable Path getParent() {
    if (names.isEmpty() || (names.size() == 1 && !absolute)) {
      return null;
    }
    return with(absolute, names.subList(0, names.size() - 1));
  }

  @Override
  public int getNameCount() {
    return names.size();
  }

  @Override
  public Path getName(int index) {
    return with(false, List.of(names.get(index)));
  }

  @Override
  public Path subpath(int from, int to) {
    return with(false, names.subList(from, to));
  }

  @Override
  public boolean startsWith(Path other) {
    return other instanceof SimPath path
        && path.fileSystem == fileSystem
        && path.absolute == absolute
        && path.names.size() <= names.size()
        && names.subList(0, path.names.size()).equals(path.names);
  }

  @Override
  public boolean endsWith(Path other) {
    int from = names.size() - other.getNameCount();
    return other instanceof SimPath path
        && from >= 0
        && names.subList(from, names.size()).equals(path.names);
  }

  @Override
  public Path normalize() {
    List<String> kept = new ArrayList<>();
    for (String name : names) {
      if (name.equals("..") && !kept.isEmpty()) {
        kept.remove(kept.size() - 1);
      } else if (!name.equals(".")) {
        kept.add(name);
      }
    }
    return with(absolute, kept);
  }

  @Override
  public Path resolve(Path other) {
    SimPath path = (SimPath) other;
    if (path.absolute) {
      return path;
    }
    List<String> joined = new ArrayList<>(names);
    joined.addAll(path.names);
    return with(absolute, joined);
  }

  @Override
  public Path relativize(Path other) {
    SimPath path = (SimPath) other;
    if (!path.startsWith(this)) {
      throw new IllegalArgumentException(other + " is not below " + this);
    }
    return with(false, path.names.subList(names.size(), path.names.size()));
  }

  @Override
  public URI toUri() {
    return URI.create("sim:" + text);
  }

  @Override
  public Path toAbsolutePath() {
    return absolute ? this : with(true, names);
  }

  @Override
  public Path toRealPath(LinkOption... options) throws IOException {
    Path real = toAbsolutePath().normalize();
    SimInode unused = fileSystem.inode(real);
    return real;
  }

  @Override
  public WatchKey register(
      WatchService watcher, WatchEvent.Kind<?>[] events, WatchEvent.Modifier... modifiers) {
    throw new UnsupportedOperationException();
  }

  @Override
  public int compareTo(Path other) {
    return text.compareTo(other.toString());
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof SimPath path && path.fileSystem == fileSystem && path.text.equals(text);
  }

  @Override
  public int hashCode() {
    return text.hashCode();
  }

  @Override
  public String toString() {
    return text;
  }
}
