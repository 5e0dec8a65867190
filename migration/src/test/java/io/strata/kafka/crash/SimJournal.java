package io.strata.kafka.crash;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The changes of directories that are not durable yet. Each reaches the medium as a whole or not at
 * all, in any order; but changes of one name stay in order.
 *
 * <p>Thread safety: none; a simulation has one thread.
 */
final class SimJournal {

  /** A name in a directory, and what it stands for from now on; null for nothing. */
  record Entry(SimInode directory, String name, @Nullable SimInode inode) {}

  /** One change: of one name, or of the two of a rename. */
  private record Change(List<Entry> entries) {
    boolean touches(SimInode directory) {
      return entries.stream().anyMatch(entry -> entry.directory() == directory);
    }
  }

  /** What a change is known by. */
  private record Name(SimInode directory, String name) {}

  private final List<Change> pending = new ArrayList<>();

  /** Makes a change, which is not durable. */
  void change(Entry... entries) {
    for (Entry entry : entries) {
      apply(entry, entry.directory().entries, inode -> inode);
    }
    pending.add(new Change(List.of(entries)));
  }

  private static void apply(
      Entry entry, Map<String, SimInode> names, Function<SimInode, SimInode> copies) {
    if (entry.inode() == null) {
      names.remove(entry.name());
    } else {
      names.put(entry.name(), copies.apply(entry.inode()));
    }
  }

  /** Makes durable what has been changed in a directory. */
  void force(SimInode directory) {
    boolean[] chosen = new boolean[pending.size()];
    for (int i = 0; i < chosen.length; i++) {
      chosen[i] = pending.get(i).touches(directory);
    }
    withEarlier(chosen);
    List<Change> rest = new ArrayList<>();
    for (int i = 0; i < chosen.length; i++) {
      Change change = pending.get(i);
      if (chosen[i]) {
        change.entries().forEach(e -> apply(e, e.directory().durableEntries, inode -> inode));
      } else {
        rest.add(change);
      }
    }
    pending.clear();
    pending.addAll(rest);
  }

  /** What is chosen takes along what came before it under the same names. */
  private void withEarlier(boolean[] chosen) {
    Set<Name> names = new HashSet<>();
    for (int i = chosen.length - 1; i >= 0; i--) {
      List<Entry> entries = pending.get(i).entries();
      if (!chosen[i]) {
        chosen[i] =
            entries.stream().anyMatch(e -> names.contains(new Name(e.directory(), e.name())));
      }
      if (chosen[i]) {
        entries.forEach(e -> names.add(new Name(e.directory(), e.name())));
      }
    }
  }

  /**
   * What a power cut leaves of the directories.
   *
   * @param copies the inodes of the image, whose entries are those of before
   */
  void powerCut(Loss loss, Function<SimInode, SimInode> copies) {
    boolean[] chosen = new boolean[pending.size()];
    for (int i = 0; i < chosen.length; i++) {
      chosen[i] = loss.keeps(Loss.Sort.ENTRY, i);
    }
    withEarlier(chosen);
    for (int i = 0; i < chosen.length; i++) {
      if (chosen[i]) {
        for (Entry entry : pending.get(i).entries()) {
          apply(entry, copies.apply(entry.directory()).entries, copies);
        }
      }
    }
  }

  /** The same changes of other inodes. */
  SimJournal copy(Function<SimInode, SimInode> copies) {
    SimJournal copy = new SimJournal();
    for (Change change : pending) {
      List<Entry> entries = new ArrayList<>();
      for (Entry e : change.entries()) {
        SimInode inode = e.inode() == null ? null : copies.apply(e.inode());
        entries.add(new Entry(copies.apply(e.directory()), e.name(), inode));
      }
      copy.pending.add(new Change(entries));
    }
    return copy;
  }

  /** Every inode that some change refers to. */
  List<SimInode> inodes() {
    List<SimInode> found = new ArrayList<>();
    for (Change change : pending) {
      for (Entry entry : change.entries()) {
        found.add(entry.directory());
        if (entry.inode() != null) {
          found.add(entry.inode());
        }
      }
    }
    return found;
  }
}
