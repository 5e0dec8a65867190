package io.strata.kafka.pool;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import io.strata.kafka.memory.PoolFiles;
import io.strata.kafka.memory.calls.InodeLock;
import io.strata.kafka.pool.words.PoolException;
import io.strata.kafka.pool.words.PoolException.Kind;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** Takes the lock of a pool's file, without which nothing is written to it. Stateless. */
final class PoolLock {
  private PoolLock() {}

  /**
   * Takes the lock of a pool.
   *
   * @throws PoolException with {@link Kind#LOCKED} if it is held, by whatever name of the file
   */
  static InodeLock acquire(Path pool) throws IOException {
    try {
      return InodeLock.tryLock(pool).orElseThrow(() -> locked(pool, pool));
    } catch (NoSuchFileException e) {
      throw PoolFile.missing(pool, e);
    } catch (AccessDeniedException e) {
      throw PoolAccess.refused(pool, true, e);
    } catch (FileSystemException e) {
      throw PoolAccess.refused(pool, e);
    }
  }

  /**
   * Makes an empty file for a pool that is to be created, that only its owner may use, and takes
   * its lock. Removes the leftovers of a creation that died.
   *
   * @throws PoolException with {@link Kind#LOCKED} if another process creates the pool
   */
  @SuppressWarnings("try") // what is held is only to be released
  static InodeLock ofNew(Path pool, Path unfinished) throws IOException {
    if (Files.isRegularFile(unfinished, NOFOLLOW_LINKS)) {
      try (InodeLock left = tryLock(pool, unfinished)) {
        Files.delete(unfinished);
      }
    } else {
      Files.deleteIfExists(unfinished); // a link, which is not followed
    }
    try {
      Path unused = Files.createFile(unfinished, PoolFiles.ownerOnly(unfinished));
    } catch (FileAlreadyExistsException e) {
      throw locked(pool, unfinished);
    }
    return tryLock(pool, unfinished);
  }

  private static InodeLock tryLock(Path pool, Path unfinished) throws IOException {
    try {
      return InodeLock.tryLock(unfinished).orElseThrow(() -> locked(pool, unfinished));
    } catch (NoSuchFileException e) {
      // Another process took it for what a creation that died has left.
      throw locked(pool, unfinished);
    }
  }

  private static PoolException locked(Path pool, Path file) {
    return new PoolException(
        Kind.LOCKED,
        pool,
        """
        found it locked by %s, a broker or a strata command, expected no other writer: stop that \
        process, or name another pool, and each pool once\
        """
            .formatted(
                LockHolder.of(file, file.getFileSystem().getPath("/proc"))
                    .map(process -> "process " + process.pid())
                    .orElse("a process of another user, container or machine")));
  }
}
