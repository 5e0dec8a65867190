package io.strata.kafka.bench.paired;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.bench.scenario.ScenarioException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ContenderTest {
  @TempDir private Path folder;

  private Contender read(String text) throws IOException {
    return Contender.read(
        Files.writeString(folder.resolve("c.yaml"), text), Map.of("pool", "/mnt/a$b.pool"));
  }

  @Test
  void namesInBracesHaveValues() throws IOException {
    Contender contender =
        read(
            "label: strata\nproperties: {strata.pools: \"{pool}\", a: 1}\nbefore: ['rm {pool}']\n");

    assertThat(contender.properties()).isEqualTo(Map.of("strata.pools", "/mnt/a$b.pool", "a", "1"));
    assertThat(contender.before()).isEqualTo(List.of("rm /mnt/a$b.pool"));
    assertThat(contender.jvm()).isEmpty();
  }

  /** Ratios of results say nothing to those who do not know what was compared. */
  @Test
  void aResultSaysHowItsBrokerWasStarted() throws IOException {
    Contender contender =
        read("label: strata\njvm: [-Xms1g, -Xmx1g]\nproperties: {strata.pools: \"{pool}\"}\n");

    assertThat(contender.facts())
        .isEqualTo(
            Map.of(
                "contender JVM options",
                "-Xms1g -Xmx1g",
                "contender strata.pools",
                "/mnt/a$b.pool"));
  }

  @Test
  void whatIsWrongIsNamed() {
    assertThatThrownBy(() -> read("label: x\njvm: ['{heap}']"))
        .isInstanceOf(ScenarioException.class)
        .hasMessageContaining("found {heap}, expected a value: --define heap=");
    assertThatThrownBy(() -> read("label: x\nlibs: []"))
        .hasMessageContaining("found the key 'libs', expected one of label, class-path");
    assertThatThrownBy(() -> read("label: a b"))
        .hasMessageContaining("found the label 'a b', expected letters");
    assertThatThrownBy(() -> read("label: x\njvm: {a: 1}"))
        .isInstanceOf(ScenarioException.class)
        .hasMessageContaining("c.yaml");
  }

  @Test
  void aRelativeJarIsTheOneWhereTheToolRuns() throws IOException {
    assertThat(read("label: x\nclass-path: [target/strata.jar]").classPath())
        .containsExactly(Path.of("target/strata.jar").toAbsolutePath().toString());
  }
}
