package io.strata.kafka.memory;

/**
 * What a {@link PersistentMemory} survives, as probed and not as hoped.
 *
 * <p>Immutable and safe for use by any thread.
 */
public enum Durability {
  /**
   * Persisted bytes survive a power cut: the file is on a DAX file system, and {@link
   * PersistentMemory#persist} flushes cache lines to the medium.
   */
  POWER,
  /**
   * Persisted bytes survive the end of the process, and those under {@link PersistentMemory#force}
   * survive a power cut, as Kafka's own files do.
   */
  FORCE,
  /**
   * Persisted bytes survive the end of the process only: the file is on a memory-backed file
   * system, which a power cut empties whatever is forced.
   */
  PROCESS
}
