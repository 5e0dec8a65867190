package io.strata.kafka.it.harness;

import java.util.Map;
import java.util.Random;
import org.apache.kafka.clients.producer.Producer;

/** A thread that sends records to a ledger's topic, whatever happens to the broker, until told. */
public final class Load implements AutoCloseable {

  private final RecordLedger ledger;
  private final Producer<byte[], byte[]> producer;
  private final Shape shape;
  private final Random random;
  private final LoopThread thread;

  private Load(RecordLedger ledger, Producer<byte[], byte[]> producer, Shape shape, long seed) {
    this.ledger = ledger;
    this.producer = producer;
    this.shape = shape;
    this.random = new Random(seed);
    this.thread =
        new LoopThread(
            "load-" + ledger.topic(), "sending to " + ledger.topic() + " ended early", this::run);
  }

  /** How many records, and how large they are. */
  public record Shape(int recordsPerSecond, int minBytes, int maxBytes) {

    /** So many bytes per second, in records of 1 to 16 KB. */
    public static Shape ofBytesPerSecond(long bytes) {
      return new Shape(Math.toIntExact(bytes / 8_500), 1_000, 16_000);
    }
  }

  /** Starts sending records of up to 2 KiB at about the rate. */
  public static Load start(
      RecordLedger ledger, String bootstrap, int recordsPerSecond, long seed, Map<String, ?> set) {
    return start(ledger, bootstrap, new Shape(recordsPerSecond, 100, 2_000), seed, set);
  }

  /** Starts sending records of the shape. */
  public static Load start(
      RecordLedger ledger, String bootstrap, Shape shape, long seed, Map<String, ?> set) {
    Load load = new Load(ledger, RecordLedger.producer(bootstrap, set), shape, seed);
    load.thread.start();
    return load;
  }

  private void run() throws InterruptedException {
    long started = System.nanoTime();
    for (long sent = 0; !thread.isStopping(); sent++) {
      int size = shape.minBytes() + random.nextInt(shape.maxBytes() - shape.minBytes());
      ledger.send(producer, random.nextInt(ledger.partitions()), size);
      long due = started + sent * 1_000_000_000L / shape.recordsPerSecond();
      long early = due - System.nanoTime();
      if (early > 1_000_000) {
        Thread.sleep(early / 1_000_000);
      }
    }
    producer.flush();
  }

  /** Whether it sends; not when it failed. */
  public boolean isRunning() {
    return thread.isRunning();
  }

  /** Sends no more, and waits until each record has succeeded or failed. */
  @Override
  public void close() {
    try {
      thread.close();
    } finally {
      producer.close();
    }
  }
}
