package io.strata.kafka.migration.remote.store.disk;

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
