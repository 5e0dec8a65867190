package io.strata.kafka.pool;

import io.strata.kafka.memory.FileProbe;
import io.strata.kafka.pool.words.PoolException;
import io.strata.kafka.pool.words.PoolException.Kind;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.AccessMode;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Set;

/**
 * Whose a pool's files are: says why this process may not use them, and gives them to the broker's
 * user. Stateless.
 */
final class PoolAccess {

  private static final Set<PosixFilePermission> WRITE_PERMISSIONS =
      Set.of(
          PosixFilePermission.OWNER_WRITE,
          PosixFilePermission.GROUP_WRITE,
          PosixFilePermission.OTHERS_WRITE);

  private PoolAccess() {}

  /** Throws unless this user may write to the file, and its file system may be written to. */
  static void requireWritable(Path pool) throws IOException {
    requireAccess(pool, pool, "write to it");
    // Root may write to any file, but one without write permissions is meant to be read only.
    if (!someMayWrite(pool)) {
      throw denied(pool, pool, "write to it");
    }
  }

  /** Throws unless this user may create the pool in the directory. */
  static void requireWritableDirectory(Path pool, Path directory) throws IOException {
    requireAccess(pool, directory, "create files in " + directory);
  }

  /**
   * Asks the system: of a directory that is mounted again the JDK takes another mount's options.
   */
  private static void requireAccess(Path pool, Path there, String action) throws IOException {
    try {
      there.getFileSystem().provider().checkAccess(there, AccessMode.WRITE);
    } catch (AccessDeniedException e) {
      throw denied(pool, there, action);
    } catch (FileSystemException e) {
      throw refused(pool, e);
    }
  }

  /** Translates the JDK's refusal to open the pool. */
  static PoolException refused(Path pool, boolean writable, AccessDeniedException cause) {
    PoolException refusal = denied(pool, pool, writable ? "write to it" : "read it");
    refusal.addSuppressed(cause);
    return refusal;
  }

  /** Translates the system's other refusals to open the pool for writing. */
  static IOException refused(Path pool, FileSystemException cause) {
    if (!String.valueOf(cause.getReason()).contains("Read-only file system")) {
      return cause;
    }
    PoolException refusal =
        new PoolException(
            Kind.READ_ONLY,
            pool,
            """
            found that its file system refuses writes (%s), expected to write to it: if it is \
            mounted read-only, remount it with mount -o remount,rw; if the kernel has stopped it \
            after an error (see dmesg), unmount it, check it with fsck and mount it again\
            """
                .formatted(cause.getReason()));
    refusal.addSuppressed(cause);
    return refusal;
  }

  /**
   * Throws if a file that seems not to be there is in a directory that this user may not search:
   * whether it is there cannot be known.
   */
  static void requireSearchable(Path pool) throws PoolException {
    for (Path at = pool.toAbsolutePath().getParent(); at != null; at = at.getParent()) {
      if (Files.isDirectory(at)) {
        if (!Files.isExecutable(at)) {
          throw denied(pool, at, "look into the directory " + at);
        }
        return;
      }
    }
  }

  private static boolean someMayWrite(Path file) throws IOException {
    PosixFileAttributeView view = Files.getFileAttributeView(file, PosixFileAttributeView.class);
    return view == null
        || view.readAttributes().permissions().stream().anyMatch(WRITE_PERMISSIONS::contains);
  }

  private static PoolException denied(Path pool, Path what, String action) {
    String user = System.getProperty("user.name", "?");
    return new PoolException(
        Kind.NO_PERMISSION,
        pool,
        """
        found no permission for user %s to %s (%s), expected one: run this as its owner, or as \
        root give it to the broker's user with chown and chmod u+rw %s\
        """
            .formatted(user, action, FileProbe.ownership(what), what));
  }
}
