package io.strata.kafka.tier;

import java.nio.file.Path;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Serialises what happens to one name: creation, deletion, renaming. Never held while bytes are
 * read or appended.
 *
 * <p>Thread safety: striped locks by the path's hash; two are taken in the stripes' order, so that
 * two renames cannot wait for each other.
 */
final class PathLocks {

  private static final int STRIPES = 64;

  private final ReentrantLock[] locks = new ReentrantLock[STRIPES];

  PathLocks() {
    for (int i = 0; i < STRIPES; i++) {
      locks[i] = new ReentrantLock();
    }
  }

  /** Releases what was taken. */
  interface Held extends AutoCloseable {
    @Override
    void close();
  }

  Held lock(Path path) {
    ReentrantLock lock = locks[stripe(path)];
    lock.lock();
    return lock::unlock;
  }

  Held lock(Path one, Path other) {
    int first = Math.min(stripe(one), stripe(other));
    int second = Math.max(stripe(one), stripe(other));
    locks[first].lock();
    locks[second].lock();
    return () -> {
      locks[second].unlock();
      locks[first].unlock();
    };
  }

  private static int stripe(Path path) {
    return Math.floorMod(path.toString().hashCode(), STRIPES);
  }
}
