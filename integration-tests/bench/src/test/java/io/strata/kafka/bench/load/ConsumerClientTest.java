package io.strata.kafka.bench.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.bench.scenario.Scenario;
import io.strata.kafka.bench.scenario.ScenarioFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConsumerClientTest {
  @TempDir private Path folder;

  private final MockConsumer<ByteBuffer, ByteBuffer> kafka = new MockConsumer<>("earliest");
  private final GroupMeter meter = new GroupMeter(1);
  private final Stops stops = new Stops();
  private final LoadClock clock = new LoadClock(0);

  private ConsumerClient client(Share share, String keys, long records) throws IOException {
    Path file = folder.resolve("scenario.yaml");
    Files.writeString(
        file, "topics: {t: {}}\nphases: {p: {consumers: {g: {topic: t%s}}}}\n".formatted(keys));
    Scenario scenario = ScenarioFile.read(file, List.of());
    Map<TopicPartition, Long> begin = new HashMap<>();
    for (int p = 0; p < 5; p++) {
      begin.put(new TopicPartition("topic", p), 0L);
    }
    kafka.updateBeginningOffsets(begin);
    kafka.updateEndOffsets(begin);
    kafka.updatePartitions(
        "topic",
        begin.keySet().stream()
            .map(p -> new PartitionInfo("topic", p.partition(), null, null, null))
            .toList());
    return new ConsumerClient(
        kafka,
        Objects.requireNonNull(
            Objects.requireNonNull(scenario.phases().get("p")).consumers().get("g")),
        List.of("topic"),
        share,
        clock,
        stops,
        meter,
        new ConsumerClient.Budget(new AtomicLong(records), new AtomicLong(Long.MAX_VALUE)),
        !keys.contains("share: false"));
  }

  private void add(int partition, long offset, long intendedMicros) {
    ByteBuffer value = ByteBuffer.allocate(100).putLong(0, intendedMicros);
    kafka.addRecord(new ConsumerRecord<>("topic", partition, offset, null, value));
    kafka.updateEndOffsets(Map.of(new TopicPartition("topic", partition), offset + 1));
  }

  @Test
  void readsToTheEndWhenTheProducersHaveEnded() throws Exception {
    ConsumerClient client = client(new Share(0, 1), "", Long.MAX_VALUE);
    client.prepare();
    for (int i = 0; i < 10; i++) {
      add(i % 5, i / 5, clock.micros() - 1_000_000);
    }
    stops.startAt(System.nanoTime());
    stops.producersEnded();

    client.run();

    GroupInterval work = meter.take();
    assertThat(work.records()).isEqualTo(10);
    assertThat(work.bytes()).isEqualTo(1000);
    assertThat(work.latencies().getMinValue()).isGreaterThanOrEqualTo(999_000);
  }

  @Test
  void clientsShareThePartitions() throws Exception {
    ConsumerClient client = client(new Share(1, 3), "", Long.MAX_VALUE);

    client.prepare();

    assertThat(kafka.assignment())
        .containsExactlyInAnyOrder(new TopicPartition("topic", 1), new TopicPartition("topic", 4));
  }

  @Test
  void eachReadsAllWhereNothingIsShared() throws Exception {
    client(new Share(1, 3), ", share: false", Long.MAX_VALUE).prepare();

    assertThat(kafka.assignment()).hasSize(5);
  }

  @Test
  void endsByCount() throws Exception {
    ConsumerClient client = client(new Share(0, 1), ", until: {records: 3}", 3);
    client.prepare();
    for (int i = 0; i < 10; i++) {
      add(0, i, clock.micros());
    }
    stops.startAt(System.nanoTime());

    client.run();

    assertThat(meter.take().records()).isEqualTo(3);
  }

  @Test
  void endsByTime() throws Exception {
    ConsumerClient client = client(new Share(0, 1), ", until: {time: 1s}", Long.MAX_VALUE);
    client.prepare();
    add(0, 0, clock.micros());
    stops.startAt(System.nanoTime() - TimeUnit.SECONDS.toNanos(2));

    client.run();

    assertThat(meter.take().records()).isZero();
  }

  /** 5 a second for 600 ms are three, however many one poll brings. */
  @Test
  void aRateEndsWithTheTimeWithinAPoll() throws Exception {
    ConsumerClient client =
        client(new Share(0, 1), ", rate: 5/s, until: {time: 600ms}", Long.MAX_VALUE);
    client.prepare();
    for (int i = 0; i < 10; i++) {
      add(0, i, clock.micros());
    }
    stops.startAt(System.nanoTime());

    client.run();

    assertThat(meter.take().records()).isEqualTo(3);
  }

  /** A profile's pause at the beginning and in the middle, all of the records in one poll. */
  @Test
  void aPauseOfAProfileIsAPause() throws Exception {
    ConsumerClient client =
        client(
            new Share(0, 1),
            ", rate: [{rate: 0/s, for: 200ms}, {rate: 5/s, for: 400ms}], until: {time: 1s}",
            Long.MAX_VALUE);
    client.prepare();
    for (int i = 0; i < 10; i++) {
      add(0, i, clock.micros());
    }
    long start = System.nanoTime();
    stops.startAt(start);

    client.run();

    assertThat(meter.take().records()).isEqualTo(3);
    assertThat(meter.endNanos(0)).isEqualTo(start + TimeUnit.MILLISECONDS.toNanos(1000));
  }

  @Test
  void aStopEndsItWithinAPoll() throws Exception {
    ConsumerClient client =
        client(new Share(0, 1), ", rate: 1/s, until: {time: 1h}", Long.MAX_VALUE);
    client.prepare();
    for (int i = 0; i < 10; i++) {
      add(0, i, clock.micros());
    }
    stops.startAt(System.nanoTime());
    stops.stop();

    client.run();

    assertThat(meter.take().records()).isZero();
  }

  /** The next record of the pace would be due in a second. */
  @Test
  void endsWithTheLastRecordThatItMayRead() throws Exception {
    ConsumerClient client = client(new Share(0, 1), ", rate: 1/s, until: {records: 1}", 1);
    client.prepare();
    add(0, 0, clock.micros());
    add(0, 1, clock.micros());
    long start = System.nanoTime();
    stops.startAt(start);

    client.run();

    assertThat(meter.take().records()).isEqualTo(1);
    assertThat(stops.isStopped()).isTrue();
    assertThat(System.nanoTime() - start).isLessThan(TimeUnit.MILLISECONDS.toNanos(900));
  }

  /** One whose last record was read at once, and that then waits for records that there are. */
  @Test
  void oneThatHangsHasFailedAndItsTimeIsAllOfIt() throws Exception {
    ConsumerClient client = client(new Share(0, 1), ", until: {time: 300ms}", Long.MAX_VALUE);
    client.prepare();
    add(0, 0, clock.micros());
    kafka.updateEndOffsets(Map.of(new TopicPartition("topic", 0), 8L));
    long start = System.nanoTime();
    stops.startAt(start);

    client.run();

    assertThat(meter.firstError())
        .hasValueSatisfying(
            why ->
                assertThat(why)
                    .startsWith("stalled: found no record read in the last 0.")
                    .endsWith(" s, with 7 left to read in topic-0"));
    assertThat(meter.endNanos(0)).isEqualTo(start + TimeUnit.MILLISECONDS.toNanos(300));
  }

  /** At the end of the log nothing is late; its time is all of it too. */
  @Test
  void oneThatHasReadAllHasNotFailed() throws Exception {
    ConsumerClient client = client(new Share(0, 1), ", until: {time: 300ms}", Long.MAX_VALUE);
    client.prepare();
    add(0, 0, clock.micros());
    long start = System.nanoTime();
    stops.startAt(start);

    client.run();

    assertThat(meter.firstError()).isEmpty();
    assertThat(meter.endNanos(0)).isEqualTo(start + TimeUnit.MILLISECONDS.toNanos(300));
  }

  @Test
  void clientsOfAGroupReadNoMoreThanItsLimitTogether() throws Exception {
    ConsumerClient.Budget budget =
        new ConsumerClient.Budget(new AtomicLong(1000), new AtomicLong(Long.MAX_VALUE));
    AtomicLong taken = new AtomicLong();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      Thread thread =
          new Thread(
              () -> {
                while (budget.take(1)) {
                  taken.incrementAndGet();
                }
              });
      threads.add(thread);
      thread.start();
    }
    for (Thread thread : threads) {
      thread.join();
    }

    assertThat(taken).hasValue(1000);
  }
}
