package io.strata.kafka.it.faults;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.Jmx;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.Tiers;
import io.strata.kafka.it.harness.Topics;
import io.strata.kafka.it.harness.Workspace;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a power failure does to a pool without DAX: a batch is there in part. */
class TornBatchTest {

  private static final String TOPIC = "torn";
  private static final int RECORDS = 2500;
  private static final int TORN = 1200;

  @RegisterExtension static final Workspace WORK = new Workspace();

  @Test
  void theMigrationWaitsUntilKafkaHasTruncatedIt() throws Exception {
    Path pool = WORK.newPool("hot", "32MiB", 64);
    StockBroker broker =
        WORK.start(
            Tiers.broker(WORK.folder("broker"), pool).set("strata.migration.threshold", "-1"));
    Topics.create(broker, TOPIC, 1, Map.of());
    produce(broker, 0, RECORDS);
    broker.kill();
    tear(pool, value(TORN));

    broker.set("strata.migration.threshold", "0").start();
    produce(broker, RECORDS, 2 * RECORDS);
    Tiers.awaitClean(broker, "hot");
    List<String> kept = read(broker);
    assertThat(kept.indexOf(value(RECORDS))).isBetween(TORN / 2, TORN);
    assertThat(kept).hasSize(kept.indexOf(value(RECORDS)) + RECORDS);
    assertThat(broker.output()).doesNotContain("is corrupt, stays in tier");
    assertThat(Jmx.value(broker, "type=Broker,name=Health")).isZero();
  }

  private static void produce(StockBroker broker, int from, int to) throws Exception {
    List<Future<RecordMetadata>> sent = new ArrayList<>();
    try (Producer<byte[], byte[]> producer =
        RecordLedger.producer(broker.bootstrap(), Map.of("batch.size", "16384"))) {
      for (int i = from; i < to; i++) {
        sent.add(producer.send(new ProducerRecord<>(TOPIC, value(i).getBytes(US_ASCII))));
      }
    }
    for (Future<RecordMetadata> each : sent) {
      assertThat(each.get().hasOffset()).isTrue();
    }
  }

  private static List<String> read(StockBroker broker) {
    List<ConsumerRecord<byte[], byte[]>> records =
        RecordLedger.readAll(broker.bootstrap(), TOPIC, 1, Map.of());
    return records.stream().map(each -> new String(each.value(), US_ASCII)).toList();
  }

  private static String value(int record) {
    return "record %06d ".formatted(record).repeat(70);
  }

  /** Changes a byte of the value in the pool. */
  private static void tear(Path pool, String value) throws IOException {
    int at = new String(Files.readAllBytes(pool), US_ASCII).indexOf(value);
    assertThat(at).isPositive();
    try (FileChannel file = FileChannel.open(pool, StandardOpenOption.WRITE)) {
      file.write(ByteBuffer.wrap(new byte[] {'?'}), at + value.length() / 2);
    }
  }
}
