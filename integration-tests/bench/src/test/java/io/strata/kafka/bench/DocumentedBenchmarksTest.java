package io.strata.kafka.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.bench.paired.Contender;
import io.strata.kafka.bench.scenario.Scenario;
import io.strata.kafka.bench.scenario.ScenarioFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine.ParseResult;

/** The scenarios and contenders in examples/benchmarks, and the tool's commands in the pages. */
class DocumentedBenchmarksTest {
  /** Surefire runs in the module's own folder. */
  private static final Path TOP = Path.of("../..").toAbsolutePath().normalize();

  private static final Path EXAMPLES = TOP.resolve("examples/benchmarks");
  private static final Map<String, String> VALUES =
      Stream.of("strata", "pool", "size", "work", "store", "tests", "tmpfs", "sparse", "group")
          .collect(Collectors.toMap(name -> name, name -> "/" + name));

  private static final Pattern COMMAND =
      Pattern.compile("(?m)^(?:[$] )?examples/bin/strata-bench ((?:.*\\\\\n)*.*)$");

  static Stream<Path> scenarios() throws IOException {
    return yaml(EXAMPLES);
  }

  private static Stream<Path> yaml(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.filter(file -> file.toString().endsWith(".yaml")).sorted().toList().stream();
    }
  }

  @ParameterizedTest
  @MethodSource("scenarios")
  void everyScenarioIsOne(Path file) throws IOException {
    Scenario scenario = ScenarioFile.read(file, List.of());

    assertThat(file).hasFileName(scenario.name() + ".yaml");
    assertThat(scenario.source()).isNotEmpty();
    assertThat(scenario.text("description")).isNotEmpty();
    assertThat(Double.parseDouble(scenario.text("scale"))).isBetween(0.0001, 0.5);
    assertThat(ScenarioFile.read(file, List.of("scale=1")).phases().keySet())
        .isEqualTo(scenario.phases().keySet());
    assertThat(Files.readString(TOP.resolve("docs/strata-bench.md")))
        .contains("| `%s` |".formatted(file.getFileName()));
  }

  /** What ends by time is over in three minutes on a laptop. */
  @ParameterizedTest
  @MethodSource("scenarios")
  void itsScaleIsALaptops(Path file) {
    double seconds =
        ScenarioFile.read(file, List.of()).phases().values().stream()
            .flatMap(phase -> phase.producers().values().stream())
            .mapToDouble(group -> group.until().seconds().orElse(0))
            .sum();

    assertThat(seconds).isLessThan(180);
  }

  @Test
  void everyContenderIsOne() throws IOException {
    for (Path file : yaml(EXAMPLES.resolve("contenders")).toList()) {
      Contender contender = Contender.read(file, List.of(), VALUES);

      assertThat(file).hasFileName(contender.label() + ".yaml");
    }
  }

  @Test
  void everyContenderCanGetWhatTheFilesSay() throws IOException {
    Path stock = EXAMPLES.resolve("contenders/stock.yaml");
    for (Path file : yaml(EXAMPLES.resolve("with")).toList()) {
      assertThat(Contender.read(stock, List.of(file), VALUES))
          .isNotEqualTo(Contender.read(stock, List.of(), VALUES));
    }
  }

  static Stream<String> commands() throws IOException {
    List<Path> pages;
    try (Stream<Path> docs = Files.walk(TOP.resolve("docs"))) {
      pages =
          Stream.concat(Stream.of(TOP.resolve("README.md")), docs)
              .filter(page -> page.toString().endsWith(".md"))
              .toList();
    }
    return pages.stream()
        .flatMap(page -> COMMAND.matcher(read(page)).results())
        .map(command -> command.group(1).replace("\\\n", " ").strip());
  }

  private static String read(Path page) {
    try {
      return Files.readString(page);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @ParameterizedTest
  @MethodSource("commands")
  void everyCommandOfThePagesIsUnderstood(String command) {
    ParseResult parsed = BenchMain.commandLine().parseArgs(command.split("\\s+", -1));

    assertThat(parsed.errors()).isEmpty();
    Matcher files = Pattern.compile("examples/\\S+\\.yaml").matcher(command);
    while (files.find()) {
      assertThat(TOP.resolve(files.group())).isRegularFile();
    }
    Map<String, String> values =
        found(command, "--define (\\w+)=(\\S+)")
            .collect(Collectors.toMap(define -> define.group(1), define -> define.group(2)));
    List<Path> with =
        found(command, "--with (\\S+)").map(file -> TOP.resolve(file.group(1))).toList();
    assertThat(found(command, "--contender (\\S+)"))
        .allSatisfy(
            file ->
                assertThat(Contender.read(TOP.resolve(file.group(1)), with, values).label())
                    .isNotEmpty());
  }

  private static Stream<MatchResult> found(String command, String pattern) {
    return Pattern.compile(pattern).matcher(command).results();
  }
}
