package io.strata.kafka.bench.load;

import io.strata.kafka.bench.scenario.ConsumerSpec;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteBufferDeserializer;

/**
 * A consumer. Latency is end to end: from when the record was meant to be sent until it is read.
 */
final class ConsumerClient implements LoadClient {
  private static final Duration POLL = Duration.ofMillis(100);
  private static final Duration LAST_POLL = Duration.ofSeconds(1);

  /** So long without a record, or half of the group's time, is no slow read any more. */
  private static final Duration STALL = Duration.ofSeconds(10);

  private static final Duration CLOSE_LIMIT = Duration.ofSeconds(30);

  private final Consumer<ByteBuffer, ByteBuffer> consumer;
  private final ConsumerSpec spec;
  private final List<String> topics;
  private final Share share;
  private final LoadClock clock;
  private final Stops stops;
  private final GroupMeter meter;
  private final Budget budget;
  private final boolean divided;
  private List<TopicPartition> partitions = List.of();

  /**
   * Creates one.
   *
   * @param divided whether the clients of the group divide the topics' partitions
   */
  ConsumerClient(
      Consumer<ByteBuffer, ByteBuffer> consumer,
      ConsumerSpec spec,
      List<String> topics,
      Share share,
      LoadClock clock,
      Stops stops,
      GroupMeter meter,
      Budget budget,
      boolean divided) {
    this.consumer = consumer;
    this.spec = spec;
    this.topics = topics;
    this.share = share;
    this.clock = clock;
    this.stops = stops;
    this.meter = meter;
    this.budget = budget;
    this.divided = divided;
  }

  /** Holds what the group's clients on this host may still read together. */
  record Budget(AtomicLong records, AtomicLong bytes) {

    boolean isUsedUp() {
      return records.get() <= 0 || bytes.get() <= 0;
    }

    /** Takes a record from it; false if there is none left for this one. */
    boolean take(long size) {
      return records.getAndDecrement() > 0 && bytes.getAndAdd(-size) > 0;
    }
  }

  /** A consumer of Kafka's. */
  static Consumer<ByteBuffer, ByteBuffer> connect(Map<String, Object> properties) {
    return new KafkaConsumer<>(
        properties, new ByteBufferDeserializer(), new ByteBufferDeserializer());
  }

  @Override
  public void prepare() {
    List<TopicPartition> all = new ArrayList<>();
    for (String topic : topics) {
      consumer
          .partitionsFor(topic)
          .forEach(p -> all.add(new TopicPartition(p.topic(), p.partition())));
    }
    all.sort((a, b) -> (a.topic() + a.partition()).compareTo(b.topic() + b.partition()));
    if (divided) {
      for (int i = share.client(); i < all.size(); i += share.clients()) {
        partitions = plus(partitions, all.get(i));
      }
    } else {
      partitions = List.copyOf(all);
    }
    consumer.assign(partitions);
    if (spec.fromBeginning()) {
      consumer.seekToBeginning(partitions);
    } else {
      consumer.seekToEnd(partitions);
    }
    // It seeks lazily: the end is to be that of now.
    partitions.forEach(consumer::position);
  }

  @Override
  public void run() throws InterruptedException {
    if (partitions.isEmpty()) {
      return;
    }
    long start = stops.awaitStart(spec.startSeconds());
    long end = spec.until().endNanos(start);
    Pace pace = new Pace(spec.rate(), share.client(), share.clients());
    long read = 0;
    long active = System.nanoTime();
    boolean idle = false;
    while (!idle && isGoingOn(end)) {
      // Asked before the poll: whatever was there then has been read when nothing is left.
      boolean last = spec.until().isNone() && stops.haveProducersEnded();
      ConsumerRecords<ByteBuffer, ByteBuffer> records = consumer.poll(POLL);
      for (ConsumerRecord<ByteBuffer, ByteBuffer> each : records) {
        // A poll may bring more than is due before the end.
        if (!pace.isMaximum()) {
          stops.await(Math.min(end, start + pace.dueNanos(read)));
          active = System.nanoTime();
        }
        if (!isGoingOn(end) || !count(each)) {
          break;
        }
        read++;
        active = System.nanoTime();
      }
      idle = last && records.isEmpty() && isAtEnd();
    }
    if (System.nanoTime() >= end) {
      meter.workedUntil(end);
      noteStall(Math.min(end, System.nanoTime()) - active, end - start);
    }
  }

  private boolean isGoingOn(long end) {
    return !stops.isStopped() && System.nanoTime() < end;
  }

  /** Counts a record; false if the group may not read it, which ends all of the group. */
  private boolean count(ConsumerRecord<ByteBuffer, ByteBuffer> each) {
    ByteBuffer value = each.value();
    long bytes = value == null ? 0 : value.remaining();
    boolean counts = budget.take(bytes);
    if (counts) {
      long now = System.nanoTime();
      long latency =
          bytes < Payload.HEAD
              ? clock.micros(now) - TimeUnit.MILLISECONDS.toMicros(each.timestamp())
              : clock.micros(now) - Payload.intendedMicros(value);
      meter.record(share.client(), latency, bytes, now);
    }
    if (budget.isUsedUp()) {
      stops.stop();
    }
    return counts;
  }

  /**
   * Tells a consumer that hangs, which has failed, from one that has read all there is. A record
   * that has come just now gets another poll.
   *
   * @param silent how long nothing was read before the end
   * @param whole the time of the group
   */
  private void noteStall(long silent, long whole) {
    if (silent < Math.min(STALL.toNanos(), whole / 2)) {
      return;
    }
    Map<TopicPartition, Long> left = left();
    if (!left.isEmpty() && consumer.poll(LAST_POLL).isEmpty()) {
      meter.failed(
          String.format(
              Locale.ROOT,
              "stalled: found no record read in the last %.1f s, with %d left to read in %s",
              silent / 1e9,
              left.values().stream().mapToLong(Long::longValue).sum(),
              left.keySet().stream()
                  .map(TopicPartition::toString)
                  .sorted()
                  .collect(Collectors.joining(", "))));
    }
  }

  private boolean isAtEnd() {
    return left().isEmpty();
  }

  /** Returns how many offsets each partition has that were not read; only those that have some. */
  private Map<TopicPartition, Long> left() {
    Map<TopicPartition, Long> left = new HashMap<>();
    consumer
        .endOffsets(partitions)
        .forEach(
            (partition, end) -> {
              long behind = end - consumer.position(partition);
              if (behind > 0) {
                left.put(partition, behind);
              }
            });
    return left;
  }

  private static List<TopicPartition> plus(List<TopicPartition> list, TopicPartition more) {
    List<TopicPartition> all = new ArrayList<>(list);
    all.add(more);
    return List.copyOf(all);
  }

  @Override
  public void close() {
    consumer.close(CloseOptions.timeout(CLOSE_LIMIT));
  }
}
