package io.strata.kafka.nio;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A segment as its broker must find it again after the process has ended.
 *
 * <p>Thread safety: none.
 */
final class KeptSegment {

  /** What it may be called, relative to the root: more than one while it is being renamed. */
  final Set<String> names = new LinkedHashSet<>();

  byte[] content = {};

  /** What the content is to become: a change is under way. */
  Optional<byte[]> after = Optional.empty();

  /** Whether Kafka has begun to delete it, and whether that was acknowledged. */
  boolean mayBeGone;

  boolean gone;

  KeptSegment(String name) {
    names.add(name);
  }

  KeptSegment copy() {
    KeptSegment copy = new KeptSegment("");
    copy.names.clear();
    copy.names.addAll(names);
    copy.content = content;
    copy.after = after;
    copy.mayBeGone = mayBeGone;
    copy.gone = gone;
    return copy;
  }

  void isNow(String name) {
    names.clear();
    names.add(name);
  }

  /**
   * The one file that there is of it; empty if it is gone as it may be. The JDK knows, whatever
   * calls of the root's file system fail.
   */
  Optional<Path> file(Path root) {
    List<Path> found =
        names.stream()
            .map(root::resolve)
            .filter(file -> Files.exists(Path.of(file.toString())))
            .toList();
    if (found.size() > 1 || (found.isEmpty() ? !mayBeGone : gone)) {
      throw new AssertionError("found " + found + " of " + this);
    }
    return found.stream().findFirst();
  }

  /** Compares what is read with what must be there. */
  void verify(Path file) throws IOException {
    byte[] found = Files.readAllBytes(file);
    byte[] other = after.orElse(content);
    byte[] longest = other.length > content.length ? other : content;
    int shortest = Math.min(other.length, content.length);
    if (found.length < shortest
        || found.length > longest.length
        || !Arrays.equals(found, 0, found.length, longest, 0, found.length)) {
      throw new AssertionError("found " + found.length + " bytes, or other ones, of " + this);
    }
  }

  @Override
  public String toString() {
    return names
        + " ("
        + content.length
        + " bytes"
        + after.map(bytes -> ", becoming " + bytes.length).orElse("")
        + (gone ? ", deleted" : mayBeGone ? ", being deleted" : "")
        + ")";
  }
}
