package io.strata.kafka.it.versions;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.LogFiles;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.Tiers;
import io.strata.kafka.it.harness.Workspace;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A broker whose system class loader is not that of its class path. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SystemLoaderTest {

  @RegisterExtension final Workspace work = new Workspace();

  @Test
  void startsAndPlacesSegments() throws Exception {
    Path classes = work.folder("loader");
    String file = SystemLoader.class.getName().replace('.', '/') + ".class";
    Files.createDirectories(Objects.requireNonNull(classes.resolve(file).getParent()));
    try (InputStream in =
        Objects.requireNonNull(SystemLoader.class.getClassLoader().getResourceAsStream(file))) {
      Files.copy(in, classes.resolve(file));
    }
    StockBroker broker =
        work.start(
            Tiers.broker(work.folder("broker"), work.newPool("hot", "32MiB"))
                .library(classes)
                .jvmOption("-Djava.system.class.loader=" + SystemLoader.class.getName()));
    RecordLedger ledger = Tiers.topic(broker, "hot", 1);
    ledger.produce(broker.bootstrap(), 100, 1_000);

    assertThat(LogFiles.hotSegments(LogFiles.partition(broker, "hot", 0))).hasSize(1);
    assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(100);
  }
}
