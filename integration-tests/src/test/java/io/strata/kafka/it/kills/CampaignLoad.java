package io.strata.kafka.it.kills;

import io.strata.kafka.it.harness.LoopThread;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.kills.CampaignLedger.Kind;
import io.strata.kafka.it.kills.CampaignLedger.Outcome;
import io.strata.kafka.it.kills.CampaignLedger.Outgoing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Future;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.TimeoutException;

/**
 * A thread that sends a campaign's records to one topic, whatever happens to the brokers, until
 * closed. Several may share a topic, each with keys of its own.
 *
 * <p>Thread safety: started and closed by one thread; the ledger is what they share.
 */
public final class CampaignLoad implements AutoCloseable {

  private static final int MAX_TRANSACTION = 30;
  private static final Duration BRIEFLY = Duration.ofSeconds(1);

  private static final Map<String, String> QUICK = Map.of("reconnect.backoff.max.ms", "200");

  /** What fails is not sent again, and nothing overtakes. */
  private static final Map<String, String> PLAIN =
      Map.of(
          "acks", "all",
          "retries", "0",
          "enable.idempotence", "false",
          "max.in.flight.requests.per.connection", "1",
          "delivery.timeout.ms", "6000",
          "request.timeout.ms", "5000");

  private static final Map<String, String> PATIENT =
      Map.of(
          "delivery.timeout.ms", "300000",
          "request.timeout.ms", "5000",
          "max.block.ms", "300000");

  private final CampaignLedger ledger;
  private final String bootstrap;
  private final String id;
  private final List<Integer> keys;
  private final Random random;
  private final int bytesPerSecond;
  private final LoopThread thread;
  private final Map<String, String> settings = new HashMap<>(QUICK);

  /** When the next record may be sent; of the thread alone. */
  private long due = System.nanoTime();

  private CampaignLoad(
      CampaignLedger ledger, String bootstrap, int index, int loads, int rate, long seed) {
    this.ledger = ledger;
    this.bytesPerSecond = rate;
    this.random = new Random(seed);
    this.id = ledger.topic() + "-" + index;
    this.keys = new ArrayList<>();
    for (int key = index; key < CampaignLedger.KEYS; key += loads) {
      keys.add(key);
    }
    this.bootstrap = bootstrap;
    settings.putAll(ledger.kind() == Kind.PLAIN ? PLAIN : PATIENT);
    if (ledger.kind() == Kind.TRANSACTIONAL) {
      settings.put("transactional.id", id);
      settings.put("transaction.timeout.ms", "40000");
      settings.put("max.block.ms", "60000");
      // Longer than any broker stands still. A request that the client has given up and the broker
      // finds when it goes on may be handled after the abort of its transaction, and Kafka then
      // commits its records with the next one.
      settings.put("request.timeout.ms", "30000");
    }
    this.thread =
        new LoopThread(
            "campaign-" + id, "sending to " + ledger.topic() + " ended early", this::run);
  }

  /**
   * Starts one.
   *
   * @param index of how many loads of the topic
   * @param rate bytes per second
   */
  public static CampaignLoad start(
      CampaignLedger ledger, String bootstrap, int index, int loads, int rate, long seed) {
    CampaignLoad load = new CampaignLoad(ledger, bootstrap, index, loads, rate, seed);
    load.thread.start();
    return load;
  }

  /** Sends no more, and waits until what was sent has succeeded or failed. */
  @Override
  public void close() {
    thread.close();
  }

  /** An error if it has ended by an exception. */
  public void assertRunning() {
    thread.assertRunning();
  }

  private void run() throws InterruptedException {
    if (ledger.kind() == Kind.TRANSACTIONAL) {
      sendTransactions();
    } else {
      sendRecords();
    }
  }

  private void sendRecords() throws InterruptedException {
    try (Producer<byte[], byte[]> producer = producer()) {
      while (!thread.isStopping()) {
        Outgoing out = ledger.next(key(), CampaignLedger.NONE, 1, bytes(), random);
        Future<RecordMetadata> unused =
            producer.send(out.send(), (metadata, exception) -> completed(out, metadata, exception));
        pace(out.bytes());
      }
      producer.flush();
    }
  }

  private void completed(Outgoing out, RecordMetadata metadata, Exception exception) {
    if (exception == null) {
      ledger.acknowledge(out.item(), metadata.hasOffset() ? metadata.offset() : -1);
    } else if (ledger.kind() != Kind.PLAIN) {
      ledger.trouble(out.item() + " could not be sent: " + exception);
    }
  }

  // ---------------------------------------------------------------------------------------------
  // transactions
  // ---------------------------------------------------------------------------------------------

  private void sendTransactions() throws InterruptedException {
    while (!thread.isStopping()) {
      Producer<byte[], byte[]> producer = producer();
      try {
        until(thread::isStopping, producer::initTransactions);
        while (!thread.isStopping()) {
          transaction(producer);
        }
      } catch (KafkaException e) {
        // A producer that cannot go on; its successor ends what it has left.
        Thread.sleep(100);
      } finally {
        producer.close(BRIEFLY);
      }
    }
    // Whatever the last one has left is ended by this.
    try (Producer<byte[], byte[]> last = producer()) {
      until(() -> false, last::initTransactions);
    }
  }

  /** One transaction to its end; throws if the producer is of no more use. */
  private void transaction(Producer<byte[], byte[]> producer) throws InterruptedException {
    int size = 1 + random.nextInt(MAX_TRANSACTION);
    long number = ledger.begin(id);
    Outcome outcome = Outcome.ABORTED;
    try {
      producer.beginTransaction();
      for (int i = 0; i < size; i++) {
        Outgoing out = ledger.next(key(), number, size, bytes(), random);
        Future<RecordMetadata> unused = producer.send(out.send()); // the commit has the outcome
        pace(out.bytes());
      }
      if (random.nextInt(4) == 0) {
        producer.abortTransaction();
      } else {
        outcome = Outcome.UNKNOWN;
        until(thread::isStopping, producer::commitTransaction);
        outcome = Outcome.COMMITTED;
      }
    } catch (KafkaException e) {
      if (outcome == Outcome.UNKNOWN) {
        throw e;
      }
      producer.abortTransaction();
    } finally {
      ledger.end(number, outcome);
    }
  }

  /** Retries until it does not time out, or the load ends. */
  private static void until(BooleanSupplier impatient, Runnable action) {
    while (true) {
      try {
        action.run();
        return;
      } catch (TimeoutException e) {
        if (impatient.getAsBoolean()) {
          throw e;
        }
      }
    }
  }

  // ---------------------------------------------------------------------------------------------

  private Producer<byte[], byte[]> producer() {
    return RecordLedger.producer(bootstrap, settings);
  }

  private int key() {
    return keys.get(random.nextInt(keys.size()));
  }

  private int bytes() {
    return 100 + random.nextInt(random.nextInt(8) == 0 ? 30_000 : 8_000);
  }

  private void pace(int bytes) throws InterruptedException {
    due = Math.max(due, System.nanoTime() - 200_000_000L);
    due += bytes * 1_000_000_000L / bytesPerSecond;
    long early = due - System.nanoTime();
    if (early > 1_000_000) {
      Thread.sleep(early / 1_000_000);
    }
  }
}
