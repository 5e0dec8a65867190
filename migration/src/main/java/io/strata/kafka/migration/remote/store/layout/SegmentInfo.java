package io.strata.kafka.migration.remote.store.layout;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.strata.kafka.migration.remote.store.layout.JsonFile.CorruptManifestException;
import java.util.Collections;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * Kafka's description of a remote segment (its {@code RemoteLogSegmentMetadata}), so that the store
 * can be read without Kafka's metadata.
 *
 * @param maxTimestampMillis the largest timestamp of its records
 * @param brokerId the broker that copied it
 * @param eventTimestampMillis when it began to
 * @param leaderEpochs the leader epochs of its records, each with its first offset
 * @param transactionIndexEmpty whether it has no transaction index
 */
public record SegmentInfo(
    SegmentKey key,
    long endOffset,
    long maxTimestampMillis,
    int brokerId,
    long eventTimestampMillis,
    int bytes,
    NavigableMap<Integer, Long> leaderEpochs,
    boolean transactionIndexEmpty) {

  /** Copies the map. */
  public SegmentInfo {
    leaderEpochs = Collections.unmodifiableNavigableMap(new TreeMap<>(leaderEpochs));
    if (endOffset < key.startOffset() || bytes < 0) {
      throw new IllegalArgumentException(
          """
          %s: found end offset %s and %s bytes, expected an end that is not before the start, and \
          no negative length\
          """
              .formatted(key, endOffset, bytes));
    }
  }

  /** Prints the segment into a document. */
  public void print(ObjectNode document) {
    document.put("topic", key.topic());
    document.put("topicId", key.topicId());
    document.put("partition", key.partition());
    document.put("id", key.id());
    document.put("startOffset", key.startOffset());
    document.put("endOffset", endOffset);
    document.put("maxTimestampMillis", maxTimestampMillis);
    document.put("brokerId", brokerId);
    document.put("eventTimestampMillis", eventTimestampMillis);
    document.put("bytes", bytes);
    ObjectNode epochs = document.putObject("leaderEpochs");
    leaderEpochs.forEach((epoch, offset) -> epochs.put(epoch.toString(), offset));
    document.put("transactionIndexEmpty", transactionIndexEmpty);
  }

  /** Reads a segment from the document that has it. */
  public static SegmentInfo parse(JsonFile json) throws CorruptManifestException {
    try {
      return new SegmentInfo(
          new SegmentKey(
              json.text("topic"),
              json.text("topicId"),
              json.smallNumber("partition"),
              json.number("startOffset"),
              json.text("id")),
          json.number("endOffset"),
          json.number("maxTimestampMillis"),
          json.smallNumber("brokerId"),
          json.number("eventTimestampMillis"),
          json.smallNumber("bytes"),
          epochs(json),
          json.flag("transactionIndexEmpty"));
    } catch (IllegalArgumentException e) {
      throw new CorruptManifestException(json.name() + ": " + e.getMessage());
    }
  }

  private static NavigableMap<Integer, Long> epochs(JsonFile json) throws CorruptManifestException {
    NavigableMap<Integer, Long> epochs = new TreeMap<>();
    JsonNode node = json.object().path("leaderEpochs");
    if (!node.isObject()) {
      throw json.wrong("leaderEpochs", node.toString(), "an object");
    }
    for (Map.Entry<String, JsonNode> entry : node.properties()) {
      try {
        epochs.put(
            Integer.valueOf(entry.getKey()),
            new JsonFile(json.name(), node).number(entry.getKey()));
      } catch (NumberFormatException e) {
        throw json.wrong("leaderEpochs", entry.getKey(), "numbers of epochs");
      }
    }
    return epochs;
  }
}
