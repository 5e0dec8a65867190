package io.strata.kafka.migration.remote.store;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.OptionalLong;

/**
 * Which store to open, and for whom.
 *
 * @param levels the levels, fastest first
 * @param brokerId the broker
 * @param clusterId its cluster
 * @param memory directories of the broker's own in which to remember the store: so that a directory
 *     that was the store's and is empty now is known for an empty mount point. None: not remembered
 * @param clock dates what is written
 * @param stages is told of stages
 * @param identities reads a directory's identity, within a time: a file system may hang
 * @param threads who works in the directories
 */
public record StoreOptions(
    List<LevelOptions> levels,
    int brokerId,
    String clusterId,
    List<Path> memory,
    InstantSource clock,
    StoreStage.Hook stages,
    IdentityReader identities,
    DirectoryAccess.Threads threads) {

  /**
   * One level of the store.
   *
   * @param name its name in {@code rsm.config.levels}
   * @param directories at least one
   */
  public record LevelOptions(String name, List<Directory> directories) {
    /** Copies the list. */
    public LevelOptions {
      requireNonNull(name);
      directories = List.copyOf(directories);
      if (directories.isEmpty()) {
        throw new IllegalArgumentException(
            "level " + name + ": found no directory, expected at least one");
      }
    }
  }

  /**
   * One directory of a level.
   *
   * @param path the directory, absolute; it must exist
   * @param capacityBytes what the store may take there; empty for the whole file system less a
   *     reserve
   */
  public record Directory(Path path, OptionalLong capacityBytes) {}

  /** Reads a directory's identity. */
  @FunctionalInterface
  public interface IdentityReader {
    /**
     * Reads it.
     *
     * @throws java.nio.file.NoSuchFileException if the directory has none
     * @throws IOException if it cannot be read, or not in time
     */
    StoreIdentity read(Path directory) throws IOException;
  }

  /** Copies the lists. */
  public StoreOptions {
    levels = List.copyOf(levels);
    requireNonNull(clusterId);
    memory = List.copyOf(memory);
    requireNonNull(clock);
    requireNonNull(stages);
    requireNonNull(identities);
    requireNonNull(threads);
  }

  /** One whose callers work in the directories themselves. */
  public StoreOptions(
      List<LevelOptions> levels,
      int brokerId,
      String clusterId,
      List<Path> memory,
      InstantSource clock,
      StoreStage.Hook stages,
      IdentityReader identities) {
    this(
        levels,
        brokerId,
        clusterId,
        memory,
        clock,
        stages,
        identities,
        DirectoryAccess.Threads.NONE);
  }
}
