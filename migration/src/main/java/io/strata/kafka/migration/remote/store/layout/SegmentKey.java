package io.strata.kafka.migration.remote.store.layout;

import java.util.regex.Pattern;

/**
 * Which remote segment: all that its place in the store is made of.
 *
 * @param topicId the topic's id as Kafka prints it: 22 characters of URL-safe base64
 * @param startOffset the segment's first offset, from 0
 */
public record SegmentKey(String topic, String topicId, int partition, long startOffset, String id) {

  private static final Pattern UUID = Pattern.compile("[A-Za-z0-9_-]{22}");

  /** As Kafka has it: see its class Topic. */
  private static final Pattern TOPIC = Pattern.compile("[a-zA-Z0-9._-]{1,249}");

  /**
   * Checks that every part is a plain file name, so that no key leads outside the store.
   *
   * @throws IllegalArgumentException if one is not
   */
  public SegmentKey {
    if (!TOPIC.matcher(topic).matches() || topic.equals(".") || topic.equals("..")) {
      throw new IllegalArgumentException(
          "topic: found '"
              + printable(topic)
              + "', expected 1 to 249 letters, digits, '.', '_' and '-', and neither . nor ..");
    }
    check("topic id", topicId);
    check("remote segment id", id);
    if (partition < 0 || startOffset < 0) {
      throw new IllegalArgumentException(
          "%s: found partition %s and start offset %s, expected numbers from 0"
              .formatted(topic, partition, startOffset));
    }
  }

  private static void check(String what, String uuid) {
    if (!UUID.matcher(uuid).matches()) {
      throw new IllegalArgumentException(
          what
              + ": found '"
              + printable(uuid)
              + "', expected 22 characters of URL-safe base64, as Kafka prints a UUID");
    }
  }

  /** Text of unknown origin, fit for a message. */
  public static String printable(String text) {
    String shown = text.length() > 80 ? text.substring(0, 80) + "…" : text;
    return shown.replaceAll("[^\\x20-\\x7e…]", "?");
  }

  /** For messages: {@code orders-3@4711 (id …)}. */
  @Override
  public String toString() {
    return topic + "-" + partition + "@" + startOffset + " (id " + id + ")";
  }
}
