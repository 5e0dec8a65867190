package io.strata.kafka.it.harness;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;

/**
 * A thread that consumes a topic until it is stopped, and checks each record. Of a {@link
 * RecordLedger} each is whole, and the very next one of its partition, since no send fails
 * meanwhile.
 */
public final class Reading implements AutoCloseable {

  /** Where it begins, and begins again when it has come to the end. */
  public enum Start {
    BEGINNING,
    MIDDLE,
    /** Once; from then on it follows. */
    TAIL
  }

  /** Throws if a record is not what it is to be. */
  public interface Check {
    void of(ConsumerRecord<byte[], byte[]> found);
  }

  /** Small fetches: many of them begin and end while a segment moves. */
  private static final Map<String, String> SMALL = Map.of("max.partition.fetch.bytes", "200000");

  private final List<TopicPartition> partitions;
  private final String bootstrap;
  private final Start start;
  private final Map<String, String> settings;
  private final long pauseMillis;
  private final Supplier<Check> checks;
  private final LoopThread thread;
  private final AtomicLong records = new AtomicLong();

  private Reading(
      List<TopicPartition> partitions,
      String bootstrap,
      Start start,
      Map<String, String> settings,
      long pauseMillis,
      Supplier<Check> checks) {
    this.partitions = partitions;
    this.bootstrap = bootstrap;
    this.start = start;
    this.settings = settings;
    this.pauseMillis = pauseMillis;
    this.checks = checks;
    thread =
        new LoopThread(
            "reading-" + partitions.get(0) + "-" + start,
            "reading " + partitions + " from the " + start,
            this::run);
    thread.start();
  }

  public static Reading start(RecordLedger ledger, String bootstrap, Start start) {
    return new Reading(
        partitions(ledger.topic(), ledger.partitions()),
        bootstrap,
        start,
        SMALL,
        0,
        Reading::inOrder);
  }

  /** Reads what is committed, a little at a time: to read it all would cost the whole machine. */
  public static Reading atLeisure(
      String topic, int partitions, String bootstrap, Start start, Check check) {
    return new Reading(
        partitions(topic, partitions),
        bootstrap,
        start,
        Map.of("isolation.level", "read_committed", "max.poll.records", "200"),
        100,
        () -> check);
  }

  private static List<TopicPartition> partitions(String topic, int count) {
    return IntStream.range(0, count).mapToObj(p -> new TopicPartition(topic, p)).toList();
  }

  /** How many records it has read and found right. */
  public long records() {
    return records.get();
  }

  private void run() throws InterruptedException {
    try (Consumer<byte[], byte[]> consumer = RecordLedger.consumer(bootstrap, settings)) {
      consumer.assign(partitions);
      while (!thread.isStopping()) {
        readOnce(consumer);
      }
    }
  }

  private void readOnce(Consumer<byte[], byte[]> consumer) throws InterruptedException {
    Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
    Check check = checks.get();
    for (TopicPartition partition : partitions) {
      long end = ends.getOrDefault(partition, 0L);
      consumer.seek(
          partition, start == Start.BEGINNING ? 0 : start == Start.MIDDLE ? end / 2 : end);
    }
    boolean follows = start == Start.TAIL;
    while (!thread.isStopping()
        && (follows
            || partitions.stream()
                .anyMatch(p -> consumer.position(p) < ends.getOrDefault(p, 0L)))) {
      for (ConsumerRecord<byte[], byte[]> found : consumer.poll(Duration.ofMillis(200))) {
        check.of(found);
        records.incrementAndGet();
      }
      Thread.sleep(pauseMillis);
    }
  }

  private static Check inOrder() {
    Map<TopicPartition, Long> next = new HashMap<>();
    return found -> {
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
    };
  }

  /** Throws what it has found wrong. */
  public void assertRunning() {
    thread.assertRunning();
  }

  /** Ends it, and throws what it found wrong. */
  @Override
  public void close() {
    thread.close();
  }
}
