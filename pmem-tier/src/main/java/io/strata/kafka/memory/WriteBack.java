package io.strata.kafka.memory;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The forces of one memory with {@link Durability#FORCE}, until one of them fails.
 *
 * <p>The kernel reports a failed write-back once for each time a file is open, to the force that
 * comes next, and has marked the pages clean by then. All segments of a pool share one such
 * opening: a segment's force can meet the failure of another one's pages, whose own force would
 * then succeed with nothing on the medium. So after the first failure every force and every store
 * fails, for as long as the memory is open.
 *
 * <p>Thread safety: all methods may be called by any number of threads. A force that another thread
 * has under way while one fails fails as well, unless it returned from the kernel before the
 * failing one did.
 */
public final class WriteBack<M> {
  /** The system call that makes a range durable. */
  @FunctionalInterface
  public interface Force<M> {
    void force(M medium, long position, long length) throws IOException;
  }

  private final Path file;
  private final Force<M> force;

  /** Empty where each thread forces its own range. */
  private final Optional<SharedForces> shared;

  /** The first failure; null while there was none. As it was: memory may have run out. */
  private volatile @Nullable Throwable failure;

  private WriteBack(Path file, Force<M> force, Optional<SharedForces> shared) {
    this.file = file;
    this.force = force;
    this.shared = shared;
  }

  /** Returns a write-back whose threads each force their own range. */
  public static <M> WriteBack<M> ofRanges(Path file, Force<M> force) {
    return new WriteBack<>(file, force, Optional.empty());
  }

  /** Returns a write-back whose threads share forces, each of which is of the whole file. */
  static <M> WriteBack<M> ofWholeFile(Path file, Force<M> force) {
    return new WriteBack<>(file, force, Optional.of(new SharedForces()));
  }

  /** Forces a range; throws if this force fails, or one did before. */
  void force(M medium, long position, long length) throws IOException {
    if (shared.isPresent()) {
      shared.get().force(() -> force(medium, position, length, force));
    } else {
      force(medium, position, length, force);
    }
  }

  /** Forces by a call that no other thread shares. */
  <O> void force(O medium, long position, long length, Force<O> by) throws IOException {
    requireNoFailure();
    try {
      by.force(medium, position, length);
    } catch (IOException | RuntimeException | Error e) {
      if (failure == null) {
        failure = e;
      }
      throw e;
    }
    requireNoFailure();
  }

  /** Throws if a force has failed: what is stored now could not be made durable. */
  void requireNoFailure() throws IOException {
    Throwable first = failure;
    if (first != null) {
      throw new IOException(
          """
          %s: found that an earlier force failed (%s), expected every store to reach the medium. \
          The system reports such a failure only once, so nothing more is stored or forced: check \
          the device (dmesg), then restart the machine, not only the broker, which would find in \
          the page cache what the device lacks\
          """
              .formatted(file, first.getMessage()),
          first);
    }
  }

  /** The first failure; empty while there was none. */
  Optional<IOException> failure() {
    return Optional.ofNullable(failure)
        .map(first -> first instanceof IOException io ? io : new IOException(first));
  }
}
