package io.strata.kafka.it.starts;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.strata.kafka.it.harness.Installed;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.Tiers;
import io.strata.kafka.it.harness.Workspace;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.StreamSupport;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The operator removes Strata's mark by hand, and stock Kafka starts on log files that lack what is
 * in the pool, one of them in its middle.
 */
@Tag("long")
class ForcedStartTest {

  private static final int RECORDS = 20_000;
  private static final int PARTITIONS = 3;

  @RegisterExtension static final Workspace WORK = new Workspace();

  private enum Ended {
    KILLED,
    STOPPED
  }

  @ParameterizedTest
  @EnumSource
  void stockKafkaServesNoHoleAsRecords(Ended ended) throws Exception {
    Path pool = WORK.newPool(ended.name(), "12MiB", 64);
    StockBroker broker =
        WORK.start(
            Tiers.broker(WORK.folder(ended.name()), pool).set("strata.migration.threshold", "-1"));
    RecordLedger ledger = Tiers.topic(broker, "hot", PARTITIONS);
    ledger.produce(broker.bootstrap(), RECORDS, 1_000);
    if (ended == Ended.KILLED) {
      broker.kill();
    } else {
      broker.stop();
    }
    JsonNode segments = Tiers.json("segments", "--topic=hot", broker);
    assertThat(withAHole(segments)).as("%s", segments).isNotEmpty();
    Map<String, String> properties = broker.properties();
    removeTheMark(broker);

    broker.withoutStrata().start();
    int read = 0;
    for (int partition = 0; partition < PARTITIONS; partition++) {
      read += readUntilItStops(broker, new TopicPartition("hot", partition));
    }
    assertThat(read).isLessThan(RECORDS);
    broker.stop();

    broker.setAll(properties).installed(Installed.JAR_AND_FLAG);
    if (ended == Ended.KILLED) { // Kafka's recovery has truncated log files
      assertThat(broker.startRefused().output()).contains("a broker ran here without Strata");
    } else {
      broker.start();
      assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(RECORDS);
    }
  }

  private static List<JsonNode> withAHole(JsonNode segments) {
    return StreamSupport.stream(segments.path("segments").spliterator(), false)
        .filter(s -> s.path("clean").asLong() < s.path("end").asLong())
        .filter(s -> s.path("end").asLong() < s.path("size").asLong())
        .toList();
  }

  private static void removeTheMark(StockBroker broker) throws Exception {
    Path meta = broker.logDirectory().resolve("meta.properties");
    String marked = Files.readString(meta, ISO_8859_1);
    String unmarked = marked.substring(0, marked.indexOf("#strata-end"));
    Files.writeString(meta, unmarked, ISO_8859_1);
  }

  /** Reads on until Kafka reports an error, or has nothing more; each record is the right one. */
  private static int readUntilItStops(StockBroker broker, TopicPartition partition) {
    int read = 0;
    try (Consumer<byte[], byte[]> consumer = RecordLedger.consumer(broker.bootstrap(), Map.of())) {
      consumer.assign(List.of(partition));
      consumer.seekToBeginning(List.of(partition));
      long last = -1;
      long quiet = System.nanoTime();
      while (System.nanoTime() - quiet < Duration.ofSeconds(10).toNanos()) {
        for (ConsumerRecord<byte[], byte[]> each : consumer.poll(Duration.ofMillis(500))) {
          assertThat(RecordLedger.check(each)).isEqualTo((int) each.offset());
          assertThat(each.offset()).isGreaterThan(last);
          last = each.offset();
          read++;
          quiet = System.nanoTime();
        }
      }
    } catch (KafkaException e) {
      assertThat(e).hasMessageContaining("corrupt message");
    }
    return read;
  }
}
