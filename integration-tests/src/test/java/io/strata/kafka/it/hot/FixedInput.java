package io.strata.kafka.it.hot;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.Topics;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;

/**
 * Records that every broker stores in the same bytes: the same values and timestamps, in the same
 * batches, which end when they are full and never because time has passed, by a producer without an
 * id.
 */
final class FixedInput {

  private static final long FIRST_TIMESTAMP = 1_700_000_000_000L;
  private static final Map<String, String> PRODUCER =
      Map.of(
          "enable.idempotence", "false",
          "acks", "1",
          "max.in.flight.requests.per.connection", "1",
          "linger.ms", "3600000",
          "delivery.timeout.ms", "4000000",
          "batch.size", "16384");

  private final String topic;
  private final int records;

  FixedInput(String topic, int records) {
    this.topic = topic;
    this.records = records;
  }

  /** Creates the topic, of one partition, and sends all records. */
  void produceTo(StockBroker broker) throws InterruptedException {
    // The timestamps are old.
    Topics.create(broker, topic, 1, Map.of("retention.ms", "-1", "segment.ms", "1000000000000"));
    try (Producer<byte[], byte[]> producer = RecordLedger.producer(broker.bootstrap(), PRODUCER)) {
      for (int i = 0; i < records; i++) {
        Future<RecordMetadata> unused = // the topic is read afterwards
            producer.send(new ProducerRecord<>(topic, 0, FIRST_TIMESTAMP + i, key(i), value(i)));
      }
      producer.flush();
    }
  }

  /** Reads the topic and compares. */
  void verify(StockBroker broker) {
    List<ConsumerRecord<byte[], byte[]>> found =
        RecordLedger.readAll(broker.bootstrap(), topic, 1, Map.of());
    assertThat(found).as("records of %s", topic).hasSize(records);
    for (int i = 0; i < records; i++) {
      ConsumerRecord<byte[], byte[]> consumed = found.get(i);
      if (consumed.offset() != i || !Arrays.equals(consumed.value(), value(i))) {
        throw new AssertionError(topic + ": record " + i + " is not what was sent");
      }
    }
  }

  private static byte[] key(int number) {
    return ByteBuffer.allocate(Integer.BYTES).putInt(number).array();
  }

  private static byte[] value(int number) {
    Random random = new Random(number);
    byte[] value = new byte[500 + random.nextInt(1_500)];
    random.nextBytes(value);
    return value;
  }
}
