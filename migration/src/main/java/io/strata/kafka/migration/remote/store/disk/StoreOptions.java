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
 * @param memory directories of the broker's own in which to remember the store: so that a directory
 *     that was the store's and is empty now is known for an empty mount point. None: not remembered
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

  /** Reads a directory's identity: {@link StoreIdentity#read}, but for tests. */
  @FunctionalInterface
  public interface IdentityReader {
    StoreIdentity read(Path directory) throws IOException;
  }

  public StoreOptions {
    levels = List.copyOf(levels);
    memory = List.copyOf(memory);
  }

  /**
   * Where work on the store can be stopped by a test: each is a point after which something is
   * durable.
   */
  public enum StoreStage {
    /** A copy's directory in staging is there, and empty. */
    COPY_STAGED,
    /** The segment's bytes are written and forced there. */
    COPY_LOG_WRITTEN,
    /** The indexes too. */
    COPY_INDEXES_WRITTEN,
    /** The manifest too: the copy is whole. */
    COPY_MANIFEST_WRITTEN,
    /** It has its name in the partition's directory: it can be seen. */
    COPY_PUBLISHED,
    /** A deletion begins. */
    DELETE_STARTED,
    /** A copy has been renamed into the trash: it cannot be seen any more. */
    DELETE_TRASHED,
    /** The trash has been emptied of it. */
    DELETE_EMPTIED,
    /** A move's copy is whole in staging. */
    MOVE_STAGED,
    /** It has its name in the other level, marked as not confirmed. */
    MOVE_PUBLISHED,
    /** It is confirmed: the segment is in two levels. */
    MOVE_CONFIRMED,
    /** The upper one of two copies is marked as going. */
    EVICT_MARKED,
    /** It is in the trash, from where nothing comes back. */
    EVICT_TRASHED,
    /** The segment is marked as being copied by the cold manager. */
    COLD_MARKED,
    /** The cold manager says that it has it. */
    COLD_COPIED,
    /** The segment is marked as being with the cold manager. */
    COLD_CONFIRMED,
    /** The segment's bytes have been removed here. */
    COLD_DROPPED,
    /** The segment's bytes are back from the cold manager. */
    COLD_RESTORED;

    /** Is notified of stages; for tests. */
    @FunctionalInterface
    public interface Hook {
      Hook NONE = stage -> {};

      void reached(StoreStage stage);
    }
  }
}
