package io.strata.kafka.tier;

import io.strata.kafka.segment.SegmentTag;
import java.io.IOException;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Predicate;

/**
 * Moves the partitions that had segments in a lost pool out of the log directories, so that Kafka
 * starts without them and replicates them again. Nothing is deleted.
 *
 * <p>Thread safety: used by one thread, with no broker running.
 */
public final class SetAside {

  private SetAside() {}

  /**
   * A partition's directory and where it was, or would be, moved. Immutable.
   *
   * @param partition the directory in the log directory
   * @param target its place beside the log directory
   */
  public record Move(Path partition, Path target) {}

  /**
   * Plans the moves: every partition with a segment whose tag names a pool that is not among {@code
   * pools}. Changes nothing.
   *
   * @param logDirectories the broker's log directories
   * @param pools the identities of the pools that are there
   * @param suffix names the sibling folder: {@code <log directory>.<suffix>}
   */
  public static List<Move> plan(List<Path> logDirectories, Set<UUID> pools, String suffix)
      throws IOException {
    return plan(logDirectories, tag -> !pools.contains(tag.pool()), suffix);
  }

  /**
   * Plans the moves: every partition with a segment whose tag is {@code lost} and whose home has
   * not got the bytes either. Changes nothing.
   *
   * @param logDirectories the broker's log directories
   * @param lost whether the slot that a tag names has not got the segment's bytes any more
   * @param suffix names the sibling folder: {@code <log directory>.<suffix>}
   */
  public static List<Move> plan(
      List<Path> logDirectories, Predicate<SegmentTag> lost, String suffix) throws IOException {
    List<Move> moves = new ArrayList<>();
    for (Path configured : logDirectories) {
      if (!Files.isDirectory(configured)) {
        continue;
      }
      Path directory = configured.toRealPath();
      Set<Path> partitions = new TreeSet<>();
      for (TaggedHome home : TaggedHomes.in(directory)) {
        Path partition = home.file().getParent();
        if (partition != null && lost.test(home.tag()) && HollowHome.test(home.file())) {
          partitions.add(partition);
        }
      }
      Path aside = directory.resolveSibling(directory.getFileName() + "." + suffix);
      for (Path partition : partitions) {
        moves.add(new Move(partition, aside.resolve(directory.relativize(partition))));
      }
    }
    return moves;
  }

  /**
   * Carries out the moves. Each is a rename.
   *
   * @throws IOException if one cannot be made; those before it have been
   */
  public static void run(List<Move> moves) throws IOException {
    for (Move move : moves) {
      Path folder = move.target().getParent();
      if (folder != null) {
        Files.createDirectories(folder);
      }
      try {
        Files.move(move.partition(), move.target(), StandardCopyOption.ATOMIC_MOVE);
      } catch (AtomicMoveNotSupportedException e) {
        FileSystemException refusal =
            new FileSystemException(
                move.partition().toString(),
                move.target().toString(),
                "the log directory is the root of its file system, so that the partition cannot be"
                    + " renamed to a folder beside it: move it away by hand (with its extended"
                    + " attributes: cp -a, or mv)");
        refusal.initCause(e);
        throw refusal;
      }
    }
  }
}
