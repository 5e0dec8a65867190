package io.strata.kafka.strimzi;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The chart, rendered by helm with the values of some files. */
final class Chart {

  /** The cluster's name in the plain YAML and in the golden files. */
  static final String RELEASE = "my-cluster";

  static final String NAMESPACE = "kafka";

  /** A version of Kubernetes that has image volumes. */
  private static final String KUBERNETES = "1.35.0";

  /** The method that lists {@link #valuesFiles}. */
  static final String VALUES_FILES = "io.strata.kafka.strimzi.Chart#valuesFiles";

  private Chart() {}

  /** The examples and the tests' own. */
  static Stream<Path> valuesFiles() throws IOException {
    List<Path> files = new ArrayList<>();
    for (Path folder : List.of(Project.example().resolve("values"), Project.testValues())) {
      try (Stream<Path> found = Files.list(folder)) {
        found.sorted().forEach(files::add);
      }
    }
    assertThat(files).hasSizeGreaterThan(5);
    return files.stream();
  }

  /** Renders the chart; fails with helm's message when it refuses. */
  static Resources render(Path... values) throws IOException, InterruptedException {
    return render(List.of(), values);
  }

  /** Renders the chart with settings. */
  static Resources render(List<String> settings, Path... values)
      throws IOException, InterruptedException {
    return Resources.parse(template(settings, values).orFail().output());
  }

  /** Runs {@code helm template}. The settings are of the form {@code key=value}. */
  static Command.Finished template(List<String> settings, Path... values)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Project.helm());
    command.addAll(List.of("template", RELEASE, Project.chart().toString()));
    command.addAll(List.of("--namespace", NAMESPACE, "--kube-version", KUBERNETES));
    add(command, settings, values);
    return Command.run(command);
  }

  static Command.Finished lint(Path... values) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Project.helm());
    command.addAll(List.of("lint", "--strict", Project.chart().toString()));
    command.addAll(List.of("--kube-version", KUBERNETES));
    add(command, List.of(), values);
    return Command.run(command);
  }

  private static void add(List<String> command, List<String> settings, Path... values) {
    for (Path file : values) {
      command.addAll(List.of("--values", file.toString()));
    }
    for (String setting : settings) {
      command.addAll(List.of("--set", setting));
    }
  }

  static Path example(String name) {
    return Project.example().resolve("values").resolve(name + ".yaml");
  }

  static Path testCase(String name) {
    return Project.testValues().resolve(name + ".yaml");
  }
}
