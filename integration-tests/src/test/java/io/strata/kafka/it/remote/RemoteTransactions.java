package io.strata.kafka.it.remote;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.RecordLedger;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;

/**
 * Records of committed, of aborted and of no transactions, mixed in one partition; some
 * transactions are larger than a segment.
 */
final class RemoteTransactions {

  private static final int LARGE = 4_000;

  private final String topic;
  private final List<Integer> all;
  private final List<Integer> committed;

  private RemoteTransactions(String topic, List<Integer> all, List<Integer> committed) {
    this.topic = topic;
    this.all = all;
    this.committed = committed;
  }

  /**
   * Sends about so many records of 4 KB, and in the end more than a segment of no transaction: what
   * stays local begins in the midst of those.
   */
  static RemoteTransactions send(String bootstrap, String topic, int records, Random random) {
    List<Integer> all = new ArrayList<>();
    List<Integer> committed = new ArrayList<>();
    try (Producer<byte[], byte[]> one =
            RecordLedger.producer(
                bootstrap, Map.of("transactional.id", topic + "-1", "linger.ms", "5"));
        Producer<byte[], byte[]> plain = RecordLedger.producer(bootstrap, Map.of())) {
      one.initTransactions();
      while (all.size() < records) {
        boolean large = random.nextInt(10) == 0;
        boolean commit = random.nextBoolean();
        one.beginTransaction();
        int begin = all.size();
        // Each batch is waited for, so that the order of sending is the order in the log.
        send(one, topic, all, large ? 300 : 1 + random.nextInt(40), random);
        List<Integer> own = new ArrayList<>(all.subList(begin, all.size()));
        List<Integer> between = List.of();
        if (random.nextInt(3) == 0) {
          int from = all.size();
          send(plain, topic, all, 1 + random.nextInt(10), random);
          between = new ArrayList<>(all.subList(from, all.size()));
        }
        if (commit) {
          one.commitTransaction();
          committed.addAll(own);
        } else {
          one.abortTransaction();
        }
        committed.addAll(between);
      }
      int from = all.size();
      send(plain, topic, all, 600, random);
      committed.addAll(all.subList(from, all.size()));
    }
    return new RemoteTransactions(topic, all, committed);
  }

  private static void send(
      Producer<byte[], byte[]> producer,
      String topic,
      List<Integer> all,
      int records,
      Random random) {
    for (int i = 0; i < records; i++) {
      byte[] value = new byte[LARGE];
      random.nextBytes(value);
      byte[] key = ByteBuffer.allocate(Integer.BYTES).putInt(all.size()).array();
      all.add(all.size());
      Future<RecordMetadata> unused = producer.send(new ProducerRecord<>(topic, 0, key, value));
    }
    producer.flush();
  }

  /** Reads the partition with both isolation levels, and compares. */
  void verify(String bootstrap, String as) {
    verify(bootstrap, as, 0);
  }

  /**
   * The same.
   *
   * @param behind so many records of a transaction that is not committed come behind these
   */
  void verify(String bootstrap, String as, int behind) {
    assertThat(read(bootstrap, "read_uncommitted"))
        .as("all records, %s", as)
        .startsWith(all.toArray(Integer[]::new))
        .hasSize(all.size() + behind);
    assertThat(read(bootstrap, "read_committed"))
        .as("records of committed transactions and of none, %s", as)
        .isEqualTo(committed);
  }

  private List<Integer> read(String bootstrap, String isolation) {
    List<Integer> numbers = new ArrayList<>();
    for (ConsumerRecord<byte[], byte[]> found :
        RecordLedger.readAll(bootstrap, topic, 1, Map.of("isolation.level", isolation))) {
      numbers.add(ByteBuffer.wrap(found.key()).getInt());
    }
    return numbers;
  }
}
