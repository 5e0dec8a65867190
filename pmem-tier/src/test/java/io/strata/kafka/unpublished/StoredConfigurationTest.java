package io.strata.kafka.unpublished;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Records as Kafka writes them into {@code __cluster_metadata}. */
class StoredConfigurationTest {

  private static final String LOG = "00000000000000000000.log";
  private static final int BROKER = 4;
  private static final int TOPIC = 2;

  @TempDir private Path logDirectory;
  private Path log;

  @BeforeEach
  void makeDirectory() throws IOException {
    log = Files.createDirectory(logDirectory.resolve("__cluster_metadata-0"));
  }

  @Test
  void theLastValueOfEachLevelCounts() throws IOException {
    append(LOG, 0, config(BROKER, "", "a", "1"), config(BROKER, "7", "a", "2"));
    append(LOG, 2, config(BROKER, "", "a", "3"), config(TOPIC, "", "a", "a topic's"));
    byte[] another = {1, 9, 0, 55};
    append("00000000000000000004.log", 4, another, config(BROKER, "7", "b", "4"));

    StoredConfiguration read = StoredConfiguration.read(logDirectory);
    assertThat(read.ofAllBrokers()).isEqualTo(Map.of("a", "3"));
    assertThat(read.ofBroker(7)).isEqualTo(Map.of("a", "2", "b", "4"));
    assertThat(read.ofBroker(8)).isEmpty();
  }

  @Test
  void aSnapshotStandsForTheLogBeforeIt() throws IOException {
    append(LOG, 0, config(BROKER, "", "gone", "1"), config(BROKER, "", "a", "1"));
    append(LOG, 2, config(BROKER, "", "b", "2"));
    append("00000000000000000002-0000000001.checkpoint", 0, config(BROKER, "", "a", "1"));

    assertThat(StoredConfiguration.read(logDirectory).ofAllBrokers())
        .isEqualTo(Map.of("a", "1", "b", "2"));
  }

  @Test
  void aRemovedKeyIsGone() throws IOException {
    append(LOG, 0, config(BROKER, "", "a", "1"), removed("a"));

    assertThat(StoredConfiguration.read(logDirectory).ofAllBrokers()).isEmpty();
  }

  @Test
  void theEndMayBeTorn() throws IOException {
    append(LOG, 0, config(BROKER, "", "a", "1"));
    byte[] whole = Files.readAllBytes(log.resolve(LOG));
    Files.write(
        log.resolve(LOG), Arrays.copyOf(whole, whole.length - 3), StandardOpenOption.APPEND);

    assertThat(StoredConfiguration.read(logDirectory).ofAllBrokers()).isEqualTo(Map.of("a", "1"));
  }

  @Test
  void saysWhatIsNotThere() {
    assertThatThrownBy(() -> StoredConfiguration.read(logDirectory.resolve("away")))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("away");
  }

  private void append(String name, long offset, byte[]... values) throws IOException {
    SimpleRecord[] records = new SimpleRecord[values.length];
    for (int i = 0; i < values.length; i++) {
      records[i] = new SimpleRecord(1_000_000L + i * 100_000L, values[i]);
    }
    ByteBuffer buffer = MemoryRecords.withRecords(offset, Compression.NONE, records).buffer();
    byte[] bytes = new byte[buffer.remaining()];
    buffer.get(bytes);
    Files.write(log.resolve(name), bytes, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
  }

  private static byte[] config(int resource, String level, String name, String value) {
    return config(resource, level, name, Optional.of(value));
  }

  private static byte[] removed(String name) {
    return config(BROKER, "", name, Optional.empty());
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
