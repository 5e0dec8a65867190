package io.strata.kafka.unpublished;

import static io.strata.kafka.unpublished.MetadataLog.BROKER;
import static io.strata.kafka.unpublished.MetadataLog.LOG;
import static io.strata.kafka.unpublished.MetadataLog.TOPIC;
import static io.strata.kafka.unpublished.MetadataLog.append;
import static io.strata.kafka.unpublished.MetadataLog.config;
import static io.strata.kafka.unpublished.MetadataLog.registered;
import static io.strata.kafka.unpublished.MetadataLog.removed;
import static io.strata.kafka.unpublished.MetadataLog.topic;
import static io.strata.kafka.unpublished.MetadataLog.unregistered;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Records as Kafka writes them into {@code __cluster_metadata}. */
class StoredConfigurationTest {

  @TempDir private Path logDirectory;
  private Path log;

  @BeforeEach
  void makeDirectory() throws IOException {
    log = Files.createDirectory(logDirectory.resolve("__cluster_metadata-0"));
  }

  @Test
  void theLastValueOfEachLevelCounts() throws IOException {
    append(log, LOG, 0, config(BROKER, "", "a", "1"), config(BROKER, "7", "a", "2"));
    append(log, LOG, 2, config(BROKER, "", "a", "3"), config(TOPIC, "t", "a", "a topic's"));
    byte[] another = {1, 9, 0, 55};
    append(log, "00000000000000000004.log", 4, another, config(BROKER, "7", "b", "4"));

    StoredConfiguration read = StoredConfiguration.read(logDirectory);
    assertThat(read.ofAllBrokers()).isEqualTo(Map.of("a", "3"));
    assertThat(read.ofBroker(7)).isEqualTo(Map.of("a", "2", "b", "4"));
    assertThat(read.ofBroker(8)).isEmpty();
    assertThat(read.ofTopics()).isEqualTo(Map.of("t", Map.of("a", "a topic's")));
  }

  @Test
  void aSnapshotStandsForTheLogBeforeIt() throws IOException {
    append(log, LOG, 0, config(BROKER, "", "gone", "1"), config(BROKER, "", "a", "1"));
    append(log, LOG, 2, config(BROKER, "", "b", "2"));
    append(log, "00000000000000000002-0000000001.checkpoint", 0, config(BROKER, "", "a", "1"));

    assertThat(StoredConfiguration.read(logDirectory).ofAllBrokers())
        .isEqualTo(Map.of("a", "1", "b", "2"));
  }

  @Test
  void aRemovedKeyIsGone() throws IOException {
    append(log, LOG, 0, config(BROKER, "", "a", "1"), removed("a"));

    assertThat(StoredConfiguration.read(logDirectory).ofAllBrokers()).isEmpty();
  }

  @Test
  void knowsBrokersAndTopics() throws IOException {
    append(log, LOG, 0, registered(1), registered(2), registered(1), topic("t"), registered(3));
    append(log, LOG, 5, unregistered(2));

    StoredConfiguration read = StoredConfiguration.read(logDirectory);
    assertThat(read.brokers()).containsExactlyInAnyOrder(1, 3);
    assertThat(read.hasTopic("t")).isTrue();
    assertThat(read.hasTopic("u")).isFalse();
  }

  @Test
  void theEndMayBeTorn() throws IOException {
    append(log, LOG, 0, config(BROKER, "", "a", "1"));
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
}
