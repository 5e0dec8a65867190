package io.strata.kafka.unpublished;

import java.util.Optional;
import org.apache.kafka.server.log.remote.metadata.storage.RemoteLogSegmentMetadataSnapshot;
import org.apache.kafka.server.log.remote.metadata.storage.serialization.RemoteLogMetadataSerde;
import org.apache.kafka.server.log.remote.storage.RemoteLogMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadataUpdate;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentState;

/** Reads the records of Kafka's topic of remote segments. Not thread-safe. */
public final class RemoteMetadataRecords {

  private final RemoteLogMetadataSerde serde = new RemoteLogMetadataSerde();

  private RemoteMetadataRecords() {}

  /**
   * A segment's state, as one record notes it.
   *
   * @param segment the segment; empty in a record that only changes a state
   */
  public record Noted(
      String id, RemoteLogSegmentState state, Optional<RemoteLogSegmentMetadata> segment) {}

  /** Returns a reader; empty if the classes of Kafka on the class path have none that is known. */
  public static Optional<RemoteMetadataRecords> reader() {
    try {
      Class<?> unused = RemoteLogSegmentMetadataSnapshot.class; // Linked now, not at a record.
      return Optional.of(new RemoteMetadataRecords());
    } catch (LinkageError e) {
      return Optional.empty();
    }
  }

  /**
   * Returns what a record notes; empty for one that is not of a segment.
   *
   * @throws RuntimeException if these classes of Kafka cannot read it: it is a later version's
   */
  public Optional<Noted> read(byte[] value) {
    RemoteLogMetadata metadata = serde.deserialize(value);
    if (metadata instanceof RemoteLogSegmentMetadata segment) {
      return Optional.of(new Noted(id(segment), segment.state(), Optional.of(segment)));
    }
    if (metadata instanceof RemoteLogSegmentMetadataUpdate update) {
      String id = update.remoteLogSegmentId().id().toString();
      return Optional.of(new Noted(id, update.state(), Optional.empty()));
    }
    if (metadata instanceof RemoteLogSegmentMetadataSnapshot snapshot) {
      return Optional.of(
          new Noted(snapshot.segmentId().toString(), snapshot.state(), Optional.empty()));
    }
    return Optional.empty();
  }

  private static String id(RemoteLogSegmentMetadata segment) {
    return segment.remoteLogSegmentId().id().toString();
  }
}
