package io.strata.kafka.it.kills;

import io.strata.kafka.it.harness.LoopThread;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.kills.CampaignLedger.Item;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;

/**
 * A consumer in a group, which commits what it has read, and is given its partitions again whenever
 * the brokers die: what was committed stays committed, and from there on no record is left out. Its
 * topic is one that has a record at every offset.
 *
 * <p>Thread safety: started and closed by one thread.
 */
final class CampaignGroup implements AutoCloseable {

  private static final Duration POLL = Duration.ofMillis(200);

  private final CampaignLedger ledger;
  private final Consumer<byte[], byte[]> consumer;
  private final LoopThread thread;
  private final Map<TopicPartition, Long> positions = new ConcurrentHashMap<>();
  private final Map<TopicPartition, Long> committed = new HashMap<>();

  private CampaignGroup(CampaignLedger ledger, String bootstrap) {
    this.ledger = ledger;
    consumer =
        RecordLedger.consumer(
            bootstrap,
            Map.of(
                "group.id", "campaign",
                "reconnect.backoff.max.ms", "200",
                "request.timeout.ms", "5000",
                "default.api.timeout.ms", "30000"));
    thread =
        new LoopThread(
            "campaign-group", "the consumer group of " + ledger.topic() + " failed", this::run);
  }

  static CampaignGroup start(CampaignLedger ledger, String bootstrap) {
    CampaignGroup group = new CampaignGroup(ledger, bootstrap);
    group.thread.start();
    return group;
  }

  /** An error if it has met one. */
  void assertRunning() {
    thread.assertRunning();
  }

  /** How many records it has got past. */
  long position() {
    return positions.values().stream().mapToLong(Long::longValue).sum();
  }

  @Override
  public void close() {
    thread.close();
  }

  private void run() {
    try (consumer) {
      consumer.subscribe(List.of(ledger.topic()), new Assigned());
      while (!thread.isStopping()) {
        consumer.poll(POLL).forEach(this::accept);
        commit();
      }
    }
  }

  private void accept(ConsumerRecord<byte[], byte[]> record) {
    Item unused = ledger.check(record);
    TopicPartition partition = new TopicPartition(record.topic(), record.partition());
    long expected = positions.getOrDefault(partition, 0L);
    if (record.offset() != expected) {
      throw new AssertionError(CampaignLedger.at(record) + ": the group expected " + expected);
    }
    positions.put(partition, expected + 1);
  }

  private void commit() {
    Map<TopicPartition, Long> now = new HashMap<>(positions);
    now.keySet().retainAll(consumer.assignment());
    if (now.isEmpty() || committed.equals(now)) {
      return;
    }
    Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
    now.forEach((partition, offset) -> offsets.put(partition, new OffsetAndMetadata(offset)));
    try {
      consumer.commitSync(offsets);
      committed.putAll(now);
    } catch (KafkaException e) {
      // It may come to the broker later, after another one, and then takes that one back.
      committed.clear();
    }
  }

  private final class Assigned implements ConsumerRebalanceListener {
    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
      // Nothing: the next assignment begins at what is committed.
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
      Map<TopicPartition, OffsetAndMetadata> found = consumer.committed(Set.copyOf(partitions));
      for (TopicPartition partition : partitions) {
        OffsetAndMetadata one = found.get(partition);
        long offset = one == null ? 0 : one.offset();
        long told = committed.getOrDefault(partition, 0L);
        if (offset < told) {
          throw new AssertionError(
              partition + ": offset " + told + " was committed, now it is " + offset);
        }
        positions.put(partition, offset);
      }
    }
  }
}
