package io.strata.kafka.bench.load;

import io.strata.kafka.bench.scenario.ProducerSpec;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/**
 * A producer. Where records have a rate, the latency of each counts from when it was due, however
 * late it is sent; at the maximum it counts from the call that sends it.
 */
final class ProducerClient implements LoadClient {
  private static final Duration CLOSE_LIMIT = Duration.ofSeconds(30);

  private final Producer<byte[], byte[]> producer;
  private final ProducerSpec spec;
  private final String topic;
  private final Share share;
  private final LoadClock clock;
  private final Stops stops;
  private final GroupMeter meter;
  private final Payload payload;
  private final SplittableRandom random;

  ProducerClient(
      Producer<byte[], byte[]> producer,
      ProducerSpec spec,
      String topic,
      Share share,
      LoadClock clock,
      Stops stops,
      GroupMeter meter,
      byte[] pool) {
    this.producer = producer;
    this.spec = spec;
    this.topic = topic;
    this.share = share;
    this.clock = clock;
    this.stops = stops;
    this.meter = meter;
    this.payload = new Payload(pool, spec.recordSize(), share.client());
    this.random = new SplittableRandom(share.client());
  }

  /** A producer of Kafka's. */
  static Producer<byte[], byte[]> connect(Map<String, Object> properties) {
    return new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer());
  }

  @Override
  public void prepare() {
    producer.partitionsFor(topic);
  }

  @Override
  public void run() throws InterruptedException {
    long start = stops.awaitStart(spec.startSeconds());
    long end = spec.until().endNanos(start);
    long limit = share.records(spec.until().records(), spec.until().bytes(), spec.recordSize());
    Pace pace = new Pace(spec.rate(), share.client(), share.clients());
    for (long n = 0; n < limit && !stops.isStopped(); n++) {
      long intended = pace.isMaximum() ? System.nanoTime() : start + pace.dueNanos(n);
      stops.await(Math.min(intended, end));
      if (stops.isStopped()) {
        break;
      }
      if (System.nanoTime() >= end) {
        meter.workedUntil(end);
        break;
      }
      send(intended);
    }
    producer.flush();
  }

  private void send(long intended) {
    byte @Nullable [] key = key();
    long bytes = spec.recordSize();
    // The callback hears of it.
    Future<RecordMetadata> unused =
        producer.send(
            new ProducerRecord<>(topic, key, payload.next(clock.micros(intended))),
            (metadata, failure) -> {
              if (failure == null) {
                long now = System.nanoTime();
                meter.record(share.client(), (now - intended) / 1000, bytes, now);
              } else {
                meter.error(failure);
              }
            });
  }

  private byte @Nullable [] key() {
    if (spec.keys() == 0) {
      return null;
    }
    return ByteBuffer.allocate(Long.BYTES).putLong(random.nextLong(spec.keys())).array();
  }

  @Override
  public void close() {
    producer.close(CLOSE_LIMIT);
  }
}
