package io.strata.kafka.it.clients;

import static io.strata.kafka.it.harness.Waiting.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.Distribution;
import io.strata.kafka.it.harness.FreePorts;
import io.strata.kafka.it.harness.JavaProcess;
import io.strata.kafka.it.harness.LogFiles;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.Tiers;
import io.strata.kafka.it.harness.Topics;
import io.strata.kafka.it.harness.Workspace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Kafka Connect, standalone, copies a file through a topic of a broker whose segments move into
 * another file, and goes on where it was after it and the broker have been stopped. Skipped where
 * Maven cannot copy the file connectors.
 */
@Tag("long")
class ConnectTest {

  @RegisterExtension static final Workspace WORK = new Workspace();

  private static final String TOPIC = "lines";
  private static final int LINES = 30_000;
  private static final Duration LIMIT = Duration.ofMinutes(15);

  private final Random random = new Random(1);

  @Test
  void aFileIsCopiedThroughATopic() throws Exception {
    Path connectors = ClientLibraries.fileConnectors();
    Path folder = WORK.folder("connect");
    StockBroker broker =
        WORK.start(
            Tiers.broker(WORK.folder("broker"), WORK.newPool("hot", "16MiB", 128))
                .set("strata.migration.threshold", "0")
                .set("strata.migration.mode", "threshold")
                .set("broker.session.timeout.ms", "60000") // it is never killed
            );
    Topics.create(broker, TOPIC, 1, Map.of("segment.bytes", "" + Tiers.SEGMENT));
    Path from = folder.resolve("from.txt");
    Path to = folder.resolve("to.txt");
    append(from);
    copy(folder, broker, connectors, from, to);
    broker.restart();
    append(from);
    copy(folder, broker, connectors, from, to);

    Path partition = LogFiles.partition(broker, TOPIC, 0);
    assertThat(LogFiles.segments(partition)).hasSizeGreaterThan(2);
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () -> assertThat(LogFiles.hotSegments(partition)).hasSizeLessThanOrEqualTo(1));
    List<String> sent =
        RecordLedger.readAll(broker.bootstrap(), TOPIC, 1, Map.of()).stream()
            .map(found -> new String(found.value(), UTF_8))
            .toList();
    assertThat(sent.equals(Files.readAllLines(from))).as("the topic has the file's lines").isTrue();
  }

  /** Runs a worker until the second file is like the first one. */
  private static void copy(Path folder, StockBroker broker, Path connectors, Path from, Path to)
      throws IOException, InterruptedException {
    Path worker =
        properties(
            folder.resolve("worker.properties"),
            "bootstrap.servers=" + broker.bootstrap(),
            "key.converter=org.apache.kafka.connect.storage.StringConverter",
            "value.converter=org.apache.kafka.connect.storage.StringConverter",
            "offset.storage.file.filename=" + folder.resolve("offsets"),
            "listeners=http://127.0.0.1:" + FreePorts.find(1).get(0),
            "plugin.path=" + connectors);
    Path source =
        properties(
            folder.resolve("source.properties"),
            "name=source",
            "connector.class=org.apache.kafka.connect.file.FileStreamSourceConnector",
            "tasks.max=1",
            "file=" + from,
            "topic=" + TOPIC);
    Path sink =
        properties(
            folder.resolve("sink.properties"),
            "name=sink",
            "connector.class=org.apache.kafka.connect.file.FileStreamSinkConnector",
            "tasks.max=1",
            "file=" + to,
            "topics=" + TOPIC);
    try (JavaProcess connect =
        JavaProcess.start(
            "Kafka Connect",
            List.of(
                "-Xmx256m",
                "-cp",
                Distribution.kafkaClassPath(),
                "org.apache.kafka.connect.cli.ConnectStandalone",
                worker.toString(),
                source.toString(),
                sink.toString()),
            folder,
            Files.createTempFile(folder, "console-", ".log"))) {
      await()
          .atMost(LIMIT)
          .untilAsserted(
              () -> {
                assertThat(connect.isAlive()).as("Kafka Connect runs").isTrue();
                assertThat(to).exists();
                assertThat(Files.mismatch(from, to)).as("first byte that differs").isEqualTo(-1);
              });
      connect.stop(LIMIT);
    }
    assertThat(Files.mismatch(from, to)).as("first byte that differs").isEqualTo(-1);
  }

  private static Path properties(Path file, String... lines) throws IOException {
    return Files.write(file, List.of(lines), UTF_8);
  }

  private void append(Path file) throws IOException {
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < LINES; i++) {
      // In ASCII: the source counts characters and goes on at as many bytes.
      lines.add("%d %s".formatted(i, "x".repeat(random.nextInt(100))));
    }
    Path unused =
        Files.write(file, lines, UTF_8, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
  }
}
