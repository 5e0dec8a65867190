package io.strata.kafka.migration.remote.store.disk;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.strata.kafka.migration.FileStatus;
import io.strata.kafka.migration.remote.store.layout.StoreNames;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;

/**
 * The marks beside a copy of a segment, each a file in its directory ({@link StoreNames}): {@code
 * moving}, {@code going}, {@code damaged}. A copy that has one of them is no reason for which
 * another copy may go.
 */
public final class CopyMarks {

  /** Deletions and evictions end long before, unless their process dies. */
  private static final Duration LONGEST = Duration.ofHours(1);

  private CopyMarks() {}

  /**
   * Marks a copy before it goes, or dates the mark that is there. It need not be durable: after a
   * power cut the copy is there, or is not.
   *
   * @throws NoSuchFileException if the copy is not there
   */
  public static void going(Path segment) throws IOException {
    Path mark = segment.resolve(StoreNames.GOING);
    while (true) {
      try {
        Path unused = Files.createFile(mark);
        return;
      } catch (FileAlreadyExistsException e) {
        // A process died here, or another broker does the same.
        if (isDatedAgain(mark)) {
          return;
        }
      }
    }
  }

  /** Dates a mark by the file system's clock, which takes no space of a full disk. */
  private static boolean isDatedAgain(Path mark) throws IOException {
    try {
      FileChannel.open(mark, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING)
          .close();
      return true;
    } catch (NoSuchFileException e) {
      return false; // It has just gone, or the copy has.
    }
  }

  /** The copy stays after all; if that cannot be noted now, a scrub removes the mark. */
  public static void notGoing(Path segment) {
    try {
      boolean unused = Files.deleteIfExists(segment.resolve(StoreNames.GOING));
    } catch (IOException e) {
      return;
    }
  }

  /**
   * Returns whether a copy is to stay, by its mark {@code going}. A mark that a dead process has
   * left is taken off: no process works for so long between the mark and what follows it.
   */
  public static boolean isStaying(Path segment, String nonce) throws IOException {
    Path mark = segment.resolve(StoreNames.GOING);
    if (!FileStatus.isThere(mark)) {
      return true;
    }
    try {
      if (isRecent(mark, LONGEST, nonce)) {
        return false;
      }
    } catch (NoSuchFileException e) {
      return FileStatus.isThere(segment); // The mark has just gone, or the copy has.
    }
    notGoing(segment);
    return !FileStatus.isThere(mark);
  }

  /**
   * Returns whether a mark is no older than {@code longest}. One file system dates it and a file
   * that is made now, and no broker's clock counts.
   *
   * @param nonce names that file, beside it; unique
   * @throws NoSuchFileException if the mark is not there
   */
  public static boolean isRecent(Path mark, Duration longest, String nonce) throws IOException {
    Path now = mark.resolveSibling(nonce + StoreNames.PART);
    try {
      FileTime made = Files.getLastModifiedTime(Files.createFile(now));
      long age = made.toMillis() - Files.getLastModifiedTime(mark).toMillis();
      return Math.abs(age) <= longest.toMillis();
    } finally {
      boolean unused = Files.deleteIfExists(now);
    }
  }

  public static boolean isMoving(Path segment) throws IOException {
    return FileStatus.isThere(segment.resolve(StoreNames.MOVING));
  }

  public static boolean isDamaged(Path segment) throws IOException {
    return FileStatus.isThere(segment.resolve(StoreNames.DAMAGED));
  }

  /**
   * Notes durably that a copy is damaged; the first finding stays.
   *
   * @return whether this is the first
   * @throws NoSuchFileException if the copy is not there
   */
  public static boolean damaged(Path segment, String finding) throws IOException {
    boolean first = !isDamaged(segment);
    if (first) {
      Disk.replace(segment.resolve(StoreNames.DAMAGED), (finding + "\n").getBytes(UTF_8));
    }
    return first;
  }

  public static void notDamaged(Path segment) throws IOException {
    if (Files.deleteIfExists(segment.resolve(StoreNames.DAMAGED))) {
      Disk.forceDirectory(segment);
    }
  }
}
