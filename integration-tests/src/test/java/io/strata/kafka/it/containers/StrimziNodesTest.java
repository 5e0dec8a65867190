package io.strata.kafka.it.containers;

import static io.strata.kafka.it.harness.Waiting.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.LogFiles;
import io.strata.kafka.it.harness.Pools;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.RemoteManager;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.TieredBrokers;
import io.strata.kafka.it.harness.Tiers;
import io.strata.kafka.it.harness.Workspace;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Stock nodes start with the configurations that Strimzi writes from the chart's resources. */
@Tag("long")
class StrimziNodesTest {

  private static final int RECORDS = 3_000;
  private static final int SIZE = 1_500;

  @RegisterExtension static final Workspace WORK = new Workspace();

  @ParameterizedTest
  @ValueSource(strings = {"jmx", "plain-classpath", "reporter-tiered"})
  void aControllerAndABroker(String kind) throws Exception {
    try (StockBroker controller = node("controller-" + kind, Optional.empty()).start();
        StockBroker broker = node("broker-" + kind, Optional.of(controller)).start()) {
      keepsWhatItGets(broker);
      assertThat(broker.stop()).isIn(0, 143);
      assertThat(controller.stop()).isIn(0, 143);
      assertThat(controller.output())
          .doesNotContain("Opened pool", "must not start", "Created pool");
      assertThat(Files.readString(controller.logDirectory().resolve("meta.properties")))
          .doesNotContain("trata");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"jmx", "plain-classpath", "reporter-tiered"})
  void aCombinedNode(String kind) throws Exception {
    try (StockBroker node = node("combined-" + kind, Optional.empty()).start()) {
      keepsWhatItGets(node);
      assertThat(node.stop()).isIn(0, 143);
    }
  }

  /** As the operator and the chart's Job do it: the Job waits while the broker runs. */
  @Test
  void aDrainedBrokerIsAStockBroker() throws Exception {
    Path folder = WORK.folder("drained");
    try (StockBroker controller =
            StrimziNode.of("controller-jmx", WORK.folder("drained-controller"), Optional.empty())
                .start();
        StockBroker broker =
            StrimziNode.of("broker-jmx", folder, Optional.of(controller)).start()) {
      RecordLedger ledger = Tiers.topic(broker, "orders", 1);
      ledger.produce(broker.bootstrap(), RECORDS, SIZE);
      String config = StrimziNode.drain(folder).toString();
      assertThat(Pools.strata("drain", "--config", config).exitCode())
          .as("the Job tries again after this one alone")
          .isEqualTo(3);

      broker.stop();
      assertThat(broker.withoutStrata().startRefused().exitCode()).isNotZero();
      Pools.strata("drain", "--config", config).orFail();
      broker.start();
      assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(RECORDS);
    }
  }

  private static StockBroker node(String golden, Optional<StockBroker> controller)
      throws IOException, InterruptedException {
    return StrimziNode.of(golden, WORK.folder(golden), controller);
  }

  private static void keepsWhatItGets(StockBroker broker) throws Exception {
    boolean tiered = broker.properties().containsKey("remote.log.storage.system.enable");
    Map<String, String> config = tiered ? TieredBrokers.topic() : Map.of();
    RecordLedger ledger = Tiers.topic(broker, "orders", 1, config);
    ledger.produce(broker.bootstrap(), RECORDS, SIZE);
    assertThat(LogFiles.hotSegments(LogFiles.partition(broker, "orders", 0))).isNotEmpty();
    if (tiered) {
      Path store = Path.of(broker.property("rsm.config.nas.directories"));
      await().until(() -> hasManifest(store));
    }
    if (broker.properties().containsKey("prometheus.metrics.reporter.listener")) {
      assertThat(scraped(broker)).containsIgnoringCase("strata_");
    }
    broker.stop();

    // Kubernetes gives the volumes' files to the group whenever it mounts them.
    for (Path pool : pools(broker)) {
      assertThat(pool).hasSize(32 << 20);
      Path unused =
          Files.setPosixFilePermissions(pool, PosixFilePermissions.fromString("rw-rw----"));
    }
    broker.start();
    assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(RECORDS);
  }

  private static List<Path> pools(StockBroker broker) {
    return broker.properties().entrySet().stream()
        .filter(property -> property.getKey().matches("strata\\.tier\\..*\\.pools"))
        .flatMap(property -> Stream.of(property.getValue().split(",", -1)))
        .map(Path::of)
        .toList();
  }

  private static boolean hasManifest(Path store) throws IOException {
    return RemoteManager.files(store).stream().anyMatch(file -> file.endsWith("manifest.json"));
  }

  private static String scraped(StockBroker broker) throws IOException, InterruptedException {
    URI uri = URI.create(broker.property("prometheus.metrics.reporter.listener") + "/metrics");
    return HttpClient.newHttpClient()
        .send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString())
        .body();
  }
}
