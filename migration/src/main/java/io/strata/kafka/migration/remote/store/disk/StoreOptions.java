package io.strata.kafka.migration.remote.store.disk;

import io.strata.kafka.migration.remote.store.layout.StoreIdentity;
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
 * @param stages is notified of stages
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

  /** Reads a directory's identity as {@link StoreIdentity#read} does, or fails in time. */
  @FunctionalInterface
  public interface IdentityReader {
    StoreIdentity read(Path directory) throws IOException;
  }

  public StoreOptions {
    levels = List.copyOf(levels);
    memory = List.copyOf(memory);
  }
}
