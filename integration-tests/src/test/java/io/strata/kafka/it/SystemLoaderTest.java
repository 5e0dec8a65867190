package io.strata.kafka.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
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
        work.closing(
                Tiers.broker(work.folder("broker"), Pools.create(work.pool("hot"), "32MiB"))
                    .library(classes)
                    .jvmOption("-Djava.system.class.loader=" + SystemLoader.class.getName())
                    .build())
            .start();
    Topics.create(broker, "hot", 1, Map.of());
    RecordLedger ledger = new RecordLedger("hot", 1, 1);
    ledger.produce(broker.bootstrap(), 100, 1_000);

    assertThat(LogFiles.hotSegments(LogFiles.partition(broker, "hot", 0))).hasSize(1);
    assertThat(ledger.verify(broker.bootstrap()).records()).isEqualTo(100);
  }
}
