package io.strata.kafka.migration.remote.store.disk;

import io.strata.kafka.migration.NoSpaceException;
import io.strata.kafka.migration.remote.store.layout.StoreNames;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The leftovers of copies, moves and deletions in whose midst a process has died: directories in
 * staging and in the trash, and files that were to be renamed.
 */
public final class Leftovers {

  /** The end of a name in the trash: the process that put it there, and a number. */
  private static final Pattern BY_PROCESS = Pattern.compile(".*-((\\d+)-[A-Za-z0-9_-]{22})-\\d+");

  private Leftovers() {}

  /**
   * A directory or a file.
   *
   * @param own whether this broker's id is in its name
   * @param changedMillis when anything in it was changed last
   */
  public record Piece(Path path, boolean own, long changedMillis) {

    public static Piece of(Path path, boolean own) throws IOException {
      return new Piece(path, own, lastChange(path));
    }

    /** Returns whether no process can be at work on it any more. */
    public boolean olderThan(Duration age, long nowMillis) {
      return changedMillis <= nowMillis - age.toMillis();
    }
  }

  /**
   * Finds what is in staging and in the trash of a directory.
   *
   * @param broker "own" is what this broker left; empty for none
   * @param except a process that is at work, as it is named in staging, of which nothing there is
   *     found; what it has put into the trash is not "own", since it is removing it
   */
  public static List<Piece> find(Path directory, Optional<Integer> broker, String except)
      throws IOException {
    List<Piece> found = new ArrayList<>();
    for (Path process : StoreListing.entries(directory.resolve(StoreNames.STAGING))) {
      String name = StoreListing.name(process);
      if (!name.equals(except)) {
        found.add(Piece.of(process, broker.isPresent() && name.startsWith(broker.get() + "-")));
      }
    }
    for (Path trashed : StoreListing.entries(directory.resolve(StoreNames.TRASH))) {
      Matcher by = BY_PROCESS.matcher(StoreListing.name(trashed));
      boolean own =
          by.matches()
              && !except.isEmpty()
              && !except.equals(by.group(1))
              && broker.map(String::valueOf).equals(Optional.ofNullable(by.group(2)));
      found.add(Piece.of(trashed, own));
    }
    return found;
  }

  /**
   * Removes one. Renames it first if it is in staging: another broker that is at work on it all the
   * same fails, instead of publishing what is left. Where there is no space for that, it is removed
   * in its place: a broker that publishes looks at what it has published.
   *
   * @param trashName a unique name in the trash
   */
  public static void remove(Path directory, Piece piece, String trashName) throws IOException {
    Path trash = directory.resolve(StoreNames.TRASH);
    Path top = piece.path();
    if (directory.resolve(StoreNames.STAGING).equals(top.getParent())) {
      Path trashed = trash.resolve(StoreListing.name(top) + "-" + trashName);
      try {
        top = Files.move(top, trashed, StandardCopyOption.ATOMIC_MOVE);
      } catch (NoSuchFileException e) {
        return; // Another broker was faster.
      } catch (IOException e) {
        if (!NoSpaceException.isCauseOf(e)) {
          throw e;
        }
      }
    }
    if (trash.equals(top.getParent())) {
      // The process that put it there may have been killed before that was durable: a power cut
      // would bring the
      // segment back, without what has been removed of it.
      Disk.forceDirectory(trash);
    }
    Disk.removeTree(top);
  }

  /** Returns whether a file in a segment's directory was to be renamed, or removed. */
  public static boolean isPart(String name) {
    return name.endsWith(StoreNames.PART) || name.equals(StoreNames.GOING);
  }

  /** Returns when a file, or anything below a directory, was changed last. */
  private static long lastChange(Path top) throws IOException {
    long last = 0;
    try (Stream<Path> all = Files.walk(top)) {
      for (Path path : (Iterable<Path>) all::iterator) {
        last =
            Math.max(last, Files.getLastModifiedTime(path, LinkOption.NOFOLLOW_LINKS).toMillis());
      }
    } catch (NoSuchFileException | UncheckedIOException e) {
      // It is changing under our eyes, or gone: then there is nothing to remove.
      return Long.MAX_VALUE;
    }
    return last;
  }
}
