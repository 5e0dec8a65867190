package io.strata.kafka.it;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;

/**
 * Sends records as fast as the broker takes them, and notes for each second what was acknowledged
 * and how long that took. Two producers, acks=1, batches of 1 MiB, records of 1 KiB.
 */
final class Throughput {

  private static final int PRODUCERS = 2;
  private static final int RECORD = 1 << 10;
  private static final long MAX_MICROS = 600_000_000;
  private static final Map<String, String> SETTINGS =
      Map.of(
          "acks", "1",
          "batch.size", "1048576",
          "max.request.size", "2097152",
          "linger.ms", "5",
          "buffer.memory", "33554432",
          "delivery.timeout.ms", "150000",
          "request.timeout.ms", "100000");

  private final String bootstrap;
  private final String topic;
  private final int partitions;
  private final AtomicLong acknowledged = new AtomicLong();
  private final Recorder latencies = new Recorder(MAX_MICROS, 3);
  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private volatile boolean stopping;

  private Throughput(String bootstrap, String topic, int partitions) {
    this.bootstrap = bootstrap;
    this.topic = topic;
    this.partitions = partitions;
  }

  /** One second. */
  record Second(double megabytes, double p99Millis) {}

  /** What was seen. */
  record Seen(
      List<Second> seconds, double duration, double megabytes, double p99Millis, double maxMillis) {

    double megabytesPerSecond() {
      return megabytes / duration;
    }

    /** Of the seconds from that one on. */
    double megabytesPerSecondFrom(int second) {
      return seconds.stream().skip(second).mapToDouble(Second::megabytes).average().orElse(0);
    }
  }

  /** Sends so many bytes. */
  static Seen ofBytes(String bootstrap, String topic, int partitions, long bytes)
      throws InterruptedException {
    return new Throughput(bootstrap, topic, partitions).run(bytes, Long.MAX_VALUE);
  }

  /** Sends for so long. */
  static Seen ofSeconds(String bootstrap, String topic, int partitions, long seconds)
      throws InterruptedException {
    return new Throughput(bootstrap, topic, partitions).run(Long.MAX_VALUE, seconds);
  }

  private Seen run(long bytes, long limitSeconds) throws InterruptedException {
    long began = System.nanoTime();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < PRODUCERS; i++) {
      int number = i;
      Thread thread = new Thread(() -> send(number, bytes / PRODUCERS), "producer-" + i);
      threads.add(thread);
      thread.start();
    }
    List<Second> seconds = new ArrayList<>();
    Histogram all = new Histogram(MAX_MICROS, 3);
    long before = 0;
    while (threads.stream().anyMatch(Thread::isAlive)) {
      long due = began + (seconds.size() + 1) * 1_000_000_000L;
      while (System.nanoTime() < due && threads.stream().anyMatch(Thread::isAlive)) {
        Thread.sleep(Math.max(1, Math.min(20, (due - System.nanoTime()) / 1_000_000)));
      }
      long now = acknowledged.get();
      Histogram second = latencies.getIntervalHistogram();
      all.add(second);
      seconds.add(new Second((now - before) / 1e6, second.getValueAtPercentile(99) / 1e3));
      before = now;
      stopping |= seconds.size() >= limitSeconds;
    }
    if (failure.get() != null) {
      throw new IllegalStateException("sending to " + topic + " failed", failure.get());
    }
    return new Seen(
        seconds,
        (System.nanoTime() - began) / 1e9,
        before / 1e6,
        all.getValueAtPercentile(99) / 1e3,
        all.getMaxValue() / 1e3);
  }

  private void send(int number, long bytes) {
    byte[] value = new byte[RECORD];
    new Random(number).nextBytes(value);
    try (Producer<byte[], byte[]> producer =
        RecordLedger.producer(bootstrap, new HashMap<>(SETTINGS))) {
      long left = bytes;
      for (long sent = 0; left > 0 && !stopping && failure.get() == null; sent++) {
        int partition = (int) ((sent * PRODUCERS + number) % partitions);
        long start = System.nanoTime();
        Future<RecordMetadata> unused = // the callback has the outcome
            producer.send(
                new ProducerRecord<>(topic, partition, null, value),
                (metadata, exception) -> acknowledged(start, exception));
        left -= RECORD;
      }
    } catch (Throwable t) {
      failure.compareAndSet(null, t);
    }
  }

  private void acknowledged(long start, Exception exception) {
    if (exception != null) {
      failure.compareAndSet(null, exception);
      return;
    }
    acknowledged.addAndGet(RECORD);
    latencies.recordValue(Math.min(MAX_MICROS, (System.nanoTime() - start) / 1_000));
  }
}
