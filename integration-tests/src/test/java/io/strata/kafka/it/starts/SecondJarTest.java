package io.strata.kafka.it.starts;

import io.strata.kafka.it.harness.Distribution;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.Tiers;
import io.strata.kafka.it.harness.Workspace;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** An upgrade has left the old jar beside the new one. */
class SecondJarTest {

  @RegisterExtension static final Workspace WORK = new Workspace();

  @Test
  void theBrokerNamesBoth() throws Exception {
    Path old = WORK.folder("libs").resolve("strata-kafka-0.0.9.jar");
    Path unused = Files.copy(Distribution.strataJar(), old);
    StockBroker broker =
        WORK.start(
            Tiers.broker(WORK.folder("broker"), WORK.newPool("pool", "12MiB", 64)).library(old));

    broker.awaitLogged(
        "WARN", "found 2 jars of Strata on the class path (" + old.toRealPath() + ", ");
  }
}
