package io.strata.kafka.pool;

import io.strata.kafka.memory.PersistentMemory;
import java.io.IOException;

/** The end of a pool's use: its session, its memory and its lock, each whatever the others do. */
final class PoolClosing implements AutoCloseable {
  private final PersistentMemory memory;
  private final AutoCloseable lock;

  PoolClosing(PersistentMemory memory, AutoCloseable lock) {
    this.memory = memory;
    this.lock = lock;
  }

  /**
   * Makes everything durable, and says so in the session line.
   *
   * @param cleared whether all data but the segments' committed bytes is zeros
   */
  void endSession(Superblock superblock, boolean cleared) throws IOException {
    if (memory.durability().needsForce()) {
      memory.force(0, superblock.poolSize());
      (cleared ? Session.CLEARED : Session.CLOSED).write(memory, superblock.salt());
    }
  }

  @Override
  public void close() throws IOException {
    try {
      memory.close();
    } finally {
      closeLock();
    }
  }

  private void closeLock() throws IOException {
    try {
      lock.close();
    } catch (IOException | RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IOException(memory.path() + ": its lock could not be dropped", e);
    }
  }
}
