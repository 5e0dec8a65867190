package io.strata.kafka.migration.remote;

import io.strata.kafka.migration.remote.store.SegmentStore.LogSource;
import io.strata.kafka.migration.remote.store.layout.SegmentInfo;
import io.strata.kafka.migration.remote.store.layout.SegmentKey;
import io.strata.kafka.migration.remote.store.layout.StoredObject.ObjectType;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.server.log.remote.storage.LogSegmentData;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentId;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata.CustomMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadataUpdate;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentState;
import org.apache.kafka.server.log.remote.storage.RemoteStorageManager.IndexType;
import org.jspecify.annotations.Nullable;

/** Kafka's words for segments, and ours. */
final class KafkaSegments {

  /** Kafka says from 4.0 on whether a segment has no transaction index. */
  private static final boolean KNOWS_TRANSACTION_INDEX =
      Arrays.stream(RemoteLogSegmentMetadata.class.getMethods())
          .anyMatch(method -> method.getName().equals("isTxnIdxEmpty"));

  private KafkaSegments() {}

  static SegmentKey key(RemoteLogSegmentMetadata metadata) {
    TopicIdPartition partition = metadata.topicIdPartition();
    return new SegmentKey(
        partition.topic(),
        partition.topicId().toString(),
        partition.partition(),
        metadata.startOffset(),
        metadata.remoteLogSegmentId().id().toString());
  }

  static SegmentInfo info(RemoteLogSegmentMetadata metadata) {
    return new SegmentInfo(
        key(metadata),
        metadata.endOffset(),
        metadata.maxTimestampMs(),
        metadata.brokerId(),
        metadata.eventTimestampMs(),
        metadata.segmentSizeInBytes(),
        metadata.segmentLeaderEpochs(),
        KNOWS_TRANSACTION_INDEX && Known.isTransactionIndexEmpty(metadata));
  }

  /** For messages: {@code orders-3, offsets 0 to 99 (segment …)}. */
  static String describe(RemoteLogSegmentMetadata metadata) {
    // Not formatted: each fetch has it.
    return metadata.topicIdPartition().topicPartition()
        + (", offsets " + metadata.startOffset() + " to " + metadata.endOffset())
        + (" (remote segment " + metadata.remoteLogSegmentId().id() + ")");
  }

  static LogSource source(LogSegmentData data) {
    Map<ObjectType, Path> indexes = new EnumMap<>(ObjectType.class);
    put(indexes, ObjectType.OFFSET_INDEX, data.offsetIndex());
    put(indexes, ObjectType.TIME_INDEX, data.timeIndex());
    data.transactionIndex().ifPresent(path -> indexes.put(ObjectType.TRANSACTION_INDEX, path));
    put(indexes, ObjectType.PRODUCER_SNAPSHOT, data.producerSnapshotIndex());
    return new LogSource(data.logSegment(), indexes, data.leaderEpochIndex().duplicate());
  }

  /** Kafka gives null for an index file that is not there. */
  private static void put(
      Map<ObjectType, Path> indexes, ObjectType type, @Nullable Path pathOrNull) {
    if (pathOrNull != null) {
      indexes.put(type, pathOrNull);
    }
  }

  static ObjectType type(IndexType index) {
    return switch (index) {
      case OFFSET -> ObjectType.OFFSET_INDEX;
      case TIMESTAMP -> ObjectType.TIME_INDEX;
      case PRODUCER_SNAPSHOT -> ObjectType.PRODUCER_SNAPSHOT;
      case TRANSACTION -> ObjectType.TRANSACTION_INDEX;
      case LEADER_EPOCH -> ObjectType.LEADER_EPOCHS;
    };
  }

  /** Kafka's metadata of a segment: for the cold manager. */
  static RemoteLogSegmentMetadata metadata(SegmentInfo segment, Optional<byte[]> custom) {
    SegmentKey key = segment.key();
    RemoteLogSegmentId id =
        new RemoteLogSegmentId(
            new TopicIdPartition(
                Uuid.fromString(key.topicId()), new TopicPartition(key.topic(), key.partition())),
            Uuid.fromString(key.id()));
    RemoteLogSegmentMetadata started =
        KNOWS_TRANSACTION_INDEX ? Known.started(id, segment) : started(id, segment);
    return custom.isEmpty()
        ? started
        : started.createWithUpdates(
            new RemoteLogSegmentMetadataUpdate(
                id,
                segment.eventTimestampMillis(),
                custom.map(CustomMetadata::new),
                RemoteLogSegmentState.COPY_SEGMENT_FINISHED,
                segment.brokerId()));
  }

  private static RemoteLogSegmentMetadata started(RemoteLogSegmentId id, SegmentInfo segment) {
    return new RemoteLogSegmentMetadata(
        id,
        segment.key().startOffset(),
        segment.endOffset(),
        segment.maxTimestampMillis(),
        segment.brokerId(),
        segment.eventTimestampMillis(),
        segment.bytes(),
        segment.leaderEpochs());
  }

  /** Is used only where Kafka says whether a segment has no transaction index. */
  private static final class Known {
    private Known() {}

    static boolean isTransactionIndexEmpty(RemoteLogSegmentMetadata metadata) {
      return metadata.isTxnIdxEmpty();
    }

    static RemoteLogSegmentMetadata started(RemoteLogSegmentId id, SegmentInfo segment) {
      return new RemoteLogSegmentMetadata(
          id,
          segment.key().startOffset(),
          segment.endOffset(),
          segment.maxTimestampMillis(),
          segment.brokerId(),
          segment.eventTimestampMillis(),
          segment.bytes(),
          segment.leaderEpochs(),
          segment.transactionIndexEmpty());
    }
  }
}
