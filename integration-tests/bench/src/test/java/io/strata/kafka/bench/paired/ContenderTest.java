package io.strata.kafka.bench.paired;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.bench.scenario.ScenarioException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ContenderTest {
  @TempDir private Path folder;

  private List<Path> with = List.of();

  private Contender read(String text) throws IOException {
    return Contender.read(
        Files.writeString(folder.resolve("c.yaml"), text), with, Map.of("pool", "/mnt/a$b.pool"));
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
        .hasMessageContaining(
            "found the key 'libs', expected one of label, like, properties, class-path");
    assertThatThrownBy(() -> read("label: a b"))
        .hasMessageContaining("found the label 'a b', expected letters");
    assertThatThrownBy(() -> read("label: x\njvm: {a: 1}"))
        .isInstanceOf(ScenarioException.class)
        .hasMessageContaining("c.yaml: found {\"a\":1} for 'jvm', expected a list");
  }

  @Test
  void aContenderLikeAnotherSaysWhatDiffers() throws IOException {
    Files.writeString(
        folder.resolve("base.yaml"),
        "label: base\njvm: [-Xmx1g]\nproperties: {a: 1, b: 2}\nbefore: [first]\n");

    Contender contender =
        read("label: own\nlike: base.yaml\njvm: [-Xmx2g]\nproperties: {b: 3}\nafter: [last]\n");

    assertThat(contender)
        .isEqualTo(
            new Contender(
                "own",
                List.of(),
                List.of("-Xmx1g", "-Xmx2g"),
                Map.of("a", "1", "b", "3"),
                List.of(),
                List.of("first"),
                List.of("last")));
  }

  @Test
  void everyContenderGetsTheSameKeysAfterItsOwn() throws IOException {
    with =
        List.of(
            Files.writeString(folder.resolve("1.yaml"), "before: ['fill {pool}']\n"),
            Files.writeString(folder.resolve("2.yaml"), "prefix: [nice]\nproperties: {a: 2}\n"));

    Contender contender = read("label: x\nproperties: {a: 1}\nbefore: [own]\n");

    assertThat(contender.before()).containsExactly("own", "fill /mnt/a$b.pool");
    assertThat(contender.prefix()).containsExactly("nice");
    assertThat(contender.properties()).isEqualTo(Map.of("a", "2"));
  }

  @Test
  void whatCannotBePutTogetherIsNamed() throws IOException {
    Files.writeString(folder.resolve("a.yaml"), "label: a\nlike: b.yaml\n");
    assertThatThrownBy(() -> read("label: x\nlike: a.yaml"))
        .isInstanceOf(ScenarioException.class)
        .hasMessageContaining("a.yaml, expected a file without it");
    assertThatThrownBy(() -> read("label: x\nlike: none.yaml"))
        .isInstanceOf(ScenarioException.class)
        .hasMessageContaining("none.yaml: found no readable file");
    with = List.of(folder.resolve("a.yaml"));
    Files.writeString(folder.resolve("a.yaml"), "label: a\n");
    assertThatThrownBy(() -> read("label: x"))
        .isInstanceOf(ScenarioException.class)
        .hasMessageContaining("a.yaml: found the key 'label', expected none");
  }

  @Test
  void aRelativeJarIsTheOneWhereTheToolRuns() throws IOException {
    assertThat(read("label: x\nclass-path: [target/strata.jar]").classPath())
        .containsExactly(Path.of("target/strata.jar").toAbsolutePath().toString());
  }

  /** A pool or a store that someone names by mistake may be a live broker's. */
  @ParameterizedTest
  @MethodSource("examples")
  void anExampleRemovesOnlyWhatItHasMade(Path file) {
    Map<String, String> values =
        Map.of(
            "strata", "/j", "tests", "/t", "size", "1", "pool", "/p", "tmpfs", "/m", "store", "/s");
    Contender contender = Contender.read(file, List.of(), values);

    assertThat(Stream.of(contender.before(), contender.after()).flatMap(List::stream))
        .filteredOn(command -> command.startsWith("rm "))
        .allMatch(command -> command.endsWith("strata-bench\""));
  }

  static List<Path> examples() throws IOException {
    Path contenders = Path.of("..", "..", "examples", "benchmarks", "contenders");
    try (Stream<Path> all = Files.list(contenders)) {
      return all.sorted().toList();
    }
  }
}
