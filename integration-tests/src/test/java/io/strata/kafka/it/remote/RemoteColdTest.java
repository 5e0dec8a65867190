package io.strata.kafka.it.remote;

import static io.strata.kafka.it.harness.Waiting.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.Distribution;
import io.strata.kafka.it.harness.KafkaVersion;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.RemoteManager;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.TieredBrokers;
import io.strata.kafka.it.harness.Tiers;
import io.strata.kafka.it.harness.Topics;
import io.strata.kafka.it.harness.Workspace;
import io.strata.kafka.tier.spec.TestHook;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A published manager of another project has the lowest level: Kafka's {@code LocalTieredStorage},
 * from a class path of its own.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RemoteColdTest {

  @RegisterExtension final Workspace work = new Workspace();

  @Test
  void segmentsGoOnToAnotherManagerAndAreReadBackThroughOurs() throws Exception {
    Path store = work.folder("store");
    Path far = work.folder("far");
    TieredBrokers tier = TieredBrokers.over(store).with(RemoteManager.STRATA);
    StockBroker broker = broker(tier, "broker", RemoteManager.LOCAL.className(), far);
    RecordLedger ledger = Tiers.topic(broker, "far", 2, TieredBrokers.topic());
    ledger.produce(broker.bootstrap(), 6_000, 1_500);
    awaitMoved(store, far);
    assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(6_000);
    broker.kill();
    StockBroker unused = broker.start();
    assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(6_000);
    Topics.delete(broker, "far");
    tier.awaitNothingOf("far");
    await()
        .untilAsserted(
            () -> assertThat(RemoteManager.LOCAL.segments(far)).as("with the manager").isEmpty());
  }

  /** Kafka drops what a read brings after 500 ms, and asks again. */
  @Test
  @Tag("long")
  void aManagerThatIsSlowerThanKafkaWaitsServesAConsumer() throws Exception {
    Path store = work.folder("slow-store");
    Path far = work.folder("slow-far");
    TieredBrokers tier = TieredBrokers.over(store).with(RemoteManager.STRATA);
    StockBroker broker = broker(tier, "slow", SlowLocalStorage.class.getName(), far);
    RecordLedger ledger = Tiers.topic(broker, "slow", 1, TieredBrokers.topic());
    ledger.produce(broker.bootstrap(), 4_000, 1_500);
    awaitMoved(store, far);
    assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(4_000);
  }

  /** Starts a broker whose segments all go to the manager. */
  private StockBroker broker(TieredBrokers tier, String folder, String manager, Path far)
      throws Exception {
    Stream<Path> classPath =
        Stream.concat(
            KafkaVersion.ofThisRun().storageTests().stream(),
            Stream.of(Distribution.classesOf(RemoteColdTest.class)));
    return work.start(
        tier.alone(work.folder(folder))
            .set("rsm.config.cold.class.name", manager)
            .set(
                "rsm.config.cold.class.path",
                classPath.map(Path::toString).collect(Collectors.joining(File.pathSeparator)))
            .set("rsm.config.cold.dir", far.toString())
            .set("rsm.config.migration.threshold", "0")
            .jvmOption("-D" + TestHook.ONE_LEVEL + "=true"));
  }

  private static void awaitMoved(Path store, Path far) {
    await()
        .untilAsserted(
            () -> {
              assertThat(RemoteManager.LOCAL.segments(far))
                  .as("with the manager")
                  .hasSizeGreaterThan(4);
              assertThat(logs(store)).as("records in our levels").isEmpty();
            });
  }

  private static List<Path> logs(Path store) throws IOException {
    return RemoteManager.files(store).stream().filter(f -> f.toString().endsWith(".log")).toList();
  }
}
