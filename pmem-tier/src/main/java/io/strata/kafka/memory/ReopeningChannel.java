package io.strata.kafka.memory;

import io.strata.kafka.memory.calls.InodeLock;
import io.strata.kafka.memory.calls.Interrupts;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Objects;
import java.util.Optional;
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

  /** A lock of the file's, which a closed channel may have dropped. */
  private final Optional<InodeLock> fileLock;

  /** Device and inode, where the file system has such; held against those of a file reopened. */
  private final @Nullable Object identity;

  /**
   * Open from beginning to end, which the channel need not be. Every opening of a file has its own
   * note of the write-back failures that it has reported: a reopened channel does not report those
   * before.
   */
  private final RandomAccessFile witness;

  private final Object lock = new Object();

  /** Written under the lock; read without it. */
  private volatile FileChannel channel;

  /** Written under the lock; read without it. */
  private volatile boolean reopened;

  /** Written under the lock; read without it. */
  private volatile boolean closed;

  ReopeningChannel(Path file, Set<? extends OpenOption> options, Optional<InodeLock> fileLock)
      throws IOException {
    this.file = file;
    this.options = Set.copyOf(options);
    this.fileLock = fileLock;
    // Known by its name: in a broker the JDK's own file system is not the default one, and knows no
    // File.
    this.witness = new RandomAccessFile(file.toString(), "r");
    try {
      this.channel = FileChannel.open(file, this.options);
      this.identity = identity(file);
    } catch (IOException e) {
      witness.close();
      throw e;
    }
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

  /**
   * Forces the file's content to the medium. An interrupt does not hide a failure: the JDK throws
   * only that the channel is closed when both happen, so the file is then forced through a
   * descriptor that no interrupt closes, and so it is from the first reopening on.
   *
   * @throws ClosedChannelException after {@link #close}
   */
  void force() throws IOException {
    boolean interrupted = Thread.interrupted();
    try {
      FileChannel current = current();
      if (reopened || !forced(current)) {
        interrupted |= Thread.interrupted();
        checkOpen();
        witness.getFD().sync();
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** False when an interrupt closed the channel, before or meanwhile. */
  private static boolean forced(FileChannel channel) throws IOException {
    try {
      channel.force(false);
      return true;
    } catch (ClosedChannelException e) {
      return false;
    }
  }

  void close() throws IOException {
    synchronized (lock) {
      closed = true;
      try {
        channel.close();
      } finally {
        witness.close();
      }
    }
  }

  private FileChannel current() throws IOException {
    FileChannel current = channel;
    checkOpen();
    return current;
  }

  private void checkOpen() throws IOException {
    if (closed) {
      throw new ClosedChannelException();
    }
  }

  private void reopen(FileChannel struck) throws IOException {
    synchronized (lock) {
      if (closed) {
        throw new ClosedChannelException();
      }
      if (channel == struck) {
        reopened = true;
        FileChannel again = Interrupts.defer(() -> FileChannel.open(file, options));
        try {
          requireSame();
        } catch (IOException e) {
          again.close();
          throw e;
        }
        channel = again;
      }
    }
  }

  private void requireSame() throws IOException {
    if (!Objects.equals(identity, identity(file))) {
      throw new IOException(
          file + " has been replaced by another file since it was opened: restore it");
    }
    if (fileLock.isPresent()) {
      fileLock.get().renew();
    }
  }

  private static @Nullable Object identity(Path file) throws IOException {
    return Files.readAttributes(file, BasicFileAttributes.class).fileKey();
  }
}
