package io.strata.kafka.it;

import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.Producer;

/** A thread that sends records to a ledger's topic, whatever happens to the broker, until told. */
final class Load implements AutoCloseable {

  private final RecordLedger ledger;
  private final Producer<byte[], byte[]> producer;
  private final int recordsPerSecond;
  private final Random random;
  private final Thread thread;
  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private volatile boolean stopping;

  private Load(
      RecordLedger ledger, Producer<byte[], byte[]> producer, int recordsPerSecond, long seed) {
    this.ledger = ledger;
    this.producer = producer;
    this.recordsPerSecond = recordsPerSecond;
    this.random = new Random(seed);
    this.thread = new Thread(this::run, "load-" + ledger.topic());
  }

  /** Starts sending records of up to 2 KiB at about the rate. */
  static Load start(
      RecordLedger ledger, String bootstrap, int recordsPerSecond, long seed, Map<String, ?> set) {
    Load load = new Load(ledger, RecordLedger.producer(bootstrap, set), recordsPerSecond, seed);
    load.thread.start();
    return load;
  }

  private void run() {
    try {
      long started = System.nanoTime();
      for (long sent = 0; !stopping; sent++) {
        ledger.send(producer, random.nextInt(ledger.partitions()), 100 + random.nextInt(1_900));
        long due = started + sent * 1_000_000_000L / recordsPerSecond;
        long early = due - System.nanoTime();
        if (early > 1_000_000) {
          Thread.sleep(early / 1_000_000);
        }
      }
      producer.flush();
    } catch (Throwable t) {
      failure.set(t);
    }
  }

  /** Sends no more, and waits until each record has succeeded or failed. */
  @Override
  public void close() {
    stopping = true;
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted while waiting for the load to end", e);
    }
    producer.close();
    Throwable thrown = failure.get();
    if (thrown != null) {
      throw new AssertionError("sending to " + ledger.topic() + " ended early", thrown);
    }
  }
}
