package io.strata.kafka.it;

import io.strata.kafka.it.CampaignLedger.Item;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;

/**
 * A thread that reads a topic, as it is written or from its beginning again and again, and checks
 * that each record is as it was sent.
 *
 * <p>Thread safety: started and closed by one thread.
 */
final class SoakReader implements AutoCloseable {

  private static final Duration POLL = Duration.ofMillis(500);

  /** Of what has been written; read it all, and it would cost the broker's whole machine. */
  private static final long PAUSE_MILLIS = 100;

  private final CampaignLedger ledger;
  private final String bootstrap;
  private final boolean again;
  private final Thread thread;
  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private volatile boolean stopping;

  private SoakReader(CampaignLedger ledger, String bootstrap, boolean again) {
    this.ledger = ledger;
    this.bootstrap = bootstrap;
    this.again = again;
    thread = new Thread(this::run, "soak-reader-" + ledger.topic());
    thread.setDaemon(true);
    thread.start();
  }

  /** Reads what comes. */
  static SoakReader atTheEnd(CampaignLedger ledger, String bootstrap) {
    return new SoakReader(ledger, bootstrap, false);
  }

  /** Reads from the beginning to the end, and then again. */
  static SoakReader fromTheStart(CampaignLedger ledger, String bootstrap) {
    return new SoakReader(ledger, bootstrap, true);
  }

  void assertRunning() {
    Throwable thrown = failure.get();
    if (thrown != null) {
      throw new AssertionError("reading " + ledger.topic() + " failed", thrown);
    }
  }

  @Override
  public void close() {
    stopping = true;
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted while waiting for a reader to end", e);
    }
    assertRunning();
  }

  private void run() {
    List<TopicPartition> partitions =
        IntStream.range(0, ledger.partitions())
            .mapToObj(p -> new TopicPartition(ledger.topic(), p))
            .toList();
    try (Consumer<byte[], byte[]> consumer =
        RecordLedger.consumer(
            bootstrap, Map.of("isolation.level", "read_committed", "max.poll.records", "200"))) {
      consumer.assign(partitions);
      if (again) {
        consumer.seekToBeginning(partitions);
      } else {
        consumer.seekToEnd(partitions);
      }
      while (!stopping) {
        ConsumerRecords<byte[], byte[]> records = consumer.poll(POLL);
        records.forEach(
            record -> {
              Item unused = ledger.check(record);
            });
        if (again) {
          Thread.sleep(PAUSE_MILLIS);
          if (records.isEmpty()) {
            consumer.seekToBeginning(partitions);
          }
        }
      }
    } catch (Throwable t) {
      failure.set(t);
    }
  }
}
