package io.strata.kafka.memory;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A file's channel that outlives the interrupts of the threads that use it.
 *
 * <p>The JDK closes a {@link FileChannel} when a thread is interrupted within it, for all threads.
 * Here the interrupt is put off while the thread is in the channel, and if it strikes there, the
 * file is opened again and the operation repeated; the interrupt stays pending.
 *
 * <p>Thread safety: all methods may be called by any number of threads; operations run
 * concurrently.
 */
final class ReopeningChannel {
  /** An operation that may be run again from its start. */
  @FunctionalInterface
  interface Operation<T> {
    T on(FileChannel channel) throws IOException;
  }

  private final Path file;
  private final Set<? extends OpenOption> options;

  /** Device and inode, where the file system has such; held against those of a file reopened. */
  private final @Nullable Object identity;

  private final Object lock = new Object();

  /** Written under the lock; read without it. */
  private volatile FileChannel channel;

  /** Written under the lock; read without it. */
  private volatile boolean closed;

  ReopeningChannel(Path file, Set<? extends OpenOption> options) throws IOException {
    this.file = file;
    this.options = Set.copyOf(options);
    this.channel = FileChannel.open(file, this.options);
    this.identity = identity(file);
  }

  /**
   * Runs an operation, from its start again whenever an interrupt of this or another thread closed
   * the channel under it.
   *
   * @throws ClosedChannelException after {@link #close}
   */
  <T> T repeatably(Operation<T> operation) throws IOException {
    boolean interrupted = Thread.interrupted();
    try {
      while (true) {
        FileChannel current = current();
        try {
          return operation.on(current);
        } catch (ClosedChannelException e) {
          interrupted |= Thread.interrupted();
          if (current.isOpen()) {
            throw e; // another channel's, which the operation uses as well
          }
          reopen(current);
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  void close() throws IOException {
    synchronized (lock) {
      closed = true;
      channel.close();
    }
  }

  private FileChannel current() throws IOException {
    FileChannel current = channel;
    if (closed) {
      throw new ClosedChannelException();
    }
    return current;
  }

  private void reopen(FileChannel struck) throws IOException {
    synchronized (lock) {
      if (closed) {
        throw new ClosedChannelException();
      }
      if (channel == struck) {
        FileChannel reopened = Interrupts.defer(() -> FileChannel.open(file, options));
        if (!Objects.equals(identity, identity(file))) {
          reopened.close();
          throw new IOException(
              file + " has been replaced by another file since it was opened: restore it");
        }
        channel = reopened;
      }
    }
  }

  private static @Nullable Object identity(Path file) throws IOException {
    return Files.readAttributes(file, BasicFileAttributes.class).fileKey();
  }
}
