package io.strata.kafka.segment;

import java.io.IOException;
import java.nio.channels.FileLock;

/**
 * A lock on the log file that says it is on our channel.
 *
 * <p>Thread safety: as {@link FileLock} asks.
 */
final class SegmentFileLock extends FileLock {

  private final FileLock onLogFile;

  SegmentFileLock(SegmentChannel channel, FileLock onLogFile) {
    super(channel, onLogFile.position(), onLogFile.size(), onLogFile.isShared());
    this.onLogFile = onLogFile;
  }

  @Override
  public boolean isValid() {
    return onLogFile.isValid();
  }

  @Override
  public void release() throws IOException {
    onLogFile.release();
  }
}
