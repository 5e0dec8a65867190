package io.strata.kafka.crash;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What a segment must be after a crash: what its writer was told, and what was under way.
 *
 * <p>Thread safety: none.
 */
final class Expected {

  /** Whether the segment is there. */
  enum State {
    LIVE,
    /** Its deletion has been asked for, or is not durable: it may be there. */
    MAYBE_GONE,
    /** Its deletion is durable. */
    GONE
  }

  final long offset;

  /** The log directory. */
  final String root;

  State state = State.LIVE;

  /** Its partition's directory and its own name, now. */
  String directory;

  String file;

  /** All that it has been called, since a crash may take renames back. */
  final Set<String> directories = new TreeSet<>();

  final Set<String> files = new TreeSet<>();

  /** What was acknowledged. */
  byte[] content = new byte[0];

  /**
   * Whether its writer has been promised anything: not that of a replica on its way between log
   * directories, before it has the name of the one that it replaces.
   */
  boolean promised;

  /** Whether what changes its partition waits for the rename of it. */
  boolean awaited;

  /** So many bytes of that survive a power cut even where only what is flushed does. */
  int sure;

  /** Earlier contents, of which such a power cut may leave something. */
  final List<byte[]> earlier = new ArrayList<>();

  /** What the content is to become: an append or a truncation is under way. */
  Optional<byte[]> after = Optional.empty();

  /** What had been renamed before a pool durably took a change of this segment. */
  final List<RenamedBefore> renamedBefore = new ArrayList<>();

  /**
   * Renames that a power cut must not undo where it leaves what came after them.
   *
   * @param longerThan what came after is there if the segment is longer than this
   * @param shorterThan and shorter than this
   * @param names by offset, what segments must not be called any more
   */
  record RenamedBefore(int longerThan, int shorterThan, Map<Long, Set<String>> names) {
    /** Whether another one says as much. */
    boolean isCoveredBy(RenamedBefore other) {
      return other.longerThan <= longerThan
          && other.shorterThan >= shorterThan
          && other.names.equals(names);
    }

    private RenamedBefore without(long offset, String file) {
      Map<Long, Set<String>> others = new TreeMap<>(names);
      others.computeIfPresent(
          offset,
          (of, before) -> {
            Set<String> left = new TreeSet<>(before);
            left.remove(file);
            return left.isEmpty() ? null : left;
          });
      return new RenamedBefore(longerThan, shorterThan, others);
    }
  }

  /** A segment that was not to have a name any more is about to get it. */
  void mayBeCalledAgain(long segment, String name) {
    renamedBefore.replaceAll(order -> order.without(segment, name));
    renamedBefore.removeIf(order -> order.names().isEmpty());
  }

  Expected(long offset, String root, String directory, String file) {
    this.offset = offset;
    this.root = root;
    this.directory = directory;
    this.file = file;
    this.promised = !isFuture(directory);
    called(directory, file);
  }

  private static boolean isFuture(String directory) {
    return directory.endsWith("-future");
  }

  void called(String newDirectory, String newFile) {
    directories.add(newDirectory);
    files.add(newFile);
  }

  void isNow(String newDirectory, String newFile) {
    called(newDirectory, newFile);
    if (isFuture(directory) && !isFuture(newDirectory)) {
      promised = true; // As the replica that it takes the place of.
    }
    directory = newDirectory;
    file = newFile;
  }

  Expected copy() {
    Expected copy = new Expected(offset, root, directory, file);
    copy.state = state;
    copy.promised = promised;
    copy.awaited = awaited;
    copy.directories.addAll(directories);
    copy.files.addAll(files);
    copy.content = content;
    copy.sure = sure;
    copy.earlier.addAll(earlier);
    copy.after = after;
    copy.renamedBefore.addAll(renamedBefore);
    return copy;
  }

  /** Everything is durable. */
  void flushed() {
    promised = !isFuture(directory);
    sure = content.length;
    earlier.clear();
  }

  void truncated(byte[] rest) {
    earlier.add(content);
    content = rest;
    sure = Math.min(sure, rest.length);
  }

  /** A pool has cut it: what was cut does not come back. */
  void truncatedInPool() {
    earlier.clear();
  }

  /** What it was called, and is not called any more. */
  Set<String> formerFiles() {
    Set<String> former = new TreeSet<>(files);
    former.remove(file);
    return former;
  }

  /** Whether it must be found. */
  boolean required(boolean exact) {
    int kept = after.map(bytes -> Math.min(bytes.length, content.length)).orElse(content.length);
    return state == State.LIVE && ((exact && promised) ? kept > 0 : Math.min(sure, kept) > 0);
  }

  /**
   * What is wrong with what was found; empty if nothing is.
   *
   * @param exact whether all that was acknowledged must be there, and nothing else
   * @param whole whether of what was not acknowledged the length alone may be missing, and no byte
   *     before it
   */
  Optional<String> difference(byte[] found, boolean exact, boolean whole) {
    int shortest =
        after.map(bytes -> Math.min(bytes.length, content.length)).orElse(content.length);
    byte[] longest = after.filter(bytes -> bytes.length > content.length).orElse(content);
    if (exact && promised) {
      if (found.length < shortest || found.length > longest.length) {
        return Optional.of(
            "found " + found.length + " bytes, expected " + shortest + " to " + longest.length);
      }
      int compared = whole ? found.length : shortest;
      int differs = Arrays.mismatch(found, 0, compared, longest, 0, compared);
      return differs < 0
          ? Optional.empty()
          : Optional.of(
              "found "
                  + found.length
                  + " bytes, of which that at "
                  + differs
                  + " is "
                  + found[differs]
                  + ", expected "
                  + longest[differs]);
    }
    int certain = Math.min(sure, shortest);
    if (found.length < certain) {
      return Optional.of("found " + found.length + " bytes, expected at least " + certain);
    }
    List<byte[]> versions = new ArrayList<>(earlier);
    versions.add(content);
    after.ifPresent(versions::add);
    int differs = Arrays.mismatch(found, 0, certain, content, 0, certain);
    if (differs >= 0) {
      return Optional.of(
          "found a byte of " + found[differs] + " at " + differs + " of " + certain + " flushed");
    }
    for (int i = certain; i < found.length; i++) {
      if (found[i] != 0 && !isAny(versions, i, found[i])) {
        return Optional.of(
            "found a byte of " + found[i] + " at " + i + ", expected 0 or one of its own");
      }
    }
    return Optional.empty();
  }

  /** Whether these are the first bytes of what it is, was, or is becoming. */
  boolean beginsWith(byte[] first) {
    List<byte[]> versions = new ArrayList<>(earlier);
    versions.add(content);
    after.ifPresent(versions::add);
    return versions.stream()
        .anyMatch(
            version ->
                version.length >= first.length
                    && Arrays.equals(version, 0, first.length, first, 0, first.length));
  }

  private static boolean isAny(List<byte[]> versions, int at, byte value) {
    for (byte[] version : versions) {
      if (at < version.length && version[at] == value) {
        return true;
      }
    }
    return false;
  }

  @Override
  public String toString() {
    return root
        + "/"
        + directory
        + "/"
        + file
        + " ("
        + state
        + ", "
        + content.length
        + " bytes, "
        + sure
        + " sure"
        + after.map(bytes -> ", becoming " + bytes.length).orElse("")
        + ")";
  }
}
