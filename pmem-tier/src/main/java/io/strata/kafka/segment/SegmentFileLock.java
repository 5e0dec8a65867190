package io.strata.kafka.segment;

import java.io.IOException;
import java.nio.channels.FileLock;

/**
 * A lock on home that says it is on our channel.
 *
 * <p>Thread safety: as {@link FileLock} asks.
 */
final class SegmentFileLock extends FileLock {

  private final FileLock onHome;

  SegmentFileLock(SegmentChannel channel, FileLock onHome) {
    super(channel, onHome.position(), onHome.size(), onHome.isShared());
    this.onHome = onHome;
  }

  @Override
  public boolean isValid() {
    return onHome.isValid();
  }

  @Override
  public void release() throws IOException {
    onHome.release();
  }
}
