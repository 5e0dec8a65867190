package io.strata.kafka.memory;

/** The failures that a {@link PersistentMemory} survives, as probed and not as hoped. */
public enum Durability {
  /**
   * Persisted bytes survive a power failure: the file is on a DAX file system, and {@link
   * PersistentMemory#persist} flushes cache lines to the medium.
   */
  POWER,
  /**
   * Persisted bytes survive the end of the process, and those under {@link PersistentMemory#force}
   * survive a power failure, as Kafka's own files do.
   */
  FORCE,
  /**
   * Persisted bytes survive the end of the process only: the file is on a memory-backed file
   * system, which a power failure empties whatever is forced.
   */
  PROCESS;

  /** Returns whether bytes survive a power failure once they are persisted, without a force. */
  public boolean durableOnPersist() {
    return this == POWER;
  }

  /** Returns whether bytes survive a power failure when they are forced, and not before. */
  public boolean needsForce() {
    return this == FORCE;
  }

  /** Returns whether anything survives a power failure or a restart, whatever is done for it. */
  public boolean survivesReboot() {
    return this != PROCESS;
  }
}
