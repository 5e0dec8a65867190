package io.strata.kafka.migration.remote.store.disk;

import java.io.IOException;

/**
 * The pace that a copy asks between its pieces.
 *
 * <p>Thread safety: used by the copying thread.
 */
public interface BytePace {

  /**
   * Waits until the rate limit lets so many bytes pass.
   *
   * @param bytes from 1 to the largest chunk
   */
  void before(int bytes) throws IOException, InterruptedException;

  /** The caller no longer waits for the copy; it has been cleaned up. */
  final class CopyCancelledException extends IOException {
    private static final long serialVersionUID = 1L;

    public CopyCancelledException(String message) {
      super(message);
    }
  }

  /** Without a limit. */
  static BytePace unlimited(Deadlines.Control control) {
    return bytes -> {
      if (control.isCancelled()) {
        throw new CopyCancelledException("the copy was cancelled");
      }
    };
  }
}
