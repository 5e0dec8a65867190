package io.strata.kafka.it.starts;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.Installed;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.Workspace;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A node that is only a controller has Strata's keys, as where a whole cluster is configured alike:
 * it ignores them, pool or not, flag or not.
 */
class ControllerAloneTest {

  @RegisterExtension static final Workspace WORK = new Workspace();

  @Test
  void ignoresStrata() throws Exception {
    Path pool = WORK.pool("none");
    StockBroker controller =
        WORK.closing(
            StockBroker.in(WORK.folder("controller"))
                .strata(pool)
                .controllerAlone()
                .set("strata.migration.threshold", "0.3")
                .build());
    for (Installed installed : new Installed[] {Installed.JAR, Installed.JAR_AND_FLAG}) {
      controller.installed(installed).start();
      assertThat(controller.stop()).isIn(0, 143);
      assertThat(controller.output()).doesNotContain("Opened pool", "must not start");
    }
    assertThat(pool).doesNotExist();
    assertThat(Files.readString(controller.logDirectory().resolve("meta.properties")))
        .doesNotContain("trata");
  }
}
