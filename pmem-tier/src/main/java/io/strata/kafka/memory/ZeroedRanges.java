package io.strata.kafka.memory;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import com.sun.jna.LastErrorException;
import io.strata.kafka.memory.calls.LibC;
import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Has a file's system make ranges zeros, where it can (ext4 and XFS among others): their blocks are
 * marked as not written yet, which costs some metadata however long the range is. Mappings of the
 * file see the zeros at once.
 *
 * <p>Thread safety: all methods may be called by any number of threads; one works at a time, so
 * that no descriptor is used that has been closed and given to another file.
 */
final class ZeroedRanges implements Closeable {
  private static final int INTERRUPTED = 4;
  private static final int NOT_IMPLEMENTED = 38;
  private static final int NOT_SUPPORTED = 95;

  private final Path file;

  /** Empty when closed. */
  @GuardedBy("this")
  private OptionalInt descriptor;

  @GuardedBy("this")
  private boolean supported = true;

  private ZeroedRanges(Path file, int descriptor) {
    this.file = file;
    this.descriptor = OptionalInt.of(descriptor);
  }

  /** For a file that may be written; empty when the system cannot be asked. */
  static Optional<ZeroedRanges> open(Path file) throws IOException {
    if (!LibC.available()) {
      return Optional.empty();
    }
    try {
      return Optional.of(new ZeroedRanges(file, LibC.open(file)));
    } catch (LastErrorException e) {
      throw new IOException("Cannot open " + file + ": " + e.getMessage(), e);
    }
  }

  /** Makes a range zeros, not durable before a force; false, and nothing done, if it cannot. */
  synchronized boolean zero(long position, long length) throws IOException {
    int open = descriptor.orElseThrow(ClosedChannelException::new);
    while (supported && length > 0) {
      try {
        LibC.zeroRange(open, position, length);
        return true;
      } catch (LastErrorException e) {
        if (e.getErrorCode() == NOT_SUPPORTED || e.getErrorCode() == NOT_IMPLEMENTED) {
          supported = false;
        } else if (e.getErrorCode() != INTERRUPTED) {
          throw new IOException(
              "Cannot make %s bytes of %s at position %s zeros: %s"
                  .formatted(length, file, position, e.getMessage()),
              e);
        }
      }
    }
    return supported;
  }

  @Override
  public synchronized void close() {
    descriptor.ifPresent(LibC::close);
    descriptor = OptionalInt.empty();
  }
}
