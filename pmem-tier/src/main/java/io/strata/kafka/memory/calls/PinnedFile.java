package io.strata.kafka.memory.calls;

import com.sun.jna.LastErrorException;
import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A file that is held by a descriptor: {@link #path} leads to it, however it is renamed, replaced
 * or deleted, and its inode goes to no other file.
 *
 * <p>Where native calls or {@code /proc} are missing, and in a file system that is not the default
 * one, the descriptor is the JDK's, which has no path: {@link #path} is the name then.
 *
 * <p>Immutable; safe for use by any thread. Closed once.
 */
public final class PinnedFile implements AutoCloseable {

  private static final int NO_SUCH_FILE = 2;
  private static final int ACCESS_DENIED = 13;
  private static final int NO_DIRECTORY = 20;
  private static final String DESCRIPTORS = "/proc/self/fd";
  private static final boolean NATIVE = LibC.available() && new File(DESCRIPTORS).isDirectory();

  private final Path path;
  private final Closeable holder;

  private PinnedFile(Path path, Closeable holder) {
    this.path = path;
    this.holder = holder;
  }

  /** Holds the file that has a name now; throws NoSuchFileException when there is none. */
  public static PinnedFile of(Path name) throws IOException {
    if (NATIVE && name.getFileSystem().provider().getScheme().equals("file")) {
      int descriptor = open(name);
      // In the name's own file system: the provider's paths would come back to it.
      Path path = name.getFileSystem().getPath(DESCRIPTORS, String.valueOf(descriptor));
      return new PinnedFile(path, () -> LibC.close(descriptor));
    }
    FileChannel channel = Interrupts.defer(() -> FileChannel.open(name, StandardOpenOption.READ));
    return new PinnedFile(name, channel);
  }

  private static int open(Path name) throws IOException {
    try {
      return LibC.openName(name);
    } catch (LastErrorException e) {
      FileSystemException failure =
          switch (e.getErrorCode()) {
            case NO_SUCH_FILE -> new NoSuchFileException(name.toString());
            case NO_DIRECTORY -> new NotDirectoryException(name.toString());
            case ACCESS_DENIED -> new AccessDeniedException(name.toString());
            default -> new FileSystemException(name.toString(), null, e.getMessage());
          };
      failure.initCause(e);
      throw failure;
    }
  }

  /** Leads to the file while it is held. */
  public Path path() {
    return path;
  }

  @Override
  public void close() throws IOException {
    holder.close();
  }
}
