package io.strata.kafka.migration.remote.store;

import io.strata.kafka.migration.remote.store.layout.ObjectType;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Map;

/**
 * The files of a local segment that are to be copied.
 *
 * <p>Immutable; as safe as the buffer.
 *
 * @param log the segment, in its log directory
 * @param indexes the index files that there are, by type
 * @param leaderEpochs the content of the leader epoch checkpoint
 */
public record LogSource(Path log, Map<ObjectType, Path> indexes, ByteBuffer leaderEpochs) {
  /** Copies the map, and keeps its own position of the buffer. */
  public LogSource {
    indexes = Map.copyOf(indexes);
    leaderEpochs = leaderEpochs.asReadOnlyBuffer();
  }
}
