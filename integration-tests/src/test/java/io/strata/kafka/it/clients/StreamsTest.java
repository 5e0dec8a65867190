package io.strata.kafka.it.clients;

import static io.strata.kafka.it.harness.Waiting.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.JavaProcess;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.Tiers;
import io.strata.kafka.it.harness.Topics;
import io.strata.kafka.it.harness.Workspace;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.Future;
import java.util.stream.LongStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A Kafka Streams application that counts words exactly once, on a broker whose segments move. The
 * application is killed in the midst of its work, the broker as well; the application comes back
 * without its state, which it restores from its changelog. Skipped where Maven cannot copy Kafka
 * Streams.
 */
@Tag("long")
class StreamsTest {

  @RegisterExtension static final Workspace WORK = new Workspace();

  private static final int PARTITIONS = 2;
  private static final int LINES = 3_000;
  private static final int WORDS_OF_A_LINE = 10;
  private static final int VOCABULARY = 400;

  /** Long words fill segments, which are sealed then. */
  private static final String LONG = "x".repeat(80);

  private static final Duration LIMIT = Duration.ofMinutes(15);

  private final Random random = new Random(1);
  private final Map<String, Long> expected = new TreeMap<>();

  @Test
  void everyWordIsCountedOnce() throws Exception {
    String classPath = ClientLibraries.classPath();
    StockBroker broker =
        WORK.start(
            Tiers.broker(WORK.folder("broker"), WORK.newPool("hot", "24MiB", 256))
                .set("strata.migration.threshold", "0"));
    for (String topic : List.of("lines", "counts")) {
      Topics.create(broker, topic, PARTITIONS, Map.of("segment.bytes", "" + Tiers.SEGMENT));
    }
    sendLines(broker);
    try (JavaProcess first = start(broker, classPath, "first")) {
      await()
          .atMost(LIMIT)
          .untilAsserted(() -> assertThat(counts(broker)).hasSizeGreaterThan(LINES));
      first.kill();
    }
    broker.killAndStart();

    sendLines(broker);
    try (JavaProcess second = start(broker, classPath, "second")) {
      await()
          .atMost(LIMIT)
          .untilAsserted(
              () ->
                  assertThat(counts(broker))
                      .as("counts; the application's last lines:%n%s", second.output())
                      .hasSizeGreaterThanOrEqualTo(2 * LINES * WORDS_OF_A_LINE));
      assertThat(second.output()).containsPattern("restored [1-9]\\d* changes of counts");
      second.stop(LIMIT);
    }
    Map<String, List<Long>> counts = new TreeMap<>();
    for (ConsumerRecord<byte[], byte[]> found : counts(broker)) {
      counts
          .computeIfAbsent(new String(found.key(), UTF_8), word -> new ArrayList<>())
          .add(ByteBuffer.wrap(found.value()).getLong());
    }
    assertThat(counts.keySet()).isEqualTo(expected.keySet());
    expected.forEach(
        (word, count) ->
            assertThat(counts.getOrDefault(word, List.of()))
                .as("counts of %s", word)
                .isEqualTo(LongStream.rangeClosed(1, count).boxed().toList()));
    assertThat(Tiers.total(broker, "DestagedBytesTotal")).as("bytes moved").isPositive();
    Tiers.awaitQuiet(broker);
    Tiers.assertAccounting(broker);
  }

  private static List<ConsumerRecord<byte[], byte[]>> counts(StockBroker broker) {
    return RecordLedger.readAll(
        broker.bootstrap(), "counts", PARTITIONS, Map.of("isolation.level", "read_committed"));
  }

  private void sendLines(StockBroker broker) {
    try (Producer<byte[], byte[]> producer =
        RecordLedger.producer(broker.bootstrap(), Map.of("linger.ms", "5"))) {
      for (int i = 0; i < LINES; i++) {
        List<String> words = new ArrayList<>();
        for (int w = 0; w < WORDS_OF_A_LINE; w++) {
          String word = "word-%d-%s".formatted(random.nextInt(VOCABULARY), LONG);
          words.add(word);
          expected.merge(word, 1L, Long::sum);
        }
        byte[] line = String.join(" ", words).getBytes(UTF_8);
        Future<RecordMetadata> unused =
            producer.send(new ProducerRecord<>("lines", i % PARTITIONS, null, line));
      }
    }
  }

  /** Starts the application with a state folder of its own, which is empty. */
  private static JavaProcess start(StockBroker broker, String classPath, String name)
      throws IOException {
    Path folder = WORK.folder(name);
    return JavaProcess.start(
        "the application",
        List.of(
            "-Xmx256m",
            "-cp",
            classPath,
            ClientLibraries.SOURCES.resolve("streams/WordCount.java").toString(),
            broker.bootstrap(),
            "lines",
            "counts",
            folder.resolve("data-state").toString()),
        folder,
        folder.resolve("console.log"));
  }
}
