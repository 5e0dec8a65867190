package io.strata.kafka.it.versions;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.it.harness.Distribution;
import io.strata.kafka.it.harness.Installed;
import io.strata.kafka.it.harness.LogFiles;
import io.strata.kafka.it.harness.RecordLedger;
import io.strata.kafka.it.harness.StockBroker;
import io.strata.kafka.it.harness.Topics;
import io.strata.kafka.it.harness.Workspace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What else may be in the JVM of a broker with Strata: agents, and an archive of classes. */
@Tag("long")
class BrokerJvmTest {
  @RegisterExtension static final Workspace WORK = new Workspace();

  /** An agent; its backend is not there. */
  private enum Agent {
    OPENTELEMETRY(
        "opentelemetry-javaagent", "", "-Dotel.exporter.otlp.endpoint=http://localhost:1"),
    DATADOG("dd-java-agent", "", "-Ddd.trace.agent.url=http://localhost:1"),
    JOLOKIA("jolokia-agent-jvm", "=port=0,host=127.0.0.1", "-Dnothing=1");

    private final String jar;
    private final String arguments;
    private final String option;

    Agent(String jar, String arguments, String option) {
      this.jar = jar;
      this.arguments = arguments;
      this.option = option;
    }

    String[] options() throws IOException {
      try (Stream<Path> files = Files.list(WORK.folder("agents"))) {
        Path file =
            files
                .filter(each -> each.getFileName().toString().startsWith(jar))
                .findAny()
                .orElseThrow();
        return new String[] {option, "-javaagent:" + file + arguments};
      }
    }
  }

  @BeforeAll
  static void copyAgents() throws IOException, InterruptedException {
    assertThat(
            Distribution.copyDependencies(
                Distribution.root().resolve("integration-tests/agents/pom.xml"),
                WORK.folder("agents"),
                "-DincludeScope=runtime",
                "-DexcludeTransitive=true"))
        .isEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void anAgentWorks(Agent agent) throws Exception {
    StockBroker broker = broker("agent-" + agent).ownJvmOptions(agent.options());

    serves(broker);
  }

  /** Recorded without the flag by a broker without Strata, whose class path has the jar. */
  @Test
  void anArchiveThatWasRecordedWithoutTheFlagWorks() throws Exception {
    Path archive = WORK.folder("archive").resolve("broker.jsa");
    StockBroker stock =
        broker("stock")
            .withoutStrata()
            .installed(Installed.JAR)
            .ownJvmOptions("-XX:ArchiveClassesAtExit=" + archive);
    stock.start().stop();
    assertThat(archive).exists();

    serves(
        broker("archive-strata").ownJvmOptions("-XX:SharedArchiveFile=" + archive, "-Xshare:on"));
  }

  private static StockBroker broker(String name) throws Exception {
    return WORK.closing(
        StockBroker.in(WORK.folder(name)).strata(WORK.newPool(name, "24MiB")).build());
  }

  /** Twice: with what the first run has left. */
  private static void serves(StockBroker broker) throws Exception {
    RecordLedger ledger = new RecordLedger("hot", 1, 1);
    broker.start();
    Topics.create(broker, "hot", 1, Map.of());
    ledger.produce(broker.bootstrap(), 1_000, 1_000);
    assertThat(LogFiles.hotSegments(LogFiles.partition(broker, "hot", 0))).isNotEmpty();
    broker.restart();
    ledger.verify(broker.bootstrap());
    broker.stop();
  }
}
