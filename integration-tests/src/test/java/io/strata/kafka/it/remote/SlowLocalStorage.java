package io.strata.kafka.it.remote;

import io.strata.kafka.it.harness.ForcedLocalStorage;
import java.io.InputStream;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteStorageException;

/**
 * Kafka's {@code LocalTieredStorage}, with reads that take longer than Kafka waits for one by
 * default ({@code remote.fetch.max.wait.ms}).
 */
public final class SlowLocalStorage extends ForcedLocalStorage {

  /** Used by the broker. */
  public SlowLocalStorage() throws ReflectiveOperationException {}

  @Override
  public InputStream fetchLogSegment(RemoteLogSegmentMetadata metadata, int start, int end)
      throws RemoteStorageException {
    try {
      Thread.sleep(1_500);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new RemoteStorageException(e);
    }
    return super.fetchLogSegment(metadata, start, end);
  }
}
