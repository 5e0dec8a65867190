package io.strata.kafka.it;

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
        WORK.closing(
                Tiers.broker(WORK.folder("broker"), Pools.create(WORK.pool("pool"), "12MiB", 64))
                    .library(old)
                    .build())
            .start();

    broker.awaitLogged(
        "WARN", "found 2 jars of Strata on the class path (" + old.toRealPath() + ", ");
  }
}
