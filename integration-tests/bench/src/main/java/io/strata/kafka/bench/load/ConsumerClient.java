package io.strata.kafka.bench.load;

import io.strata.kafka.bench.scenario.ConsumerSpec;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteBufferDeserializer;

/**
 * A consumer. Latency is end to end: from when the record was meant to be sent until it is read.
 */
final class ConsumerClient implements LoadClient {
  private static final Duration POLL = Duration.ofMillis(100);
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

  /** What the group's clients on this host may still read together. */
  record Budget(AtomicLong records, AtomicLong bytes) {

    boolean isUsedUp() {
      return records.get() <= 0 || bytes.get() <= 0;
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
    long start = stops.awaitStart(spec.startSeconds());
    long end = spec.until().endNanos(start);
    Pace pace = new Pace(spec.rate(), share.client(), share.clients());
    long read = 0;
    boolean idle = partitions.isEmpty();
    while (!idle && !stops.isStopped() && System.nanoTime() < end && !budget.isUsedUp()) {
      // Asked before the poll: whatever was there then has been read when nothing is left.
      boolean last = spec.until().isNone() && stops.haveProducersEnded();
      int count = 0;
      for (ConsumerRecord<ByteBuffer, ByteBuffer> each : consumer.poll(POLL)) {
        if (budget.isUsedUp()) {
          break;
        }
        count(each);
        count++;
        read++;
        if (!pace.isMaximum()) {
          stops.await(Math.min(end, start + pace.dueNanos(read)));
        }
      }
      idle = last && count == 0 && isAtEnd();
    }
  }

  private void count(ConsumerRecord<ByteBuffer, ByteBuffer> each) {
    ByteBuffer value = each.value();
    long bytes = value == null ? 0 : value.remaining();
    budget.records().decrementAndGet();
    budget.bytes().addAndGet(-bytes);
    long now = System.nanoTime();
    long latency =
        bytes < Payload.HEAD
            ? clock.micros(now) - TimeUnit.MILLISECONDS.toMicros(each.timestamp())
            : clock.micros(now) - Payload.intendedMicros(value);
    meter.record(share.client(), latency, bytes, now);
  }

  private boolean isAtEnd() {
    Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
    return ends.entrySet().stream().allMatch(e -> consumer.position(e.getKey()) >= e.getValue());
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
