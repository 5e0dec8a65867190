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
   * A log directory that could not be looked at. Immutable.
   *
   * @param logDirectory as configured
   * @param reason what was found: one phrase, which names the file where it is not the directory
   */
  public record Skipped(Path logDirectory, String reason) {}

  /**
   * What is to be done. Immutable.
   *
   * @param moves the partitions to move
   * @param wholeHomes files in other partitions with a lost tag and all of their bytes, whose tag
   *     is to be removed: those of segments that were created when the pool was full
   * @param skipped the log directories that could not be read to the end: whatever is to be done in
   *     them is in none of the other lists
   */
  public record Plan(List<Move> moves, List<Path> wholeHomes, List<Skipped> skipped) {
    /** Copies the lists. */
    public Plan {
      moves = List.copyOf(moves);
      wholeHomes = List.copyOf(wholeHomes);
      skipped = List.copyOf(skipped);
    }

    /** Whether there is nothing to do. */
    public boolean isEmpty() {
      return moves.isEmpty() && wholeHomes.isEmpty();
    }
  }

  /**
   * Plans what to do: moves every partition with a segment that is {@code lost} and whose home has
   * not got the bytes either. Changes nothing.
   *
   * @param logDirectories the broker's log directories
   * @param lost whether no slot has the segment's bytes any more, of those that home names
   * @param suffix names the sibling folder: {@code <log directory>.<suffix>}
   */
  public static Plan plan(List<Path> logDirectories, Predicate<TaggedHome> lost, String suffix)
      throws IOException {
    List<Move> moves = new ArrayList<>();
    List<Path> wholeHomes = new ArrayList<>();
    List<Skipped> skipped = new ArrayList<>();
    for (Path configured : logDirectories) {
      if (!Files.isDirectory(configured)) {
        skipped.add(new Skipped(configured, "it is not there, or is no directory"));
        continue;
      }
      try {
        Plan inThis = planIn(configured.toRealPath(), lost, suffix);
        moves.addAll(inThis.moves());
        wholeHomes.addAll(inThis.wholeHomes());
      } catch (FileSystemException e) {
        // Its disk fails, or something in it belongs to somebody else: the others are not in vain.
        skipped.add(new Skipped(configured, FailureText.of(e)));
      }
    }
    return new Plan(moves, wholeHomes, skipped);
  }

  private static Plan planIn(Path directory, Predicate<TaggedHome> lost, String suffix)
      throws IOException {
    Set<Path> partitions = new TreeSet<>();
    Set<Path> whole = new TreeSet<>();
    for (TaggedHome home : TaggedHomes.in(directory)) {
      Path partition = home.file().getParent();
      if (partition == null || !lost.test(home)) {
        continue;
      }
      if (HollowHome.test(home.file())) {
        partitions.add(partition);
      } else {
        whole.add(home.file());
      }
    }
    Path aside = directory.resolveSibling(directory.getFileName() + "." + suffix);
    List<Move> moves =
        partitions.stream()
            .map(each -> new Move(each, aside.resolve(directory.relativize(each))))
            .toList();
    List<Path> elsewhere =
        whole.stream().filter(file -> !partitions.contains(file.getParent())).toList();
    return new Plan(moves, elsewhere, List.of());
  }

  /**
   * Carries out the plan. Each move is a rename.
   *
   * @throws IOException if a step cannot be done; those before it have been, and a new plan has the
   *     rest
   */
  public static void run(Plan plan) throws IOException {
    for (Path whole : plan.wholeHomes()) {
      SegmentTag.remove(whole);
    }
    for (Move move : plan.moves()) {
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
