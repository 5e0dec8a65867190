package io.strata.kafka.migration.remote.store.layout;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Base64;
import java.util.Optional;
import java.util.UUID;

/**
 * The names in a directory of the store. {@code docs/design/remote.md} shows where they stand, and
 * what each file is for.
 */
public final class StoreNames {

  public static final String IDENTITY = "strata-store.json";

  public static final String MANIFEST = "manifest.json";

  /** Beside a copy: a move has published it, and it is not confirmed yet. */
  public static final String MOVING = "moving";

  /** Beside a copy: it is being evicted or deleted. */
  public static final String GOING = "going";

  /** Beside a copy: a file of it is not what the manifest says. */
  public static final String DAMAGED = "damaged";

  public static final String COLD = "cold.json";

  /** Beside {@link #COLD}: the log was evicted here, for a copy in another directory or there. */
  public static final String WITHOUT_LOG = "without-log";

  public static final String BROKERS = "brokers";
  public static final String TOPICS = "topics";
  public static final String STAGING = "staging";
  public static final String TRASH = "trash";
  public static final String LOCKS = "locks";

  public static final String MOVER_LOCK = "mover.lock";
  public static final String MOVER_MARK = "mover.mark";

  /** Ends the name of a file that is being written and will be renamed. */
  public static final String PART = ".part";

  private static final int OFFSET_DIGITS = 20;
  private static final int ID_LENGTH = 22;

  private StoreNames() {}

  public static String randomId() {
    return id(UUID.randomUUID());
  }

  public static String idOf(String name) {
    return id(UUID.nameUUIDFromBytes(name.getBytes(UTF_8)));
  }

  private static String id(UUID uuid) {
    ByteBuffer bytes = ByteBuffer.allocate(16);
    bytes.putLong(uuid.getMostSignificantBits()).putLong(uuid.getLeastSignificantBits());
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes.array());
  }

  /**
   * Returns an offset as Kafka names segments: 20 digits. Not formatted, since each read names a
   * file.
   *
   * @param offset from 0
   */
  static String offset(long offset) {
    String digits = Long.toString(offset);
    return "0".repeat(OFFSET_DIGITS - digits.length()) + digits;
  }

  /** The name of a segment's directory: the start offset and the remote segment's id. */
  public static String segment(SegmentKey key) {
    return offset(key.startOffset()) + "-" + key.id();
  }

  /** Returns where a segment is below a directory of the store. */
  public static Path segment(Path directory, SegmentKey key) {
    return directory
        .resolve(TOPICS)
        .resolve(key.topic())
        .resolve(key.topicId())
        .resolve(Integer.toString(key.partition()))
        .resolve(segment(key));
  }

  /** Reads the names back; empty if they are no segment's. */
  public static Optional<SegmentKey> parse(
      String topic, String topicId, String partition, String name) {
    if (name.length() != OFFSET_DIGITS + 1 + ID_LENGTH || name.charAt(OFFSET_DIGITS) != '-') {
      return Optional.empty();
    }
    try {
      SegmentKey key =
          new SegmentKey(
              topic,
              topicId,
              Integer.parseInt(partition),
              Long.parseLong(name, 0, OFFSET_DIGITS, 10),
              name.substring(OFFSET_DIGITS + 1));
      // "+7" and "007" are numbers too, but not the names that we write.
      boolean same =
          segment(key).equals(name) && Integer.toString(key.partition()).equals(partition);
      return same ? Optional.of(key) : Optional.empty();
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }
}
