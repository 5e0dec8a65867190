package io.strata.kafka.unpublished;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.SimpleRecord;

/** Makes a log as {@code __cluster_metadata} is. */
public final class MetadataLog {

  /** A resource of a {@code ConfigRecord}. */
  public static final int BROKER = 4;

  /** Another one. */
  public static final int TOPIC = 2;

  /** The name of the first file. */
  public static final String LOG = "00000000000000000000.log";

  private MetadataLog() {}

  /** Appends a batch to a file in the metadata's directory. */
  public static void append(Path log, String name, long offset, byte[]... values)
      throws IOException {
    SimpleRecord[] records = new SimpleRecord[values.length];
    for (int i = 0; i < values.length; i++) {
      records[i] = new SimpleRecord(1_000_000L + i * 100_000L, values[i]);
    }
    ByteBuffer buffer = MemoryRecords.withRecords(offset, Compression.NONE, records).buffer();
    byte[] bytes = new byte[buffer.remaining()];
    buffer.get(bytes);
    Files.write(log.resolve(name), bytes, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
  }

  /** A record that sets a key of a resource. */
  public static byte[] config(int resource, String level, String name, String value) {
    return config(resource, level, name, Optional.of(value));
  }

  /** A record that removes a key of all brokers. */
  public static byte[] removed(String name) {
    return config(BROKER, "", name, Optional.empty());
  }

  /** The frame, and the beginning of a {@code RegisterBrokerRecord}. */
  public static byte[] registered(int nodeId) {
    return new byte[] {1, 0, 3, 0, 0, 0, (byte) nodeId, 0};
  }

  /** The frame, and the beginning of an {@code UnregisterBrokerRecord}. */
  public static byte[] unregistered(int nodeId) {
    return new byte[] {1, 1, 0, 0, 0, 0, (byte) nodeId, 0};
  }

  /** The frame, and the beginning of a {@code TopicRecord}. */
  public static byte[] topic(String name) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(new byte[] {1, 2, 0});
    text(out, name);
    return out.toByteArray();
  }

  /** The frame, and a {@code ConfigRecord} of version 0. */
  private static byte[] config(int resource, String level, String name, Optional<String> value) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(new byte[] {1, 4, 0, (byte) resource});
    text(out, level);
    text(out, name);
    value.ifPresentOrElse(present -> text(out, present), () -> out.write(0));
    out.write(0);
    return out.toByteArray();
  }

  private static void text(ByteArrayOutputStream out, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    out.write(bytes.length + 1);
    out.writeBytes(bytes);
  }
}
