package io.strata.kafka.migration.remote.store;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Which directories a store has: each of them lists all, by a file for each in {@code members} with
 * the directory's id as its name. A directory that has become the store's is one for ever, until an
 * operator retires it: a broker that is not configured with it cannot know what it has, and deletes
 * nothing for good.
 *
 * <p>Thread safety: stateless; several brokers may do the same at once.
 */
final class StoreMembers {

  private static final String RETIRED = ".retired";
  private static final Pattern NAME =
      Pattern.compile("([A-Za-z0-9_-]{22})(" + Pattern.quote(RETIRED) + ")?");

  private StoreMembers() {}

  /**
   * What a store's directories say.
   *
   * @param members the ids of all that were not retired
   * @param retired the ids of those that were
   */
  record View(Set<String> members, Set<String> retired) {
    View {
      members = Set.copyOf(members);
      retired = Set.copyOf(retired);
    }

    /** As one: a directory that is retired in one is retired. */
    View and(View other) {
      Set<String> either = new HashSet<>(retired);
      either.addAll(other.retired);
      Set<String> all = new HashSet<>(members);
      all.addAll(other.members);
      all.removeAll(either);
      return new View(all, either);
    }
  }

  /** What nobody says anything in. */
  static final View NONE = new View(Set.of(), Set.of());

  /**
   * Reads the list in a directory.
   *
   * @throws IOException if it cannot be read
   */
  static View read(Path directory) throws IOException {
    Set<String> members = new HashSet<>();
    Set<String> retired = new HashSet<>();
    for (Path file : StoreListing.entries(list(directory))) {
      Matcher name = NAME.matcher(StoreListing.name(file));
      if (name.matches()) {
        (name.group(2) == null ? members : retired).add(name.group(1));
      }
    }
    return NONE.and(new View(members, retired));
  }

  /** Notes in a directory that these are the store's, durably; what is there stays. */
  static void join(StoreDirectory directory, List<StoreDirectory> all) throws IOException {
    for (StoreDirectory member : all) {
      // For people: the path is the one that this broker sees it under.
      add(directory.path(), member.identity().directoryId(), member.path().toString());
    }
    force(directory.path());
  }

  /** Notes in a directory that another one is lost, or was taken out of the store for good. */
  static void retire(Path directory, String directoryId) throws IOException {
    if (!NAME.matcher(directoryId).matches() || directoryId.endsWith(RETIRED)) {
      throw new IllegalArgumentException(
          "found "
              + SegmentKey.printable(directoryId)
              + ", expected a directory's id: 22 characters of URL-safe base64");
    }
    add(directory, directoryId + RETIRED, "retired");
    force(directory);
  }

  private static void add(Path directory, String name, String text) throws IOException {
    Path file = list(directory).resolve(name);
    if (Disk.isThere(file)) {
      return;
    }
    Path unused = Files.createDirectories(list(directory));
    try {
      Disk.writeNew(file, UTF_8.encode(text + "\n"));
    } catch (FileAlreadyExistsException e) {
      return; // Another broker has been faster.
    }
  }

  /** What is there, too: whoever made it may have been killed before that was durable. */
  private static void force(Path directory) throws IOException {
    Disk.forceDirectory(list(directory));
    Disk.forceDirectory(directory);
  }

  private static Path list(Path directory) {
    return directory.resolve(StoreNames.MEMBERS);
  }
}
