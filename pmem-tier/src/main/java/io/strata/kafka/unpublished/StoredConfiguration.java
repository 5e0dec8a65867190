package io.strata.kafka.unpublished;

import java.io.EOFException;
import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Reads what is stored of brokers' and topics' configuration, and which of them there are, from a
 * node's own {@code __cluster_metadata}: its newest snapshot, and the log from there on. Looks only
 * at what these records need of a batch.
 *
 * <p>The log's end may not be committed yet, and counts all the same. Not thread-safe.
 */
public final class StoredConfiguration {

  private static final String DIRECTORY = "__cluster_metadata-0";
  private static final int BATCH_HEADER = 61;
  private static final int LENGTH_OFFSET = 8;
  private static final int ATTRIBUTES_OFFSET = 21;
  private static final int COUNT_OFFSET = 57;
  private static final int CONTROL_OR_COMPRESSED = 0x27;
  private static final int REGISTER_BROKER_RECORD = 0;
  private static final int UNREGISTER_BROKER_RECORD = 1;
  private static final int TOPIC_RECORD = 2;
  private static final int CONFIG_RECORD = 4;
  private static final int TOPIC = 2;
  private static final int BROKER = 4;

  private final Map<String, Map<String, String>> byLevel = new HashMap<>();
  private final Map<String, Map<String, String>> byTopic = new HashMap<>();
  private final Set<Integer> brokers = new HashSet<>();
  private final Set<String> topics = new HashSet<>();

  private StoredConfiguration() {}

  /** Returns whether a log directory has it. */
  public static boolean isIn(Path metadataLogDir) {
    return Files.isDirectory(metadataLogDir.resolve(DIRECTORY));
  }

  /**
   * Reads it.
   *
   * @throws IOException if it cannot be read
   */
  public static StoredConfiguration read(Path metadataLogDir) throws IOException {
    List<Path> files;
    try (Stream<Path> all = Files.list(metadataLogDir.resolve(DIRECTORY))) {
      files = all.sorted().toList();
    }
    StoredConfiguration read = new StoredConfiguration();
    long from = 0;
    List<Path> snapshots = named(files, "[0-9]{20}-[0-9]{10}\\.checkpoint");
    if (!snapshots.isEmpty()) {
      Path newest = snapshots.get(snapshots.size() - 1);
      read.file(newest, 0);
      from = Long.parseLong(name(newest).substring(0, 20));
    }
    for (Path log : named(files, "[0-9]{20}\\.log")) {
      read.file(log, from);
    }
    return read;
  }

  private static List<Path> named(List<Path> files, String pattern) {
    return files.stream().filter(file -> name(file).matches(pattern)).toList();
  }

  private static String name(Path file) {
    return String.valueOf(file.getFileName());
  }

  /** The keys that are stored for all brokers, with their values. */
  public Map<String, String> ofAllBrokers() {
    return level("");
  }

  /** The keys that are stored for one broker, with their values. */
  public Map<String, String> ofBroker(int nodeId) {
    return level(String.valueOf(nodeId));
  }

  /**
   * The keys that are stored for each topic, with their values; deleted topics' may be among them.
   */
  public Map<String, Map<String, String>> ofTopics() {
    return Map.copyOf(byTopic);
  }

  /** The ids of the brokers that are registered, whether they run or not. */
  public Set<Integer> brokers() {
    return Set.copyOf(brokers);
  }

  /** Returns whether a topic is there, or was. */
  public boolean hasTopic(String name) {
    return topics.contains(name);
  }

  private Map<String, String> level(String name) {
    return Map.copyOf(byLevel.getOrDefault(name, Map.of()));
  }

  /** Takes the batches that begin at an offset or after it. */
  private void file(Path file, long from) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      long position = 0;
      ByteBuffer header = ByteBuffer.allocate(BATCH_HEADER);
      while (position + BATCH_HEADER <= channel.size()) {
        fill(channel, header.clear(), position);
        long length = LENGTH_OFFSET + Integer.BYTES + (long) header.getInt(LENGTH_OFFSET);
        if (length < BATCH_HEADER || position + length > channel.size()) {
          return; // The end of what was written.
        }
        if (header.getLong(0) >= from
            && (header.getShort(ATTRIBUTES_OFFSET) & CONTROL_OR_COMPRESSED) == 0) {
          ByteBuffer records = ByteBuffer.allocate((int) (length - BATCH_HEADER));
          fill(channel, records, position + BATCH_HEADER);
          batch(records, header.getInt(COUNT_OFFSET));
        }
        position += length;
      }
    } catch (BufferUnderflowException | IllegalArgumentException e) {
      throw new IOException(file + ": found a record that is none of Kafka's metadata", e);
    }
  }

  private static void fill(FileChannel channel, ByteBuffer buffer, long position)
      throws IOException {
    while (buffer.hasRemaining()) {
      if (channel.read(buffer, position + buffer.position()) < 0) {
        throw new EOFException("The log became shorter while it was read");
      }
    }
    buffer.flip();
  }

  private void batch(ByteBuffer records, int count) {
    for (int i = 0; i < count; i++) {
      int length = signed(records);
      int end = records.position() + length;
      records.get(); // attributes
      skipVarint(records); // time
      skipVarint(records); // offset
      skip(records, signed(records)); // key
      if (signed(records) > 0) {
        value(records);
      }
      records.position(end);
    }
  }

  /** A frame version, a type and its version, and the record by itself. */
  private void value(ByteBuffer value) {
    skipVarint(value);
    int type = unsigned(value);
    skipVarint(value);
    switch (type) {
      case REGISTER_BROKER_RECORD -> brokers.add(value.getInt());
      case UNREGISTER_BROKER_RECORD -> brokers.remove(value.getInt());
      case TOPIC_RECORD -> topics.add(text(value));
      case CONFIG_RECORD -> configuration(value);
      default -> {} // Not looked at.
    }
  }

  private void configuration(ByteBuffer value) {
    int resource = value.get();
    if (resource != BROKER && resource != TOPIC) {
      return;
    }
    Map<String, String> level =
        (resource == BROKER ? byLevel : byTopic)
            .computeIfAbsent(text(value), unused -> new HashMap<>());
    String name = text(value);
    int length = unsigned(value) - 1;
    if (length < 0) {
      level.remove(name);
    } else {
      level.put(name, text(value, length));
    }
  }

  private static String text(ByteBuffer buffer) {
    return text(buffer, unsigned(buffer) - 1);
  }

  private static String text(ByteBuffer buffer, int length) {
    byte[] bytes = new byte[Math.min(length, buffer.remaining())];
    buffer.get(bytes);
    return new String(bytes, StandardCharsets.UTF_8);
  }

  private static void skip(ByteBuffer buffer, int bytes) {
    buffer.position(buffer.position() + Math.max(0, bytes));
  }

  private static void skipVarint(ByteBuffer buffer) {
    while (buffer.get() < 0) {
      // seven bits each
    }
  }

  private static int signed(ByteBuffer buffer) {
    int zigzag = unsigned(buffer);
    return (zigzag >>> 1) ^ -(zigzag & 1);
  }

  private static int unsigned(ByteBuffer buffer) {
    int value = 0;
    for (int shift = 0; ; shift += 7) {
      byte next = buffer.get();
      value |= (next & 0x7f) << shift;
      if (next >= 0) {
        return value;
      }
    }
  }
}
