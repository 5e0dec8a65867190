package io.strata.kafka.it;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;

/**
 * A thread that consumes a ledger's topic until it is stopped, and checks each record: whole, and
 * the very next one of its partition, since no send fails meanwhile.
 */
final class Reading implements AutoCloseable {

  /** Where it begins, and begins again when it has come to the end. */
  enum Start {
    BEGINNING,
    MIDDLE,
    /** Once; from then on it follows. */
    TAIL
  }

  private final RecordLedger ledger;
  private final String bootstrap;
  private final Start start;
  private final Thread thread;
  private final AtomicLong records = new AtomicLong();
  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private volatile boolean stopping;

  private Reading(RecordLedger ledger, String bootstrap, Start start) {
    this.ledger = ledger;
    this.bootstrap = bootstrap;
    this.start = start;
    this.thread = new Thread(this::run, "reading-" + ledger.topic() + "-" + start);
  }

  static Reading start(RecordLedger ledger, String bootstrap, Start start) {
    Reading reading = new Reading(ledger, bootstrap, start);
    reading.thread.start();
    return reading;
  }

  /** How many records it has read and found right. */
  long records() {
    return records.get();
  }

  private void run() {
    List<TopicPartition> partitions =
        IntStream.range(0, ledger.partitions())
            .mapToObj(p -> new TopicPartition(ledger.topic(), p))
            .toList();
    // Small fetches: many of them begin and end while a segment moves.
    try (Consumer<byte[], byte[]> consumer =
        RecordLedger.consumer(bootstrap, Map.of("max.partition.fetch.bytes", "200000"))) {
      consumer.assign(partitions);
      while (!stopping) {
        readOnce(consumer, partitions);
      }
    } catch (Throwable t) {
      failure.set(t);
    }
  }

  private void readOnce(Consumer<byte[], byte[]> consumer, List<TopicPartition> partitions) {
    Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
    Map<TopicPartition, Long> next = new HashMap<>();
    for (TopicPartition partition : partitions) {
      long end = ends.getOrDefault(partition, 0L);
      consumer.seek(
          partition, start == Start.BEGINNING ? 0 : start == Start.MIDDLE ? end / 2 : end);
    }
    boolean follows = start == Start.TAIL;
    while (!stopping
        && (follows || partitions.stream().anyMatch(p -> consumer.position(p) < end(ends, p)))) {
      for (ConsumerRecord<byte[], byte[]> found : consumer.poll(Duration.ofMillis(200))) {
        check(found, next);
      }
    }
  }

  private static long end(Map<TopicPartition, Long> ends, TopicPartition partition) {
    return ends.getOrDefault(partition, 0L);
  }

  private void check(ConsumerRecord<byte[], byte[]> found, Map<TopicPartition, Long> next) {
    TopicPartition partition = new TopicPartition(found.topic(), found.partition());
    long number = RecordLedger.check(found);
    long expected = next.getOrDefault(partition, found.offset());
    if (found.offset() != expected || number != found.offset()) {
      throw new AssertionError(
          String.format(
              "%s: offset %d with record %d, expected offset and record %d",
              partition, found.offset(), number, expected));
    }
    next.put(partition, found.offset() + 1);
    records.incrementAndGet();
  }

  /** Ends it, and throws what it found wrong. */
  @Override
  public void close() {
    stopping = true;
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted while a reader ended", e);
    }
    Throwable thrown = failure.get();
    if (thrown != null) {
      throw new AssertionError("reading " + ledger.topic() + " from its " + start, thrown);
    }
  }
}
