package io.strata.kafka.bench.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.bench.scenario.Scenario;
import io.strata.kafka.bench.scenario.ScenarioFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProducerClientTest {
  @TempDir private Path folder;

  private final List<Long> intended = new ArrayList<>();

  private MockProducer<byte[], byte[]> kafka =
      new MockProducer<>(true, null, new ByteArraySerializer(), new ByteArraySerializer()) {
        @Override
        public synchronized Future<RecordMetadata> send(
            ProducerRecord<byte[], byte[]> record, Callback callback) {
          // Now: the array is the same for all records.
          intended.add(Payload.intendedMicros(ByteBuffer.wrap(record.value())));
          return super.send(record, callback);
        }
      };

  private final GroupMeter meter = new GroupMeter(1);
  private final Stops stops = new Stops();
  private final LoadClock clock = new LoadClock(0);

  private ProducerClient client(Share share, String keys) throws IOException {
    Path file = folder.resolve("scenario.yaml");
    Files.writeString(
        file,
        """
        topics: {t: {}}
        phases: {p: {producers: {g: {topic: t, %s}}}}
        """
            .formatted(keys));
    Scenario scenario = ScenarioFile.read(file, List.of());
    return new ProducerClient(
        kafka,
        Objects.requireNonNull(
            Objects.requireNonNull(scenario.phases().get("p")).producers().get("g")),
        "topic",
        share,
        clock,
        stops,
        meter,
        Payload.pool(0, 1));
  }

  /**
   * A client that comes late sends what was due meanwhile at once, and its latencies are those that
   * a user would have had: no coordinated omission.
   */
  @Test
  void latencyCountsFromWhenARecordWasDue() throws Exception {
    ProducerClient client = client(new Share(0, 1), "rate: 100/s, until: {records: 100}");
    stops.startAt(System.nanoTime() - TimeUnit.SECONDS.toNanos(10));

    client.run();

    GroupInterval work = meter.take();
    assertThat(work.records()).isEqualTo(100);
    assertThat(work.bytes()).isEqualTo(102_400);
    // The last was due after 990 ms.
    assertThat(work.latencies().getMinValue()).isGreaterThanOrEqualTo(9_000_000);
    assertThat(work.latencies().getMaxValue()).isGreaterThanOrEqualTo(9_990_000);
    assertThat(intended.get(99) - intended.get(0)).isEqualTo(990_000);
  }

  @Test
  void sendsItsShare() throws Exception {
    ProducerClient client = client(new Share(2, 3), "keys: 5, until: {records: 11, bytes: 1MiB}");
    stops.startAt(System.nanoTime());

    client.run();

    assertThat(kafka.history()).hasSize(3).allMatch(r -> r.key() != null && r.key().length == 8);
  }

  @Test
  void endsByTime() throws Exception {
    ProducerClient client = client(new Share(0, 1), "rate: 10/s, until: {time: 10s}");
    // All that is due in these ten seconds is due by now.
    stops.startAt(System.nanoTime() - TimeUnit.SECONDS.toNanos(11));

    client.run();

    assertThat(kafka.history()).isEmpty();
  }

  /** The time after the last record of a profile is a part of the group's time. */
  @Test
  void aTimeLimitIsTheGroupsTime() throws Exception {
    ProducerClient client =
        client(
            new Share(0, 1),
            "rate: [{rate: 50/s, for: 100ms}, {rate: 0/s, for: 1h}], until: {time: 250ms}");
    long start = System.nanoTime();
    stops.startAt(start);

    client.run();

    assertThat(kafka.history()).hasSize(5);
    assertThat(meter.endNanos(0)).isEqualTo(start + TimeUnit.MILLISECONDS.toNanos(250));
  }

  @Test
  void aStopEndsIt() throws Exception {
    ProducerClient client = client(new Share(0, 1), "rate: 1/s, until: {time: 1h}");
    stops.startAt(System.nanoTime());
    stops.stop();

    client.run();

    assertThat(kafka.history()).isEmpty();
  }

  @Test
  void countsWhatIsNotAcknowledged() throws Exception {
    kafka =
        new MockProducer<>(false, null, new ByteArraySerializer(), new ByteArraySerializer()) {
          @Override
          public synchronized void flush() {
            assertThat(errorNext(new IllegalStateException("refused"))).isTrue();
            assertThat(completeNext()).isTrue();
          }
        };
    ProducerClient client = client(new Share(0, 1), "until: {records: 2}");
    stops.startAt(System.nanoTime());

    client.run();

    GroupInterval work = meter.take();
    assertThat(work.errors()).isEqualTo(1);
    assertThat(work.records()).isEqualTo(1);
    assertThat(meter.firstError()).hasValue("java.lang.IllegalStateException: refused");
  }
}
