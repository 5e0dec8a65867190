package io.strata.kafka.it.powercut;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.strata.kafka.it.harness.RecordLedger;
import java.time.Duration;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;

/**
 * A thread that commits transactions, each with one record in every partition of a topic, whatever
 * happens to the broker, until told. A transaction whose commit was acknowledged is there
 * afterwards, one whose outcome is not known is there wholly or not at all, and none twice.
 *
 * <p>Thread safety: sends in a thread of its own; all else by one thread, verifying when closed.
 */
final class TransactionLoad implements AutoCloseable {

  private static final Duration NOW = Duration.ZERO;
  private static final Map<String, String> COMMITTED = Map.of("isolation.level", "read_committed");

  private final String topic;
  private final int partitions;
  private final String bootstrap;
  private final Thread thread;
  private final BitSet committed = new BitSet();

  /** Transactions whose markers Kafka has left out. */
  private final BitSet forgotten = new BitSet();

  private volatile int begun;
  private volatile boolean stopping;

  private TransactionLoad(String topic, int partitions, String bootstrap) {
    this.topic = topic;
    this.partitions = partitions;
    this.bootstrap = bootstrap;
    this.thread = new Thread(this::run, "transactions-" + topic);
    thread.setDaemon(true);
  }

  /** Starts. */
  static TransactionLoad start(String topic, int partitions, String bootstrap) {
    TransactionLoad load = new TransactionLoad(topic, partitions, bootstrap);
    load.thread.start();
    return load;
  }

  private void run() {
    while (!stopping) {
      sendUntilItFails();
    }
    // The markers of the last commit are there when the next producer may begin.
    boolean ended = false;
    while (!ended) {
      try (Producer<byte[], byte[]> last = producer()) {
        last.initTransactions();
        ended = true;
      } catch (KafkaException e) {
        ended = Thread.currentThread().isInterrupted();
      }
    }
  }

  private void sendUntilItFails() {
    Producer<byte[], byte[]> producer = producer();
    try {
      producer.initTransactions();
      while (!stopping) {
        transaction(producer);
      }
    } catch (KafkaException e) {
      producer.close(NOW); // the power is off, or was: the next producer goes on
      return;
    }
    producer.close();
  }

  private void transaction(Producer<byte[], byte[]> producer) {
    int number = begun;
    begun = number + 1; // this thread alone counts
    byte[] value = Integer.toString(number).getBytes(UTF_8);
    producer.beginTransaction();
    for (int p = 0; p < partitions; p++) {
      var unused = producer.send(new ProducerRecord<>(topic, p, null, value));
    }
    producer.commitTransaction();
    synchronized (committed) {
      committed.set(number);
    }
  }

  private Producer<byte[], byte[]> producer() {
    Map<String, String> settings = new HashMap<>();
    settings.put("transactional.id", topic);
    settings.put("max.block.ms", "30000");
    settings.put("request.timeout.ms", "10000");
    settings.put("delivery.timeout.ms", "25000");
    settings.put("reconnect.backoff.max.ms", "500");
    return RecordLedger.producer(bootstrap, settings);
  }

  /** How many commits were acknowledged. */
  long acknowledged() {
    synchronized (committed) {
      return committed.cardinality();
    }
  }

  /** Begins no more, and waits until the last one is committed or given up. */
  @Override
  public void close() {
    stopping = true;
    try {
      thread.join(TimeUnit.MINUTES.toMillis(5));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted while waiting for the transactions to end", e);
    }
    if (thread.isAlive()) {
      throw new AssertionError("transactions of " + topic + " did not end in five minutes");
    }
  }

  /**
   * A marker that was left out takes no record away: those of acknowledged transactions are there
   * for who does not ask for committed ones.
   */
  private void requireRecords(BitSet transactions) {
    int[] there = new int[begun];
    for (ConsumerRecord<byte[], byte[]> each :
        RecordLedger.readAll(
            bootstrap, topic, partitions, Map.of("isolation.level", "read_uncommitted"))) {
      there[Integer.parseInt(new String(each.value(), UTF_8))]++;
    }
    transactions.stream()
        .filter(committed::get)
        .filter(number -> there[number] < partitions)
        .findAny()
        .ifPresent(
            number -> {
              throw new AssertionError(
                  topic + ": of transaction " + number + " only " + there[number] + " records");
            });
  }

  /** The transactional id, which is the topic's name. */
  String id() {
    return topic;
  }

  /**
   * Reads what is committed and compares; counts acknowledged commits that are lost.
   *
   * @param leftOut how often Kafka has said that it leaves out markers of this id (see {@link
   *     CampaignCluster}): of as many transactions, and no more, records may be missing
   */
  RecordLedger.Left left(long leftOut) {
    List<ConsumerRecord<byte[], byte[]>> records =
        RecordLedger.readAll(bootstrap, topic, partitions, COMMITTED);
    BitSet[] there = new BitSet[partitions];
    for (int p = 0; p < partitions; p++) {
      there[p] = new BitSet();
    }
    for (ConsumerRecord<byte[], byte[]> consumed : records) {
      int number = Integer.parseInt(new String(consumed.value(), UTF_8));
      if (number < there[consumed.partition()].length() || number >= begun) {
        throw new AssertionError(
            topic
                + "-"
                + consumed.partition()
                + ": transaction "
                + number
                + " is there twice, out of order, or was never begun");
      }
      there[consumed.partition()].set(number);
    }
    BitSet whole = (BitSet) there[0].clone();
    BitSet any = new BitSet();
    for (BitSet each : there) {
      whole.and(each);
      any.or(each);
    }
    BitSet partly = any;
    partly.andNot(whole);
    BitSet lost = (BitSet) committed.clone();
    lost.andNot(whole);
    BitSet wrong = (BitSet) partly.clone();
    wrong.or(lost);
    wrong.andNot(forgotten);
    if (!wrong.isEmpty() && forgotten.cardinality() + wrong.cardinality() <= leftOut) {
      requireRecords(wrong);
      System.out.println("forgotten by Kafka, of " + topic + ": transactions " + wrong);
      forgotten.or(wrong);
    }
    partly.andNot(forgotten);
    if (!partly.isEmpty()) {
      throw new AssertionError(
          topic + ": transactions that are there in part: " + partly + " of " + committed);
    }
    lost.andNot(forgotten);
    return new RecordLedger.Left(records.size(), lost.cardinality());
  }
}
